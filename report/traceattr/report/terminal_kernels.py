"""How kernels are listed in a terminal: figures first, the name takes what they leave."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from traceattr.attribution.analysis import KernelTime
from traceattr.report.console import add_column, ruled_table, used_width
from traceattr.report.kernel_figures import (
    NO_RULE,
    TEXT_TITLES,
    kernel_cells,
    kernel_titles,
    kernel_unit,
)
from traceattr.report.names import LIMIT, label_names

_LEAST_ROOM = 20
_ROOMY = 40
"""Columns for kernel names: at least, and from which on rules get a column of their own."""

Choice = tuple[tuple[int, ...], int]
"""Which columns of `kernel_titles` are kept if they leave so much room for names."""

_IN_REPORT: tuple[Choice, ...] = (((0, 1, 2, 3), 40), ((0, 1, 3), 30), ((0, 3), 20), ((0,), 0))

Cells = tuple[str, ...]


def kernel_table(kernels: Sequence[KernelTime], width: int) -> Table:
    """Return one line per kernel; its name takes what the figures leave of ``width``."""
    rows = _fitting_rows(_rows(kernels), width, _IN_REPORT)
    return _named_table(rows, _labels(kernels, width - used_width(rows)))


def kernel_table_with_rules(kernels: Sequence[KernelTime], width: int) -> Table:
    """Return the same with the rule that won: in a column, or below the name if it is narrow."""
    rules = ["rule", *(kernel.rule or NO_RULE for kernel in kernels)]
    wide = [(*row, rule) for row, rule in zip(_rows(kernels), rules, strict=True)]
    if width - used_width(wide) >= _ROOMY:
        return _named_table(wide, _labels(kernels, width - used_width(wide)))
    below = [f"  by {rule}" for rule in rules[1:]]
    least_room = max(_LEAST_ROOM, *map(len, below))
    choices = [(kept, least_room) for kept, _ in _IN_REPORT]
    rows = _fitting_rows(_rows(kernels), width, choices)
    names = _labels(kernels, width - used_width(rows))
    return _named_table(rows, [f"{name}\n{rule}" for name, rule in zip(names, below, strict=True)])


def _rows(kernels: Sequence[KernelTime]) -> list[Cells]:
    """Return titles and figures."""
    unit = kernel_unit(kernels)
    return [kernel_titles(unit), *(kernel_cells(kernel, unit) for kernel in kernels)]


def _fitting_rows(rows: list[Cells], width: int, choices: Sequence[Choice]) -> list[Cells]:
    """Return the columns of the first choice that leaves enough room; figures are never cut."""
    for kept, least_room in choices:
        fewer = [tuple(row[column] for column in kept) for row in rows]
        if width - used_width(fewer) >= least_room:
            break
    return fewer


def _labels(kernels: Sequence[KernelTime], room: int) -> list[str]:
    labels = label_names((kernel.name for kernel in kernels), min(room, LIMIT))
    return [labels[kernel.name] for kernel in kernels]


def _named_table(rows: Sequence[Cells], names: Sequence[str]) -> Table:
    """Return a table of rows, the first of which is the titles, and names."""
    titles, *figures = rows
    table = ruled_table()
    for title in titles:
        add_column(table, title, "left" if title in TEXT_TITLES else "right")
    add_column(table, "kernel", "left")
    for row, name in zip(figures, names, strict=True):
        table.add_row(*map(Text, row), Text(name))
    return table
