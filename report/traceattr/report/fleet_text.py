"""What is said of several traces, in words and cells; how it looks is for others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from traceattr.attribution.fleet import Fleet, RankFigures, Run
from traceattr.attribution.fleet_part import RankPart
from traceattr.report.figures import (
    MILLISECONDS,
    UNKNOWN,
    Unit,
    counted,
    duration,
    share,
    unit_for,
)

ROUNDS_NOTE = (
    "own: a round without communication; ranks meet in every collective, so the others wait while"
    " one still works. behind: own time beyond the median of the others. clock: how much later a"
    " wall clock shows the same round as the first rank's."
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
        rank = run.ranks[run.straggler]
        return (
            f"{said} The others wait for {rank_name(rank.part)} ({rank.part.file}): its own work"
            f" takes {duration(rank.behind_ns or 0)} longer than the median of theirs, and longest"
            f" in {_slowest(rank, run)} of the rounds."
        )
    if not run.matched or len(run.ranks) < 2:
        return said
    if any(rank.slowest is None for rank in run.ranks):
        return f"{said} Which rank is slow is unknown: graphs are recorded as a whole."
    return f"{said} No rank is the slowest in most rounds."


def _range(lengths: Sequence[int]) -> str:
    low, high = duration(min(lengths)), duration(max(lengths))
    return low if low == high else f"{low} to {high}"


def rank_name(part: RankPart) -> str:
    """Return what a rank is called."""
    return f"rank {part.rank}" if part.rank is not None else f"GPU {part.gpu}"


def sections(run: Run, title: str) -> Iterator[Section]:
    """Yield the tables of a run."""
    yield _ranks(run, title)
    if len(run.ranks) > 1:
        yield _spread(run)
    if run.worst:
        yield _worst(run)


def _ranks(run: Run, title: str) -> Section:
    parallel = ", ".join(f"{kind} {count}" for kind, count in run.parallel)
    lengths = [rank.round_ns for rank in run.ranks if rank.round_ns is not None]
    unit = unit_for(max(lengths, default=MILLISECONDS.ns))
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
    note = ROUNDS_NOTE if run.matched else _unmatched(run)
    return Section(f"{title} ({parallel})" if parallel else title, columns, 1, rows, note)


def _unmatched(run: Run) -> str:
    return f"Rounds cannot be matched across ranks: {run.why_unmatched}."


def _rank_row(rank: RankFigures, unit: Unit, run: Run) -> tuple[str, ...]:
    part = rank.part
    return (
        part.file,
        str(part.gpu if part.rank is None else part.rank),
        share(part.busy_ns, part.wall_ns),
        f"{rank.rounds:,}",
        _time(rank.round_ns, unit),
        _time(rank.own_ns, unit),
        _signed(rank.behind_ns, unit),
        _slowest(rank, run),
        _signed(rank.clock_ns, unit),
    )


def _slowest(rank: RankFigures, run: Run) -> str:
    known = rank.slowest is not None and run.matched
    return share(rank.slowest or 0, run.matched) if known else UNKNOWN


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
            rank_name(run.ranks[spread.highest_rank].part),
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
            UNKNOWN if worst.rank is None else rank_name(run.ranks[worst.rank].part),
            _signed(worst.excess_ns, unit),
        )
        for worst in run.worst
    )
    columns = ("after", f"round, {unit.name}", "rank", "own beyond its median")
    title = f"Longest of {counted(run.matched, 'round')} that every rank has"
    return Section(title, columns, 1, rows)
