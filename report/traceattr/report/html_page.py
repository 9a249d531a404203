"""What a page says, section by section: texts and figures, no markup."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from traceattr.attribution.analysis import Analysis
from traceattr.attribution.closeup import Closeups
from traceattr.report.breakdown import group_lines, has_rounds, total_lines, window_line
from traceattr.report.headline import graph_sentence, headline, notices_below, simulated_sentence
from traceattr.report.html_bars import Bars, bars_of
from traceattr.report.html_closeup import CloseupView, closeup_view
from traceattr.report.html_figures import Figure, key_figures
from traceattr.report.html_kernels import KernelList, kernel_list
from traceattr.report.html_rounds import RoundsView, rounds_view
from traceattr.report.html_seams import SeamsView, seams_view
from traceattr.report.html_table import HtmlTable, html_table
from traceattr.report.layers_text import layers_sentences
from traceattr.report.layout import full_layout, legend
from traceattr.report.provenance import diagnostic_text, provenance
from traceattr.report.ranks_text import (
    RANK_TITLES,
    RANKS_NOTE,
    rank_columns,
    rank_rows,
    rank_sentences,
    ranks_title,
)
from traceattr.report.unclassified import unclassified_sentence

if TYPE_CHECKING:  # it takes a while to import, and few reports need it
    from traceattr.report.comparison import Comparison
    from traceattr.report.html_roofline import RooflineView
    from traceattr.report.inflation import Inflation
    from traceattr.report.inflation_html import InflationView
    from traceattr.report.token_cost import TokenCost
    from traceattr.report.token_cost_html import TokenCostView


_SECTIONS = (
    ("groups", "Groups"),
    ("timeline", "Timeline"),
    ("rounds", "Rounds"),
    ("gaps", "Gaps"),
    ("roofline", "Roofline"),
    ("tokens", "Tokens"),
    ("inflation", "Inflation"),
    ("ranks", "Ranks"),
    ("kernels", "Kernels"),
    ("reading", "How to read this"),
    ("provenance", "Provenance"),
)


@dataclass(frozen=True, slots=True)
class RanksView:
    """The section on communication across ranks.

    Attributes:
        title: What it is called.
        table: Figures of each GPU.
        note: What its columns mean.
        sentences: Who keeps the others waiting.
    """

    title: str
    table: HtmlTable | None
    note: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """Everything that a page says.

    Attributes:
        title: Name of the trace.
        sections: Anchors and names of what can be gone to.
        headline: The sentence with the number that matters.
        simulated: What to say when nothing was measured.
        graphs: How CUDA graphs were traced.
        figures: A few figures to see first.
        warnings: What to know before trusting the figures.
        bars: Groups beside their predictions.
        legend: What the figures of the bars mean.
        categories: Every category on every GPU.
        categories_legend: What the figures of that table mean.
        unclassified: How much no rule matched.
        closeup: The timeline.
        rounds: What the server repeats.
        seams: Idle time.
        roofline: The prediction, None without one.
        tokens: What one token costs, None where nobody asked.
        inflation: How much longer tracing makes rounds, None where nothing says it.
        ranks: Waiting for other ranks.
        layers: What the layers of the target cost.
        kernels: The kernels.
        provenance: From what and with what the report was made.
        version: Of traceattr.
    """

    title: str
    sections: tuple[tuple[str, str], ...]
    headline: str
    simulated: str | None
    graphs: str
    figures: tuple[Figure, ...]
    warnings: tuple[str, ...]
    bars: Bars
    legend: str
    categories: HtmlTable | None
    categories_legend: str
    unclassified: str
    closeup: CloseupView
    rounds: RoundsView
    seams: SeamsView
    roofline: "RooflineView | None"
    tokens: "TokenCostView | None"
    inflation: "InflationView | None"
    ranks: RanksView
    layers: tuple[str, ...]
    kernels: KernelList
    provenance: tuple[tuple[str, str], ...]
    version: str


def page_of(
    analysis: Analysis,
    closeups: Closeups,
    comparison: "Comparison | None",
    token_cost: "TokenCost | None" = None,
    inflation: "Inflation | None" = None,
) -> Page:
    """Return what a page says about a trace."""
    ranks = _ranks(analysis)
    absent = {
        *(() if comparison else ("roofline",)),
        *(() if token_cost else ("tokens",)),
        *(() if inflation else ("inflation",)),
        *(() if ranks.sentences else ("ranks",)),
    }
    return Page(
        title=analysis.trace.file,
        sections=tuple(one for one in _SECTIONS if one[0] not in absent),
        headline=headline(analysis),
        simulated=simulated_sentence(analysis),
        graphs=graph_sentence(analysis),
        figures=key_figures(analysis, comparison),
        warnings=tuple(_warnings(analysis)),
        bars=bars_of(analysis, comparison),
        legend=legend(analysis, ()),
        categories=_categories(analysis),
        categories_legend=legend(analysis, full_layout(analysis)),
        unclassified=unclassified_sentence(analysis),
        closeup=closeup_view(analysis, closeups),
        rounds=rounds_view(analysis),
        seams=seams_view(analysis),
        roofline=_roofline(comparison),
        tokens=_tokens(token_cost),
        inflation=_inflation(inflation),
        ranks=ranks,
        layers=layers_sentences(analysis),
        kernels=kernel_list(analysis),
        provenance=provenance(analysis),
        version=analysis.version,
    )


def _warnings(analysis: Analysis) -> Iterator[str]:
    yield from (notice.text for notice in notices_below(analysis))
    for diagnostic in analysis.trace.diagnostics:
        yield f"nsys {diagnostic_text(diagnostic)}"


def _categories(analysis: Analysis) -> HtmlTable | None:
    if not analysis.per_gpu:
        return None
    window = (window_line(analysis),) if has_rounds(analysis) else ()
    lines = (*group_lines(analysis), *total_lines(analysis), *window)
    columns = full_layout(analysis)
    titles = ("group", *(column.title for column in columns))
    return HtmlTable(
        caption="Every category",
        titles=titles,
        aligned=f"l{'r' * len(columns)}",
        rows=tuple((line.name, *(column.cell(line) for column in columns)) for line in lines),
        parts=frozenset(at for at, line in enumerate(lines) if line.is_part),
    )


def _ranks(analysis: Analysis) -> RanksView:
    kept = rank_columns(analysis)
    titles, *rows = [[row[at] for at in kept] for row in (RANK_TITLES, *rank_rows(analysis))]
    return RanksView(
        title=ranks_title(analysis),
        table=html_table("Each GPU", titles, rows, "r" * len(titles)),
        note=RANKS_NOTE,
        sentences=rank_sentences(analysis),
    )


def _tokens(cost: "TokenCost | None") -> "TokenCostView | None":
    if cost is None:
        return None
    from traceattr.report.token_cost_html import token_cost_view

    return token_cost_view(cost)


def _inflation(inflation: "Inflation | None") -> "InflationView | None":
    if inflation is None:
        return None
    from traceattr.report.inflation_html import inflation_view

    return inflation_view(inflation)


def _roofline(comparison: "Comparison | None") -> "RooflineView | None":
    if comparison is None:
        return None
    from traceattr.report.html_roofline import roofline_view

    return roofline_view(comparison)
