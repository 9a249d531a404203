"""What is said of several traces, in words and cells; how it looks is for others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from traceattr.attribution.fleet_figures import Fleet, RankFigures, Run, Team
from traceattr.attribution.ranks import title_parts
from traceattr.attribution.round_figures import Spread
from traceattr.report.figures import (
    MILLISECONDS,
    UNKNOWN,
    Unit,
    counted,
    duration,
    share,
    unit_for,
)
from traceattr.report.ranks_text import RANKS_NOTE

ROUNDS_NOTE = (
    "own: a round without communication; ranks meet in every collective, so the others wait while"
    " one still works. behind: own time beyond the median of the others. slowest: rounds in which"
    " its own time is the longest. clock: how much later a wall clock shows the same round as the"
    " first rank's. own, behind and clock in {unit}."
)


@dataclass(frozen=True, slots=True)
class Section:
    """A table with its title and what explains it.

    Attributes:
        title: Heading.
        columns: Titles of the columns; the first ones are texts.
        texts: How many of the columns are texts.
        rows: Cells.
        note: A sentence or more below.
    """

    title: str
    columns: tuple[str, ...]
    texts: int
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def fleet_headline(fleet: Fleet) -> str:
    """Return how many traces of how many ranks these are, and who is slow."""
    read = fleet.traces - len(fleet.failed)
    what = counted(fleet.traces, "trace")
    if fleet.failed:
        what = f"{read} of {what}"
    ranks = counted(sum(len(run.ranks) for run in fleet.runs), "rank")
    runs = "" if len(fleet.runs) < 2 else f" in {len(fleet.runs)} runs"
    return " ".join([f"{what}, {ranks}{runs}.", *map(_run_sentence, fleet.runs[:1])])


def run_title(fleet: Fleet, run: Run) -> str:
    """Return what a run is called where there are several."""
    number = fleet.runs.index(run) + 1
    return f"Run {number} of {len(fleet.runs)}" if len(fleet.runs) > 1 else "Ranks"


def _run_sentence(run: Run) -> str:
    lengths = [rank.round_ns for rank in run.ranks if rank.round_ns is not None]
    if not lengths:
        return "No rounds were found."
    said = f"A round takes {_range(lengths)}."
    if run.straggler is not None:
        return f"{said} {_blame(run.ranks[run.straggler], run)}"
    teams = [team for team in run.teams if team.collectives and team.matched]
    if not teams:
        return said
    if any(team.collectives and team.collectives.per_rank for team in teams):
        return f"{said} No rank keeps the others waiting more than chance would."
    if any(rank.slowest is None for rank in run.ranks):
        return f"{said} Which rank is slow is unknown: graphs are recorded as a whole."
    return f"{said} No rank is the slowest in most rounds."


def _blame(rank: RankFigures, run: Run) -> str:
    """Return how a rank is known to be the one that the others of its group wait for."""
    who = f"The others wait for {_label(rank, run)} ({rank.part.file})"
    one, team = run.communication_of(rank), run.team_of(rank)
    if one is None:
        return (
            f"{who}: its own work takes {duration(rank.behind_ns or 0)} longer than the median of"
            f" theirs, and longest in {_slowest(rank, team)} of the rounds."
        )
    return (
        f"{who}: it causes {share(one.late_ns, team.waiting_ns)} of the waiting, and arrives last"
        f" at {share(one.arrived_last, one.collectives)} of"
        f" {counted(one.collectives, 'collective')}."
    )


def _range(lengths: Sequence[int]) -> str:
    low, high = duration(min(lengths)), duration(max(lengths))
    return low if low == high else f"{low} to {high}"


def rank_name(rank: RankFigures, run: Run) -> str:
    """Return what a rank is called, with its trace where another one is called the same."""
    label = _label(rank, run)
    is_known = [_label(other, run) for other in run.ranks].count(label) == 1
    return label if is_known else f"{label} of {rank.part.file}"


def _label(rank: RankFigures, run: Run) -> str:
    if len(run.teams) > 1 and (titled := title_parts(rank.part.process)):
        return " ".join(map("".join, titled))
    part = rank.part
    return f"rank {part.rank}" if part.rank is not None else f"GPU {part.gpu}"


def sections(run: Run, title: str) -> Iterator[Section]:
    """Yield the tables of a run."""
    yield _ranks(run, title)
    if any(team.collectives for team in run.teams):
        yield _communication(run)
    if len(run.ranks) > 1:
        yield _spread(run)
    if run.worst:
        yield _worst(run)


def _ranks(run: Run, title: str) -> Section:
    parallel = ", ".join(f"{kind} {count}" for kind, count in run.parallel)
    unit = _unit(run)
    rows = tuple(_rank_row(rank, unit, run) for rank in run.ranks)
    columns = (
        "trace",
        "rank",
        "busy",
        "rounds",
        f"{unit.name}/round",
        "own",
        "behind",
        "slowest",
        "clock",
    )
    unmatched = [(team.name, _unmatched(team)) for team in run.teams if team.why_unmatched]
    about_rounds = [ROUNDS_NOTE.format(unit=unit.name)] if run.matched else []
    notes = (*about_rounds, *_of_teams(unmatched, run), *_untitled(run))
    heading = f"{title} ({parallel})" if parallel else title
    return Section(heading, columns, 1, rows, " ".join(notes))


def _unit(run: Run) -> Unit:
    lengths = [rank.round_ns for rank in run.ranks if rank.round_ns is not None]
    return unit_for(max(lengths, default=MILLISECONDS.ns))


def _unmatched(team: Team) -> str:
    return f"Rounds cannot be matched across ranks: {team.why_unmatched}."


def _untitled(run: Run) -> Iterator[str]:
    """Yield who is in which team where titles do not say so."""
    if len(run.teams) > 1:
        for team in run.teams:
            parts = [run.ranks[number].part for number in team.ranks]
            if not any(title_parts(part.process) for part in parts):
                yield f"{team.name}: {', '.join(dict.fromkeys(part.file for part in parts))}."


def _of_teams(said: Sequence[tuple[str, str]], run: Run) -> Iterator[str]:
    """Yield what is said of teams, each sentence once, with their names where there are several."""
    names: dict[str, list[str]] = {}
    for name, sentence in said:
        names.setdefault(sentence, []).append(name)
    for sentence, teams in names.items():
        yield f"{', '.join(teams)}: {sentence}" if len(run.teams) > 1 and all(teams) else sentence


def _rank_row(rank: RankFigures, unit: Unit, run: Run) -> tuple[str, ...]:
    part = rank.part
    return (
        part.file,
        _rank_cell(rank, run),
        share(part.busy_ns, part.wall_ns),
        f"{rank.rounds:,}",
        _time(rank.round_ns, unit),
        _time(rank.own_ns, unit),
        _signed(rank.behind_ns, unit),
        _slowest(rank, run.team_of(rank)),
        _signed(rank.clock_ns, unit),
    )


def _rank_cell(rank: RankFigures, run: Run) -> str:
    return _label(rank, run).removeprefix("rank ").removeprefix("GPU ")


def _slowest(rank: RankFigures, team: Team) -> str:
    known = rank.slowest is not None and team.matched
    return share(rank.slowest or 0, team.matched) if known else UNKNOWN


def _communication(run: Run) -> Section:
    unit = _unit(run)
    compared = [
        (found.rounds, team.matched)
        for team in run.teams
        if (found := team.collectives) and found.per_rank and found.rounds
    ]
    over = f", median over {_some(*min(compared))}" if compared else ""
    rows = tuple(
        (
            rank.part.file,
            _rank_cell(rank, run),
            _median(one.wire_per_round, unit),
            _median(one.wait_per_round, unit),
            share(one.late_ns, run.team_of(rank).waiting_ns),
            share(one.arrived_last, one.collectives),
        )
        for rank in run.ranks
        if (one := run.communication_of(rank))
    )
    said = [(team.name, sentence) for team in run.teams for sentence in _about(team, run)]
    return Section(
        f"Communication across ranks ({unit.name}/round{over})",
        ("trace", "rank", "wire", "wait", "late", "last"),
        1,
        rows,
        " ".join((*([RANKS_NOTE] if rows else []), *_of_teams(said, run))),
    )


def _some(some: int, whole: int) -> str:
    return f"{some:,} of {counted(whole, 'round')}" if some < whole else counted(some, "round")


def _about(team: Team, run: Run) -> Iterator[str]:
    """Yield who keeps the others of a team, where there are several, and what was not compared."""
    collectives = team.collectives
    if collectives is None:
        return
    if collectives.reason:
        yield f"Waiting for other ranks cannot be told from transfer: {collectives.reason}."
        return
    if team.straggler is not None and len(run.teams) > 1:
        yield _blame(run.ranks[team.straggler], run)
    if collectives.rounds_left_out:
        whole = collectives.rounds + collectives.rounds_left_out
        yield (
            f"Left out: {collectives.rounds_left_out:,} of {counted(whole, 'round')}, in which the"
            " ranks run different collectives."
        )


def _median(spread: Spread | None, unit: Unit) -> str:
    return UNKNOWN if spread is None else unit.number(spread.median)


def _time(value_ns: int | None, unit: Unit) -> str:
    return UNKNOWN if value_ns is None else unit.number(value_ns)


def _signed(value_ns: int | None, unit: Unit) -> str:
    if value_ns is None:
        return UNKNOWN
    return f"-{unit.number(-value_ns)}" if value_ns < 0 else unit.number(value_ns)


def _spread(run: Run) -> Section:
    rows = tuple(
        (
            spread.group,
            _percent(spread.lowest),
            _percent(spread.median),
            _percent(spread.highest),
            rank_name(run.ranks[spread.highest_rank], run),
        )
        for spread in run.spreads
    )
    columns = ("group", "lowest", "median", "highest", "of")
    return Section("Share of the window over the ranks", columns, 1, rows)


def _percent(ratio: float) -> str:
    return share(round(ratio * 10**9), 10**9)


def _worst(run: Run) -> Section:
    unit = unit_for(max(worst.wall_ns for worst in run.worst))
    rows = tuple(
        (
            f"{worst.start_ns / 1e9:,.3f} s",
            unit.number(worst.wall_ns),
            UNKNOWN if worst.rank is None else rank_name(run.ranks[worst.rank], run),
            _signed(worst.excess_ns, unit),
        )
        for worst in run.worst
    )
    columns = ("after", f"round, {unit.name}", "rank", "own beyond its median")
    whose = "every rank" if len(run.teams) == 1 else "every rank of a group"
    title = f"Longest of {counted(run.matched, 'round')} that {whose} has"
    return Section(title, columns, 1, rows)
