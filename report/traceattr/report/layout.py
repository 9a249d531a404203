"""Which columns the table of groups and categories gets, for one GPU or several."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from traceattr.attribution.analysis import Analysis
from traceattr.report.breakdown import Line, Values, mean
from traceattr.report.figures import Unit, count, share, unit_for

UNKNOWN = "unknown"
NOTHING = ""
_BUSY_SUM = "busy sum"


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

    One GPU has its time beside its share.  Several have one share each, or the lowest and the
    highest, beside their mean time: they work at the same time, so times are not added up.
    """
    walls = tuple(time.wall_ns for time in analysis.per_gpu)
    unit = unit_for(max(walls, default=0))
    if len(walls) == 1:
        time, summed = _mean_column("time", unit), _sum_column(_BUSY_SUM, unit)
        shares = (Column("share", lambda line: _share(line.exclusive_ns, walls, 0)),)
        operations = Column("ops", lambda line: _operations(line.operations))
        return (time, *shares, summed, operations), (time, *shares), shares
    time, summed = _mean_column("mean", unit), _sum_column(_BUSY_SUM, unit)
    each = tuple(_share_columns(analysis, walls))
    range_ = (_bound_column("lowest", walls, 0), _bound_column("highest", walls, -1))
    operations = Column("ops per GPU", lambda line: _operations(line.operations))
    return (
        (time, *each, summed, operations),
        (time, *each, summed),
        (time, *each),
        each,
        (time, *range_),
        range_,
    )


def legend(analysis: Analysis, columns: Columns) -> str:
    """Return what the times in these columns mean, in a line or two."""
    mean_of = "" if len(analysis.per_gpu) == 1 else ", as the mean of the GPUs"
    exclusive = f"Time is exclusive{mean_of}: the groups add up to the window."
    if not any(column.title.startswith(_BUSY_SUM) for column in columns):
        return exclusive
    return f"{exclusive} Busy sums add up durations, so they are larger where work overlaps."


def _mean_column(title: str, unit: Unit) -> Column:
    return Column(f"{title}, {unit.name}", lambda line: _mean(line.exclusive_ns, unit))


def _sum_column(title: str, unit: Unit) -> Column:
    def cell(line: Line) -> str:
        return NOTHING if line.is_without_operations else _mean(line.sum_ns, unit)

    return Column(f"{title}, {unit.name}", cell)


def _mean(values: Values, unit: Unit) -> str:
    value = mean(values)
    return UNKNOWN if value is None else unit.number(value)


def _share_columns(analysis: Analysis, walls: tuple[int, ...]) -> Iterator[Column]:
    for position, time in enumerate(analysis.per_gpu):

        def cell(line: Line, position: int = position) -> str:
            return _share(line.exclusive_ns, walls, position)

        yield Column(f"GPU {time.gpu}", cell)


def _share(values: Values, walls: tuple[int, ...], position: int) -> str:
    value = values[position]
    return UNKNOWN if value is None else share(value, walls[position])


def _bound_column(title: str, walls: tuple[int, ...], position: int) -> Column:
    """Return the column of the lowest (0) or the highest (-1) share of any GPU."""

    def cell(line: Line) -> str:
        parts = [
            (value / wall if wall else 0, value, wall)
            for value, wall in zip(line.exclusive_ns, walls, strict=True)
            if value is not None
        ]
        if len(parts) < len(walls):
            return UNKNOWN
        _, value, wall = sorted(parts)[position]
        return share(value, wall)

    return Column(title, cell)


def _operations(values: Values) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return NOTHING
    low, high = count(min(known)), count(max(known))
    return low if low == high else f"{low}-{high}"
