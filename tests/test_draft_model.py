"""Drafts that are checkpoints of their own, and trees of drafts."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from traceattr.cli import app
from traceattr.errors import DeploymentError, TraceattrError
from traceattr.roofline.deployment import deployment_from_flags, deployment_from_server_args
from traceattr.roofline.hardware import load_gpus
from traceattr.roofline.memory import resident_bytes
from traceattr.roofline.roofline import Roofline, build_roofline
from traceattr.roofline.work import Term

HEAD: dict[str, Any] = {
    "architectures": ["LlamaForCausalLMEagle3"],
    "model_type": "llama",
    "draft_vocab_size": 32000,
    "vocab_size": 128256,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 1,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
"""The head of Llama-3.1-8B, as SGLang's documentation uses it."""

GPUS = load_gpus()


def head(folder: Path, **changes: Any) -> str:
    (folder / "config.json").write_text(json.dumps(HEAD | changes), encoding="utf-8")
    return str(folder)


def roofline(model: str = "Llama-3.1-8B", **flags: Any) -> Roofline:
    known = {"gpu": "H100_SXM", "batch": 2, "context": 1000, "draft_steps": 5, **flags}
    return build_roofline(deployment_from_flags(model=model, **known), GPUS, version="test")


def terms(found: Roofline, stage: str, category: str) -> dict[str, Term]:
    entries = found.prediction.categories
    of_category = (term for e in entries if e.category == category for term in e.terms)
    return {term.part: term for term in of_category if term.stage == stage}


def test_an_eagle3_head_has_its_own_vocabulary_and_sees_the_embedding_too(tmp_path: Path) -> None:
    found = roofline(draft_model=head(tmp_path))

    drafts = terms(found, "draft", "weight_gemm")
    extend = terms(found, "draft_extend", "weight_gemm")
    activations = 2 * 2 * (2 * 4096 + 6144)
    assert drafts["qkv_proj"].bytes == 2 * 4096 * 6144 * 2 + activations
    assert drafts["lm_head"].bytes == 32000 * 4096 * 2 + 2 * (4096 + 32000) * 2
    assert drafts["lm_head"].count == 4
    assert "fc" not in drafts
    assert extend["fc"].bytes == 3 * 4096 * 4096 * 2 + 12 * 4 * 4096 * 2
    assert terms(found, "draft", "sampling")["largest logit"].bytes == 2 * 2 * 32000 * 4


def test_a_head_is_kept_in_memory(tmp_path: Path) -> None:
    with_head, without = roofline(draft_model=head(tmp_path)), roofline(draft_steps=0)

    draft = with_head.model.draft
    assert draft is not None
    weights = (*draft.layers[0].weights, *draft.around_layers)
    own = sum(weight.bytes for weight in weights)
    cache = 2 * 1000 * 2 * 8 * 128 * 2
    assert resident_bytes(with_head.model, with_head.setup) == (
        resident_bytes(without.model, without.setup) + own + cache
    )
    assert [weight.name for weight in draft.around_layers] == ["lm_head", "fc"]


def test_a_small_model_drafts_with_all_its_layers() -> None:
    found = roofline("Llama-3.1-70B", draft_model="Llama-3.1-8B", tp=8)

    assert terms(found, "draft", "attention")["attention"].count == 4 * 32
    assert "fc" not in terms(found, "draft_extend", "weight_gemm")


def test_a_tree_has_branches_in_drafts_and_nodes_in_verify(tmp_path: Path) -> None:
    found = roofline(draft_model=head(tmp_path), draft_topk=8, draft_tokens=64)

    rows = {stage: terms(found, stage, "sampling")["largest logit"].bytes for stage in STAGES}
    assert rows["verify"] == 2 * 2 * 64 * 128256 * 4
    assert rows["draft"] == 2 * 2 * 8 * 32000 * 4
    assert rows["draft_extend"] == 2 * 2 * 32000 * 4
    extended = terms(found, "draft_extend", "weight_gemm")["down_proj"]
    assert extended.flop == 2 * (2 * 6) * 14336 * 4096


STAGES = ("verify", "draft", "draft_extend")


