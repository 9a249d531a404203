"""How communication across ranks and the layers of the target are shown in a terminal."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from traceattr.attribution.analysis import Analysis
from traceattr.report.console import GUTTER, add_column, heading, ruled_table, used_width
from traceattr.report.escape import visible
from traceattr.report.layers_text import layers_sentences
from traceattr.report.ranks_text import (
    RANK_TITLES,
    RANKS_NOTE,
    has_ranks,
    rank_columns,
    rank_rows,
    rank_sentences,
    ranks_title,
)

_CHOICES = ((0, 1, 2, 3, 4, 5, 6), (0, 1, 3, 5, 6), (0, 1, 3, 5))
"""Columns that are kept if there is room."""


def ranks_section(analysis: Analysis, width: int) -> Iterator[RenderableType]:
    """Yield wire and wait of each GPU and who keeps the others; nothing for a GPU alone."""
    if not has_ranks(analysis):
        return
    rows = rank_rows(analysis)
    if rows:
        yield heading(ranks_title(analysis))
        yield _table(rows, rank_columns(analysis), width)
        yield Text(RANKS_NOTE, style="dim")
    for sentence in rank_sentences(analysis):
        yield Text(visible(sentence))
    yield ""


def layers_section(analysis: Analysis, _width: int) -> Iterator[RenderableType]:
    """Yield how many layers the target has and what one of them costs."""
    sentences = layers_sentences(analysis)
    if not sentences:
        return
    if any(one.layers is not None for one in analysis.layers):
        yield heading("Layers of the target")
    for sentence in sentences:
        yield Text(visible(sentence))
    yield ""


def _table(rows: Sequence[Sequence[str]], known: Sequence[int], width: int) -> RenderableType:
    cells = [RANK_TITLES, *rows]
    for kept in _CHOICES:
        fewer = [[row[column] for column in kept if column in known] for row in cells]
        if used_width(fewer) - GUTTER <= width:
            break
    table = ruled_table()
    for title in fewer[0]:
        add_column(table, title, "right")
    for row in fewer[1:]:
        table.add_row(*row)
    return table
