"""The analysis of simulated servers against what the simulator knows."""

from collections import defaultdict
from functools import cache

import pytest

from tests.recordings import recorded
from traceattr.attribution.analysis import Analysis, GpuTime
from traceattr.attribution.analyze import analyze
from traceattr.attribution.choice import Choice
from traceattr.ingest.trace import open_trace
from traceattr.rules.categories import GRAPH
from traceattr.rules.rule_set import load_rules
from traces.description import Simulation
from traces.eras import ERAS
from traces.truth import Truth

NODE_MODE = {
    **{era: Simulation(rounds=2, era=era) for era in ERAS},
    **{
        f"{era} device 0 twice, correlation 0": Simulation(
            rounds=2, era=era, same_device_id=True, correlation_zero=True
        )
        for era in ERAS
    },
    "correlation 0": Simulation(rounds=2, correlation_zero=True),
    "python3 twice": Simulation(rounds=2, same_device_id=True, plain_titles=True),
    "prefill": Simulation(rounds=2, before=("prefill",), nvtx=True),
    "TP4 with a straggler": Simulation(rounds=2, slowdowns=(1.0, 1.0, 1.05, 1.0)),
}
GRAPH_MODE = {f"{era} graph": Simulation(rounds=2, era=era, mode="graph") for era in ERAS}


@cache
def analysed(name: str) -> tuple[Analysis, Truth]:
    path, truth = recorded((NODE_MODE | GRAPH_MODE)[name])
    with open_trace(path) as trace:
        return analyze(trace, load_rules()), truth


def exclusive_ns(time: GpuTime) -> dict[str, int]:
    total: defaultdict[str, int] = defaultdict(int)
    for row in time.categories:
        total[row.category] += row.exclusive_ns
    return dict(total)


@pytest.mark.parametrize("name", [*NODE_MODE, *GRAPH_MODE])
def test_every_nanosecond_is_owned_as_the_simulator_says(name: str) -> None:
    analysis, truth = analysed(name)

    assert (analysis.window.start_ns, analysis.window.end_ns) == (truth.start_ns, truth.end_ns)
    for gpu, time, true in zip(analysis.gpus, analysis.per_gpu, truth.gpus, strict=True):
        assert (gpu.rank, gpu.pid, gpu.device_id) == (true.rank, true.pid, true.device_id)
        assert (time.wall_ns, time.busy_ns) == (true.wall_ns, true.busy_ns)
        assert exclusive_ns(time) == {
            category: amount.exclusive_ns for category, amount in true.categories.items()
        }
        assert time.idle.total_ns == true.idle_ns


@pytest.mark.parametrize("name", NODE_MODE)
def test_busy_sums_counts_and_idle_parts_are_exact(name: str) -> None:
    analysis, truth = analysed(name)

    for time, true in zip(analysis.per_gpu, truth.gpus, strict=True):
        for subcategory, amount in true.communication.items():
            rows = [row for row in time.categories if row.subcategory == subcategory]
            assert sum(row.exclusive_ns for row in rows) == amount.exclusive_ns
            assert sum(row.sum_ns for row in rows) == amount.sum_ns
            assert sum(row.operations for row in rows) == amount.operations
        idle = time.idle
        assert (idle.in_graph_ns, idle.between_graph_ns, idle.other_ns) == (
            true.idle.in_graph_ns,
            true.idle.between_graph_ns,
            true.idle.other_ns,
        )
    assert analysis.trace.graph_trace == "node"
    assert analysis.trace.unrecorded_graph_launches == 0


@pytest.mark.parametrize("name", GRAPH_MODE)
def test_graph_mode_invents_no_category_and_abstains_on_in_graph_gaps(name: str) -> None:
    analysis, truth = analysed(name)

    for time, true in zip(analysis.per_gpu, truth.gpus, strict=True):
        assert exclusive_ns(time).keys() == true.categories.keys()
        assert time.idle.in_graph_ns is None
    if GRAPH_MODE[name].shows_replays:
        assert analysis.trace.graph_trace == "graph"
        assert all(GRAPH in exclusive_ns(time) for time in analysis.per_gpu)
    else:
        assert analysis.trace.graph_trace == "none"
        assert analysis.trace.unrecorded_graph_launches == 2 * 3 * 2
        assert "graph-work-missing" in {notice.code for notice in analysis.warnings}


def test_two_windows_that_meet_sum_to_the_whole() -> None:
    path, truth = recorded(Simulation(rounds=2))
    middle = (truth.start_ns + truth.end_ns) // 2 + 1

    with open_trace(path) as trace:
        whole, left, right = (
            analyze(trace, load_rules(), Choice(window=window))
            for window in ((None, None), (None, middle), (middle, None))
        )

    for at, time in enumerate(whole.per_gpu):
        halves = [exclusive_ns(half.per_gpu[at]) for half in (left, right)]
        assert exclusive_ns(time) == {
            category: sum(half.get(category, 0) for half in halves)
            for category in exclusive_ns(time)
        }
        assert time.idle.total_ns == sum(half.per_gpu[at].idle.total_ns for half in (left, right))
