"""How the list of kernels is written: in a terminal, as Markdown, JSON or CSV."""

from collections.abc import Iterator
from dataclasses import asdict

from traceattr.attribution.analysis import Analysis
from traceattr.report.breakdown import is_idle_upper_limit
from traceattr.report.csv_table import Cell, written
from traceattr.report.escape import markdown_sentence, markdown_text, visible
from traceattr.report.headline import IDLE_UPPER_LIMIT, graph_sentence, simulated_sentence
from traceattr.report.json_document import dumped, kernel_entries
from traceattr.report.kernel_figures import kernels_title
from traceattr.report.provenance import provenance, provenance_line
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
    from rich.console import RenderableType
    from rich.text import Text

    from traceattr.report.console import fact_grid, heading, printed
    from traceattr.report.terminal_kernels import kernel_table_with_rules

    if not analysis.kernels:
        return f"{NO_KERNELS}\n"
    simulated = simulated_sentence(analysis)
    parts: list[RenderableType] = [
        *([] if simulated is None else [Text(visible(simulated), style="bold yellow")]),
        *(Text(caveat) for caveat in _caveats(analysis)),
        "",
        heading(kernels_title(analysis, len(analysis.kernels))),
        kernel_table_with_rules(analysis.kernels, width),
        "",
        fact_grid(provenance(analysis)),
    ]
    return printed(parts, width=width, color=color)


def _markdown(analysis: Analysis) -> str:
    return "\n".join(_markdown_parts(analysis)) if analysis.kernels else f"{NO_KERNELS}\n"


def _markdown_parts(analysis: Analysis) -> Iterator[str]:
    from traceattr.report.markdown import kernel_table_with_rules

    if (simulated := simulated_sentence(analysis)) is not None:
        yield f"> **{markdown_text(simulated)}**\n"
    yield f"{' '.join(map(markdown_sentence, _caveats(analysis)))}\n"
    yield f"**{kernels_title(analysis, len(analysis.kernels))}**\n"
    yield kernel_table_with_rules(analysis.kernels)
    yield f"<sub>{markdown_text(provenance_line(analysis))}</sub>\n"


def _caveats(analysis: Analysis) -> Iterator[str]:
    """Yield what the trace cannot tell, as far as a report says it."""
    yield graph_sentence(analysis)
    if is_idle_upper_limit(analysis) and not analysis.trace.unrecorded_graph_launches:
        yield IDLE_UPPER_LIMIT


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
