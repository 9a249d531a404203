"""Which rounds of separate traces are the same, and how long each rank takes for them.

Ranks meet in every collective, so all of them take equally long for a round; the slow one is told
by its own work, which is the round without communication: the others spend the difference waiting.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median_low

from traceattr.attribution.fleet_figures import RankFigures, WorstRound
from traceattr.attribution.fleet_part import RankPart

MOST_WORST = 5
"""Rounds that are listed one by one."""


@dataclass(frozen=True, slots=True)
class Members:
    """The ranks of a team while it is told what they do.

    Attributes:
        numbers: Their numbers in the run.
        gpus: What their traces say.
        offsets_ns: How late each clock is against the first; None when that is not known.
        rows: Places of each round that every rank has, rank by rank.
    """

    numbers: tuple[int, ...]
    gpus: tuple[RankPart, ...]
    offsets_ns: tuple[int, ...] | None
    rows: tuple[tuple[int, ...], ...]


def members_of(numbers: tuple[int, ...], gpus: Sequence[RankPart], *, has_clock: bool) -> Members:
    """Return the ranks of these numbers with the rounds that all of them have."""
    mine = tuple(gpus[number] for number in numbers)
    offsets_ns = _offsets(mine) if has_clock else None
    rows = () if offsets_ns is None else tuple(_matched(mine, offsets_ns))
    return Members(numbers, mine, offsets_ns, rows)


def _offsets(gpus: Sequence[RankPart]) -> tuple[int, ...] | None:
    """Return how late each clock is against the first, by the rounds; None when none are alike.

    Wall clocks of machines differ by milliseconds.  Ranks begin a round together, so the median
    distance to the nearest round of the first rank is the difference of the clocks, as long as it
    is well below a round.
    """
    if not all(gpu.rounds.start_ns for gpu in gpus):
        return None
    first = gpus[0].rounds
    limit_ns = median_low(first.wall_ns) // 4
    offsets = []
    for gpu in gpus:
        distances = [start - _nearest(first.start_ns, start) for start in gpu.rounds.start_ns]
        inside = [distance for distance in distances if abs(distance) <= limit_ns]
        if 2 * len(inside) < min(len(distances), len(first.start_ns)):
            return None
        offsets.append(median_low(inside))
    return tuple(offsets)


def _nearest(times_ns: Sequence[int], moment_ns: int) -> int:
    return times_ns[_nearest_at(times_ns, moment_ns)]


def _nearest_at(times_ns: Sequence[int], moment_ns: int) -> int:
    at = bisect_left(times_ns, moment_ns)
    near = [each for each in (at - 1, at) if 0 <= each < len(times_ns)]
    return min(near, key=lambda each: abs(times_ns[each] - moment_ns))


def _matched(gpus: Sequence[RankPart], offsets: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the places of each round that every rank has, rank by rank."""
    first = gpus[0].rounds
    limit_ns = median_low(first.wall_ns) // 4
    for start_ns in first.start_ns:
        row = []
        for gpu, offset_ns in zip(gpus, offsets, strict=True):
            at = _nearest_at(gpu.rounds.start_ns, start_ns + offset_ns)
            if abs(gpu.rounds.start_ns[at] - offset_ns - start_ns) <= limit_ns:
                row.append(at)
        if len(row) == len(gpus):
            yield tuple(row)


def _slowest(gpus: Sequence[RankPart], rows: Sequence[tuple[int, ...]]) -> list[int] | None:
    """Return the rank whose own work took longest in each matched round, alone; None if hidden."""
    if any(gpu.rounds.own_ns is None for gpu in gpus):
        return None
    if len(gpus) < 2:
        return []
    found = []
    for row in rows:
        both = zip(gpus, row, strict=True)
        own = [gpu.rounds.own_ns[at] for gpu, at in both if gpu.rounds.own_ns]
        if own.count(max(own)) == 1:
            found.append(own.index(max(own)))
    return found


def figures_of(members: Members) -> Iterator[RankFigures]:
    """Yield what is shown of each rank."""
    slowest = _slowest(members.gpus, members.rows)
    medians = [median_low(gpu.rounds.own_ns) if gpu.rounds.own_ns else None for gpu in members.gpus]
    for at, (number, gpu) in enumerate(zip(members.numbers, members.gpus, strict=True)):
        own_ns = medians[at]
        others = [one for other, one in enumerate(medians) if other != at and one is not None]
        yield RankFigures(
            number=number,
            part=gpu,
            rounds=len(gpu.rounds.start_ns),
            round_ns=median_low(gpu.rounds.wall_ns) if gpu.rounds.wall_ns else None,
            own_ns=own_ns,
            behind_ns=None if own_ns is None or not others else own_ns - median_low(others),
            slowest=None if slowest is None else slowest.count(at),
            clock_ns=None if members.offsets_ns is None else members.offsets_ns[at],
        )


def worst_rounds(teams: Sequence[Members]) -> Iterator[WorstRound]:
    """Yield the longest rounds of all teams."""
    begins = [team.gpus[0].rounds.start_ns[0] for team in teams if team.rows]
    found = [one for team in teams for one in _rounds_of(team, min(begins, default=0))]
    yield from sorted(found, key=lambda one: (-one.wall_ns, one.start_ns, one.rank or 0))[
        :MOST_WORST
    ]


def _rounds_of(team: Members, begin_ns: int) -> Iterator[WorstRound]:
    own = [gpu.rounds.own_ns for gpu in team.gpus]
    usual = [median_low(values) if values else 0 for values in own]
    for row in team.rows:
        excess = [
            values[place] - median
            for values, place, median in zip(own, row, usual, strict=True)
            if values
        ]
        known = len(excess) == len(row)
        places = zip(team.gpus, row, strict=True)
        yield WorstRound(
            start_ns=team.gpus[0].rounds.start_ns[row[0]] - begin_ns,
            wall_ns=max(gpu.rounds.wall_ns[place] for gpu, place in places),
            rank=team.numbers[excess.index(max(excess))] if known else None,
            excess_ns=max(excess) if known else None,
        )
