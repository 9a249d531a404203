"""Several traces of one server as one: who is slow, and in which rounds.

Ranks meet in every collective, so all of them take equally long for a round; the slow one is told
by its own work, which is the round without communication: the others spend the difference waiting.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median_low

from traceattr.attribution.analysis import Notice
from traceattr.attribution.fleet_part import Parts, RankPart, TracePart
from traceattr.attribution.groups import GAP_GROUPS
from traceattr.rules.categories import GROUPS

MOST_WORST = 5
"""Rounds that are listed one by one."""

MOSTLY = 0.5
"""Share of rounds in which a rank is the slowest from which on it is called so."""

_TITLE_PART = re.compile(r"_(DP|PP|TP|EP)(\d+)")


@dataclass(frozen=True, slots=True)
class RankFigures:
    """One rank beside the others.

    Attributes:
        number: Its place in the run, from 0.
        part: What its trace says.
        rounds: How many rounds.
        round_ns: Their median length, None without rounds.
        own_ns: Median of a round without communication, None when it is hidden.
        behind_ns: By how much that exceeds the median of the other ranks.
        slowest: In how many of the rounds that were matched its own work took longest; None when
            that of a rank is hidden.
        clock_ns: How much later its clock shows what the first rank does at the same time.
    """

    number: int
    part: RankPart
    rounds: int
    round_ns: int | None
    own_ns: int | None
    behind_ns: int | None
    slowest: int | None
    clock_ns: int | None


@dataclass(frozen=True, slots=True)
class GroupSpread:
    """How the share of one group of time varies over the ranks.

    Attributes:
        group: Name.
        lowest: Share of the window of the rank with the least.
        median: Of the ranks.
        highest: Of the rank with the most.
        highest_rank: Number of that rank.
    """

    group: str
    lowest: float
    median: float
    highest: float
    highest_rank: int


@dataclass(frozen=True, slots=True)
class WorstRound:
    """One of the longest rounds.

    Attributes:
        start_ns: Begin since that of the first round.
        wall_ns: How long it took on the rank where it took longest.
        rank: Number of the rank whose own work exceeds its median most; None when hidden.
        excess_ns: By how much.
    """

    start_ns: int
    wall_ns: int
    rank: int | None
    excess_ns: int | None


@dataclass(frozen=True, slots=True)
class Run:
    """Traces that were recorded at the same time.

    Attributes:
        ranks: The GPUs, by their titles and ranks.
        parallel: How many of each kind of group the titles name, such as ("TP", 4).
        matched: Rounds that were found on every rank.
        why_unmatched: Why none were, None when some were.
        straggler: Number of the rank that the others wait for.
        spreads: Groups in table order.
        worst: The longest of the matched rounds.
    """

    ranks: tuple[RankFigures, ...]
    parallel: tuple[tuple[str, int], ...]
    matched: int
    why_unmatched: str | None
    straggler: int | None
    spreads: tuple[GroupSpread, ...]
    worst: tuple[WorstRound, ...]


@dataclass(frozen=True, slots=True)
class Fleet:
    """What several traces say together.

    Attributes:
        traces: How many were given.
        runs: Those that could be read, by when they were recorded; the one of most ranks first.
        failed: Name and reason of those that could not.
        warnings: What to know before trusting the numbers.
    """

    traces: int
    runs: tuple[Run, ...]
    failed: tuple[tuple[str, str], ...]
    warnings: tuple[Notice, ...]


def combine(parts: Parts) -> Fleet:
    """Return the report on traces; the order in which they come changes nothing."""
    ordered = sorted(parts, key=lambda part: (part.file, part.content))
    readable = [part for part in ordered if part.failure is None]
    different, copies = _without_copies(readable)
    groups = _by_time(different)
    return Fleet(
        traces=len(parts),
        runs=tuple(_run(group) for group in groups),
        failed=tuple((part.file, part.failure) for part in ordered if part.failure is not None),
        warnings=(*copies, *_about_runs(groups), *(n for g in groups for n in _about_ranks(g))),
    )


def _without_copies(parts: Sequence[TracePart]) -> tuple[list[TracePart], list[Notice]]:
    first: dict[str, TracePart] = {}
    notices = []
    for part in parts:
        same = first.setdefault(part.content, part)
        if same is not part:
            text = f"{part.file} is a copy of {same.file} and was left out."
            notices.append(Notice("trace-twice", text))
    return list(first.values()), notices


def _by_time(parts: Sequence[TracePart]) -> list[list[TracePart]]:
    """Return traces that overlap in time together; without wall clocks, all."""
    if not parts or not all(part.has_clock for part in parts):
        return [list(parts)] if parts else []
    groups: list[list[TracePart]] = []
    end_ns = 0
    for part in sorted(parts, key=lambda part: (part.start_ns, part.file)):
        if not groups or part.start_ns >= end_ns:
            groups.append([])
        groups[-1].append(part)
        end_ns = max(end_ns, part.end_ns)
    return sorted(groups, key=lambda group: (-len(_gpus(group)), group[0].start_ns))


def _gpus(parts: Sequence[TracePart]) -> list[RankPart]:
    """Return the GPUs in order of their titles and ranks."""
    found = [rank for part in parts for rank in part.ranks]
    return sorted(
        found,
        key=lambda one: (
            sorted((kind, int(number)) for kind, number in _title(one)),
            -1 if one.rank is None else one.rank,
            one.file,
            one.gpu,
        ),
    )


def _title(rank: RankPart) -> list[tuple[str, str]]:
    return _TITLE_PART.findall(rank.process or "")


def _about_runs(groups: Sequence[Sequence[TracePart]]) -> Iterator[Notice]:
    if len(groups) > 1:
        files = "; ".join(", ".join(part.file for part in group) for group in groups)
        yield Notice(
            "runs-mixed",
            f"These traces were recorded at {len(groups)} different times, and each is reported"
            f" alone: {files}.",
        )


def _about_ranks(parts: Sequence[TracePart]) -> Iterator[Notice]:
    kinds = sorted({part.kind for part in parts})
    if len(kinds) > 1:
        text = f"Rounds differ from trace to trace ({', '.join(kinds)}): is this one server?"
        yield Notice("rounds-differ", text)
    if len(parts) > 1 and not all(part.has_clock for part in parts):
        files = ", ".join(part.file for part in parts if not part.has_clock)
        yield Notice("clock-unknown", f"Wall clock unknown, so rounds cannot be matched: {files}.")
    owners: dict[str, list[str]] = {}
    for rank in _gpus(parts):
        name = "_".join(kind + number for kind, number in _title(rank))
        if name:
            owners.setdefault(name, []).append(rank.file)
    for name, names in owners.items():
        if len(names) > 1:
            yield Notice("rank-twice", f"Rank {name} is in several traces: {', '.join(names)}.")


def _run(parts: Sequence[TracePart]) -> Run:
    gpus = _gpus(parts)
    offsets = _offsets(gpus) if all(part.has_clock for part in parts) else None
    rows = _matched(gpus, offsets) if offsets is not None else []
    slowest = _slowest(gpus, rows)
    ranks = tuple(
        _figures(
            number,
            gpus,
            None if slowest is None else slowest.count(number),
            None if offsets is None else offsets[number],
        )
        for number in range(len(gpus))
    )
    return Run(
        ranks=ranks,
        parallel=_parallel(gpus),
        matched=len(rows),
        why_unmatched=None if rows else _why_unmatched(parts, gpus, offsets),
        straggler=_straggler(ranks, len(rows)),
        spreads=tuple(_spreads(gpus)),
        worst=tuple(_worst(gpus, rows)),
    )


def _parallel(gpus: Sequence[RankPart]) -> tuple[tuple[str, int], ...]:
    numbers: dict[str, set[str]] = {}
    for gpu in gpus:
        for kind, number in _title(gpu):
            numbers.setdefault(kind, set()).add(number)
    return tuple((kind, len(found)) for kind, found in sorted(numbers.items()))


def _offsets(gpus: Sequence[RankPart]) -> list[int] | None:
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
    return offsets


def _nearest(times_ns: Sequence[int], moment_ns: int) -> int:
    return times_ns[_nearest_at(times_ns, moment_ns)]


def _nearest_at(times_ns: Sequence[int], moment_ns: int) -> int:
    at = bisect_left(times_ns, moment_ns)
    near = [each for each in (at - 1, at) if 0 <= each < len(times_ns)]
    return min(near, key=lambda each: abs(times_ns[each] - moment_ns))


def _matched(gpus: Sequence[RankPart], offsets: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the positions of each round that every rank has, rank by rank."""
    first = gpus[0].rounds
    limit_ns = median_low(first.wall_ns) // 4
    rows = []
    for start_ns in first.start_ns:
        row = []
        for gpu, offset_ns in zip(gpus, offsets, strict=True):
            at = _nearest_at(gpu.rounds.start_ns, start_ns + offset_ns)
            if abs(gpu.rounds.start_ns[at] - offset_ns - start_ns) <= limit_ns:
                row.append(at)
        if len(row) == len(gpus):
            rows.append(tuple(row))
    return rows


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


