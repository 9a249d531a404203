"""How a roofline looks in a pull request."""

from collections.abc import Iterator

from traceattr.report.escape import markdown_sentence, markdown_text
from traceattr.report.markdown_blocks import details, markdown_image, markdown_table
from traceattr.report.roofline_plot import predicted_plot
from traceattr.report.roofline_plot_text import plot_title
from traceattr.report.roofline_text import (
    ALIGNED,
    METHOD,
    TITLES,
    Row,
    gpu_fact,
    input_facts,
    roofline_headline,
    roofline_rows,
    table_title,
    total_row,
)
from traceattr.roofline.roofline import Roofline


def render_markdown(roofline: Roofline, plot_link: str | None = None) -> str:
    """Return the roofline as Markdown that stands on its own; a plot is a file beside it."""
    return "\n".join(_parts(roofline, plot_link))


def _parts(roofline: Roofline, plot_link: str | None) -> Iterator[str]:
    yield f"**{markdown_text(roofline_headline(roofline))}**\n"
    yield f"{table_title(roofline)}\n"
    rows = [*roofline_rows(roofline), total_row(roofline)]
    yield markdown_table(TITLES, ALIGNED, map(_cells, rows))
    if plot_link is not None:
        yield markdown_image(plot_title(predicted_plot(roofline)), plot_link)
    if roofline.notices:
        yield "".join(f"- {markdown_sentence(notice.text)}\n" for notice in roofline.notices)
    facts = (*input_facts(roofline), (roofline.gpu.name, gpu_fact(roofline)))
    rows_of_facts = [(markdown_text(name), markdown_text(text)) for name, text in facts]
    yield from details("Inputs", [markdown_table(("input", "value"), "ll", rows_of_facts)])
    yield from details("Method", [f"{markdown_text(METHOD)}\n"])


def _cells(row: Row) -> tuple[str, ...]:
    name, *cells = map(markdown_text, row.cells)
    return (name, *cells) if row.depth else (f"**{name}**", *cells)