def test_states_of_a_tree_are_read_once_more_per_row() -> None:
    chain = roofline("Qwen3.6-27B", draft_steps=3, draft_tokens=4, batch=1)
    tree = roofline("Qwen3.6-27B", draft_steps=3, draft_topk=2, draft_tokens=4, batch=1)

    state = 48 * 128 * 128 * 4
    moved = [terms(found, "verify", "gdn")["recurrence"].bytes for found in (chain, tree)]
    assert moved[1] - moved[0] == 4 * state


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"draft_steps": 0}, "draft_model {name} without draft_steps (expected --draft-steps)"),
        ({"draft_topk": 4}, "not known: draft_tokens, the nodes of a tree with draft_topk 4"),
        ({"draft_topk": 2, "draft_tokens": 99}, "draft_tokens 99 (flag) of a tree of 19 nodes"),
        ({"accept_length": 7, "draft_topk": 8, "draft_tokens": 64}, "is above the 6 tokens"),
        ({"draft_vocab": 9}, "has an output projection of its own"),
        ({"model": "Llama-3.1-70B"}, "hidden states of 4096, and those of Llama-3.1-70B have 8192"),
    ],
)
def test_a_draft_that_makes_no_sense_is_named(
    tmp_path: Path, flags: dict[str, Any], message: str
) -> None:
    with pytest.raises(TraceattrError) as caught:
        roofline(**{"draft_model": head(tmp_path), **flags})

    assert message.format(name=tmp_path.name) in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_hidden_layers": 2}, "2 layers (expected an EAGLE3 head of one layer)"),
        ({"draft_vocab_size": 0}, "field 'draft_vocab_size' is 0 (expected an integer of at lea"),
        (
            {"architectures": ["LlamaForCausalLMEagle"], "draft_vocab_size": None},
            "a draft of architecture LlamaForCausalLMEagle (expected an EAGLE3 head or a whole m",
        ),
        (
            {"architectures": ["LlamaForCausalLM"], "draft_vocab_size": None, "vocab_size": 9},
            "a vocabulary of 9, and that of Llama-3.1-8B is 128256",
        ),
        ({"hidden_size": None}, "field 'hidden_size' is missing"),
    ],
)
def test_a_config_that_is_no_draft_is_named(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(TraceattrError) as caught:
        roofline(draft_model=head(tmp_path, **changes))

    assert str(caught.value).startswith(str(tmp_path))
    assert message in str(caught.value)


def test_without_a_draft_layer_a_head_is_asked_for() -> None:
    with pytest.raises(DeploymentError, match="expected 0, or the --draft-model of an EAGLE3 head"):
        roofline()


def test_the_server_names_heads_and_trees() -> None:
    arguments = {
        "tp_size": 1,
        "speculative_algorithm": "EAGLE3",
        "speculative_draft_model_path": "org/head",
        "speculative_num_steps": 5,
        "speculative_eagle_topk": 8,
        "speculative_num_draft_tokens": 64,
    }
    own = {**arguments, "speculative_algorithm": "NEXTN", "speculative_eagle_topk": 1}

    said = deployment_from_server_args(json.dumps(arguments))
    of_model = deployment_from_server_args(json.dumps(own))

    assert said.draft_model is not None
    assert said.draft_topk is not None
    assert (said.draft_model.value, said.draft_topk.value) == ("org/head", 8)
    assert of_model.draft_model is None


def test_a_draft_can_be_given_on_the_command_line(tmp_path: Path) -> None:
    result: Result = CliRunner().invoke(
        app,
        [
            *("roofline", "--model", "Llama-3.1-8B", "--gpu", "H100_SXM", "--batch", "1"),
            *("--context", "1000", "--draft-steps", "5", "--draft-topk", "8"),
            *("--draft-tokens", "64", "--draft-model", head(tmp_path), "--format", "json"),
            *("--what-if", "draft_steps=0"),
        ],
    )

    assert (result.exit_code, result.stderr) == (0, "")
    found = json.loads(result.stdout)
    assert found["inputs"]["draft_model"] == {"value": str(tmp_path), "from": "flag"}
    assert found["what_if"][0]["changes"] == {"draft_steps": 0}