def _figures(
    number: int, gpus: Sequence[RankPart], slowest: int | None, clock_ns: int | None
) -> RankFigures:
    rounds = gpus[number].rounds
    medians = [median_low(gpu.rounds.own_ns) if gpu.rounds.own_ns else None for gpu in gpus]
    own_ns = medians[number]
    others = [one for at, one in enumerate(medians) if at != number and one is not None]
    return RankFigures(
        number=number,
        part=gpus[number],
        rounds=len(rounds.start_ns),
        round_ns=median_low(rounds.wall_ns) if rounds.wall_ns else None,
        own_ns=own_ns,
        behind_ns=None if own_ns is None or not others else own_ns - median_low(others),
        slowest=slowest,
        clock_ns=clock_ns,
    )


def _straggler(ranks: Sequence[RankFigures], matched: int) -> int | None:
    """Return the rank whose own work takes longest in most rounds, None when none does."""
    if not ranks or not matched:
        return None
    most = max(ranks, key=lambda rank: rank.slowest or 0)
    is_one = (most.slowest or 0) > MOSTLY * matched and (most.behind_ns or 0) > 0
    return most.number if is_one else None


def _why_unmatched(
    parts: Sequence[TracePart], gpus: Sequence[RankPart], offsets: Sequence[int] | None
) -> str:
    if not all(part.has_clock for part in parts):
        return "the wall clock of a trace is unknown"
    if not all(gpu.rounds.start_ns for gpu in gpus):
        return "a rank shows no rounds"
    if offsets is None:
        return "the ranks do not begin their rounds together"
    return "no round is in the window of every rank"


