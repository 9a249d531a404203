"""The section of a page that sets a round beside its roofline."""

from dataclasses import dataclass

from traceattr.report.bar_chart_svg import bars_svg
from traceattr.report.comparison import Comparison
from traceattr.report.comparison_text import (
    METHOD,
    TITLES,
    comparison_headline,
    comparison_notes,
    comparison_rows,
    comparison_title,
    inputs_sentence,
    round_row,
)
from traceattr.report.html_table import HtmlTable, html_table
from traceattr.report.projection_text import METHOD as PROJECTION_METHOD
from traceattr.report.projection_text import TITLES as PROJECTION_TITLES
from traceattr.report.projection_text import (
    projection_notes,
    projection_rows,
    projections_chart,
    projections_title,
)
from traceattr.report.roofline_plot import measured_plot
from traceattr.report.roofline_plot_text import plot_notes
from traceattr.report.roofline_svg import roofline_svg


@dataclass(frozen=True, slots=True)
class RooflineView:
    """The section.

    Attributes:
        title: What it is called.
        headline: What bounds the round and what is left to win.
        plot: Categories under the roofs, an ``<svg>`` element.
        plot_notes: What to know about the plot.
        table: Measured, bound and expected of each category.
        notes: Sentences below it.
        method: What its columns mean.
        inputs: What the prediction is of, with where each input came from.
        projections: Alternatives to what was measured, None where none was asked for.
        projections_plot: Bars of them, as SVG; empty where none was asked for.
        projection_notes: What to know about them.
    """

    title: str
    headline: str
    plot: str
    plot_notes: tuple[str, ...]
    table: HtmlTable
    notes: tuple[str, ...]
    method: str
    inputs: str
    projections: HtmlTable | None
    projections_plot: str
    projection_notes: tuple[str, ...]


def roofline_view(comparison: Comparison) -> RooflineView:
    """Return what is shown of a comparison."""
    rows = (*comparison_rows(comparison), round_row(comparison))
    plot = measured_plot(comparison)
    return RooflineView(
        title=comparison_title(comparison),
        headline=comparison_headline(comparison),
        plot=roofline_svg(plot),
        plot_notes=tuple(plot_notes(plot)),
        table=HtmlTable(
            caption="Each category beside its prediction",
            titles=TITLES,
            aligned=f"l{'r' * (len(TITLES) - 1)}",
            rows=tuple(row.cells for row in rows),
            parts=frozenset(at for at, row in enumerate(rows) if row.depth),
        ),
        notes=(
            *comparison_notes(comparison),
            *(f"{one.text}." for one in comparison.notices),
        ),
        method=METHOD,
        inputs=inputs_sentence(comparison),
        projections=_projections(comparison),
        projections_plot=bars_svg(projections_chart(comparison)) if comparison.projections else "",
        projection_notes=(*projection_notes(comparison), PROJECTION_METHOD),
    )


def _projections(comparison: Comparison) -> HtmlTable | None:
    if not comparison.projections:
        return None
    rows = projection_rows(comparison)
    return html_table(projections_title(comparison), PROJECTION_TITLES, rows)
