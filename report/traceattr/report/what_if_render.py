"""In which format a prediction and its alternatives are rendered."""

from traceattr.report.render import ReportFormat
from traceattr.roofline.what_if import WhatIf


def render_what_if(
    what_if: WhatIf,
    report_format: ReportFormat,
    *,
    width: int,
    color: bool,
    plot_link: str | None = None,
) -> str:
    """Return the base and its alternatives; width and colour are for the terminal only.

    ``plot_link`` is where Markdown finds the plot.
    """
    match report_format:
        case ReportFormat.TERMINAL:
            from traceattr.report.what_if_terminal import render_terminal

            return render_terminal(what_if, width=width, color=color)
        case ReportFormat.MARKDOWN:
            from traceattr.report.what_if_markdown import render_markdown

            return render_markdown(what_if, plot_link)
        case ReportFormat.JSON:
            from traceattr.report.what_if_json import render_json

            return render_json(what_if)
        case ReportFormat.CSV:
            from traceattr.report.what_if_json import render_csv

            return render_csv(what_if)
