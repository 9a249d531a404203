"""How a report looks in a browser."""

from typing import TYPE_CHECKING

from traceattr.attribution.analysis import Analysis
from traceattr.attribution.closeup import Closeups
from traceattr.report.html_document import render_page
from traceattr.report.html_page import page_of

if TYPE_CHECKING:  # it takes a while to import, and few reports need it
    from traceattr.report.comparison import Comparison
    from traceattr.report.inflation import Inflation
    from traceattr.report.token_cost import TokenCost

_STYLES = ("uplot/uPlot.min.css", "page.css", "closeup.css", "print.css")
_SCRIPTS = (
    "uplot/uPlot.iife.min.js",
    "format.js",
    "theme.js",
    "tables.js",
    "closeup_data.js",
    "closeup_paint.js",
    "closeup.js",
    "closeup_input.js",
    "rounds.js",
    "page.js",
)
"""Files of `html_assets`, in the order in which a page needs them."""


def render_html(
    analysis: Analysis,
    closeups: Closeups,
    comparison: "Comparison | None" = None,
    token_cost: "TokenCost | None" = None,
    inflation: "Inflation | None" = None,
) -> str:
    """Return the page."""
    return render_page(
        "report.html",
        page_of(analysis, closeups, comparison, token_cost, inflation),
        styles=_STYLES,
        scripts=_SCRIPTS,
        licence="uplot/LICENSE",
    )
