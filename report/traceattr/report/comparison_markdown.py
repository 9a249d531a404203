"""How a comparison with the roofline is shown in Markdown."""

from collections.abc import Iterator

from traceattr.report.comparison import Comparison
from traceattr.report.comparison_text import (
    METHOD,
    TITLES,
    Row,
    comparison_headline,
    comparison_notes,
    comparison_rows,
    comparison_title,
    inputs_sentence,
    round_row,
)
from traceattr.report.escape import markdown_text
from traceattr.report.markdown_blocks import details, markdown_image, markdown_items, markdown_table
from traceattr.report.projection_text import METHOD as PROJECTION_METHOD
from traceattr.report.projection_text import TITLES as PROJECTION_TITLES
from traceattr.report.projection_text import (
    projection_notes,
    projection_rows,
    projections_headline,
    projections_title,
)
from traceattr.report.roofline_plot import measured_plot
from traceattr.report.roofline_plot_text import plot_title
from traceattr.report.what_if_markdown import alternatives_table


def comparison_summary(comparison: Comparison) -> str:
    """Return the one sentence."""
    return f"**Roofline:** {markdown_text(comparison_headline(comparison))}\n"


def comparison_details(comparison: Comparison, plot_link: str | None) -> Iterator[str]:
    """Yield the table with what is below it, folded; a plot only where there is a file of it."""
    rows = [*comparison_rows(comparison), round_row(comparison)]
    table = markdown_table(TITLES, "l" + "r" * (len(TITLES) - 1), map(_cells, rows))
    notes = [*comparison_notes(comparison), *(f"{one.text}." for one in comparison.notices)]
    items = markdown_items(notes)
    method = f"{markdown_text(METHOD)} Inputs: {markdown_text(inputs_sentence(comparison))}.\n"
    plot = [] if comparison.projections or plot_link is None else [_roofline(comparison, plot_link)]
    parts = [table, *plot, *([items] if items else []), method]
    yield from details(markdown_text(comparison_title(comparison)), parts)
    if comparison.projections:
        yield from _projections(comparison, plot_link)


def _roofline(comparison: Comparison, plot_link: str) -> str:
    return markdown_image(plot_title(measured_plot(comparison)), plot_link)


def _projections(comparison: Comparison, plot_link: str | None) -> Iterator[str]:
    table = alternatives_table(PROJECTION_TITLES, [*projection_rows(comparison)])
    items = markdown_items([*projection_notes(comparison)])
    title = projections_title(comparison)
    plot = [] if plot_link is None else [markdown_image(title, plot_link)]
    headline = projections_headline(comparison)
    best = [] if headline is None else [f"{markdown_text(headline)}\n"]
    method = f"{markdown_text(PROJECTION_METHOD)}\n"
    parts = [*best, table, *plot, *([items] if items else []), method]
    yield from details(markdown_text(title), parts)


def _cells(row: Row) -> tuple[str, ...]:
    name, *cells = map(markdown_text, row.cells)
    return (name, *cells) if row.depth else (f"**{name}**", *cells)
