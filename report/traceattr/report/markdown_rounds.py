"""How rounds and graphs are shown in Markdown."""

from collections.abc import Iterator

from traceattr.attribution.analysis import Analysis
from traceattr.report.escape import markdown_sentence, markdown_text
from traceattr.report.markdown_blocks import details, markdown_table
from traceattr.report.names import cut
from traceattr.report.rounds_text import (
    GRAPH_TITLES,
    GraphRow,
    graph_rows,
    graphs_note,
    no_rounds_sentence,
    rounds_facts,
    rounds_title,
)

MOST_GRAPHS = 40
"""Graphs in the collapsed list."""

LONGEST_EVIDENCE = 200
"""Characters of what tells a graph's kind."""


def rounds_section(analysis: Analysis) -> Iterator[str]:
    """Yield what the server repeats."""
    if not analysis.per_gpu:
        return
    if (missing := no_rounds_sentence(analysis)) is not None:
        yield f"{markdown_text(missing)}\n"
        return
    yield f"**{rounds_title(analysis)}**\n"
    for label, text in rounds_facts(analysis):
        yield f"- {label}: {markdown_sentence(text)}"
    yield ""


def graphs_section(analysis: Analysis) -> Iterator[str]:
    """Yield which graph does what, folded."""
    rows = graph_rows(analysis)
    if not rows:
        return
    shown = rows[:MOST_GRAPHS]
    texts = [markdown_table(GRAPH_TITLES, "llrll", map(_cells, shown))]
    if (note := graphs_note(analysis)) is not None:
        texts.append(f"{markdown_text(note)}\n")
    if len(shown) < len(rows):
        texts.append(f"{len(rows) - len(shown)} more: `traceattr report --format json`\n")
    yield from details("Graphs", texts)


def _cells(row: GraphRow) -> tuple[str, ...]:
    return tuple(markdown_text(cut(cell, LONGEST_EVIDENCE)) for cell in row.cells)
