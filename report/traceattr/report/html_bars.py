"""Bars of groups: what each takes, beside its bound and what is to be expected."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from traceattr.attribution.analysis import Analysis
from traceattr.report.breakdown import Line, group_lines, has_rounds, mean, shown_ns, wholes
from traceattr.report.figures import NOTHING, UNKNOWN, Unit, share, unit_for
from traceattr.report.html_names import group_class

if TYPE_CHECKING:  # it takes a while to import, and few reports need it
    from traceattr.report.comparison import Comparison, Figures


@dataclass(frozen=True, slots=True)
class Bar:
    """One group; positions are percents of the width of the chart.

    Attributes:
        name: Name of the group.
        css: Class that gives it its colour.
        width: Of the bar; None when its time is unknown.
        bound: Where the bound is marked; None without one.
        expected: Where the expectation is marked; the same.
        cells: Texts in the order of `Bars.titles`.
        label: All of it in words.
    """

    name: str
    css: str
    width: float | None
    bound: float | None
    expected: float | None
    cells: tuple[str, ...]
    label: str


@dataclass(frozen=True, slots=True)
class Bars:
    """The chart.

    Attributes:
        titles: Titles of the columns of figures.
        rows: The bars.
        has_bounds: Whether any of them has a bound.
    """

    titles: tuple[str, ...]
    rows: tuple[Bar, ...]
    has_bounds: bool


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line of the breakdown and its prediction."""

    line: Line
    time_ns: int | None
    share: str
    figures: "Figures | None"


def bars_of(analysis: Analysis, comparison: "Comparison | None") -> Bars:
    """Return a bar for each group: its median in a round, or its time in the window."""
    entries = list(_entries(analysis, comparison))
    has_bounds = any(entry.figures for entry in entries)
    longest_ns = max((ns for entry in entries for ns in _lengths(entry)), default=0)
    unit = unit_for(analysis.rounds.wall.median if analysis.rounds.wall else longest_ns)
    time = f"{unit.name}/round" if has_rounds(analysis) else unit.name
    bounds = ("bound", "expected", "x bound") if has_bounds else ()
    return Bars(
        titles=(time, "share", *bounds),
        rows=tuple(_bar(entry, longest_ns, unit, has_bounds) for entry in entries),
        has_bounds=has_bounds,
    )


def _entries(analysis: Analysis, comparison: "Comparison | None") -> Iterator[_Entry]:
    whole_ns = sum(wholes(analysis))
    for line in group_lines(analysis):
        if line.is_part:
            continue
        parts = shown_ns(line)
        known = [ns for ns in parts if ns is not None]
        text = share(sum(known), whole_ns) if len(known) == len(parts) else UNKNOWN
        values = line.median_ns if has_rounds(analysis) else line.exclusive_ns
        yield _Entry(line, mean(values or ()), text, _predicted(comparison, line.name))


def _predicted(comparison: "Comparison | None", group: str) -> "Figures | None":
    """Return the prediction of a group, None where there is none."""
    if comparison is None:
        return None
    from traceattr.report.comparison_text import group_figures

    figures = group_figures(comparison, group)
    return None if figures.bound_ns is None else figures


def _lengths(entry: _Entry) -> Iterator[int]:
    figures = entry.figures
    for ns in (entry.time_ns, *((figures.bound_ns, figures.expected_ns) if figures else ())):
        if ns is not None:
            yield ns


def _bar(entry: _Entry, longest_ns: int, unit: Unit, has_bounds: bool) -> Bar:
    figures = entry.figures
    bound_ns = figures.bound_ns if figures else None
    expected_ns = figures.expected_ns if figures else None
    time = UNKNOWN if entry.time_ns is None else unit.number(entry.time_ns)
    marks = (_number(bound_ns, unit), _number(expected_ns, unit), _ratio(figures))
    said = [f"{time} {unit.name}", f"{entry.share} of the whole"]
    if figures:
        said += [f"bound {marks[0]}", f"expected {marks[1]}"]
    return Bar(
        name=entry.line.name,
        css=group_class(entry.line.name),
        width=_percent(entry.time_ns, longest_ns),
        bound=_percent(bound_ns, longest_ns),
        expected=_percent(expected_ns, longest_ns),
        cells=(time, entry.share, *(marks if has_bounds else ())),
        label=f"{entry.line.name}: {', '.join(said)}",
    )


def _number(time_ns: int | None, unit: Unit) -> str:
    return NOTHING if time_ns is None else unit.number(time_ns)


def _ratio(figures: "Figures | None") -> str:
    if figures is None or figures.bound_ratio is None:
        return NOTHING
    from traceattr.report.comparison_text import bound_cells

    return bound_cells(figures)[1]


def _percent(time_ns: int | None, longest_ns: int) -> float | None:
    return None if time_ns is None or not longest_ns else round(100 * time_ns / longest_ns, 3)
