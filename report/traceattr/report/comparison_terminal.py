"""How a comparison with the roofline is shown in a terminal."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from traceattr.report.bar_chart_terminal import bar_section
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
from traceattr.report.console import heading
from traceattr.report.escape import visible
from traceattr.report.projection_text import METHOD as PROJECTION_METHOD
from traceattr.report.projection_text import TITLES as PROJECTION_TITLES
from traceattr.report.projection_text import (
    projection_notes,
    projection_rows,
    projections_chart,
    projections_headline,
    projections_title,
)
from traceattr.report.roofline_plot import measured_plot
from traceattr.report.roofline_plot_terminal import plot_section
from traceattr.report.wide_table import table_that_fits, tables_in_turn


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
    plot = measured_plot(comparison)
    if plot.is_measured:
        yield from plot_section(plot, width)
    if comparison.projections:
        yield from _projections(comparison, width)


def _projections(comparison: Comparison, width: int) -> Iterator[RenderableType]:
    yield heading(projections_title(comparison))
    if (headline := projections_headline(comparison)) is not None:
        yield Text(visible(headline), style="bold")
    rows = [*projection_rows(comparison)]
    yield from tables_in_turn(PROJECTION_TITLES, rows, width)
    for note in projection_notes(comparison):
        yield Text(visible(note), style="yellow")
    yield Text(PROJECTION_METHOD, style="dim")
    yield ""
    yield from bar_section(projections_chart(comparison), width)


def _table(comparison: Comparison, width: int) -> RenderableType:
    rows = [*map(_cells, comparison_rows(comparison)), _cells(round_row(comparison))]
    return table_that_fits(TITLES, f"l{'r' * (len(TITLES) - 1)}", rows, COLUMNS, width)


def _cells(row: Row) -> tuple[str, ...]:
    name, *cells = row.cells
    return (f"{'  ' * row.depth}{name}", *cells)
