from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.decoding import ALL_REDUCE, ATTENTION, GEMM, Kernel, Server, opened, served
from tests.recordings import recorded
from traceattr.attribution.collectives import communication
from traceattr.attribution.rank_figures import IDLE, Straggler
from traces.description import Simulation

ROUND_NS = 1_000


def rounds_of(gemms: Sequence[int], attention: int = 50, pause: int = 10) -> list[list[Kernel]]:
    """Return rounds: attention, a GEMM of the given length, a pause, and a collective.

    All ranks begin and end a round together.
    """
    rounds = []
    for at, gemm in enumerate(gemms):
        begin = at * ROUND_NS
        arrives = begin + 20 + attention + gemm + pause
        rounds.append(
            [
                (ALL_REDUCE, begin, begin + 20),
                (ATTENTION, begin + 20, begin + 20 + attention),
                (GEMM, begin + 20 + attention, arrives - pause),
                (ALL_REDUCE, arrives, begin + 900),
            ]
        )
    return rounds


def straggler_of(server: Server) -> Straggler | None:
    [group] = communication(server.accounts, server.gpus, server.window)
    assert group.per_gpu is not None
    return group.straggler


def test_a_rank_with_longer_gemms_is_late_because_of_them(tmp_path: Path) -> None:
    server = served(
        tmp_path / "trace.sqlite",
        {"s_TP0": rounds_of([100] * 12), "s_TP1": rounds_of([140] * 12)},
    )

    assert straggler_of(server) == Straggler(1, 12 * 40, "weight_gemm", 12 * 40)


def test_the_largest_excess_over_the_mean_of_the_others_names_the_category(tmp_path: Path) -> None:
    server = served(
        tmp_path / "trace.sqlite",
        {
            "s_TP0": rounds_of([100] * 12),
            "s_TP1": rounds_of([110] * 12, attention=90),
            "s_TP2": rounds_of([104] * 12),
        },
    )

    assert straggler_of(server) == Straggler(1, 12 * 48, "attention", 12 * 40)


def test_a_rank_whose_gpu_has_nothing_to_do_is_late_because_of_its_host(tmp_path: Path) -> None:
    server = served(
        tmp_path / "trace.sqlite",
        {"s_TP0": rounds_of([100] * 12, pause=70), "s_TP1": rounds_of([100] * 12)},
    )

    assert straggler_of(server) == Straggler(0, 12 * 60, IDLE, 12 * 60)


def test_a_rank_that_only_leaves_the_collective_before_later_is_not_behind(tmp_path: Path) -> None:
    fast: list[list[Kernel]] = []
    slow: list[list[Kernel]] = []
    for at in range(12):
        for late, rounds in ((0, fast), (30, slow)):
            begin = at * ROUND_NS
            rounds.append(
                [
                    (ALL_REDUCE, begin, begin + 20 + late),
                    (ATTENTION, begin + 20 + late, begin + 100 + late),
                    (ALL_REDUCE, begin + 100 + late, begin + 900),
                ]
            )

    straggler = straggler_of(served(tmp_path / "t.sqlite", {"s_TP0": fast, "s_TP1": slow}))

    assert straggler == Straggler(1, 0, None, None)


def test_ranks_that_take_turns_hide_no_straggler(tmp_path: Path) -> None:
    server = served(
        tmp_path / "trace.sqlite",
        {"s_TP0": rounds_of([100, 140] * 20), "s_TP1": rounds_of([140, 100] * 20)},
    )

    assert straggler_of(server) is None


def test_one_accident_makes_no_straggler(tmp_path: Path) -> None:
    server = served(
        tmp_path / "trace.sqlite",
        {"s_TP0": rounds_of([100] * 20), "s_TP1": rounds_of([100] * 19 + [600])},
    )

    assert straggler_of(server) is None


def test_too_few_collectives_make_no_straggler(tmp_path: Path) -> None:
    server = served(
        tmp_path / "trace.sqlite",
        {"s_TP0": rounds_of([100] * 3), "s_TP1": rounds_of([140] * 3)},
    )

    assert straggler_of(server) is None


def test_ranks_that_arrive_together_wait_for_nobody(tmp_path: Path) -> None:
    rounds = rounds_of([100] * 12)

    assert straggler_of(served(tmp_path / "t.sqlite", {"s_TP0": rounds, "s_TP1": rounds})) is None


def test_a_rank_that_delays_each_round_once_stands_out(tmp_path: Path) -> None:
    """It comes last in one of six collectives, where the others wait longest."""
    fast: list[list[Kernel]] = []
    slow: list[list[Kernel]] = []
    for at in range(12):
        begin = at * 10 * ROUND_NS
        for rank, rounds in ((0, fast), (1, slow)):
            late = 500 * rank
            first = (ALL_REDUCE, begin + 200 + late, begin + 900)
            rest = [
                (ALL_REDUCE, begin + n * ROUND_NS + (0 if rank else 5), begin + n * ROUND_NS + 500)
                for n in range(1, 6)
            ]
            rounds.append([(ATTENTION, begin, begin + 100), first, *rest])

    straggler = straggler_of(served(tmp_path / "t.sqlite", {"s_TP0": fast, "s_TP1": slow}))

    assert straggler is not None
    assert (straggler.gpu, straggler.category) == (1, IDLE)


@pytest.mark.parametrize("slow", [0, 2])
def test_the_slow_gpu_of_a_simulated_server_is_found(slow: int) -> None:
    slowdowns = tuple(1.05 if rank == slow else 1.0 for rank in range(4))

    straggler = straggler_of(opened(recorded(Simulation(rounds=2, slowdowns=slowdowns))[0]))

    assert straggler is not None
    assert (straggler.gpu, straggler.category) == (slow, "weight_gemm")


def test_equal_gpus_of_a_simulated_server_hide_no_straggler() -> None:
    path, _ = recorded(Simulation(rounds=4, slowdowns=(1.0, 1.0)))

    assert straggler_of(opened(path)) is None
