"""Over how many rows the target's passes go, and what batch that makes."""

from dataclasses import replace

import pytest

from tests.round_analyses import speculative
from traceattr.attribution.analysis import Analysis
from traceattr.attribution.target_rows import rows_of_graph
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
        ((ACT, 8, 64), (NORM, 4, 128)),
        ((ACT, 8, 64), (NORM, 8, 63)),
        ((ACT, 8, 64), (ACT, 16, 64), (NORM, 8, 128)),
        ((ACT, 8, 64),),
        ((NORM, 8, 128),),
        (),
    ],
    ids=["differ", "not in every layer", "of several widths", "no norm", "no activation", "none"],
)
def test_whatever_else_is_not_sure(grids: tuple[tuple[int, int, int], ...]) -> None:
    assert rows(*grids) is None


def analysis(rows: int | None, kind: str = "speculative") -> Analysis:
    made = speculative()
    changed = replace(made.rounds, target_rows=rows, kind=kind)  # type: ignore[arg-type]
    return replace(made, rounds=changed)


def batch(made: Analysis, known: Deployment) -> int | None:
    found = batch_from_trace(made, known)
    assert found.batch is None or found.batch.source == "trace"
    return None if found.batch is None else found.batch.value


def test_rows_are_those_of_all_draft_tokens_of_each_request() -> None:
    three = deployment_from_flags(draft_steps=3)

    assert batch(analysis(8), three) == 2
    assert batch(analysis(8, "decode"), deployment_from_flags(draft_steps=0)) == 8
    assert batch(analysis(64), deployment_from_flags(draft_topk=4, draft_tokens=32)) == 2


@pytest.mark.parametrize(
    ("rows", "known"),
    [
        (None, deployment_from_flags(draft_steps=3)),
        (6, deployment_from_flags(draft_steps=3)),
        (8, Deployment()),
        (8, deployment_from_flags(draft_steps=3, dp_attention=2)),
        (8, deployment_from_flags(draft_steps=3, draft_topk=2)),
    ],
    ids=["not sure", "no whole requests", "unknown drafts", "rows of one group", "unknown tree"],
)
def test_a_batch_that_is_not_sure_is_left_to_be_asked_for(
    rows: int | None, known: Deployment
) -> None:
    assert batch(analysis(rows), known) is None
