"""How the table of groups and categories looks in a terminal."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from traceattr.attribution.analysis import Analysis
from traceattr.report.breakdown import Line, group_lines, total_lines
from traceattr.report.console import GUTTER, add_column, ruled_table
from traceattr.report.folding import folded
from traceattr.report.layout import Columns, layouts, legend


def breakdown_section(analysis: Analysis, width: int) -> Iterator[RenderableType]:
    """Yield the table, in as many columns as fit into ``width``, and what its figures mean."""
    if not analysis.per_gpu:
        return
    groups, totals = folded(analysis, group_lines(analysis)), total_lines(analysis)
    columns = _fitting(layouts(analysis), (*groups, *totals), width)
    table = ruled_table()
    add_column(table, "group", "left")
    for column in columns:
        add_column(table, column.title, "right")
    for line in groups:
        table.add_row(_label(line), *(column.cell(line) for column in columns), style=_style(line))
    table.add_section()
    for line in totals:
        table.add_row(_label(line), *(column.cell(line) for column in columns))
    yield table
    yield Text(legend(analysis, columns), style="dim")
    yield ""


def _label(line: Line) -> str:
    return f"  {line.name}" if line.is_part else line.name


def _style(line: Line) -> str:
    if line.is_notable:
        return "yellow"
    return "dim" if line.is_part else ""


def _fitting(choices: tuple[Columns, ...], lines: Sequence[Line], width: int) -> Columns:
    """Return the fullest columns that fit, or the narrowest."""
    names = max(len(_label(line)) for line in lines)
    for columns in choices:
        cells = ([column.title, *map(column.cell, lines)] for column in columns)
        if names + sum(GUTTER + len(max(texts, key=len)) for texts in cells) <= width:
            return columns
    return choices[-1]
