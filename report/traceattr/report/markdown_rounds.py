"""How rounds and graphs are shown in Markdown."""

from collections.abc import Iterator

from traceattr.attribution.analysis import Analysis
from traceattr.report.escape import markdown_sentence, markdown_text
from traceattr.report.layers_text import layers_sentences
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


def no_rounds_section(analysis: Analysis) -> Iterator[str]:
    """Yield why there are no rounds; nothing where there are."""
    missing = no_rounds_sentence(analysis)
    if analysis.per_gpu and missing is not None:
        yield f"{markdown_text(missing)}\n"


def rounds_details(analysis: Analysis) -> Iterator[str]:
    """Yield what the server repeats and what a layer costs, folded."""
    facts = [f"- {label}: {markdown_sentence(text)}" for label, text in rounds_facts(analysis)]
    facts += [f"- layers: {markdown_text(text)}" for text in layers_sentences(analysis)]
    if facts:
        title = "Layers" if analysis.rounds.kind == "none" else rounds_title(analysis)
        yield from details(title, [*facts, ""])


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
