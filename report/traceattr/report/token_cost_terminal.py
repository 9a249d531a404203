"""How the cost of a token is shown in a terminal."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from traceattr.report.console import heading
from traceattr.report.escape import visible
from traceattr.report.token_cost import TokenCost
from traceattr.report.token_cost_text import (
    COLUMNS,
    METHOD,
    TITLES,
    token_cost_headline,
    token_cost_notes,
    token_cost_rows,
    token_cost_title,
)
from traceattr.report.wide_table import table_that_fits


def token_cost_section(cost: TokenCost, width: int) -> Iterator[RenderableType]:
    """Yield the section."""
    yield heading(token_cost_title(cost))
    yield Text(visible(token_cost_headline(cost)), style="bold")
    rows = [*token_cost_rows(cost)]
    if rows:
        yield table_that_fits(TITLES, "lrrrrr", rows, COLUMNS, width)
        yield Text(METHOD, style="dim")
    for note in token_cost_notes(cost):
        yield Text(visible(note), style="yellow")
    yield ""
