from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.decoding import ALL_REDUCE, ATTENTION, GEMM, Kernel, Server, opened, served, titled
from tests.recordings import recorded
from tests.synthetic import ALL_REDUCE as ALL_REDUCE_LABEL
from tests.synthetic import GEMM as GEMM_LABEL
from tests.synthetic import account_of
from traceattr.attribution.analysis import Window
from traceattr.attribution.collectives import communication
from traceattr.attribution.rank_figures import Communication, RankGroup
from traceattr.attribution.round_figures import Spread
from traces.cases import CASES
from traces.description import Simulation
from traces.export_writer import ExportWriter

ROUND_NS = 1_000
FUSED = (
    "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(int)1>()"
)
NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)"


def round_of(begin: int, arrives: int, ends: int, collective: str = ALL_REDUCE) -> list[Kernel]:
    """Return a round: attention, then a GEMM until shortly before the rank arrives."""
    return [
        (ATTENTION, begin, begin + 50),
        (GEMM, begin + 50, begin + arrives - 10),
        (collective, begin + arrives, begin + ends),
    ]


def rounds_of(
    arrivals: Sequence[int], ends: int = 160, collective: str = ALL_REDUCE
) -> list[list[Kernel]]:
    return [
        round_of(at * ROUND_NS, arrives, ends, collective) for at, arrives in enumerate(arrivals)
    ]


def compared(server: Server) -> RankGroup:
    [group] = communication(server.accounts, server.gpus, server.window)
    return group


def constant(value: int) -> Spread:
    return Spread(value, value, value, value, value)


@pytest.mark.parametrize("collective", [ALL_REDUCE, FUSED, NCCL])
def test_wire_begins_when_the_last_rank_arrives(collective: str, tmp_path: Path) -> None:
    server = served(
        tmp_path / "trace.sqlite",
        {
            "s_TP0": rounds_of([110, 110], 160, collective),
            "s_TP1": rounds_of([140, 140], 161, collective),
        },
    )

    assert compared(server) == RankGroup(
        gpus=(0, 1),
        rounds=2,
        per_gpu=(
            Communication(0, 2, 40, 60, 0, 0, 0, constant(20), constant(30)),
            Communication(1, 2, 42, 0, 60, 2, 0, constant(21), constant(0)),
        ),
        decode_rounds=2,
        usual_collective_ns=21,
    )


def test_the_waiting_is_laid_at_the_door_of_the_last_rank_alone(tmp_path: Path) -> None:
    server = served(
        tmp_path / "trace.sqlite",
        {f"s_TP{rank}": rounds_of([at]) for rank, at in enumerate((100, 120, 130, 105))},
    )

    per_gpu = compared(server).per_gpu

    assert per_gpu is not None
    assert [gpu.wait_ns for gpu in per_gpu] == [30, 10, 0, 25]
    assert [gpu.late_ns for gpu in per_gpu] == [0, 0, 65, 0]
    assert [gpu.wire_ns for gpu in per_gpu] == [30] * 4


def test_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    ranks = {101: rounds_of([110, 120]), 102: rounds_of([140, 118])}
    rows = [
        (pid, correlation, node, *kernel)
        for pid, rounds in ranks.items()
        for correlation, kernels in enumerate(rounds, start=1)
        for node, kernel in enumerate(kernels, start=1)
    ]
    groups = []
    for number, order in enumerate((rows, rows[::-1])):
        path = tmp_path / f"{number}.sqlite"
        with ExportWriter(path) as export:
            for pid in ranks:
                export.process(pid)
            for pid, correlation, node, name, start, end in order:
                export.kernel(
                    name, start, end, pid=pid, correlation=correlation, graph=9, node=node
                )
        groups.append(compared(opened(path)))

    assert groups[0] == groups[1]
    assert groups[0].per_gpu is not None


def test_one_gpu_has_nobody_to_wait_for(tmp_path: Path) -> None:
    server = served(tmp_path / "trace.sqlite", {"python3": rounds_of([110])})

    assert compared(server) == RankGroup((0,), reason="only one GPU: no rank to wait for")


