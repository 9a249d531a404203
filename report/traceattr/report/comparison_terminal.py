"""How a comparison with the roofline is shown in a terminal."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from traceattr.report.comparison import Comparison
from traceattr.report.comparison_text import (
    COLUMNS,
    METHOD,
    TITLES,
    Row,
    comparison_headline,
    comparison_notes,
    comparison_rows,
    comparison_title,
    inputs_sentence,
    round_row,
)
from traceattr.report.console import GUTTER, add_column, heading, ruled_table, used_width
from traceattr.report.escape import visible
from traceattr.report.projection_text import METHOD as PROJECTION_METHOD
from traceattr.report.projection_text import TITLES as PROJECTION_TITLES
from traceattr.report.projection_text import (
    projection_notes,
    projection_rows,
    projections_title,
)
from traceattr.report.roofline_plot import measured_plot
from traceattr.report.roofline_plot_terminal import plot_section
from traceattr.report.what_if_terminal import alternatives_table


def comparison_section(comparison: Comparison, width: int) -> Iterator[RenderableType]:
    """Yield the roofline beside what was measured."""
    yield heading(comparison_title(comparison))
    yield Text(visible(comparison_headline(comparison)), style="bold")
    yield _table(comparison, width)
    for note in comparison_notes(comparison):
        yield Text(visible(note))
    for notice in comparison.notices:
        yield Text(visible(f"{notice.text}."), style="yellow")
    yield Text(METHOD, style="dim")
    yield Text(visible(f"inputs: {inputs_sentence(comparison)}"), style="dim")
    yield ""
    if comparison.reason is None:
        yield from plot_section(measured_plot(comparison), width)
    if comparison.projections:
        yield from _projections(comparison)


def _projections(comparison: Comparison) -> Iterator[RenderableType]:
    yield heading(projections_title(comparison))
    yield alternatives_table(PROJECTION_TITLES, [*projection_rows(comparison)])
    for note in projection_notes(comparison):
        yield Text(visible(note), style="yellow")
    yield Text(PROJECTION_METHOD, style="dim")
    yield ""


def _table(comparison: Comparison, width: int) -> RenderableType:
    rows = [*map(_texts, comparison_rows(comparison))]
    total = _texts(round_row(comparison))
    for kept in COLUMNS:
        cells = [[row[column] for column in kept] for row in (TITLES, *rows, total)]
        if used_width(cells) - GUTTER <= width:
            break
    table = ruled_table()
    for title in cells[0]:
        add_column(table, title, "left" if title == TITLES[0] else "right")
    for row in cells[1:-1]:
        table.add_row(*row)
    table.add_section()
    table.add_row(*cells[-1])
    return table


def _texts(row: Row) -> tuple[str, ...]:
    name, *cells = row.cells
    return (f"{'  ' * row.depth}{name}", *cells)
