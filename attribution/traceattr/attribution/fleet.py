"""Several traces of one server as one: which runs they are of, and who is slow."""

from collections.abc import Iterator, Sequence
from itertools import islice
from statistics import median_low

from traceattr.attribution.analysis import Notice
from traceattr.attribution.fleet_collectives import shared_collectives
from traceattr.attribution.fleet_figures import Fleet, GroupSpread, RankFigures, Run, Team
from traceattr.attribution.fleet_part import Parts, RankPart, TracePart
from traceattr.attribution.fleet_rounds import (
    Members,
    figures_of,
    members_of,
    split_by_rounds,
    worst_rounds,
)
from traceattr.attribution.groups import GAP_GROUPS
from traceattr.attribution.rank_figures import SharedCollectives
from traceattr.attribution.ranks import groups_by_title, title_parts
from traceattr.rules.categories import GROUPS

_MOST_MISSING = 8
MOSTLY = 0.5
"""Share of rounds in which a rank is the slowest from which on it is called so."""


def combine(parts: Parts) -> Fleet:
    """Return the report on traces; the order in which they come changes nothing."""
    ordered = sorted(parts, key=lambda part: (part.file, part.content))
    readable = [part for part in ordered if part.failure is None]
    different, copies = _without_copies(readable)
    groups = _by_time(different)
    return Fleet(
        traces=len(parts) - len(copies),
        runs=tuple(_run(group) for group in groups),
        failed=tuple((part.file, part.failure) for part in ordered if part.failure is not None),
        warnings=(
            *copies,
            *_about_missing(_gpus(different)),
            *_about_runs(groups),
            *(notice for group in groups for notice in _about_ranks(group)),
        ),
    )


def _without_copies(parts: Sequence[TracePart]) -> tuple[list[TracePart], list[Notice]]:
    first: dict[str, TracePart] = {}
    notices = []
    for part in parts:
        same = first.setdefault(part.content, part)
        if same is not part:
            text = f"{part.file} is a copy of {same.file} and was left out."
            if part.file == same.file:
                text = f"{part.file} was given more than once, and counts once."
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
            sorted((kind, int(number)) for kind, number in title_parts(one.process)),
            -1 if one.rank is None else one.rank,
            one.file,
            one.gpu,
        ),
    )


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
        name = "_".join(kind + number for kind, number in title_parts(rank.process))
        if name:
            owners.setdefault(name, []).append(rank.file)
    for name, names in owners.items():
        if len(names) > 1:
            yield Notice("rank-twice", f"Rank {name} is in several traces: {', '.join(names)}.")


def _run(parts: Sequence[TracePart]) -> Run:
    gpus = _gpus(parts)
    has_clock = all(part.has_clock for part in parts)
    groups = groups_by_title([gpu.process for gpu in gpus])
    if has_clock:
        groups = tuple(team for numbers in groups for team in split_by_rounds(numbers, gpus))
    teams = [members_of(numbers, gpus, has_clock=has_clock) for numbers in groups]
    figures = (one for team in teams for one in figures_of(team))
    ranks = sorted(figures, key=lambda one: one.number)
    return Run(
        ranks=tuple(ranks),
        parallel=_parallel(gpus),
        teams=tuple(
            _team(team, ranks, _team_name(team.gpus, at, len(teams)), has_clock=has_clock)
            for at, team in enumerate(teams)
        ),
        spreads=tuple(_spreads(gpus)),
        worst=tuple(worst_rounds(teams)),
    )


def _team(members: Members, ranks: Sequence[RankFigures], name: str, *, has_clock: bool) -> Team:
    numbers, rows = members.numbers, members.rows
    why = None if rows else _why_unmatched(members, has_clock=has_clock)
    collectives = None
    if len(numbers) > 1:
        collectives = (
            shared_collectives(members.gpus, numbers, rows)
            if why is None
            else SharedCollectives(reason=why)
        )
    return Team(
        name=name,
        ranks=numbers,
        matched=len(rows),
        why_unmatched=why,
        collectives=collectives,
        straggler=(
            collectives.waited_for
            if collectives and collectives.per_rank
            else _straggler([ranks[number] for number in numbers], len(rows))
        ),
    )


def _team_name(gpus: Sequence[RankPart], at: int, teams: int) -> str:
    """Return what the titles of all ranks say alike, or a number where they do not tell."""
    first, *others = [title_parts(gpu.process) for gpu in gpus]
    shared = " ".join("".join(part) for part in first if all(part in other for other in others))
    return shared or (f"group {at + 1}" if teams > 1 else "")


def _parallel(gpus: Sequence[RankPart]) -> tuple[tuple[str, int], ...]:
    return tuple((kind, max(found) + 1) for kind, found in sorted(_numbers(gpus).items()))


def _numbers(gpus: Sequence[RankPart]) -> dict[str, set[int]]:
    """Return which numbers of each kind of group, counted from 0, the titles name."""
    numbers: dict[str, set[int]] = {}
    for gpu in gpus:
        for kind, number in title_parts(gpu.process):
            numbers.setdefault(kind, set()).add(int(number))
    return numbers


def _about_missing(gpus: Sequence[RankPart]) -> Iterator[Notice]:
    """Yield which numbers below the highest no title has; a title may hold any number."""
    for kind, found in sorted(_numbers(gpus).items()):
        missing = (number for number in range(max(found)) if number not in found)
        names = [f"{kind}{number}" for number in islice(missing, _MOST_MISSING)]
        if more := max(found) + 1 - len(found) - len(names):
            names.append(f"{more:,} more")
        if names:
            text = f"No trace that was read has {', '.join(names)}: the others may wait for it."
            yield Notice("rank-missing", text)


def _straggler(ranks: Sequence[RankFigures], matched: int) -> int | None:
    """Return the rank whose own work takes longest in most rounds, None when none does."""
    if not ranks or not matched:
        return None
    most = max(ranks, key=lambda rank: rank.slowest or 0)
    is_one = (most.slowest or 0) > MOSTLY * matched and (most.behind_ns or 0) > 0
    return most.number if is_one else None


def _why_unmatched(members: Members, *, has_clock: bool) -> str:
    if not has_clock:
        return "the wall clock of a trace is unknown"
    if not all(gpu.rounds.start_ns for gpu in members.gpus):
        return "a rank shows no rounds"
    if members.offsets_ns is None:
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
