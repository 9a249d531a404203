"""The section of a page on how much longer tracing makes rounds."""

from dataclasses import dataclass

from traceattr.report.html_table import HtmlTable, html_table
from traceattr.report.inflation import Inflation
from traceattr.report.inflation_text import (
    METHOD,
    SCALED_TITLES,
    TITLE,
    TITLES,
    inflation_rows,
    scaled_rows,
)


@dataclass(frozen=True, slots=True)
class InflationView:
    """The section.

    Attributes:
        title: What it is called.
        headline: How much, and what follows.
        parts: Each part of a round.
        scaled: Categories at their true length, None where nobody asked.
        method: How they were scaled.
    """

    title: str
    headline: str
    parts: HtmlTable | None
    scaled: HtmlTable | None
    method: str


def inflation_view(inflation: Inflation) -> InflationView:
    """Return what is shown."""
    scaled = scaled_rows(inflation) if inflation.scaled else ()
    return InflationView(
        title=f"{TITLE} (mean per round and GPU)",
        headline=inflation.notice.text,
        parts=html_table("Each part of a round", TITLES, inflation_rows(inflation)),
        scaled=html_table("Categories at their true length", SCALED_TITLES, scaled, "llrr"),
        method=METHOD,
    )
