"""Rounds, phases and the steady window against what the simulator knows."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import median_low
from typing import Literal

import pytest

from tests.recordings import recorded
from traceattr.attribution.account import Account, open_account
from traceattr.attribution.analysis import Analysis
from traceattr.attribution.analyze import analyze
from traceattr.attribution.choice import Choice
from traceattr.attribution.labels import classify_kernels
from traceattr.attribution.piece_kinds import parse_graph_kinds
from traceattr.attribution.round_figures import Spread
from traceattr.attribution.stored import dump_analysis, load_analysis
from traceattr.errors import OptionError
from traceattr.ingest.trace import Trace, open_trace
from traceattr.rules.rule_set import load_rules
from traces import cases as simulated
from traces.description import Simulation
from traces.eras import ERAS
from traces.export_writer import ExportWriter
from traces.truth import GpuTruth, Truth

TOLERANCE_NS = 10_000

SERVERS = {
    # Start-up and tail are told from a steady part that is long enough.
    name: replace(case, rounds=8 if name.startswith("whole-recording") else min(case.rounds, 6))
    for name, case in simulated.CASES.items()
}
SERVERS["correlation 0, device 0 twice"] = Simulation(
    rounds=4, correlation_zero=True, same_device_id=True
)
SERVERS["no overlap"] = Simulation(rounds=4, round_program="decode_blocking")
SERVERS["prefill while a round ends"] = replace(
    simulated.CASES["prefill-pieces"], rounds=4, every=2
)
SERVERS["a pause"] = Simulation(rounds=8, every=4, between=("pause", "prefill"))
WHOLE_RECORDINGS = [name for name in SERVERS if name.startswith("whole-recording")]

CASES = [
    pytest.param(name, mode, id=f"{name}, {mode}") for name in SERVERS for mode in ("node", "graph")
]


Mode = Literal["node", "graph"]


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of a server, what was found of it, and all of its recording analysed."""

    truth: Truth
    accounts: list[Account]
    analysis: Analysis


@cache
def found(name: str, mode: Mode) -> Found:
    with opened(replace(SERVERS[name], mode=mode)) as (trace, truth):
        whole = Choice(window=(truth.start_ns, truth.end_ns))
        return Found(truth, accounts(trace), analyze(trace, load_rules(), whole))


@contextmanager
def opened(simulation: Simulation) -> Iterator[tuple[Trace, Truth]]:
    path, truth = recorded(simulation)
    with open_trace(path) as trace:
        yield trace, truth


def accounts(trace: Trace) -> list[Account]:
    names = classify_kernels(trace.connection, load_rules())
    return [open_account(trace.connection, gpu, names, {}) for gpu in trace.gpu_work.gpus]


def missing(account: Account, true: GpuTruth) -> list[tuple[str, int, int]]:
    """Return the true rounds that were not found with both ends within the tolerance."""
    found = [
        (str(kind), int(start), int(end))
        for kind, start, end in zip(
            account.rounds.kind, account.rounds.start_ns, account.rounds.end_ns, strict=True
        )
    ]
    return [
        (round_.kind, round_.start_ns, round_.end_ns)
        for round_ in true.rounds
        if not any(
            kind == round_.kind
            and abs(start - round_.start_ns) <= TOLERANCE_NS
            and abs(end - round_.end_ns) <= TOLERANCE_NS
            for kind, start, end in found
        )
    ]


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_every_round_is_found_on_every_rank(name: str, mode: Mode) -> None:
    server = found(name, mode)

    for account, true in zip(server.accounts, server.truth.gpus, strict=True):
        assert missing(account, true) == []


@pytest.mark.parametrize("era", ERAS)
def test_rounds_are_found_in_every_era(era: str) -> None:
    with opened(Simulation(rounds=3, era=era)) as (trace, truth):
        [first, second] = accounts(trace)

    assert missing(first, truth.gpus[0]) == missing(second, truth.gpus[1]) == []
    assert first.rounds.kind == second.rounds.kind == ("speculative",) * 3


