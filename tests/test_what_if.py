"""Predictions with inputs changed, beside the one they depart from."""

import pytest

from traceattr.errors import DeploymentError, HardwareError, OptionError
from traceattr.roofline.deployment import Deployment, deployment_from_flags, merge
from traceattr.roofline.hardware import load_gpus
from traceattr.roofline.roofline import build_roofline
from traceattr.roofline.what_if import WhatIf, build_what_if, read_changes


def known(accept_length: float | None = 3.0, draft_tokens: int | None = None) -> Deployment:
    return deployment_from_flags(
        model="Qwen3.6-27B",
        gpu="RTX_A6000",
        tp=2,
        batch=1,
        context=500,
        draft_steps=3,
        draft_tokens=draft_tokens,
        accept_length=accept_length,
    )


def what_if(*texts: str, of: Deployment | None = None, sweeps: tuple[str, ...] = ()) -> WhatIf:
    deployment, gpus = of or known(), load_gpus()
    base = build_roofline(deployment, gpus, version="test")
    return build_what_if(deployment, gpus, base, read_changes(texts, sweeps))


def test_each_option_is_one_combined_alternative() -> None:
    changes = read_changes(["gpu=H100_SXM, batch=8", "kv-dtype=fp8"], ())

    assert [change.name for change in changes] == ["gpu=H100_SXM, batch=8", "kv_format=fp8"]


@pytest.mark.parametrize("sweeps", [("batch=1,8", "tp=2,4"), ("batch=1,8,tp=2,4",)])
def test_two_keys_of_a_sweep_are_a_grid(sweeps: tuple[str, ...]) -> None:
    changes = read_changes((), sweeps)

    assert [change.name for change in changes] == [
        "batch=1, tp=2",
        "batch=1, tp=4",
        "batch=8, tp=2",
        "batch=8, tp=4",
    ]


def test_alternatives_have_the_times_of_their_own_deployment() -> None:
    times = {
        each.change.name: (
            each.roofline.prediction.bound_ns,
            each.roofline.prediction.expected_ns,
        )
        for each in what_if("gpu=H100_SXM", "context=131072", "draft_vocab=32768").alternatives
    }

    assert times == {
        "gpu=H100_SXM": (9_424_902, 15_227_162),
        "context=131072": (47_785_165, 62_608_125),
        "draft_vocab=32768": (36_839_404, 49_367_646),
    }


def test_an_alternative_equals_a_deployment_that_says_the_same() -> None:
    [alternative] = what_if("batch=8,weights=fp8").alternatives

    direct = deployment_from_flags(
        model="Qwen3.6-27B",
        gpu="RTX_A6000",
        tp=2,
        batch=8,
        context=500,
        draft_steps=3,
        accept_length=3.0,
        weights="fp8",
    )
    assert alternative.roofline.prediction == (
        build_roofline(direct, load_gpus(), version="test").prediction
    )


def test_an_accept_length_changes_tokens_alone() -> None:
    result = what_if("accept_length=4")

    old, new = result.base.prediction, result.alternatives[0].roofline.prediction
    assert new.categories == old.categories
    assert (old.tokens, new.tokens) == (3.0, 4.0)


def test_a_reduced_draft_vocabulary_touches_the_draft_alone() -> None:
    result = what_if("draft_vocab=32768")

    old, new = result.base.prediction, result.alternatives[0].roofline.prediction
    changed = [
        (before.phase, before.category)
        for before, after in zip(old.categories, new.categories, strict=True)
        if before != after
    ]
    assert changed == [("draft", "weight_gemm"), ("draft", "comm"), ("draft", "sampling")]


def test_an_accept_length_is_not_kept_for_other_draft_steps() -> None:
    longer, given, none, same = what_if(
        "draft_steps=7", "draft_steps=7,accept_length=5", "draft_steps=0", "draft_steps=3"
    ).alternatives

    assert longer.roofline.setup.accept_length is None
    assert given.roofline.setup.accept_length == 5.0
    assert none.roofline.setup.accept_length == 1.0
    assert same.roofline.setup.accept_length == 3.0


