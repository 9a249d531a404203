"""Over how many rows the passes of a round go, and what batch that makes."""

from dataclasses import replace

import pytest

from tests.round_analyses import speculative
from traceattr.attribution.analysis import Analysis
from traceattr.attribution.pass_rows import rows_of_graph
from traceattr.ingest.grids import GraphGrid
from traceattr.report.comparison_inputs import batch_from_trace
from traceattr.roofline.deployment import Deployment, deployment_from_flags
from traceattr.rules.rule import Classification

KINDS = (
    Classification("activation", "act_and_mul", "activation"),
    Classification("norm", "norm", "norm"),
    Classification("weight_gemm", None, "gemm"),
    Classification("activation", "aten", "aten-activation"),
)
ACT, NORM, GEMM, SIGMOID = range(4)


def rows(*grids: tuple[int, int, int]) -> int | None:
    """Return the rows of a graph with kernels of (name, width, runs)."""
    return rows_of_graph([GraphGrid(0, 17, *grid) for grid in grids], KINDS)


def test_activations_and_norms_that_agree_are_rows() -> None:
    assert rows((ACT, 8, 64), (NORM, 8, 128), (NORM, 96, 32), (GEMM, 80, 64), (SIGMOID, 3, 9)) == 8


@pytest.mark.parametrize(
    "grids",
    [
        ((ACT, 8, 64), (NORM, 4, 128), (GEMM, 80, 64)),
        ((ACT, 8, 64), (NORM, 8, 63), (GEMM, 80, 64)),
        ((ACT, 8, 64), (ACT, 16, 64), (NORM, 8, 128), (GEMM, 80, 64)),
        ((ACT, 8, 64), (GEMM, 80, 64)),
        ((NORM, 8, 128), (GEMM, 80, 64)),
        ((ACT, 84, 64), (NORM, 84, 128), (GEMM, 84, 64)),
        (),
    ],
    ids=[
        *("differ", "not in every layer", "of several widths", "no norm", "no activation"),
        *("all alike", "none"),
    ],
)
def test_whatever_else_is_not_sure(grids: tuple[tuple[int, int, int], ...]) -> None:
    assert rows(*grids) is None


def batch(known: Deployment, target: int | None = None, **drafts: int) -> int | None:
    """Return the batch of a trace whose target and drafts go over so many rows."""
    made = speculative()
    rows = replace(made.rounds, target_rows=target, draft_rows=tuple(drafts.items()))
    return shown(replace(made, rounds=rows), known)


def shown(made: Analysis, known: Deployment) -> int | None:
    found = batch_from_trace(made, known)
    assert found.batch is None or found.batch.source == "trace"
    return None if found.batch is None else found.batch.value


THREE = deployment_from_flags(draft_steps=3)
TREE = deployment_from_flags(draft_steps=3, draft_topk=4, draft_tokens=16)


def test_a_decode_pass_has_a_row_of_each_request() -> None:
    made = speculative()
    decoding = replace(made, rounds=replace(made.rounds, kind="decode", target_rows=8))

    assert shown(decoding, deployment_from_flags(draft_steps=0)) == 8


def test_a_round_has_rows_for_every_draft_token_and_branch() -> None:
    assert batch(THREE, 8, draft=2, draft_extend=8) == 2
    assert batch(deployment_from_flags(draft_steps=1), 4, draft_extend=4) == 2
    assert batch(TREE, 32, draft=8, draft_extend=8) == 2


@pytest.mark.parametrize(
    ("known", "target", "drafts"),
    [
        (THREE, None, {"draft": 2, "draft_extend": 8}),
        (THREE, 8, {"draft": 2}),
        (THREE, 16, {"draft": 4, "draft_extend": 4}),
        (THREE, 8, {"draft": 8, "draft_extend": 8}),
        (THREE, 6, {"draft": 2, "draft_extend": 6}),
        (THREE, 0, {"draft": 0, "draft_extend": 0}),
        (Deployment(), 8, {"draft": 2, "draft_extend": 8}),
        (
            deployment_from_flags(draft_steps=3, dp_attention=2),
            8,
            {"draft": 2, "draft_extend": 8},
        ),
    ],
    ids=[
        *("nothing", "eager extension", "a tree that nobody mentions", "odd drafts"),
        *("no whole requests", "no rows", "unknown drafts", "rows of one group"),
    ],
)
def test_a_batch_that_is_not_sure_is_left_to_be_asked_for(
    known: Deployment, target: int | None, drafts: dict[str, int]
) -> None:
    assert batch(known, target, **drafts) is None
