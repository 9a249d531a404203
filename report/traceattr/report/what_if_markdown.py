"""How a prediction and its alternatives look in a pull request."""

from collections.abc import Iterator, Sequence

from traceattr.report.escape import markdown_text
from traceattr.report.figures import counted
from traceattr.report.markdown_blocks import (
    details,
    markdown_image,
    markdown_items,
    markdown_table,
)
from traceattr.report.roofline_text import METHOD, gpu_fact, input_facts, roofline_headline
from traceattr.report.what_if_text import (
    CHANGE_TITLES,
    change_cells,
    change_title,
    group_cells,
    group_titles,
    groups_title,
    lines,
    remarks,
    what_if_headline,
)
from traceattr.roofline.what_if import WhatIf

MOST_ALTERNATIVES = 100
"""Lines of a table besides that of the base."""


def render_markdown(what_if: WhatIf, plot_link: str | None = None) -> str:
    """Return the alternatives as Markdown that stands on its own; a plot is a file beside it."""
    return "\n".join(_parts(what_if, plot_link))


def _parts(what_if: WhatIf, plot_link: str | None) -> Iterator[str]:
    base, shown, titles = what_if.base, lines(what_if), group_titles(what_if)
    headline = f"{roofline_headline(base)} {what_if_headline(what_if)}"
    yield f"**{markdown_text(headline)}**\n"
    yield f"{change_title(what_if)}\n"
    yield alternatives_table(CHANGE_TITLES, [change_cells(line, base) for line in shown])
    warnings = [*(notice.text for notice in base.notices), *remarks(what_if)]
    if plot_link is not None:
        yield markdown_image(change_title(what_if), plot_link)
    if warnings:
        yield markdown_items(warnings)
    groups = alternatives_table(titles, [group_cells(line, titles) for line in shown])
    yield from details(groups_title(what_if), [groups])
    facts = (*input_facts(base), (base.gpu.name, gpu_fact(base)))
    rows = [(markdown_text(name), markdown_text(text)) for name, text in facts]
    yield from details("Inputs", [markdown_table(("input", "value"), "ll", rows)])
    yield from details("Method", [f"{markdown_text(METHOD)}\n"])


def alternatives_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of the base and of alternatives, and how many of them it leaves out."""
    aligned = f"l{'r' * (len(titles) - 1)}"
    shown = [tuple(map(markdown_text, row)) for row in rows[: MOST_ALTERNATIVES + 1]]
    more = len(rows) - len(shown)
    rest = f"\n{counted(more, 'more alternative')}: `--format csv`\n" if more else ""
    return f"{markdown_table(titles, aligned, shown)}{rest}"
