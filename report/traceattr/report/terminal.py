"""How a report looks in a terminal: its sections, from the one number to the provenance."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from traceattr.attribution.analysis import Analysis
from traceattr.report.console import bullet_section, fact_grid, heading, printed
from traceattr.report.escape import visible
from traceattr.report.figures import count
from traceattr.report.headline import graph_sentence, headline, notices_below, simulated_sentence
from traceattr.report.kernel_figures import kernels_title
from traceattr.report.provenance import diagnostic_text, provenance
from traceattr.report.render import NARROWEST
from traceattr.report.terminal_breakdown import breakdown_section
from traceattr.report.terminal_gaps import gaps_section
from traceattr.report.terminal_kernels import kernel_table
from traceattr.report.terminal_ranks import layers_section, ranks_section
from traceattr.report.terminal_rounds import rounds_section
from traceattr.report.unclassified import unclassified_kernels, unclassified_sentence

if TYPE_CHECKING:  # it takes a while to import, and few reports need it
    from traceattr.report.comparison import Comparison
    from traceattr.report.inflation import Inflation
    from traceattr.report.token_cost import TokenCost

MOST_KERNELS = 10
MOST_UNCLASSIFIED = 5


Section = Callable[[Analysis, int], Iterator[RenderableType]]
"""From an analysis and a width to what is printed, an empty line at its end; or nothing."""


def render_terminal(
    analysis: Analysis,
    *,
    width: int,
    color: bool,
    comparison: "Comparison | None" = None,
    token_cost: "TokenCost | None" = None,
    inflation: "Inflation | None" = None,
) -> str:
    """Return the report as text of at most ``width`` columns."""
    width = max(width, NARROWEST)
    parts = _parts(analysis, width, comparison, token_cost, inflation)
    return printed(parts, width=width, color=color)


def _parts(
    analysis: Analysis,
    width: int,
    comparison: "Comparison | None",
    token_cost: "TokenCost | None",
    inflation: "Inflation | None",
) -> Iterator[RenderableType]:
    for section in SECTIONS:
        yield from section(analysis, width)
        if section is breakdown_section and comparison is not None:
            from traceattr.report.comparison_terminal import comparison_section

            yield from comparison_section(comparison, width)
        if section is breakdown_section and token_cost is not None:
            from traceattr.report.token_cost_terminal import token_cost_section

            yield from token_cost_section(token_cost, width)
        if section is breakdown_section and inflation is not None:
            from traceattr.report.inflation_text import terminal_inflation

            yield from terminal_inflation(inflation, width)


def _first_lines(analysis: Analysis, _width: int) -> Iterator[RenderableType]:
    yield Text(headline(analysis), style="bold")
    yield Text(graph_sentence(analysis))
    if (simulated := simulated_sentence(analysis)) is not None:
        yield Text(visible(simulated), style="bold yellow")
    yield ""


def _unclassified_section(analysis: Analysis, width: int) -> Iterator[RenderableType]:
    kernels = unclassified_kernels(analysis)
    yield Text(unclassified_sentence(analysis), style="yellow" if kernels else "")
    if kernels:
        yield kernel_table(kernels[:MOST_UNCLASSIFIED], width)
        if (more := len(kernels) - MOST_UNCLASSIFIED) > 0:
            yield Text(f"{count(more)} more: `traceattr kernels --unclassified`")
    yield ""


def _kernels_section(analysis: Analysis, width: int) -> Iterator[RenderableType]:
    if not analysis.kernels:
        return
    shown = analysis.kernels[:MOST_KERNELS]
    yield heading(kernels_title(analysis, len(shown)))
    yield kernel_table(shown, width)
    yield ""


def _notices_section(analysis: Analysis, _width: int) -> Iterator[RenderableType]:
    warnings = [notice.text for notice in notices_below(analysis)]
    yield from bullet_section("Warnings", warnings)
    diagnostics = [diagnostic_text(each) for each in analysis.trace.diagnostics]
    yield from bullet_section("nsys says", diagnostics)


def _provenance_section(analysis: Analysis, _width: int) -> Iterator[RenderableType]:
    yield fact_grid(provenance(analysis))


SECTIONS: tuple[Section, ...] = (
    _first_lines,
    breakdown_section,
    gaps_section,
    rounds_section,
    ranks_section,
    layers_section,
    _unclassified_section,
    _kernels_section,
    _notices_section,
    _provenance_section,
)
"""The report, from top to bottom; to add a section, add a function.

A comparison with the roofline comes after the breakdown.
"""
