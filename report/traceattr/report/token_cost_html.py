"""The section of a page on what one token costs."""

from dataclasses import dataclass

from traceattr.report.html_table import HtmlTable, html_table
from traceattr.report.token_cost import TokenCost
from traceattr.report.token_cost_text import (
    METHOD,
    TITLES,
    token_cost_headline,
    token_cost_notes,
    token_cost_rows,
    token_cost_title,
)


@dataclass(frozen=True, slots=True)
class TokenCostView:
    """The section.

    Attributes:
        title: What it is called.
        headline: The cost, and tokens per second.
        table: Each part of a round, None without rounds.
        method: What its columns mean.
        notes: What to know.
    """

    title: str
    headline: str
    table: HtmlTable | None
    method: str
    notes: tuple[str, ...]


def token_cost_view(cost: TokenCost) -> TokenCostView:
    """Return what is shown."""
    return TokenCostView(
        title=token_cost_title(cost),
        headline=token_cost_headline(cost),
        table=html_table("What one token costs", TITLES, token_cost_rows(cost)),
        method=METHOD,
        notes=token_cost_notes(cost),
    )
