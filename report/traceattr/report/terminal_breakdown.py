"""How the table of groups and categories looks in a terminal."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from traceattr.attribution.analysis import Analysis
from traceattr.report.breakdown import Line, group_lines, mean, shown_ns, total_lines, wholes
from traceattr.report.console import GUTTER, add_column, ruled_table
from traceattr.report.folding import folded
from traceattr.report.layout import Columns, layouts, legend
from traceattr.report.text_bar import text_bar

LEAST_BAR, MOST_BAR = 12, 40
"""Columns of a whole round as a bar: with less room there are no bars."""


def breakdown_section(analysis: Analysis, width: int) -> Iterator[RenderableType]:
    """Yield the table, in as many columns as fit into ``width``, and what its figures mean."""
    if not analysis.per_gpu:
        return
    lines = (*folded(analysis, group_lines(analysis)), *total_lines(analysis))
    columns = _fitting(layouts(analysis), lines, width)
    shown = [line for line in lines if any(column.cell(line) for column in columns)]
    room = min(width - _needed(columns, shown) - GUTTER, MOST_BAR)
    yield _table(analysis, shown, columns, room if room >= LEAST_BAR else 0)
    yield Text(legend(analysis, columns), style="dim")
    yield ""


def _table(
    analysis: Analysis, lines: Sequence[Line], columns: Columns, room: int
) -> RenderableType:
    """Return the table, with bars where there is room for them."""
    table = ruled_table()
    add_column(table, "group", "left")
    for column in columns:
        add_column(table, column.title, "right")
    if room:
        add_column(table, "", "left")
    for is_total in (False, True):
        table.add_section()
        for line in lines:
            if (line.kind == "total") == is_total:
                cells = [_label(line), *(column.cell(line) for column in columns)]
                bar = [_bar(line, analysis, room)] if room else []
                table.add_row(*cells, *bar, style=_style(line))
    return table


def _bar(line: Line, analysis: Analysis, room: int) -> str:
    """Return the share of a group as a bar; nothing where it is not known."""
    part_ns, whole_ns = mean(shown_ns(line)), sum(wholes(analysis))
    if line.is_part or line.kind == "total" or part_ns is None or not whole_ns:
        return ""
    return text_bar(part_ns * len(analysis.per_gpu) / whole_ns, room)


def _label(line: Line) -> str:
    return f"  {line.name}" if line.is_part else line.name


def _style(line: Line) -> str:
    if line.is_notable:
        return "yellow"
    return "dim" if line.is_part and line.kind != "total" else ""


def _fitting(choices: tuple[Columns, ...], lines: Sequence[Line], width: int) -> Columns:
    """Return the fullest columns that fit, or the narrowest."""
    fitting = (columns for columns in choices if _needed(columns, lines) <= width)
    return next(fitting, choices[-1])


def _needed(columns: Columns, lines: Sequence[Line]) -> int:
    """Return how wide the table is with these columns."""
    names = max(len(_label(line)) for line in lines)
    cells = ([column.title, *map(column.cell, lines)] for column in columns)
    return names + sum(GUTTER + len(max(texts, key=len)) for texts in cells)
