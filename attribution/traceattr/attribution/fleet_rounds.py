"""Which rounds of separate traces are the same, and how long each rank takes for them.

Ranks meet in every collective, so all of them take equally long for a round; the slow one is told
by its own work, which is the round without communication: the others spend the difference waiting.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median_low

import numpy as np

from traceattr.attribution.fleet_figures import RankFigures, WorstRound
from traceattr.attribution.fleet_part import RankPart
from traceattr.attribution.intervals import Times
from traceattr.attribution.ranks import title_parts
from traceattr.attribution.spread import lower_median

CLOCKS_NS = 10**8
"""By how much clocks of machines may differ; those that are synchronised rarely do by a tenth."""

ENOUGH_ROUNDS = 8
TIMES_BETTER = 4
"""How many rounds must lie on each other, and how much better than any other ones, to prove that
they are the same."""

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
    """Return how late each clock is against the first, by the rounds; None when none are alike."""
    if not all(gpu.rounds.start_ns for gpu in gpus):
        return None
    first = np.array(gpus[0].rounds.start_ns, np.int64)
    limit_ns = median_low(gpus[0].rounds.wall_ns) // 4
    offsets = []
    for gpu in gpus:
        offset_ns = clock_offset(first, np.array(gpu.rounds.start_ns, np.int64), limit_ns)
        if offset_ns is None:
            return None
        offsets.append(offset_ns)
    return tuple(offsets)


@dataclass(frozen=True, slots=True, order=True)
class _Fit:
    """How well rounds lie on each other.

    Attributes:
        spread_ns: Median by which the distance of a pair of rounds differs from their median.
        offset_ns: That median.
        rounds: How many pairs.
    """

    spread_ns: int
    offset_ns: int
    rounds: int


def clock_offset(first_ns: Times, other_ns: Times, limit_ns: int) -> int | None:
    """Return how late a clock is against another; None when rounds do not begin together.

    Clocks of machines differ by as much as some rounds.  No two rounds are equally long, so the
    begins of rounds lie on each other best where the same rounds do; where that is not clear,
    clocks are believed that differ by less than a good part of a round.

    Args:
        first_ns: Begins of the rounds of the first rank.
        other_ns: Those of the other one.
        limit_ns: By how much begins of a round may differ.
    """
    fits = _fits(first_ns, other_ns, limit_ns)
    clear = _clear(fits, limit_ns)
    if clear is not None:
        return clear.offset_ns
    by_clock = min(fits, key=lambda fit: abs(fit.offset_ns), default=None)
    is_near = by_clock is not None and abs(by_clock.offset_ns) <= limit_ns
    return by_clock.offset_ns if by_clock and is_near else None


def _fits(first_ns: Times, other_ns: Times, limit_ns: int) -> list[_Fit]:
    middle_ns = (max(first_ns[0], other_ns[0]) + min(first_ns[-1], other_ns[-1])) // 2
    shifts = other_ns - first_ns[np.abs(first_ns - middle_ns).argmin()]
    near = shifts[np.abs(shifts) <= CLOCKS_NS + limit_ns]
    return [fit for shift in near if (fit := _fit(first_ns, other_ns, shift, limit_ns))]


def _clear(fits: Sequence[_Fit], limit_ns: int) -> _Fit | None:
    """Return the fit that is far better than all different ones."""
    best = min(fits, default=None)
    if best is None or best.rounds < ENOUGH_ROUNDS:
        return None
    different = (fit for fit in fits if abs(fit.offset_ns - best.offset_ns) > limit_ns)
    is_clear = all(fit.spread_ns > TIMES_BETTER * best.spread_ns for fit in different)
    return best if is_clear else None


def split_by_rounds(
    numbers: tuple[int, ...], gpus: Sequence[RankPart]
) -> tuple[tuple[int, ...], ...]:
    """Return ranks that no title tells apart by which of them clearly do the same rounds."""
    mine = [gpus[number] for number in numbers]
    if any(title_parts(gpu.process) or not gpu.rounds.start_ns for gpu in mine):
        return (numbers,)
    teams: list[list[int]] = []
    for number in numbers:
        team = next((one for one in teams if _go_together(gpus[one[0]], gpus[number])), None)
        if team is None:
            teams.append([number])
        else:
            team.append(number)
    return tuple(map(tuple, teams)) if any(len(team) > 1 for team in teams) else (numbers,)


def _go_together(one: RankPart, other: RankPart) -> bool:
    limit_ns = median_low(one.rounds.wall_ns) // 4
    first_ns, other_ns = (np.array(rank.rounds.start_ns, np.int64) for rank in (one, other))
    return _clear(_fits(first_ns, other_ns, limit_ns), limit_ns) is not None


def _fit(first_ns: Times, other_ns: Times, shift_ns: int, limit_ns: int) -> _Fit | None:
    """Return how rounds lie on each other when one clock is shifted, None when few do."""
    wanted_ns = other_ns - shift_ns
    after = np.searchsorted(first_ns, wanted_ns).clip(1, max(1, len(first_ns) - 1))
    pairs = first_ns[np.stack([after - 1, np.minimum(after, len(first_ns) - 1)])]
    distances_ns = wanted_ns - pairs
    nearest_ns = np.where(
        np.abs(distances_ns[0]) <= np.abs(distances_ns[1]), distances_ns[0], distances_ns[1]
    )
    inside_ns = nearest_ns[np.abs(nearest_ns) <= limit_ns]
    if 2 * len(inside_ns) < min(len(first_ns), len(other_ns)):
        return None
    median_ns = lower_median(inside_ns)
    spread_ns = lower_median(np.abs(inside_ns - median_ns))
    return _Fit(spread_ns, int(shift_ns) + median_ns, len(inside_ns))


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
