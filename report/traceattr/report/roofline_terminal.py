"""How a roofline looks in a terminal."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from traceattr.report.console import (
    add_column,
    bullet_section,
    fact_grid,
    heading,
    printed,
    ruled_table,
)
from traceattr.report.escape import visible
from traceattr.report.render import NARROWEST
from traceattr.report.roofline_plot import predicted_plot
from traceattr.report.roofline_plot_terminal import plot_section
from traceattr.report.roofline_text import (
    ALIGNED,
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
from traceattr.roofline.roofline import Roofline


def render_terminal(roofline: Roofline, *, width: int, color: bool) -> str:
    """Return the roofline as text of at most ``width`` columns."""
    width = max(width, NARROWEST)
    return printed(_parts(roofline, width), width=width, color=color)


def _parts(roofline: Roofline, width: int) -> Iterator[RenderableType]:
    yield Text(visible(roofline_headline(roofline)), style="bold")
    yield ""
    yield heading(table_title(roofline))
    yield _table(roofline)
    yield Text(METHOD)
    yield ""
    yield from plot_section(predicted_plot(roofline), width)
    yield from bullet_section("Warnings", [notice.text for notice in roofline.notices])
    yield fact_grid((*input_facts(roofline), (roofline.gpu.name, gpu_fact(roofline))))


def _table(roofline: Roofline) -> RenderableType:
    table = ruled_table()
    for title, side in zip(TITLES, ALIGNED, strict=True):
        add_column(table, title, "left" if side == "l" else "right")
    for row in roofline_rows(roofline):
        table.add_row(*_texts(row))
    table.add_section()
    table.add_row(*_texts(total_row(roofline)))
    return table


def _texts(row: Row) -> Iterator[Text]:
    name, *cells = row.cells
    yield Text(f"{'  ' * row.depth}{name}")
    yield from map(Text, cells)
