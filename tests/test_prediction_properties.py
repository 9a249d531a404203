"""What holds for every prediction, whatever the model, GPU and deployment."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traceattr.roofline.hardware import load_gpus
from traceattr.roofline.model import catalogue, load_model
from traceattr.roofline.number_format import VALUE_BYTES
from traceattr.roofline.parallel import Parallel
from traceattr.roofline.prediction import Prediction, predict_prefill, predict_round
from traceattr.roofline.setup import Setup
from traceattr.rules.categories import CATEGORIES

MODELS = [load_model(name) for name in catalogue()]
DENSE = load_model("Qwen3.6-27B")
GPUS = load_gpus()

models = st.sampled_from(MODELS)
gpus = st.sampled_from(GPUS)
parallels = st.sampled_from([Parallel(1), Parallel(2), Parallel(4), Parallel(4, 4), Parallel(8, 2)])
steps = st.integers(0, 7)
setups = st.builds(
    lambda parallel, batch, context, steps, kv_format, state_format: Setup(
        parallel, batch, context, steps, steps + 1, 1.0, kv_format, state_format
    ),
    parallel=parallels,
    batch=st.integers(1, 256),
    context=st.integers(1, 200_000),
    steps=steps,
    kv_format=st.sampled_from(["bf16", "fp8"]),
    state_format=st.sampled_from(["fp32", "bf16"]),
)


@given(model=models, gpu=gpus, setup=setups)
def test_a_bound_is_never_above_what_is_expected(model, gpu, setup) -> None:  # type: ignore[no-untyped-def]
    for prediction in (
        predict_round(model, gpu, setup),
        predict_prefill(model, gpu, setup, setup.batch),
    ):
        assert all(0 <= e.bound_ns <= e.expected_ns for e in prediction.categories)
        assert prediction.bound_ns <= prediction.expected_ns


@given(model=models, gpu=gpus, setup=setups)
def test_categories_add_up_and_come_in_table_order(model, gpu, setup) -> None:  # type: ignore[no-untyped-def]
    prediction = predict_round(model, gpu, setup)

    busy = [e for e in prediction.categories if e.phase != "host"]
    assert sum(e.bound_ns for e in prediction.categories) == prediction.bound_ns
    assert sum(e.expected_ns for e in prediction.categories) == prediction.expected_ns
    assert all(sum(t.total_bytes for t in e.terms) == e.bytes for e in busy)
    assert all(sum(t.total_flop for t in e.terms) == e.flop for e in busy)
    order = [(e.phase == "draft", CATEGORIES.index(e.category)) for e in busy]
    assert order == sorted(order)
    assert [e.category for e in prediction.categories[len(busy) :]] == [
        "in-graph gaps",
        "host gaps",
    ]


def assert_no_less(more: Prediction, less: Prediction) -> None:
    assert more.bound_ns >= less.bound_ns
    assert more.expected_ns >= less.expected_ns


@given(model=models, gpu=gpus, setup=setups, extra=st.integers(1, 100_000))
def test_more_context_never_takes_less(model, gpu, setup, extra) -> None:  # type: ignore[no-untyped-def]
    longer = replace(setup, context=setup.context + extra)

    assert_no_less(predict_round(model, gpu, longer), predict_round(model, gpu, setup))


@given(model=models, gpu=gpus, setup=setups, extra=st.integers(1, 256))
def test_more_requests_never_take_less(model, gpu, setup, extra) -> None:  # type: ignore[no-untyped-def]
    fuller = replace(setup, batch=setup.batch + extra)

    assert_no_less(predict_round(model, gpu, fuller), predict_round(model, gpu, setup))


@given(model=st.sampled_from([m for m in MODELS if m.mtp]), gpu=gpus, setup=setups)
def test_another_draft_step_never_takes_less(model, gpu, setup) -> None:  # type: ignore[no-untyped-def]
    tokens = setup.draft_tokens + 1
    longer = replace(setup, draft_steps=setup.draft_steps + 1, draft_tokens=tokens)

    assert_no_less(predict_round(model, gpu, longer), predict_round(model, gpu, setup))


@given(gpu=gpus, setup=setups)
def test_twice_the_gpus_halve_the_weights_and_states_of_each(gpu, setup) -> None:  # type: ignore[no-untyped-def]
    def weights_and_states(tp: int) -> tuple[int, int]:
        """Return what does not grow with the batch, and the copies of states after verify."""
        some = replace(setup, parallel=Parallel(tp))
        once, twice = (
            predict_round(DENSE, gpu, replace(some, batch=factor * setup.batch)).categories
            for factor in (1, 2)
        )
        [gemm], [more] = (
            [e for e in found if (e.category, e.phase) == ("weight_gemm", "target")]
            for found in (once, twice)
        )
        commits = (t for e in once for t in e.terms if t.part == "commit of accepted states")
        return 2 * gemm.bytes - more.bytes, sum(term.total_bytes for term in commits)

    assert weights_and_states(1) == tuple(2 * half for half in weights_and_states(2))


@given(model=models, setup=setups)
def test_a_faster_gpu_is_never_slower(model, setup) -> None:  # type: ignore[no-untyped-def]
    slow = next(gpu for gpu in GPUS if gpu.name == "H100_SXM")
    fast = replace(slow, memory_bandwidth_bytes_per_s=2 * slow.memory_bandwidth_bytes_per_s)

    assert_no_less(predict_round(model, slow, setup), predict_round(model, fast, setup))


@pytest.mark.parametrize("name", catalogue())
def test_a_cache_of_half_the_width_takes_half_the_bytes(name: str) -> None:
    setup = Setup(Parallel(1), 4, 100_000)
    wide, narrow = (
        predict_round(load_model(name), GPUS[-1], replace(setup, kv_format=kv)).categories
        for kv in ("bf16", "fp8")
    )

    [whole] = (e for e in wide if e.category == "kv_cache")
    [half] = (e for e in narrow if e.category == "kv_cache")
    assert whole.bytes == VALUE_BYTES["bf16"] * half.bytes