def test_envelopes_hide_collectives(tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    with ExportWriter(path) as export:
        for pid in (101, 102):
            export.process(pid)
            export.graph_trace(100, 200, pid=pid, graph=9, correlation=1)

    group = compared(opened(path))

    assert group.reason == "collectives are hidden in graphs that were not traced per node"
    assert group.per_gpu is None


def test_without_rounds_nothing_is_matched(tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    with ExportWriter(path) as export:
        for pid in (101, 102):
            export.process(pid)
            export.kernel(ALL_REDUCE, 100, 200, pid=pid)

    group = compared(opened(path))

    assert group.reason == "no rounds were found, so collectives cannot be matched"


def test_rounds_without_collectives_have_none_to_compare(tmp_path: Path) -> None:
    rounds = [[(ATTENTION, 0, 50)]]

    group = compared(served(tmp_path / "trace.sqlite", {"s_TP0": rounds, "s_TP1": rounds}))

    assert group.reason == "no collectives in the rounds of the window"


def test_a_round_in_which_the_ranks_differ_is_left_out(tmp_path: Path) -> None:
    first, second = rounds_of([110] * 20), rounds_of([140] * 20)
    first[7].append((ALL_REDUCE, 7_500, 7_510))

    group = compared(served(tmp_path / "trace.sqlite", {"s_TP0": first, "s_TP1": second}))

    assert group.per_gpu is not None
    assert (group.rounds, group.rounds_left_out) == (19, 1)
    assert (group.per_gpu[0].collectives, group.per_gpu[0].wait_ns) == (19, 19 * 30)
    assert [gpu.unmatched_ns for gpu in group.per_gpu] == [50 + 10, 20]


def test_a_kernel_of_another_name_is_another_collective(tmp_path: Path) -> None:
    first, second = rounds_of([110] * 4), rounds_of([110] * 4, 160, NCCL)

    group = compared(served(tmp_path / "trace.sqlite", {"s_TP0": first, "s_TP1": second}))

    assert group.per_gpu is None
    assert group.reason is not None
    assert group.reason.startswith("the ranks run different collectives in every round")


def test_more_than_a_tenth_of_differing_rounds_is_too_much(tmp_path: Path) -> None:
    first, second = rounds_of([110] * 20), rounds_of([140] * 20)
    for at in (5, 8, 11):
        first[at].pop()

    group = compared(served(tmp_path / "trace.sqlite", {"s_TP0": first, "s_TP1": second}))

    assert group.per_gpu is None
    assert group.reason is not None
    assert "in 3 of 20 rounds" in group.reason


def test_rounds_that_an_end_of_the_capture_cuts_are_no_sign_of_trouble(tmp_path: Path) -> None:
    first, second = rounds_of([110] * 4), rounds_of([140] * 4)
    first[0].pop()
    second[3].pop()

    group = compared(served(tmp_path / "trace.sqlite", {"s_TP0": first, "s_TP1": second}))

    assert group.reason is None
    assert (group.rounds, group.rounds_left_out) == (2, 0)


def test_a_rank_recorded_from_a_later_round_on_is_compared_from_there(tmp_path: Path) -> None:
    server = served(
        tmp_path / "trace.sqlite",
        {"s_TP0": rounds_of([110] * 5), "s_TP1": rounds_of([140] * 5)[2:]},
    )

    group = compared(server)

    assert group.per_gpu is not None
    assert (group.rounds, group.rounds_left_out) == (3, 0)
    assert group.per_gpu[0].wait_ns == 3 * 30


def test_a_kernel_that_waits_for_nobody_is_no_collective(tmp_path: Path) -> None:
    """Such as the copies beside a collective: one rank is through before another begins."""
    copy = "memcpy_triton_kernel"
    first = [
        [*kernels, (copy, kernels[-1][2] + 1, kernels[-1][2] + 3)]
        for kernels in rounds_of([110] * 3)
    ]
    second = [
        [*kernels, (copy, kernels[-1][2] + 8, kernels[-1][2] + 10)]
        for kernels in rounds_of([140] * 3)
    ]

    group = compared(served(tmp_path / "trace.sqlite", {"s_TP0": first, "s_TP1": second}))

    assert group.per_gpu is not None
    assert [gpu.collectives for gpu in group.per_gpu] == [3, 3]
    assert [gpu.unmatched_ns for gpu in group.per_gpu] == [6, 6]


def test_ranks_that_never_meet_are_not_compared(tmp_path: Path) -> None:
    """Their clocks differ, or they are no group."""
    server = served(
        tmp_path / "trace.sqlite",
        {"s_TP0": rounds_of([110] * 3, 160), "s_TP1": rounds_of([170] * 3, 220)},
    )

    group = compared(server)

    assert group.per_gpu is None
    assert group.reason is not None
    assert group.reason.startswith("the ranks are not in their collectives at the same time")


def test_replicas_are_groups_of_their_own(tmp_path: Path) -> None:
    rounds = rounds_of([110])
    server = served(
        tmp_path / "trace.sqlite",
        {f"s_DP{dp}_TP{tp}": rounds for dp in range(2) for tp in range(2)},
    )

    groups = communication(server.accounts, server.gpus, server.window)

    members = [{server.gpus[gpu].process for gpu in group.gpus} for group in groups]
    assert members == [{"s_DP0_TP0", "s_DP0_TP1"}, {"s_DP1_TP0", "s_DP1_TP1"}]
    assert [group.reason for group in groups] == [None, None]


def test_two_windows_that_meet_share_out_the_collectives(tmp_path: Path) -> None:
    server = served(
        tmp_path / "trace.sqlite",
        {"s_TP0": rounds_of([110] * 10), "s_TP1": rounds_of([140] * 10)},
    )
    cut = 5_125  # between the arrivals of a round
    whole, left, right = (
        compared(replace(server, window=window))
        for window in (
            server.window,
            Window(0, cut, "test"),
            Window(cut, server.window.end_ns, "test"),
        )
    )

    assert whole.per_gpu is not None
    assert left.per_gpu is not None
    assert right.per_gpu is not None
    assert whole.per_gpu[0].collectives == 10
    assert left.per_gpu[0].collectives == right.per_gpu[0].collectives == 5
    assert whole.per_gpu[0].wait_ns == left.per_gpu[0].wait_ns + right.per_gpu[0].wait_ns
    assert left.per_gpu[0].wire_per_round == constant(20)


@pytest.mark.parametrize(
    "simulation",
    [
        pytest.param(Simulation(rounds=3), id="TP2"),
        pytest.param(Simulation(rounds=2, before=("prefill",)), id="prefill"),
        pytest.param(Simulation(rounds=2, slowdowns=(1.0, 1.0, 1.05, 1.0)), id="TP4"),
        pytest.param(
            Simulation(rounds=2, era="2.7", same_device_id=True, plain_titles=True), id="python3"
        ),
        pytest.param(Simulation(rounds=2, correlation_zero=True), id="correlation 0"),
        *(
            pytest.param(replace(CASES[name], rounds=2), id=name)
            for name in ("fused-all-reduce", "eagle3-tree-tp2", "spec-v2", "prefill-pieces")
        ),
    ],
)
def test_wire_and_wait_are_what_the_simulator_says(simulation: Simulation) -> None:
    path, truth = recorded(simulation)

    per_gpu = compared(opened(path)).per_gpu

    assert per_gpu is not None
    for gpu, true in zip(per_gpu, truth.gpus, strict=True):
        assert gpu.collectives == true.collectives.count
        assert gpu.wire_ns == pytest.approx(true.collectives.wire_ns, rel=0.02)
        assert gpu.wait_ns == pytest.approx(true.collectives.wait_ns, rel=0.02)


def test_graph_mode_says_nothing_about_a_simulated_server() -> None:
    path, _ = recorded(Simulation(rounds=2, mode="graph"))

    assert compared(opened(path)).per_gpu is None


ARRIVALS = st.integers(2, 4).flatmap(
    lambda ranks: st.lists(
        st.lists(st.integers(20, 400), min_size=ranks, max_size=ranks), min_size=1, max_size=8
    )
)
"""When each rank arrives, round by round."""


def group_of(arrivals: list[list[int]], shift: int = 0, order: Sequence[int] = ()) -> RankGroup:
    ranks = range(len(arrivals[0]))
    accounts = [
        account_of(
            gpu,
            [
                operation
                for at, arrives in enumerate(arrivals)
                for operation in (
                    (at, shift + at * 1_000, shift + at * 1_000 + 10, GEMM_LABEL),
                    (
                        at,
                        shift + at * 1_000 + arrives[rank],
                        shift + at * 1_000 + max(arrives) + 30 + rank,
                        ALL_REDUCE_LABEL,
                    ),
                )
            ],
        )
        for gpu, rank in enumerate(order or ranks)
    ]
    gpus = [titled(gpu, None) for gpu in ranks]
    window = Window(shift, shift + 1_000 * len(arrivals), "test")
    [group] = communication(accounts, gpus, window)
    return group


@given(ARRIVALS)
def test_wire_and_wait_are_the_duration_and_all_waiting_has_a_cause(
    arrivals: list[list[int]],
) -> None:
    per_gpu = group_of(arrivals).per_gpu

    assert per_gpu is not None
    for rank, gpu in enumerate(per_gpu):
        duration_ns = sum(max(arrives) + 30 + rank - arrives[rank] for arrives in arrivals)
        assert gpu.wire_ns + gpu.wait_ns == duration_ns
        assert gpu.wire_ns == (30 + rank) * len(arrivals)
    assert sum(gpu.late_ns for gpu in per_gpu) == sum(gpu.wait_ns for gpu in per_gpu)


@given(ARRIVALS, st.integers(-(10**18), 10**18))
def test_shifting_time_changes_nothing(arrivals: list[list[int]], shift: int) -> None:
    assert group_of(arrivals, shift) == group_of(arrivals)


@given(ARRIVALS, st.randoms(use_true_random=False))
def test_the_order_of_the_ranks_changes_nothing(arrivals: list[list[int]], random: Random) -> None:
    order = list(range(len(arrivals[0])))
    random.shuffle(order)

    here, there = group_of(arrivals).per_gpu, group_of(arrivals, order=order).per_gpu

    assert here is not None
    assert there is not None
    assert [(here[rank].wire_ns, here[rank].wait_ns) for rank in order] == [
        (gpu.wire_ns, gpu.wait_ns) for gpu in there
    ]