def test_draft_tokens_follow_other_draft_steps() -> None:
    [alternative] = what_if("draft_steps=5", of=known(draft_tokens=4)).alternatives

    assert alternative.roofline.setup.draft_tokens == 6


def test_the_latency_of_a_machine_is_not_kept_for_another() -> None:
    slow = merge(deployment_from_flags(alpha_us=30.0), known())

    other, fewer, same, given = what_if(
        "gpu=L40S", "tp=4", "batch=8", "gpu=L40S,alpha_us=9", of=slow
    ).alternatives

    assert other.roofline.setup.alpha_ns is None
    assert fewer.roofline.setup.alpha_ns is None
    assert same.roofline.setup.alpha_ns == 30_000
    assert given.roofline.setup.alpha_ns == 9_000


def test_a_latency_counts_for_every_collective_and_never_in_a_bound() -> None:
    [alternative] = what_if("alpha_us=15.45").alternatives

    old, new = alternative.roofline.prediction, what_if().base.prediction
    calls = sum(e.launches for e in new.categories if e.category == "comm")
    assert old.expected_ns - new.expected_ns == pytest.approx(calls * 10_000, abs=2)
    assert old.bound_ns == new.bound_ns


def test_an_alternative_can_know_what_the_base_does_not() -> None:
    result = what_if("accept_length=2", of=known(accept_length=None))

    assert result.base.prediction.tokens is None
    assert result.alternatives[0].roofline.prediction.tokens == 2.0


@pytest.mark.parametrize("what", [("speed=9",), ("speed=9,batch=1",)])
def test_an_unknown_key_names_the_known_ones(what: tuple[str, ...]) -> None:
    with pytest.raises(OptionError) as caught:
        read_changes(what, ())

    assert str(caught.value) == (
        f"--what-if {what[0]}: unknown key 'speed' (one of model, gpu, tp, ep, dp_attention,"
        " batch, context, draft_steps, draft_tokens, accept_length, draft_topk, draft_model,"
        " draft_vocab, alpha_us, kv_format, state_format, weights)"
    )


@pytest.mark.parametrize("text", ["batch", "batch=", "batch=1,2", "batch=1,batch=2", ""])
def test_what_is_no_list_of_changes_is_refused(text: str) -> None:
    with pytest.raises(OptionError):
        read_changes([text], ())


@pytest.mark.parametrize(
    "sweeps", [("batch",), ("batch=1,",), ("batch=1", "batch=2"), ("batch=1,tp=2,context=5",)]
)
def test_what_is_no_sweep_is_refused(sweeps: tuple[str, ...]) -> None:
    with pytest.raises(OptionError, match="--sweep"):
        read_changes((), sweeps)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("gpu=H1000", HardwareError, "--what-if gpu=H1000: H1000: unknown GPU"),
        ("batch=many", DeploymentError, "field 'batch' is 'many' (expected an integer of at le"),
        ("accept_length=9", DeploymentError, "accept_length 9 (what-if) is above the 4 tokens"),
        ("weights=int3", DeploymentError, "unknown number format 'int3' (expected one of fp32"),
        ("draft_vocab=all", DeploymentError, "field 'draft_vocab' is 'all'"),
        ("draft_vocab=0", DeploymentError, "an integer of at least 1"),
        ("draft_steps=0,draft_vocab=9", DeploymentError, "draft_vocab 9 (what-if) without draft_"),
        ("accept_length=nan", DeploymentError, "field 'accept_length' is nan"),
    ],
)
def test_a_value_that_makes_no_sense_names_its_alternative(
    text: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        what_if(text)

    assert str(caught.value).startswith(f"--what-if {text}: ")
    assert str(caught.value).count("--what-if") == 1
    assert message in str(caught.value)
