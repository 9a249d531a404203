"""How gaps and what launching costs are shown in a terminal."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table

from traceattr.attribution.analysis import Analysis
from traceattr.report.console import (
    GUTTER,
    add_column,
    fact_grid,
    heading,
    ruled_table,
    used_width,
)
from traceattr.report.gap_tables import host_parts
from traceattr.report.gaps_text import (
    GapRow,
    gap_facts,
    gap_rows,
    gap_titles,
    gaps_title,
    other_text,
)
from traceattr.report.launch_text import LAUNCH_TITLES, launch_rows, launch_title
from traceattr.report.sampled import has_gap_percentiles

HOST = "host, %"

MOST_SEAMS = 5
"""Seams in the list; the others are one line."""

Choices = tuple[tuple[int, ...], ...]

_CHOICES: Choices = ((0, 1, 2, 3, 4), (0, 2, 3, 4), (0, 2, 4), (0, 2))
"""Which of `gap_titles` stand before what the host was doing."""

_WITHOUT_P99: Choices = ((0, 1, 2, 3), (0, 2, 3), (0, 2))
"""The same where rounds are too few for a 99th percentile."""

_ROOM, _LEAST_ROOM = 24, 14
"""Columns in which two causes fit on their lines, and in which any one does."""

_MOST_LINES = 2
"""Lines of what the host was doing in one seam."""


def gaps_section(analysis: Analysis, width: int) -> Iterator[RenderableType]:
    """Yield the idle time by what it joins, and what the host was doing."""
    rows, facts = gap_rows(analysis, MOST_SEAMS), gap_facts(analysis)
    if not rows and not facts:
        return
    yield heading(gaps_title(analysis))
    if rows:
        choices = _CHOICES if has_gap_percentiles(analysis) else _WITHOUT_P99
        yield _gap_table(gap_titles(analysis), rows, choices, width)
    yield fact_grid(facts)
    yield ""
    yield from _launches(analysis, width)


def _gap_table(
    titles: Sequence[str], rows: Sequence[GapRow], choices: Choices, width: int
) -> Table:
    kept, room = _fitting([titles, *(row.cells for row in rows)], choices, width)
    table = ruled_table()
    for column in kept:
        add_column(table, titles[column], "right" if column else "left")
    if room >= _LEAST_ROOM:
        add_column(table, HOST, "left")
    for row in rows:
        host = [host_text(row, room)] if room >= _LEAST_ROOM else []
        table.add_row(*(row.cells[column] for column in kept), *host)
    return table


def _fitting(
    cells: Sequence[Sequence[str]], choices: Choices, width: int
) -> tuple[tuple[int, ...], int]:
    """Return the columns of the first choice that leaves enough room, and that room."""
    for kept in choices:
        room = width - used_width([[row[column] for column in kept] for row in cells])
        if room >= _ROOM:
            break
    return kept, room


def host_text(row: GapRow, room: int) -> str:
    """Return the largest parts that fit into a few lines, and the rest as one."""
    parts = host_parts(row.cause, row.knows_os_calls)
    for most in range(len(parts), 0, -1):
        texts = [f"{name} {percent}" for name, percent in parts[:most]]
        if most < len(parts):
            named = [name for name, _ in parts[:most]]
            texts.append(other_text(row.cause, named, row.knows_os_calls))
        lines = list(_wrapped(texts, room))
        if len(lines) <= _MOST_LINES:
            return "\n".join(lines)
    return ""


def _wrapped(texts: Sequence[str], room: int) -> Iterator[str]:
    """Yield lines of texts with commas between them; no text is broken."""
    line = ""
    for at, text in enumerate(texts, 1):
        item = text if at == len(texts) else f"{text},"
        if line and len(f"{line} {item}") > room:
            yield line
            line = item
        else:
            line = f"{line} {item}" if line else item
    yield line


def _launches(analysis: Analysis, width: int) -> Iterator[RenderableType]:
    """Yield what launching costs: a line for each kind of round, or a column where it is narrow."""
    rows = launch_rows(analysis)
    if not rows:
        return
    yield heading(launch_title(analysis))
    cells = [LAUNCH_TITLES, *rows]
    if used_width(cells) - GUTTER > width:
        cells = list(zip(*cells, strict=True))
    yield _table(cells)
    yield ""


def _table(cells: Sequence[Sequence[str]]) -> Table:
    titles, *rows = cells
    table = ruled_table()
    for column, title in enumerate(titles):
        add_column(table, title, "right" if column else "left")
    for row in rows:
        table.add_row(*row)
    return table
