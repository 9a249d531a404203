"""How the list of kernels is written: in a terminal, as Markdown, JSON or CSV."""

from collections.abc import Iterator
from dataclasses import asdict

from traceattr.attribution.analysis import Analysis
from traceattr.report.csv_table import Cell, written
from traceattr.report.json_document import dumped, kernel_entries
from traceattr.report.kernel_figures import kernels_title
from traceattr.report.render import ReportFormat

FORMAT = 1
"""Format number of the JSON document.

1: first version.
"""

COLUMNS = ("category", "subcategory", "rule", "gpus", "operations", "total_ns", "median_ns", "name")
"""Columns of the CSV."""

NO_KERNELS = "No such kernel in the window."


def render_kernels(
    analysis: Analysis, report_format: ReportFormat, *, width: int, color: bool
) -> str:
    """Return all kernels of ``analysis`` with category, rule, count, total and median."""
    match report_format:
        case ReportFormat.TERMINAL:
            return _terminal(analysis, width, color)
        case ReportFormat.MARKDOWN:
            return _markdown(analysis)
        case ReportFormat.JSON:
            return _json(analysis)
        case ReportFormat.CSV:
            return written(COLUMNS, _csv_rows(analysis))


def _terminal(analysis: Analysis, width: int, color: bool) -> str:
    from traceattr.report.console import heading, printed
    from traceattr.report.terminal_kernels import kernel_table_with_rules

    if not analysis.kernels:
        return f"{NO_KERNELS}\n"
    title = heading(kernels_title(analysis, len(analysis.kernels)))
    table = kernel_table_with_rules(analysis.kernels, width)
    return printed([title, table], width=width, color=color)


def _markdown(analysis: Analysis) -> str:
    from traceattr.report.markdown import kernel_table_with_rules

    if not analysis.kernels:
        return f"{NO_KERNELS}\n"
    title = kernels_title(analysis, len(analysis.kernels))
    return f"**{title}**\n\n{kernel_table_with_rules(analysis.kernels)}"


def _json(analysis: Analysis) -> str:
    document = {
        "format": FORMAT,
        "traceattr": analysis.version,
        "rules": asdict(analysis.rules),
        "window": asdict(analysis.window),
        "kernels": kernel_entries(analysis.kernels),
    }
    return dumped(document)


def _csv_rows(analysis: Analysis) -> Iterator[tuple[Cell, ...]]:
    for kernel in analysis.kernels:
        yield (
            kernel.category,
            kernel.subcategory,
            kernel.rule,
            kernel.gpus,
            kernel.operations,
            kernel.total_ns,
            kernel.median_ns,
            kernel.name,
        )
