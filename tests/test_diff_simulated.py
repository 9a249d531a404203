"""Diffs of simulated servers that differ in one thing, which is all that may be found."""

from dataclasses import replace
from functools import cache
from itertools import combinations

import pytest

from tests.served_pairs import (
    ACT_DOWN,
    FUSED,
    SLOWER_GEMMS,
    SMALLEST,
    after,
    analysed,
    before,
    rewritten,
)
from traceattr.attribution.analysis import Analysis
from traceattr.report.diff.diff import Diff, compare_analyses
from traceattr.report.diff.graphs import EditKind
from traceattr.report.diff.parts import ROUND, PartKind
from traceattr.report.diff.sentences import changed_parts
from traceattr.report.diff.verdicts import Verdict


def changed(diff: Diff) -> dict[str, Verdict]:
    return {one.part.label: one.verdict for one in changed_parts(diff)}


def compared(head: Analysis) -> Diff:
    return compare_analyses(before(), head)


def test_a_longer_seam_is_found_and_nothing_else() -> None:
    diff = compared(after(seam_delays_ns={"verify->draft_extend": 60_000}))

    assert changed(diff) == {"seam:verify->draft_extend": Verdict.SLOWER}
    [seam] = changed_parts(diff)
    assert seam.difference_ns == pytest.approx(60_000, abs=seam.noise_ns)
    totals = {one.part.label for one in diff.changes if one.is_changed} - set(changed(diff))
    assert totals <= {"host gaps", "round"}


@cache
def slower_gemms() -> Analysis:
    return after(workload=rewritten(SLOWER_GEMMS))


def test_slower_gemms_are_found_in_each_phase_and_nothing_else() -> None:
    diff = compared(slower_gemms())

    assert changed(diff) == {
        "target/weight_gemm": Verdict.SLOWER,
        "draft/weight_gemm": Verdict.SLOWER,
    }
    [gemms] = [one for one in diff.changes if one.part.label == "weight_gemm"]
    assert gemms.difference_ns == pytest.approx(0.03 * (gemms.before_ns or 0), rel=0.15)


def test_the_other_way_round_the_same_is_faster() -> None:
    diff = compare_analyses(slower_gemms(), before())

    assert set(changed(diff).values()) == {Verdict.FASTER}


def test_other_seeds_of_the_same_server_differ_in_nothing() -> None:
    analyses = [analysed(replace(SMALLEST, seed=seed)) for seed in range(7)]

    pairs = [compare_analyses(*pair) for pair in combinations(analyses, 2)]

    assert len(pairs) == 21
    assert [changed for diff in pairs for changed in diff.changes if changed.is_changed] == []


def test_few_rounds_and_many_are_compared_per_round() -> None:
    diff = compared(after(rounds=80))

    assert diff.rounds == (28, 78)
    assert changed(diff) == {}
    whole = diff.change(ROUND)
    assert whole is not None
    assert (whole.verdict, whole.reason) == (Verdict.SAME, None)


def test_of_graphs_traced_in_two_ways_rounds_and_gaps_are_compared_and_categories_are_not() -> None:
    diff = compared(after(mode="graph"))

    by_kind = {kind: {one.verdict for one in diff.of_kind(kind)} for kind in PartKind}
    assert by_kind[PartKind.ROUND] == {Verdict.SAME}
    assert by_kind[PartKind.SEAM] == {Verdict.SAME}
    assert by_kind[PartKind.CATEGORY] == by_kind[PartKind.PHASE] == {Verdict.CANNOT_TELL}
    groups = {one.part.name: one for one in diff.of_kind(PartKind.GROUP)}
    assert groups["host gaps"].verdict is Verdict.SAME
    assert groups["weight GEMM"].after_ns is None
    assert "traced in other ways (node against graph)" in (groups["weight GEMM"].reason or "")


def test_kernels_that_are_gone_or_fused_are_found_once_for_all_layers() -> None:
    workload = rewritten(FUSED, ("\n[sequence]", ACT_DOWN))

    diff = compared(after(workload=workload))

    [verify] = [graph for graph in diff.graphs if graph.kind == "verify"]
    found = {(edit.kind, edit.times, len(edit.before), len(edit.after)) for edit in verify.edits}
    assert found == {(EditKind.REMOVED, 32, 1, 0), (EditKind.FUSED, 32, 2, 1)}
    assert verify.kernels_before == (verify.kernels_after or 0) + 64
    total = sum(edit.difference_ns for edit in verify.edits)
    kept = verify.kept_after_ns - verify.kept_before_ns
    assert total + kept == (verify.after_ns or 0) - (verify.before_ns or 0)