def test_a_replay_inside_another_is_part_of_its_round(tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    with ExportWriter(path) as export:
        for begin, length, stream in (
            (1000, 400, 7),
            (2000, 400, 7),
            (2150, 40, 13),
            (3000, 400, 7),
        ):
            for node, at in ((1, begin), (2, begin + length - 30)):
                export.kernel(
                    "flash_fwd_splitkv",
                    at,
                    at + 30,
                    pid=1,
                    stream=stream,
                    correlation=begin,
                    graph=9,
                    node=node,
                )
    with open_trace(path) as trace:
        [account] = accounts(trace)

    assert account.rounds.start_ns.tolist() == [1000, 2000, 3000]
    assert account.rounds.end_ns.tolist() == [1400, 2400, 3400]


@pytest.mark.parametrize("name", [name for name in SERVERS if name not in WHOLE_RECORDINGS])
def test_draft_work_is_told_from_target_work(name: str) -> None:
    server = found(name, "node")

    for time, true in zip(server.analysis.per_gpu, server.truth.gpus, strict=True):
        mine: Counter[str] = Counter()
        for row in time.categories:
            if row.phase == "draft":
                mine[row.category] += row.exclusive_ns
        theirs: Counter[str] = Counter()
        for phase in ("draft", "draft_extend", "draft_prefill"):
            for category, amount in true.phases.get(phase, {}).items():
                theirs[category] += amount.exclusive_ns
        # The truth takes the softmax and top-k that follow a draft pass eagerly for other work.
        assert mine.pop("sampling", 0) >= theirs.pop("sampling", 0)
        assert mine == theirs


@pytest.mark.parametrize("name", [name for name in SERVERS if name not in WHOLE_RECORDINGS])
def test_what_only_a_model_runs_is_exactly_of_its_phase(name: str) -> None:
    server = found(name, "node")

    for time, true in zip(server.analysis.per_gpu, server.truth.gpus, strict=True):
        mine: Counter[tuple[str | None, str]] = Counter()
        for row in time.categories:
            mine[row.phase, row.category] += row.exclusive_ns
        theirs: Counter[tuple[str | None, str]] = Counter()
        for phase, categories in true.phases.items():
            for category, amount in categories.items():
                theirs["draft" if phase.startswith("draft") else phase, category] += (
                    amount.exclusive_ns
                )
        for key in mine.keys() | theirs.keys():
            if key[1] in ("weight_gemm", "moe_gemm", "attention", "gdn", "comm"):
                assert mine[key] == theirs[key], key


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_the_parts_of_every_round_sum_to_it(name: str, mode: Mode) -> None:
    for series in found(name, mode).analysis.series:
        parts = [group.ns for group in series.groups if group.ns is not None]
        assert tuple(map(sum, zip(*parts, strict=True))) == series.wall_ns


@pytest.mark.parametrize("name", SERVERS)
def test_spreads_are_those_of_the_rounds_one_by_one(name: str) -> None:
    analysis = found(name, "node").analysis

    for time, gaps, series in zip(analysis.per_gpu, analysis.gaps, analysis.series, strict=True):
        assert {(one.category, one.phase): spread_of(one.ns) for one in series.categories} == {
            (one.category, one.phase): one.spread for one in time.category_rounds
        }
        assert {one.name: spread_of(one.ns) for one in series.groups} == {
            one.group: one.spread for one in time.per_round
        }
        assert {
            one.name: mean_of(one.ns[series.seams_from :]) for one in series.seams if one.ns
        } == {one.seam: one.per_round_ns for one in gaps.seams if one.rounds_with}
        groups = [one.ns for one in series.groups if one.ns]
        assert tuple(map(sum, zip(*groups, strict=True))) == series.wall_ns
    assert spread_of(analysis.series[0].wall_ns) == analysis.rounds.wall


def spread_of(values: Sequence[int] | None) -> Spread | None:
    """Return order statistics as the standard library has them."""
    if values is None:
        return None
    ordered = sorted(values)
    p99 = ordered[math.ceil(0.99 * len(ordered)) - 1]
    return Spread(median_low(ordered), p99, mean_of(ordered), ordered[0], ordered[-1])


def mean_of(values: Sequence[int]) -> int:
    return round(sum(values) / len(values))


@pytest.mark.parametrize(("name", "mode"), [*CASES[::2], pytest.param("spec-v1", "graph", id="g")])
def test_an_analysis_is_the_same_when_it_is_read_back(name: str, mode: Mode) -> None:
    analysis = found(name, mode).analysis

    assert load_analysis(dump_analysis(analysis)) == analysis


@pytest.mark.parametrize("mode", ["node", "graph"])
@pytest.mark.parametrize("name", WHOLE_RECORDINGS)
def test_start_up_and_tail_are_cut_and_said_to_be(name: str, mode: Mode) -> None:
    with opened(replace(SERVERS[name], mode=mode)) as (trace, truth):
        analysis = analyze(trace, load_rules())

    steady = [round_ for gpu in truth.gpus for round_ in gpu.rounds]
    assert analysis.window.start_ns == pytest.approx(
        min(round_.start_ns for round_ in steady), abs=TOLERANCE_NS
    )
    assert analysis.window.end_ns == pytest.approx(
        max(round_.end_ns for round_ in steady), abs=TOLERANCE_NS
    )
    assert len(analysis.rounds.cut) == 2
    assert (analysis.rounds.count, analysis.rounds.prefills) == (8, 1)


def test_a_pause_is_no_host_gap() -> None:
    with opened(SERVERS["a pause"]) as (trace, _):
        analysis = analyze(trace, load_rules())

    for time in analysis.per_gpu:
        assert time.idle.no_work_ns > 500_000_000
        host_ns = time.idle.between_graph_ns + time.idle.other_ns - time.idle.no_work_ns
        assert host_ns < 50_000_000


def test_a_trace_of_rounds_alone_is_reported_whole() -> None:
    _, truth = recorded(Simulation(rounds=4))

    analysis = speculative()

    assert (analysis.window.start_ns, analysis.window.end_ns) == (truth.start_ns, truth.end_ns)
    assert analysis.rounds.cut == ()


@cache
def speculative() -> Analysis:
    with opened(Simulation(rounds=4)) as (trace, _):
        return analyze(trace, load_rules())


def test_figures_per_round_sum_to_the_round() -> None:
    """Means add up; medians and percentiles of parts need not."""
    analysis = speculative()

    for time in analysis.per_gpu:
        means = [entry.spread.mean for entry in time.per_round if entry.spread]
        assert len(means) == len(time.per_round)
    first = [entry.spread.mean for entry in analysis.per_gpu[0].per_round if entry.spread]
    assert analysis.rounds.wall is not None
    assert sum(first) == pytest.approx(analysis.rounds.wall.mean, abs=len(first))


def test_a_round_replays_each_graph_once() -> None:
    analysis = speculative()

    assert analysis.rounds.kind == "speculative"
    assert dict(analysis.rounds.replays_per_round) == {
        "draft": 1.0,
        "draft_extend": 1.0,
        "verify": 1.0,
    }
    assert {family.kind: family.confidence for family in analysis.rounds.graphs} == {
        "draft": "high",
        "draft_extend": "high",
        "verify": "high",
    }


def test_rounds_can_be_chosen_by_number() -> None:
    with opened(Simulation(rounds=4)) as (trace, _):
        part = analyze(trace, load_rules(), Choice(rounds=(1, 3)))

    assert part.rounds.count == 2
    assert part.window.why == "rounds 1:3"
    whole = speculative().rounds.wall
    assert whole is not None
    assert part.window.wall_ns == pytest.approx(2 * whole.mean, rel=0.01)


def test_rounds_that_are_not_there_are_an_error() -> None:
    with (
        opened(Simulation(rounds=4)) as (trace, _),
        pytest.raises(OptionError, match=r"rounds 0:4"),
    ):
        analyze(trace, load_rules(), Choice(rounds=(2, 9)))


def test_the_user_knows_better_what_a_graph_is_for() -> None:
    [draft] = [f for f in speculative().rounds.graphs if f.kind == "draft" and f.gpu == 0]
    with opened(Simulation(rounds=4)) as (trace, _):
        given = parse_graph_kinds([f"{draft.graph_ids[0]}=other"])
        analysis = analyze(trace, load_rules(), Choice(graph_kinds=given))

    [family] = [f for f in analysis.rounds.graphs if f.gpu == 0 and f.graph_ids == draft.graph_ids]
    assert (family.kind, family.evidence) == ("other", "given with --graph-kind")


@pytest.mark.parametrize("text", ["17", "17=", "x=draft", "17=prefill", "17=nonsense"])
def test_what_is_no_graph_kind_is_an_error_that_lists_them(text: str) -> None:
    with pytest.raises(OptionError, match="draft_extend"):
        parse_graph_kinds([text])
