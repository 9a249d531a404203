"""How a report looks in a pull request: GitHub's Markdown that stands on its own."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from traceattr.attribution.analysis import Analysis, KernelTime
from traceattr.report.breakdown import Line, group_lines, has_rounds, total_lines, window_line
from traceattr.report.escape import (
    markdown_code_cell,
    markdown_sentence,
    markdown_text,
)
from traceattr.report.figures import count, counted
from traceattr.report.headline import graph_sentence, headline, notices_below, simulated_sentence
from traceattr.report.kernel_figures import (
    NO_RULE,
    TEXT_TITLES,
    kernel_cells,
    kernel_titles,
    kernel_unit,
    kernels_title,
)
from traceattr.report.layout import Columns, full_layout, legend
from traceattr.report.markdown_blocks import LONGEST_ITEM, details, markdown_table
from traceattr.report.markdown_cut import cut_markdown
from traceattr.report.markdown_gaps import gaps_details, gaps_section
from traceattr.report.markdown_ranks import ranks_details, ranks_section
from traceattr.report.markdown_rounds import graphs_section, no_rounds_section, rounds_details
from traceattr.report.markdown_summary import summary_columns, summary_lines, summary_table
from traceattr.report.mermaid import round_chart
from traceattr.report.names import cut, label_names
from traceattr.report.provenance import diagnostic_text, provenance, provenance_line
from traceattr.report.unclassified import unclassified_kernels, unclassified_sentence

if TYPE_CHECKING:  # it takes a while to import, and few reports need it
    from traceattr.report.comparison import Comparison
    from traceattr.report.inflation import Inflation
    from traceattr.report.token_cost import TokenCost

__all__ = ["kernel_table_with_rules", "markdown_table", "render_markdown"]

MOST_CHARACTERS = 60_000
"""Length of a whole report; GitHub refuses comments from 65,536 characters on."""

MOST_KERNELS = 100
MOST_UNCLASSIFIED = 3
MOST_NOTICES = 10
"""Kernels in the collapsed list, unclassified names above it, and warnings."""

MOST_LINES = 59
"""Lines above the first collapsed list; of warnings there are as many as that allows."""

_LINES_BELOW = 6
"""Lines around the warnings: heading, empty ones around it and below, provenance, an empty one."""

_CUT = "The rest is left out, as it is too long for a comment: `traceattr report --format json`"

_METHOD = (
    "Each instant of a GPU belongs to exactly one row. Where operations overlap, compute owns it "
    "before communication and communication before copies; among equals the one that started "
    "first; a CUDA graph traced as a whole comes after compute kernels. *Draft* is every operation "
    "of a draft pass. Idle time is *in-graph* inside a graph replay, *host* between replays and "
    "between eager launches, and *no work* before a GPU's first operation, after its last, and in "
    "long pauses. *No kernel running* is idle time and the time in which only copies run."
)


def render_markdown(
    analysis: Analysis,
    comparison: "Comparison | None" = None,
    plot_link: str | None = None,
    token_cost: "TokenCost | None" = None,
    inflation: "Inflation | None" = None,
) -> str:
    """Return the report, shorter than `MOST_CHARACTERS`; what is left out is said."""
    parts = [
        "\n".join(_above_the_fold(analysis, comparison, token_cost)),
        "\n".join(_first_details(analysis, comparison, plot_link, token_cost, inflation)),
        "\n".join(_last_details(analysis)),
    ]
    room = MOST_CHARACTERS - sum(map(len, parts)) - len(parts)
    parts.insert(2, _fitting_kernels(analysis, room))
    return cut_markdown("\n".join(filter(None, parts)), MOST_CHARACTERS - 1, _CUT)


def kernel_table(kernels: Sequence[KernelTime]) -> str:
    """Return the table of some kernels."""
    unit = kernel_unit(kernels)
    rows = [kernel_cells(kernel, unit) for kernel in kernels]
    return _named_table(kernel_titles(unit), rows, kernels)


def kernel_table_with_rules(kernels: Sequence[KernelTime]) -> str:
    """Return the same with the rule that decided each category."""
    unit = kernel_unit(kernels)
    rows = [(*kernel_cells(kernel, unit), kernel.rule or NO_RULE) for kernel in kernels]
    return _named_table((*kernel_titles(unit), "rule"), rows, kernels)


def _named_table(
    titles: tuple[str, ...], rows: Iterable[tuple[str, ...]], kernels: Sequence[KernelTime]
) -> str:
    labels = label_names(kernel.name for kernel in kernels)
    names = [markdown_code_cell(labels[kernel.name]) for kernel in kernels]
    cells = ((*map(markdown_text, row), name) for row, name in zip(rows, names, strict=True))
    titles = (*titles, "kernel")
    aligned = "".join("l" if title in TEXT_TITLES else "r" for title in titles)
    return markdown_table(titles, aligned, cells)


def _above_the_fold(
    analysis: Analysis, comparison: "Comparison | None", token_cost: "TokenCost | None"
) -> Iterator[str]:
    figures = "\n".join(_figures(analysis, comparison, token_cost))
    yield figures
    notices = [notice.text for notice in notices_below(analysis)]
    if comparison is not None:
        notices += [notice.text for notice in comparison.contradictions]
    yield from _notices(analysis, notices, MOST_LINES - figures.count("\n") - _LINES_BELOW)
    yield f"<sub>{markdown_text(provenance_line(analysis))}</sub>\n"


def _figures(
    analysis: Analysis, comparison: "Comparison | None", token_cost: "TokenCost | None"
) -> Iterator[str]:
    """Yield verdicts first, then what they rest on."""
    yield f"**{headline(analysis)}**\n"
    yield from _roofline_summary(comparison)
    if token_cost is not None:
        from traceattr.report.token_cost_markdown import token_cost_summary

        yield token_cost_summary(token_cost)
    if (simulated := simulated_sentence(analysis)) is not None:
        yield f"> **{markdown_text(simulated)}**\n"
    yield f"{graph_sentence(analysis)}\n"
    if analysis.per_gpu:
        columns = summary_columns(analysis, comparison)
        yield summary_table(summary_lines(analysis), columns)
        bound = "" if comparison is None else " bound: the least time that the hardware allows."
        yield f"<sub>{markdown_text(f'{legend(analysis, columns)}{bound}')}</sub>\n"
    yield from gaps_section(analysis)
    yield from no_rounds_section(analysis)
    yield from ranks_section(analysis)
    yield f"{unclassified_sentence(analysis)}\n"
    unclassified = unclassified_kernels(analysis)
    if unclassified:
        yield kernel_table(unclassified[:MOST_UNCLASSIFIED])


def _roofline_summary(comparison: "Comparison | None") -> Iterator[str]:
    if comparison is not None:
        from traceattr.report.comparison_markdown import comparison_summary

        yield comparison_summary(comparison)


def _roofline_details(comparison: "Comparison | None", plot_link: str | None) -> Iterator[str]:
    if comparison is not None:
        from traceattr.report.comparison_markdown import comparison_details

        yield from comparison_details(comparison, plot_link)


def _breakdown(lines: Iterable[Line], columns: Columns) -> str:
    titles = ("group", *(column.title for column in columns))
    rows = (_breakdown_row(line, columns) for line in lines)
    return markdown_table(titles, "l" + "r" * len(columns), rows)


def _breakdown_row(line: Line, columns: Columns) -> tuple[str, ...]:
    name = f"&emsp;{line.name}" if line.is_part else line.name
    return name, *(markdown_text(column.cell(line)) for column in columns)


def _notices(analysis: Analysis, notices: Sequence[str], lines: int) -> Iterator[str]:
    """Yield as many warnings as fit into some lines, at least one."""
    texts = [*notices]
    texts += [f"nsys {diagnostic_text(diagnostic)}" for diagnostic in analysis.trace.diagnostics]
    shown = min(MOST_NOTICES, len(texts) if len(texts) <= lines else max(lines - 1, 1))
    if texts:
        yield "**Warnings**\n"
    for text in texts[:shown]:
        yield f"- {markdown_sentence(cut(text, LONGEST_ITEM))}"
    if (more := len(texts) - shown) > 0:
        yield f"- {counted(more, 'more warning')}: `traceattr report --format json`"
    if texts:
        yield ""


def _fitting_kernels(analysis: Analysis, room: int) -> str:
    """Return the list of kernels, shortened until it fits into ``room`` characters."""
    shown = min(len(analysis.kernels), MOST_KERNELS)
    while shown:
        text = "\n".join(details(kernels_title(analysis, shown), _kernels(analysis, shown)))
        if len(text) <= room:
            return text
        shown //= 2
    return ""


def _kernels(analysis: Analysis, shown: int) -> Iterator[str]:
    yield kernel_table(analysis.kernels[:shown])
    if (more := len(analysis.kernels) - shown) > 0:
        yield f"{count(more)} more: `traceattr kernels`\n"


def _first_details(
    analysis: Analysis,
    comparison: "Comparison | None",
    plot_link: str | None,
    token_cost: "TokenCost | None",
    inflation: "Inflation | None",
) -> Iterator[str]:
    if chart := round_chart(analysis):
        yield from details("Chart of the time", [chart])
    yield from _roofline_details(comparison, plot_link)
    if token_cost is not None:
        from traceattr.report.token_cost_markdown import token_cost_details

        yield from token_cost_details(token_cost)
    if inflation is not None:
        from traceattr.report.inflation_text import markdown_inflation

        yield from markdown_inflation(inflation)
    if analysis.per_gpu:
        window = (window_line(analysis),) if has_rounds(analysis) else ()
        lines = (*group_lines(analysis), *total_lines(analysis), *window)
        columns = full_layout(analysis)
        text = f"{legend(analysis, columns)} {_METHOD}\n"
        yield from details("Categories", (_breakdown(lines, columns), text))
    yield from gaps_details(analysis)
    yield from rounds_details(analysis)
    yield from ranks_details(analysis)


def _last_details(analysis: Analysis) -> Iterator[str]:
    yield from graphs_section(analysis)
    pairs = ((markdown_text(label), markdown_text(text)) for label, text in provenance(analysis))
    yield from details("Provenance", [markdown_table(("", ""), "ll", pairs)])
