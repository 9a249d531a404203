"""How rounds and graphs are shown in a terminal."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from traceattr.attribution.analysis import Analysis
from traceattr.report.console import (
    GUTTER,
    add_column,
    fact_grid,
    heading,
    ruled_table,
    used_width,
)
from traceattr.report.escape import visible
from traceattr.report.rounds_text import (
    GRAPH_TITLES,
    GraphRow,
    graph_rows,
    graphs_note,
    no_rounds_sentence,
    rounds_facts,
    rounds_title,
)

_CHOICES = (((0, 1, 2, 3), 30), ((0, 1, 3), 24), ((0, 3), 0))
"""Which of `GRAPH_TITLES` stand before the evidence if they leave it so many columns."""


def rounds_section(analysis: Analysis, width: int) -> Iterator[RenderableType]:
    """Yield what the server repeats and which graph does what."""
    if not analysis.per_gpu:
        return
    if (missing := no_rounds_sentence(analysis)) is not None:
        yield Text(missing)
    else:
        yield heading(rounds_title(analysis))
        yield fact_grid(rounds_facts(analysis))
    yield ""
    yield from _graphs(analysis, width)


def _graphs(analysis: Analysis, width: int) -> Iterator[RenderableType]:
    """Yield which graph does what, also where that shows no rounds."""
    rows = graph_rows(analysis)
    if not rows:
        return
    yield _graph_table(rows, width)
    if (note := graphs_note(analysis)) is not None:
        yield Text(note, style="dim")
    yield ""


def _graph_table(rows: Sequence[GraphRow], width: int) -> Table:
    kept = _fitting(rows, width)
    table = ruled_table()
    for column in kept:
        add_column(table, GRAPH_TITLES[column], "right" if column == 2 else "left")
    table.add_column(GRAPH_TITLES[-1], overflow="fold")
    for row in rows:
        cells = [row.cells[column] for column in kept]
        style = "yellow" if row.is_unsure else ""
        table.add_row(*map(Text, cells), Text(visible(row.cells[-1])), style=style)
    return table


def _fitting(rows: Sequence[GraphRow], width: int) -> tuple[int, ...]:
    """Return the positions of the columns of the first choice that leaves enough room."""
    table = [GRAPH_TITLES, *(row.cells for row in rows)]
    for kept, room in _CHOICES:
        used = used_width([[cells[column] for column in kept] for cells in table])
        if width - used - GUTTER >= room:
            break
    return kept
