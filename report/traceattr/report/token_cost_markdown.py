"""How the cost of a token is shown in Markdown."""

from collections.abc import Iterator

from traceattr.report.escape import markdown_text
from traceattr.report.markdown_blocks import details, markdown_items, markdown_table
from traceattr.report.token_cost import TokenCost
from traceattr.report.token_cost_text import (
    METHOD,
    TITLES,
    token_cost_headline,
    token_cost_notes,
    token_cost_rows,
    token_cost_title,
)


def token_cost_summary(cost: TokenCost) -> str:
    """Return the one sentence."""
    return f"**Tokens:** {markdown_text(token_cost_headline(cost))}\n"


def token_cost_details(cost: TokenCost) -> Iterator[str]:
    """Yield the folded table with what is below it."""
    rows = [tuple(map(markdown_text, row)) for row in token_cost_rows(cost)]
    table = [markdown_table(TITLES, "lrrrrr", rows), f"{markdown_text(METHOD)}\n"] if rows else []
    items = markdown_items(token_cost_notes(cost))
    parts = [*table, *([items] if items else [])]
    if parts:
        yield from details(markdown_text(token_cost_title(cost)), parts)