def _spreads(gpus: Sequence[RankPart]) -> Iterator[GroupSpread]:
    shares = [
        {name: ns / gpu.wall_ns for name, ns in gpu.groups if ns is not None and gpu.wall_ns}
        for gpu in gpus
    ]
    for name in (*GROUPS, *GAP_GROUPS):
        if any(name in (group for group, ns in gpu.groups if ns is None) for gpu in gpus):
            continue
        values = [share.get(name, 0.0) for share in shares]
        if any(values):
            highest = max(values)
            yield GroupSpread(name, min(values), median_low(values), highest, values.index(highest))


def _worst(gpus: Sequence[RankPart], rows: Sequence[tuple[int, ...]]) -> Iterator[WorstRound]:
    walls = [max(gpu.rounds.wall_ns[at] for gpu, at in zip(gpus, row, strict=True)) for row in rows]
    longest = sorted(range(len(rows)), key=lambda at: (-walls[at], at))[:MOST_WORST]
    own = [gpu.rounds.own_ns for gpu in gpus]
    usual = [median_low(values) if values else 0 for values in own]
    for at in longest:
        excess = [
            values[position] - median
            for values, position, median in zip(own, rows[at], usual, strict=True)
            if values
        ]
        known = len(excess) == len(gpus)
        yield WorstRound(
            start_ns=gpus[0].rounds.start_ns[rows[at][0]] - gpus[0].rounds.start_ns[0],
            wall_ns=walls[at],
            rank=excess.index(max(excess)) if known else None,
            excess_ns=max(excess) if known else None,
        )
