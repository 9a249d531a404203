"""A table in a terminal that may be too narrow for it: never a figure without its last digits."""

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from traceattr.report.console import GUTTER, add_column, ruled_table, used_width
from traceattr.report.escape import visible

Cells = Sequence[str]


def table_that_fits(
    titles: Cells, aligned: str, rows: Sequence[Cells], choices: Sequence[Sequence[int]], width: int
) -> Table:
    """Return the table with the first choice of columns that there is room for, or the last one.

    Args:
        titles: Of all columns.
        aligned: ``l`` or ``r`` for each column.
        rows: Cells of all columns; the last row stands below a line of its own.
        choices: Columns, the fullest choice first.
        width: Columns of the terminal.
    """
    for kept in choices:
        cells = [[row[column] for column in kept] for row in (titles, *rows)]
        if used_width(cells) - GUTTER <= width:
            break
    table = ruled_table()
    for column in kept:
        add_column(table, titles[column], "left" if aligned[column] == "l" else "right")
    for row in cells[1:-1]:
        table.add_row(*map(Text, row))
    table.add_section()
    table.add_row(*map(Text, cells[-1]))
    return table


def tables_in_turn(titles: Cells, rows: Sequence[Cells], width: int) -> Iterator[Table]:
    """Yield a table of figures, or where it does not fit several that have its columns in turn.

    Each begins with the first column, a name that takes several lines when it needs more than half
    of the room.
    """
    shown = [[visible(cell) for cell in row] for row in rows]
    for columns in _columns_in_turn([titles, *shown], width):
        table = ruled_table()
        table.add_column(titles[0], overflow="fold")
        for column in columns:
            add_column(table, titles[column], "right")
        for row in shown:
            table.add_row(*map(Text, (row[column] for column in (0, *columns))))
        yield table


def _columns_in_turn(rows: Sequence[Cells], width: int) -> Iterator[list[int]]:
    """Yield columns but the first in groups that fit beside it."""
    first, *others = (max(map(_width, cells)) + GUTTER for cells in zip(*rows, strict=True))
    room = width - min(first, width // 2)
    group: list[int] = []
    taken = 0
    for column, needed in enumerate(others, start=1):
        if group and taken + needed - GUTTER > room:
            yield group
            group, taken = [], 0
        group.append(column)
        taken += needed
    yield group


def _width(cell: str) -> int:
    return max(map(len, cell.split("\n")))
