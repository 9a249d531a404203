"""How a roofline plot looks in a terminal: roofs of Braille dots, points of letters."""

from collections.abc import Iterator
from itertools import groupby

from rich.console import RenderableType
from rich.text import Text

from traceattr.report.canvas import Canvas
from traceattr.report.console import heading
from traceattr.report.escape import visible
from traceattr.report.log_axis import LogAxis, tick_text
from traceattr.report.roofline_plot import RooflinePlot
from traceattr.report.roofline_plot_text import (
    TERA,
    X_TITLE,
    Y_TITLE,
    memory_roof_text,
    plot_notes,
    plot_title,
    roof_text,
    x_axis,
    y_axis,
)

MOST_COLUMNS = 96
"""Wider than this a plot of few points only gets emptier."""

_NARROW = 60
_ROWS, _ROWS_IF_NARROW = 14, 11

_EXPECTED, _BOUND = "+", "o"


def plot_section(plot: RooflinePlot, width: int) -> Iterator[RenderableType]:
    """Yield the plot with its legend."""
    yield heading(visible(plot_title(plot)))
    for line in _framed(plot, min(width, MOST_COLUMNS)):
        yield Text(line)
    yield Text(_legend(plot))
    for note in plot_notes(plot):
        yield Text(visible(note), style="dim")
    yield ""


def _framed(plot: RooflinePlot, width: int) -> Iterator[str]:
    """Yield the lines of the plot with its axes."""
    across, up = x_axis(plot), y_axis(plot)
    labels = {up.place(value): tick_text(value / TERA) for value in up.decades}
    margin = max(map(len, labels.values()), default=0)
    canvas = Canvas(width - margin - 2, _ROWS if width >= _NARROW else _ROWS_IF_NARROW)
    _draw(plot, canvas, across, up)
    ticks = {canvas.row(place): label for place, label in labels.items()}
    yield Y_TITLE
    for row, line in enumerate(canvas.lines()):
        yield f"{ticks.get(row, ''):>{margin}} |{line}"
    yield f"{'':{margin}} +{'-' * canvas.columns}"
    yield f"{'':{margin}}  {_x_ticks(canvas, across)}"


def _x_ticks(canvas: Canvas, across: LogAxis) -> str:
    """Return the line below the plot: powers of ten as far as they fit, and the unit."""
    line = ""
    for value in across.decades:
        text, start = tick_text(value), canvas.column(across.place(value))
        if len(line) <= start and start + len(text) < canvas.columns - len(X_TITLE):
            line = f"{line:{start}}{text} "
    return f"{line:{canvas.columns - len(X_TITLE)}}{X_TITLE}"


def _draw(plot: RooflinePlot, canvas: Canvas, across: LogAxis, up: LogAxis) -> None:
    """Draw the roofs and upon them bounds, what is expected, and what was measured on top."""
    _draw_roofs(plot, canvas, across, up)
    columns = [canvas.column(across.place(point.flop_per_byte)) for point in plot.points]
    for point, column in zip(plot.points, columns, strict=True):
        canvas.put(canvas.row(up.place(point.bound_flop_per_s)), column, _BOUND)
    for point, column in zip(plot.points, columns, strict=True):
        canvas.put(canvas.row(up.place(point.expected_flop_per_s)), column, _EXPECTED)
    taken: set[tuple[int, int]] = set()
    for point, column in zip(plot.points, columns, strict=True):
        row = canvas.row(up.place(point.shown_flop_per_s))
        while (row, column) in taken and column < canvas.columns - 1:
            column += 1
        taken.add((row, column))
        canvas.put(row, column, point.mark)


def _draw_roofs(plot: RooflinePlot, canvas: Canvas, across: LogAxis, up: LogAxis) -> None:
    """Draw the sloping roof up to the highest flat one, and each flat one from the slope on."""
    start = (0.0, up.place(across.low * plot.bytes_per_s))
    for roof in plot.roofs:
        ridge = (across.place(roof.flop_per_s / plot.bytes_per_s), up.place(roof.flop_per_s))
        canvas.line(ridge, (1, ridge[1]))
    canvas.line(start, ridge)
    _label_roofs(plot, canvas, up)
    _label_slope(plot, canvas, start[1], (ridge[1] - start[1]) / ridge[0])


def _label_roofs(plot: RooflinePlot, canvas: Canvas, up: LogAxis) -> None:
    """Name the flat roofs at their ends; those in one line of text share it."""
    by_row = groupby(plot.roofs, key=lambda roof: canvas.row(up.place(roof.flop_per_s)))
    for row, roofs in by_row:
        text = f" {', '.join(map(roof_text, roofs))}"
        canvas.put(row, canvas.columns - len(text), text)


def _label_slope(plot: RooflinePlot, canvas: Canvas, start: float, rise: float) -> None:
    """Name the memory roof at its left, where nothing can be drawn, as low as there is room."""
    text = memory_roof_text(plot)
    for row in reversed(range(canvas.rows)):
        column = canvas.column((1 - (row + 1) / canvas.rows - start) / rise)
        if column > len(text):
            canvas.put(row, column - len(text) - 1, text)
            return


def _legend(plot: RooflinePlot) -> str:
    names = {point.mark.upper(): point.category for point in plot.points}
    parts = [", ".join(f"{mark} {name}" for mark, name in names.items())]
    if any(point.mark.islower() for point in plot.points):
        parts.append("small letters: draft")
    if plot.is_measured:
        parts.append(f"{_EXPECTED} expected")
    return "; ".join([*parts, f"{_BOUND} bound"])
