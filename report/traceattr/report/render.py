"""In which format an analysis is rendered."""

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # formats are needed for --help, the rest is not
    from traceattr.attribution.analysis import Analysis
    from traceattr.report.comparison import Comparison
    from traceattr.report.inflation import Inflation
    from traceattr.report.token_cost import TokenCost

NARROWEST = 40
"""Columns below which lines are as long as at this width: narrower text is not read."""


class ReportFormat(StrEnum):
    """Formats of a report and of the list of kernels."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    JSON = "json"
    CSV = "csv"


class DocumentFormat(StrEnum):
    """Formats of a whole report: those of `ReportFormat`, and a page for a browser."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    JSON = "json"
    CSV = "csv"
    HTML = "html"


def render(
    analysis: "Analysis",
    format: ReportFormat,  # noqa: A002
    *,
    width: int,
    color: bool,
    comparison: "Comparison | None" = None,
    plot_link: str | None = None,
    token_cost: "TokenCost | None" = None,
    inflation: "Inflation | None" = None,
) -> str:
    """Return the report on ``analysis``; width and colour are for the terminal only.

    ``plot_link`` is where Markdown finds the roofline plot.

    Renderers are imported when they are needed: rich alone would double the time to start.
    """
    match format:
        case ReportFormat.TERMINAL:
            from traceattr.report.terminal import render_terminal

            return render_terminal(
                analysis,
                width=width,
                color=color,
                comparison=comparison,
                token_cost=token_cost,
                inflation=inflation,
            )
        case ReportFormat.MARKDOWN:
            from traceattr.report.markdown import render_markdown

            return render_markdown(analysis, comparison, plot_link, token_cost, inflation)
        case ReportFormat.JSON:
            from traceattr.report.json_document import render_json

            return render_json(analysis, comparison, token_cost, inflation)
        case ReportFormat.CSV:
            if comparison is not None and comparison.projections:
                from traceattr.report.projection_json import render_projections_csv

                return render_projections_csv(comparison)
            from traceattr.report.csv_table import render_csv

            return render_csv(analysis, comparison, token_cost, inflation)
