"""Waiting and wire of collectives whose ranks were recorded in separate traces."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from traceattr.attribution.collective_series import IN_A_ROW, MOST, rounds_to_keep
from traceattr.attribution.fleet import combine
from traceattr.attribution.fleet_collectives import shared_collectives
from traceattr.attribution.fleet_part import RankPart, RankRounds, TracePart
from traceattr.attribution.rank_figures import (
    CollectiveSeries,
    Communication,
    SharedCollectives,
)
from traceattr.attribution.round_figures import Spread
from traceattr.report.fleet_csv import render_fleet_csv
from traceattr.report.fleet_terminal import render_fleet_terminal

WIRE_NS = 30
ROUND_NS = 1_000
Run = tuple[str, int, int]
"""Name, begin in its round and end of a kernel."""


def rank_of(rounds: Sequence[Sequence[Run]], title: str = "s_TP0", begins_ns: int = 0) -> RankPart:
    """Return a rank with these communication kernels in its rounds."""
    names = tuple(sorted({name for runs in rounds for name, *_ in runs}))
    runs = [run for of_round in rounds for run in of_round]
    series = CollectiveSeries(
        gpu=0,
        is_hidden=False,
        names=names,
        rounds=tuple(range(len(rounds))),
        counts=tuple(map(len, rounds)),
        name=tuple(names.index(name) for name, *_ in runs),
        start_ns=tuple(start for _, start, _ in runs),
        duration_ns=tuple(end - start for _, start, end in runs),
    )
    starts = tuple(begins_ns + at * ROUND_NS for at in range(len(rounds)))
    walls = (ROUND_NS,) * len(rounds)
    own = tuple(ROUND_NS - sum(end - start for _, start, end in runs) for runs in rounds)
    lengths = RankRounds(starts, walls, own)
    return RankPart("", 0, None, title, None, 100, 90, (("norm", 90),), lengths, series)


def ranks_of(arrivals: Sequence[Sequence[int]], skews: Sequence[int] = ()) -> list[RankPart]:
    """Return ranks that arrive at one collective per round, round by round, by clocks of theirs."""
    return [
        rank_of(
            [
                [("reduce", arrives[at] + skew, max(arrives) + WIRE_NS + skew)]
                for arrives in arrivals
            ]
        )
        for at, skew in enumerate(skews or [0] * len(arrivals[0]))
    ]


def compared(ranks: Sequence[RankPart]) -> SharedCollectives:
    count = len(ranks[0].rounds.start_ns)
    rows = [(at,) * len(ranks) for at in range(count)]
    return shared_collectives(ranks, range(len(ranks)), rows)


def constant(value: int) -> Spread:
    return Spread(value, value, value, value, value)


def test_wire_begins_when_the_last_rank_arrives_whatever_the_clocks_show() -> None:
    ranks = ranks_of([[10, 50, 25]] * 2, skews=[0, 7_000, -40])

    assert compared(ranks) == SharedCollectives(
        rounds=2,
        rounds_left_out=0,
        per_rank=(
            Communication(0, 2, 60, 80, 0, 0, 0, constant(30), constant(40)),
            Communication(1, 2, 60, 0, 130, 2, 0, constant(30), constant(0)),
            Communication(2, 2, 60, 50, 0, 0, 0, constant(30), constant(25)),
        ),
        waited_for=None,
    )


ARRIVALS = st.integers(2, 4).flatmap(
    lambda ranks: st.tuples(
        st.lists(
            st.lists(st.integers(0, 400), min_size=ranks, max_size=ranks), min_size=1, max_size=8
        ),
        st.lists(st.integers(-(10**6), 10**6), min_size=ranks, max_size=ranks),
    )
)


@given(ARRIVALS)
def test_clocks_change_nothing_and_all_waiting_has_a_cause(
    drawn: tuple[list[list[int]], list[int]],
) -> None:
    arrivals, skews = drawn

    found = compared(ranks_of(arrivals, skews))

    assert found.per_rank is not None
    assert found == compared(ranks_of(arrivals))
    for at, rank in enumerate(found.per_rank):
        assert rank.wire_ns == WIRE_NS * len(arrivals)
        assert rank.wait_ns == sum(max(arrives) - arrives[at] for arrives in arrivals)
    assert sum(rank.late_ns for rank in found.per_rank) == sum(
        rank.wait_ns for rank in found.per_rank
    )


def test_the_rank_that_is_waited_for_is_named() -> None:
    assert compared(ranks_of([[10, 50]] * 12)).waited_for == 1
    assert compared(ranks_of([[10, 50], [50, 10]] * 6)).waited_for is None


def test_a_kernel_that_waits_for_nobody_is_no_collective() -> None:
    ranks = [
        rank_of([[("reduce", 10, 60), ("reduce", 70, 90), ("copy", at, at + 3)]] * 3)
        for at in (100, 200)
    ]

    found = compared(ranks)

    assert found.per_rank is not None
    assert [rank.collectives for rank in found.per_rank] == [6, 6]
    assert [rank.unmatched_ns for rank in found.per_rank] == [9, 9]


def test_rounds_with_other_collectives_are_left_out() -> None:
    one, other = ranks_of([[10, 50]] * 20)
    more = rank_of([[("reduce", 10, 80)]] * 7 + [[("reduce", 10, 50)] * 2] + [[("reduce", 10, 80)]])

    found = compared([one, other])
    assert (found.rounds, found.rounds_left_out) == (20, 0)
    found = compared([ranks_of([[10, 50]] * 9)[1], more])

    assert found.per_rank is None
    assert found.reason is not None
    assert found.reason.startswith("the ranks run different collectives in 1 of 9 rounds")


def test_another_kernel_on_one_rank_is_another_collective() -> None:
    found = compared([rank_of([[("one", 10, 80)]] * 3), rank_of([[("other", 10, 80)]] * 3)])

    assert found.reason is not None
    assert found.reason.startswith("the ranks run different collectives in every round")


def test_ranks_that_never_meet_are_no_group() -> None:
    one = rank_of([[("reduce", 10, 20), ("reduce", 100, 110), ("reduce", 200, 210)]])
    other = rank_of([[("reduce", 10, 20), ("reduce", 400, 410), ("reduce", 900, 910)]])

    found = compared([one, other])

    assert found.reason is not None
    assert found.reason.startswith("the ranks do not leave their collectives together")


def test_collectives_in_graphs_recorded_as_a_whole_are_hidden() -> None:
    one, other = ranks_of([[10, 50]])
    hidden = replace(other, collectives=CollectiveSeries(0, is_hidden=True))

    found = compared([one, hidden])

    assert found.reason == "collectives are hidden in graphs that were not traced per node"


def test_rounds_that_were_kept_of_one_rank_only_cannot_be_compared() -> None:
    one, other = (rank.collectives for rank in ranks_of([[10, 50]] * 2))
    assert one is not None
    assert other is not None
    lacks = [
        replace(rank_of([[]] * 2), collectives=replace(series, rounds=(at,), counts=(2,)))
        for at, series in enumerate((one, other))
    ]

    found = compared(lacks)

    assert found.reason is not None
    assert found.reason.startswith("in no round were the collectives of every rank kept")


def replicas(begins_ns: int) -> tuple[TracePart, ...]:
    """Return two replicas of two ranks, of which the second begins its rounds at another time."""
    found = []
    for replica, begin in enumerate((0, begins_ns)):
        arrivals = [[10, 50], [50, 10]][replica]
        for at, arrives in enumerate(arrivals):
            runs = [[("reduce", arrives, 80)]] * 12
            title, name = f"s_DP{replica}_TP{at}", f"{replica}-{at}.sqlite"
            rank = replace(rank_of(runs, title, begin), file=name, rank=at)
            span = (begin, begin + 12 * ROUND_NS)
            found.append(TracePart(name, None, name, True, *span, "decode", (rank,)))
    return tuple(found)


def test_replicas_are_compared_each_for_itself() -> None:
    fleet = combine(replicas(begins_ns=480))

    [run] = fleet.runs
    assert [(team.name, team.ranks) for team in run.teams] == [("DP0", (0, 1)), ("DP1", (2, 3))]
    assert [team.matched for team in run.teams] == [12, 12]
    assert [team.straggler for team in run.teams] == [1, 2]
    waits = [team.collectives.per_rank for team in run.teams if team.collectives]
    assert [[one.wait_ns for one in ranks or ()] for ranks in waits] == [[480, 0], [0, 480]]
    assert run.parallel == (("DP", 2), ("TP", 2))


def test_the_report_names_the_ranks_of_replicas_by_their_titles() -> None:
    said = render_fleet_terminal(combine(replicas(begins_ns=480)), width=80, color=False)

    text = " ".join(said.split())
    assert "The others wait for DP0 TP1 (0-1.sqlite): it causes 100 % of the waiting" in text
    assert "DP1: The others wait for DP1 TP0 (1-0.sqlite)" in text
    assert "Communication across ranks (us/round, median over 12 rounds)" in text


def test_the_csv_has_wire_and_wait_of_each_rank() -> None:
    rows = [line.split(",") for line in render_fleet_csv(combine(replicas(0))).splitlines()]

    column = rows[0].index("wire_round_ns")
    assert rows[0][column:] == ["wire_round_ns", "wait_round_ns", "late_share", "last_share"]
    assert [row[column:] for row in rows[1:3]] == [
        ["30", "40", "0.0", "0.0"],
        ["30", "0", "1.0", "1.0"],
    ]


@pytest.mark.parametrize("skipped", [0, 1, 17])
def test_the_rounds_kept_of_a_long_trace_are_those_kept_of_a_part_of_it(skipped: int) -> None:
    counts = np.full(1_000, MOST // 10)
    start_ns = 1_700_000_000 * 10**9 + np.arange(1_000) * 12_345_678
    end_ns = start_ns + 12_345_678

    whole = rounds_to_keep(start_ns, end_ns, counts)
    part = slice(skipped, skipped + 300)
    of_part = rounds_to_keep(start_ns[part], end_ns[part], counts[part]) + skipped

    assert IN_A_ROW <= len(whole) <= 10
    inside = (whole >= skipped + IN_A_ROW) & (whole < skipped + 300)
    assert set(whole[inside].tolist()) <= set(of_part.tolist())
    assert IN_A_ROW <= len(of_part) <= 10


def test_a_single_round_is_kept_however_much_it_has() -> None:
    kept = rounds_to_keep(np.array([5, 10]), np.array([10, 15]), np.array([2 * MOST, 2 * MOST]))

    assert len(kept) == 1
