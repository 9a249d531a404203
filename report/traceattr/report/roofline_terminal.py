"""How a roofline looks in a terminal."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from traceattr.report.console import bullet_section, fact_grid, heading, printed
from traceattr.report.escape import visible
from traceattr.report.render import NARROWEST
from traceattr.report.roofline_plot import predicted_plot
from traceattr.report.roofline_plot_terminal import plot_section
from traceattr.report.roofline_text import (
    ALIGNED,
    COLUMNS,
    METHOD,
    TITLES,
    Row,
    gpu_fact,
    input_facts,
    roofline_headline,
    roofline_rows,
    table_title,
    total_row,
)
from traceattr.report.wide_table import table_that_fits
from traceattr.roofline.roofline import Roofline


def render_terminal(roofline: Roofline, *, width: int, color: bool) -> str:
    """Return the roofline as text of at most ``width`` columns."""
    width = max(width, NARROWEST)
    return printed(_parts(roofline, width), width=width, color=color)


def _parts(roofline: Roofline, width: int) -> Iterator[RenderableType]:
    yield Text(visible(roofline_headline(roofline)), style="bold")
    yield ""
    yield heading(table_title(roofline))
    yield _table(roofline, width)
    yield Text(METHOD)
    yield ""
    yield from plot_section(predicted_plot(roofline), width)
    yield from bullet_section("Warnings", [notice.text for notice in roofline.notices])
    yield fact_grid((*input_facts(roofline), (roofline.gpu.name, gpu_fact(roofline))))


def _table(roofline: Roofline, width: int) -> RenderableType:
    rows = [*map(_cells, roofline_rows(roofline)), _cells(total_row(roofline))]
    return table_that_fits(TITLES, ALIGNED, rows, COLUMNS, width)


def _cells(row: Row) -> tuple[str, ...]:
    name, *cells = row.cells
    return (f"{'  ' * row.depth}{name}", *cells)
