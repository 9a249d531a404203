"""Rounds, phases and the steady window against what the simulator knows."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from traceattr.attribution.account import Account, open_account
from traceattr.attribution.analysis import Analysis
from traceattr.attribution.analyze import analyze
from traceattr.attribution.kinds import parse_graph_kinds
from traceattr.attribution.labels import classify_kernels
from traceattr.errors import OptionError
from traceattr.ingest.trace import Trace, open_trace
from traceattr.rules.rule_set import load_rules
from traces.description import Simulation
from traces.eras import ERAS
from traces.simulate import simulate
from traces.truth import GpuTruth, Truth

TOLERANCE_NS = 10_000

SERVERS = {
    "v1": Simulation(rounds=4),
    "v1, correlation 0, device 0 twice": Simulation(
        rounds=4, correlation_zero=True, same_device_id=True
    ),
    "v2 with eager extension": Simulation(rounds=4, round_program="round_v2"),
    "v2 with extension graph": Simulation(rounds=4, round_program="round_v2_graph"),
    "no speculation": Simulation(rounds=4, round_program="decode"),
    "no speculation, no overlap": Simulation(rounds=4, round_program="decode_blocking"),
    "v1 with prefills": Simulation(rounds=6, every=3, before=("prefill",)),
    "v2 with prefills": Simulation(rounds=6, every=3, round_program="round_v2"),
    "decode with prefills": Simulation(
        rounds=6, every=3, round_program="decode", between=("prefill_target_only",)
    ),
    "decode with piecewise prefills": Simulation(
        rounds=6, every=3, round_program="decode", between=("prefill_pieces",)
    ),
    "two batch sizes": Simulation(rounds=3, then=("round_bs2",)),
    "start-up and tail": Simulation(
        rounds=8, before=("load", "capture", "prefill"), after=("tail",)
    ),
    "start-up and tail without speculation": Simulation(
        rounds=8,
        round_program="decode",
        before=("load", "capture_decode", "prefill_target_only"),
        after=("tail",),
    ),
    "a pause": Simulation(rounds=8, every=4, between=("pause", "prefill")),
}

CASES = [
    pytest.param(simulation, mode, id=f"{name}, {mode}")
    for name, simulation in SERVERS.items()
    for mode in ("node", "graph")
]


@contextmanager
def recorded(simulation: Simulation, folder: Path) -> Iterator[tuple[Trace, Truth]]:
    path = folder / "trace.sqlite"
    truth = simulate(simulation, path)
    with open_trace(path) as trace:
        yield trace, truth


def in_mode(simulation: Simulation, mode: Literal["node", "graph"]) -> Simulation:
    return replace(simulation, mode=mode)


def accounts(trace: Trace) -> list[Account]:
    names = classify_kernels(trace.connection, load_rules())
    return [open_account(trace.connection, gpu.gpu_id, names, {}) for gpu in trace.gpus]


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


@pytest.mark.parametrize(("simulation", "mode"), CASES)
def test_every_round_is_found_on_every_rank(
    simulation: Simulation, mode: Literal["node", "graph"], tmp_path: Path
) -> None:
    with recorded(in_mode(simulation, mode), tmp_path) as (trace, truth):
        for account, true in zip(accounts(trace), truth.gpus, strict=True):
            assert missing(account, true) == []


@pytest.mark.parametrize("era", ERAS)
def test_rounds_are_found_in_every_era(era: str, tmp_path: Path) -> None:
    with recorded(Simulation(rounds=3, era=era), tmp_path) as (trace, truth):
        [first, second] = accounts(trace)

    assert missing(first, truth.gpus[0]) == missing(second, truth.gpus[1]) == []
    assert first.rounds.kind == second.rounds.kind == ("speculative",) * 3


@pytest.mark.parametrize("name", [name for name in SERVERS if "start-up" not in name])
def test_draft_work_is_told_from_target_work(name: str, tmp_path: Path) -> None:
    with recorded(SERVERS[name], tmp_path) as (trace, truth):
        analysis = analyze(trace, load_rules(), window=(truth.start_ns, truth.end_ns))

    for time, true in zip(analysis.per_gpu, truth.gpus, strict=True):
        mine: defaultdict[str | None, int] = defaultdict(int)
        for row in time.categories:
            mine[row.phase] += row.exclusive_ns
        draft = sum(
            amount.exclusive_ns
            for phase in ("draft", "draft_extend", "draft_prefill")
            for amount in true.phases.get(phase, {}).values()
        )
        assert mine["draft"] == pytest.approx(draft, rel=0.005)


@pytest.mark.parametrize("mode", ["node", "graph"])
@pytest.mark.parametrize("name", ["start-up and tail", "start-up and tail without speculation"])
def test_start_up_and_tail_are_cut_and_said_to_be(
    name: str, mode: Literal["node", "graph"], tmp_path: Path
) -> None:
    with recorded(in_mode(SERVERS[name], mode), tmp_path) as (trace, truth):
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


def test_a_pause_is_no_host_gap(tmp_path: Path) -> None:
    with recorded(SERVERS["a pause"], tmp_path) as (trace, _):
        analysis = analyze(trace, load_rules())

    for time in analysis.per_gpu:
        assert time.idle.no_work_ns > 500_000_000
        host_ns = time.idle.between_graph_ns + time.idle.other_ns - time.idle.no_work_ns
        assert host_ns < 50_000_000


def test_a_trace_of_rounds_alone_is_reported_whole(tmp_path: Path) -> None:
    with recorded(SERVERS["v1"], tmp_path) as (trace, truth):
        analysis = analyze(trace, load_rules())

    assert (analysis.window.start_ns, analysis.window.end_ns) == (truth.start_ns, truth.end_ns)
    assert analysis.rounds.cut == ()


def speculative(tmp_path: Path) -> Analysis:
    with recorded(Simulation(rounds=4), tmp_path) as (trace, _):
        return analyze(trace, load_rules())


def test_figures_per_round_sum_to_the_round(tmp_path: Path) -> None:
    """Means add up; medians and percentiles of parts need not."""
    analysis = speculative(tmp_path)

    for time in analysis.per_gpu:
        means = [entry.spread.mean for entry in time.per_round if entry.spread]
        assert len(means) == len(time.per_round)
    first = [entry.spread.mean for entry in analysis.per_gpu[0].per_round if entry.spread]
    assert analysis.rounds.wall is not None
    assert sum(first) == pytest.approx(analysis.rounds.wall.mean, abs=len(first))


def test_a_round_replays_each_graph_once(tmp_path: Path) -> None:
    analysis = speculative(tmp_path)

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


def test_rounds_can_be_chosen_by_number(tmp_path: Path) -> None:
    with recorded(Simulation(rounds=4), tmp_path) as (trace, _):
        whole = analyze(trace, load_rules())
        part = analyze(trace, load_rules(), rounds=(1, 3))

    assert part.rounds.count == 2
    assert part.window.why == "rounds 1:3"
    assert whole.rounds.wall is not None
    assert part.window.wall_ns == pytest.approx(2 * whole.rounds.wall.mean, rel=0.01)


def test_rounds_that_are_not_there_are_an_error(tmp_path: Path) -> None:
    with (
        recorded(Simulation(rounds=4), tmp_path) as (trace, _),
        pytest.raises(OptionError, match=r"rounds 0:4"),
    ):
        analyze(trace, load_rules(), rounds=(2, 9))


def test_the_user_knows_better_what_a_graph_is_for(tmp_path: Path) -> None:
    with recorded(Simulation(rounds=3), tmp_path) as (trace, _):
        known = analyze(trace, load_rules())
        [draft] = [f for f in known.rounds.graphs if f.kind == "draft" and f.gpu == 0]
        given = parse_graph_kinds([f"{draft.graph_ids[0]}=other"])
        analysis = analyze(trace, load_rules(), graph_kinds=given)

    [family] = [f for f in analysis.rounds.graphs if f.gpu == 0 and f.graph_ids == draft.graph_ids]
    assert (family.kind, family.evidence) == ("other", "given with --graph-kind")


@pytest.mark.parametrize("text", ["17", "17=", "x=draft", "17=prefill", "17=nonsense"])
def test_what_is_no_graph_kind_is_an_error_that_lists_them(text: str) -> None:
    with pytest.raises(OptionError, match="draft_extend"):
        parse_graph_kinds([text])
