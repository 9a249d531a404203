"""Conditions on a diff that fail a build."""

from dataclasses import replace

import pytest

from tests.diffs import More, base, diff, head
from traceattr.attribution.analysis import RulesId
from traceattr.errors import OptionError
from traceattr.report.diff.diff import compare_analyses
from traceattr.report.diff.gates import Outcome, judge, parse_gates
from traceattr.report.diff.parts import ROUND, Part, PartKind

SLOWER: More = {"target/weight_gemm": 160_000, "seam:verify->draft_extend": 60_000}


@pytest.mark.parametrize(
    ("text", "part", "limit"),
    [
        ("round>1%", ROUND, 0.01),
        ("weight_gemm>2%", Part(PartKind.CATEGORY, "weight_gemm"), 0.02),
        ("weight GEMM > 2.5 %", Part(PartKind.GROUP, "weight GEMM"), 0.025),
        ("draft>100us", Part(PartKind.GROUP, "draft"), 100_000),
        ("target>0.5ms", Part(PartKind.PHASE, "target"), 500_000),
        ("draft/weight_gemm>2%", Part(PartKind.CATEGORY, "weight_gemm", "draft"), 0.02),
        ("graph_launches>0", Part(PartKind.LAUNCHES, "graph_launches"), 0),
        ("eager_launches>10%", Part(PartKind.LAUNCHES, "eager_launches"), 0.1),
        ("host gaps>1%", Part(PartKind.GROUP, "host gaps"), 0.01),
        ("Host_Gaps>1%", Part(PartKind.GROUP, "host gaps"), 0.01),
        ("in_graph_gaps>1%", Part(PartKind.GROUP, "in-graph gaps"), 0.01),
        ("weight_GEMM>1%", Part(PartKind.GROUP, "weight GEMM"), 0.01),
        ("verify->draft_extend>1ms", Part(PartKind.SEAM, "verify->draft_extend"), 1_000_000),
        (
            "seam:verify->draft_extend>20us",
            Part(PartKind.SEAM, "verify->draft_extend"),
            20_000,
        ),
    ],
)
def test_a_gate_names_a_part_and_a_limit(text: str, part: Part, limit: float) -> None:
    [gate] = parse_gates([text])

    assert gate.part == part
    assert gate.limit == pytest.approx(limit)
    assert gate.is_share == ("%" in text)


@pytest.mark.parametrize(
    "text", ["", "round", "round>", "round>1", "graph_launches>1us", "round>=1%", "round<1%", ">1%"]
)
def test_what_is_no_gate_is_one_line_with_an_example(text: str) -> None:
    with pytest.raises(OptionError, match=r"^--fail-on .*: not a gate \(expected NAME>LIMIT .*\)$"):
        parse_gates([text])


@pytest.mark.parametrize("name", ["gemm", "foo/weight_gemm", "draft/foo", "seam:"])
def test_an_unknown_name_is_one_line_with_all_that_are_known(name: str) -> None:
    with pytest.raises(OptionError, match=r"no part of a round \(expected one of round, weight GE"):
        parse_gates([f"{name}>1%"])


@pytest.mark.parametrize(
    ("text", "outcome", "why"),
    [
        ("round>1%", Outcome.FAILED, "beyond the limit and beyond noise"),
        ("round>3%", Outcome.PASSED, "within the limit"),
        ("weight_gemm>2%", Outcome.FAILED, "+160.0 us (+2.5 %), noise 19.9 us: beyond"),
        ("seam:verify->draft_extend>20us", Outcome.FAILED, "+60.0 us (+19.9 %)"),
        ("seam:draft->verify>0us", Outcome.PASSED, "within the limit"),
        ("moe_gemm>1%", Outcome.PASSED, "neither trace spends any time in it"),
        ("seam:decode->decode>1us", Outcome.NOT_JUDGED, "no such seam in the rounds of either"),
    ],
)
def test_gates_fail_beyond_limit_and_noise_only(text: str, outcome: Outcome, why: str) -> None:
    [judgement] = judge(parse_gates([text]), diff(SLOWER))

    assert judgement.outcome is outcome
    assert why in judgement.why


def test_a_change_beyond_the_limit_but_within_noise_passes_and_says_so() -> None:
    found = diff({"target/weight_gemm": 8_000})

    [judgement] = judge(parse_gates(["weight_gemm>0.1%"]), found)

    assert judgement.outcome is Outcome.PASSED
    assert judgement.why.endswith("beyond the limit, but within noise; record more rounds")


def test_a_limit_below_noise_says_how_much_would_be_needed() -> None:
    [judgement] = judge(parse_gates(["weight_gemm>1us"]), diff())

    assert judgement.outcome is Outcome.PASSED
    assert judgement.why.endswith(
        "within the limit; as noise is, more than +19.7 us would be needed to fail"
    )


def test_a_faster_part_fails_no_gate() -> None:
    [judgement] = judge(parse_gates(["round>0%"]), diff({"target/weight_gemm": -500_000}))

    assert judgement.outcome is Outcome.PASSED


def test_what_cannot_be_compared_cannot_be_judged() -> None:
    gates = parse_gates(["round>1%", "weight_gemm>1%", "moe_gemm>1%"])
    few = compare_analyses(base(), head(SLOWER, rounds=5))
    other_rules = compare_analyses(base(), replace(head(SLOWER), rules=RulesId("mine", "f" * 64)))

    assert [one.outcome for one in judge(gates[:2], few)] == [Outcome.NOT_JUDGED] * 2
    assert [one.outcome for one in judge(gates, other_rules)] == [
        Outcome.FAILED,
        Outcome.NOT_JUDGED,
        Outcome.NOT_JUDGED,
    ]


@pytest.mark.parametrize(
    ("text", "more", "outcome", "why"),
    [
        ("graph_launches>0", 1, Outcome.FAILED, "3 before and 4 after per round: beyond the limit"),
        ("graph_launches>1", 1, Outcome.PASSED, "3 before and 4 after per round: within the limit"),
        ("graph_launches>40%", 1, Outcome.PASSED, "within the limit"),
        ("graph_launches>0", 0, Outcome.PASSED, "3 before and 3 after per round"),
        ("graph_launches>0", None, Outcome.NOT_JUDGED, "a trace does not show it"),
    ],
)
def test_launches_are_counted(text: str, more: int | None, outcome: Outcome, why: str) -> None:
    after = head()
    gaps = tuple(
        replace(
            one,
            launches=()
            if more is None
            else tuple(
                replace(launch, graph_launches=launch.graph_launches + more)
                for launch in one.launches
            ),
        )
        for one in after.gaps
    )

    [judgement] = judge(parse_gates([text]), compare_analyses(base(), replace(after, gaps=gaps)))

    assert judgement.outcome is outcome
    assert why in judgement.why
