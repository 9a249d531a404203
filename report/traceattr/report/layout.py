"""Which columns the table of groups and categories gets, for one GPU or several."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from traceattr.attribution.analysis import Analysis
from traceattr.report.breakdown import (
    ROUND,
    WINDOW,
    Line,
    Values,
    has_rounds,
    is_idle_upper_limit,
    mean,
    wholes,
)
from traceattr.report.figures import NOTHING, UNKNOWN, Unit, count, share, share_range, unit_for
from traceattr.report.grouped import hides_work
from traceattr.report.headline import IDLE_UPPER_LIMIT
from traceattr.report.sampled import has_percentiles, sampled_rounds

_BUSY_SUM = "busy sum"
_P99 = "p99"

_NEARLY_ALL = 0.99
"""Share of the window that rounds fill from which on nothing is said of the rest."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of figures.

    Attributes:
        title: What it shows, with its unit.
        cell: Text of one line's cell.
    """

    title: str
    cell: Callable[[Line], str]


Columns = tuple[Column, ...]


def layouts(analysis: Analysis) -> tuple[Columns, ...]:
    """Return sets of columns, the fullest first; a narrow terminal gets a later one.

    With rounds, times are those of a round.
    """
    if has_rounds(analysis):
        return tuple(_round_layouts(analysis))
    return tuple(_window_layouts(analysis))


def full_layout(analysis: Analysis) -> Columns:
    """Return every column, for a place that is as wide as it needs to be."""
    if not has_rounds(analysis):
        return next(_window_layouts(analysis))
    _, *shares_and_counts = next(_window_layouts(analysis))
    shares, counts = (
        shares_and_counts[: len(analysis.per_gpu)],
        shares_and_counts[len(analysis.per_gpu) :],
    )
    total = _mean_column(WINDOW, unit_for(max(_walls(analysis))))
    return (*_round_columns(analysis), *shares, total, *counts)


def summary_layout(analysis: Analysis) -> Columns:
    """Return the columns of a table that is read at a glance: time, and one share of all GPUs."""
    if has_rounds(analysis):
        return (*_round_columns(analysis), _share_column(analysis))
    return _time_column(analysis), _share_column(analysis)


def legend(analysis: Analysis, columns: Columns) -> str:
    """Return what the figures in these columns mean, in a line or two."""
    return " ".join(_legend(analysis, [column.title for column in columns]))


def _legend(analysis: Analysis, titles: Sequence[str]) -> Iterator[str]:
    mean_of = "" if len(analysis.per_gpu) == 1 else ", as the mean of the GPUs"
    if has_rounds(analysis):
        rounds = sampled_rounds(analysis.rounds)
        figures = "median and p99" if _P99 in titles else "median"
        window = ", in the window and" if any(t.startswith(WINDOW) for t in titles) else " and"
        yield f"Time is exclusive{window} per round: {figures} over {rounds}{mean_of}."
        yield "Medians do not add up; shares of a round do."
        yield from _rounds_share(analysis)
    else:
        yield f"Time is exclusive{mean_of}: the groups add up to the window."
    yield _idle_legend(analysis)
    if any(title.startswith(_BUSY_SUM) for title in titles):
        yield "Busy sums add up durations, so they are larger where work overlaps."


def _rounds_share(analysis: Analysis) -> Iterator[str]:
    """Yield how much of the window the rounds are, if there is more, such as a prefill."""
    rounds, wall_ns = analysis.rounds, analysis.window.wall_ns
    rounds_ns = rounds.wall.mean * rounds.sampled if rounds.wall else 0
    if rounds_ns < _NEARLY_ALL * wall_ns:
        yield f"These rounds fill {share(rounds_ns, wall_ns)} of the window."


def _idle_legend(analysis: Analysis) -> str:
    """Return how far idle time can be trusted: work that was not recorded looks idle."""
    found = {time.idle.completeness for time in analysis.per_gpu}
    if is_idle_upper_limit(analysis):
        return IDLE_UPPER_LIMIT
    if found == {"complete"}:
        outside = " outside graphs" if any(map(hides_work, analysis.per_gpu)) else ""
        return f"Idle time{outside} is complete: what was launched was recorded."
    return "Whether work is missing, which would look idle, is unknown."


def _window_layouts(analysis: Analysis) -> Iterator[Columns]:
    """Yield columns without rounds.

    One GPU has its time beside its share.  Several have one share each, or the lowest and the
    highest, beside their mean time: they work at the same time, so times are not added up.
    """
    walls = _walls(analysis)
    time = _time_column(analysis)
    each = _each(analysis)
    summed = _sum_column(_BUSY_SUM, unit_for(max(walls, default=0)))
    yield time, *each, summed, _operations_column(analysis)
    if len(walls) > 1:
        yield time, *each, summed
    yield time, *each
    yield each
    if len(walls) > 1:
        yield time, *_range(analysis)
        yield _range(analysis)
        yield (_share_column(analysis),)


def _round_layouts(analysis: Analysis) -> Iterator[Columns]:
    """Yield columns with rounds; for several GPUs, the mean of their medians and percentiles."""
    median, *p99 = _round_columns(analysis)
    each = _each(analysis)
    shares = (each, _range(analysis)) if len(analysis.per_gpu) > 1 else (each,)
    if p99:
        yield from ((median, *p99, *columns) for columns in shares)
    yield from ((median, *columns) for columns in shares)
    yield (median,)


def _time_column(analysis: Analysis) -> Column:
    walls = _walls(analysis)
    return _mean_column("time" if len(walls) == 1 else "mean", unit_for(max(walls, default=0)))


def _share_column(analysis: Analysis) -> Column:
    """Return the share of each line, from the lowest of any GPU to the highest."""
    whole_ns = wholes(analysis)

    def cell(line: Line) -> str:
        parts = _parts(line, analysis)
        if parts is None:
            return NOTHING
        known = [
            (part, whole) for part, whole in zip(parts, whole_ns, strict=True) if part is not None
        ]
        return share_range(known) if len(known) == len(whole_ns) else UNKNOWN

    return Column("share", cell)


def _round_columns(analysis: Analysis) -> Columns:
    """Return the median, and the 99th percentile where there are rounds enough for one."""
    wall = analysis.rounds.wall
    unit = unit_for(wall.median if wall else 0)
    median = Column(f"{unit.name}/round", lambda line: _round_cell(line.median_ns, unit))
    if not has_percentiles(analysis.rounds.sampled):
        return (median,)
    return median, Column(_P99, lambda line: _round_cell(line.p99_ns, unit))


def _round_cell(values: Values | None, unit: Unit) -> str:
    return NOTHING if values is None else _mean(values, unit)


def _walls(analysis: Analysis) -> tuple[int, ...]:
    return tuple(time.wall_ns for time in analysis.per_gpu)


def _each(analysis: Analysis) -> Columns:
    if len(analysis.per_gpu) == 1:
        return (Column("share", _share_cell(analysis, 0)),)
    return tuple(
        Column(f"GPU {time.gpu}", _share_cell(analysis, position))
        for position, time in enumerate(analysis.per_gpu)
    )


def _range(analysis: Analysis) -> Columns:
    return _bound_column("lowest", analysis, 0), _bound_column("highest", analysis, -1)


def _operations_column(analysis: Analysis) -> Column:
    title = "ops" if len(analysis.per_gpu) == 1 else "ops per GPU"
    return Column(title, lambda line: _operations(line.operations))


def _mean_column(title: str, unit: Unit) -> Column:
    def cell(line: Line) -> str:
        return NOTHING if line.name == ROUND else _mean(line.exclusive_ns, unit)

    return Column(f"{title}, {unit.name}", cell)


def _sum_column(title: str, unit: Unit) -> Column:
    def cell(line: Line) -> str:
        return NOTHING if line.is_without_operations else _mean(line.sum_ns, unit)

    return Column(f"{title}, {unit.name}", cell)


def _mean(values: Values, unit: Unit) -> str:
    value = mean(values)
    return UNKNOWN if value is None else unit.number(value)


def _parts(line: Line, analysis: Analysis) -> Values | None:
    """Return the times that shares are of; None for a line that is no part of a round."""
    return line.round_mean_ns if has_rounds(analysis) else line.exclusive_ns


def _share_cell(analysis: Analysis, position: int) -> Callable[[Line], str]:
    """Return what gives a line's share on one GPU, of a round or else of the window."""
    whole_ns = wholes(analysis)[position]

    def cell(line: Line) -> str:
        parts = _parts(line, analysis)
        if parts is None:
            return NOTHING
        part_ns = parts[position]
        return UNKNOWN if part_ns is None else share(part_ns, whole_ns)

    return cell


def _bound_column(title: str, analysis: Analysis, position: int) -> Column:
    """Return the column of the lowest (0) or the highest (-1) share of any GPU."""
    whole_ns = wholes(analysis)

    def cell(line: Line) -> str:
        values = _parts(line, analysis)
        if values is None:
            return NOTHING
        parts = [
            (value / whole if whole else 0, value, whole)
            for value, whole in zip(values, whole_ns, strict=True)
            if value is not None
        ]
        if len(parts) < len(whole_ns):
            return UNKNOWN
        _, value, whole = sorted(parts)[position]
        return share(value, whole)

    return Column(title, cell)


def _operations(values: Values) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return NOTHING
    low, high = count(min(known)), count(max(known))
    return low if low == high else f"{low}-{high}"
