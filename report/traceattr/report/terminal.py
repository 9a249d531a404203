"""How a report looks in a terminal: plain ASCII in a given width, colour only as decoration."""

from collections.abc import Iterable, Iterator, Sequence
from io import StringIO

from rich.box import Box
from rich.console import Console, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from traceattr.attribution.analysis import Analysis, KernelTime
from traceattr.report.breakdown import Line, group_lines, total_lines
from traceattr.report.escape import visible
from traceattr.report.figures import count
from traceattr.report.headline import graph_sentence, headline, notices_below, simulated_sentence
from traceattr.report.kernel_figures import (
    NO_RULE,
    TEXT_TITLES,
    kernel_cells,
    kernel_titles,
    kernel_unit,
    kernels_title,
)
from traceattr.report.layout import Columns, layouts, legend
from traceattr.report.names import LIMIT, label_names
from traceattr.report.provenance import diagnostic_text, provenance
from traceattr.report.unclassified import unclassified_kernels, unclassified_sentence

MOST_KERNELS = 10
MOST_UNCLASSIFIED = 5

_RULED = Box("    \n    \n -- \n    \n -- \n    \n    \n    \n", ascii=True)
"""A line of hyphens below the head and between sections, nothing else."""

_GUTTER = 2
"""Blanks between two columns: one of padding and one that the box draws."""

_NARROWEST = 40
_LEAST_ROOM = 20
_ROOMY = 40
"""Columns for kernel names: at least, and from which on rules get a column of their own."""

Choice = tuple[tuple[int, ...], int]
"""Which columns of `kernel_titles` are kept if they leave so much room for names."""

_IN_REPORT: tuple[Choice, ...] = (((0, 1, 2, 3), 40), ((0, 1, 3), 30), ((0, 3), 20), ((0,), 0))

Cells = tuple[str, ...]


def render_terminal(analysis: Analysis, *, width: int, color: bool) -> str:
    """Return the report as text of at most ``width`` columns."""
    width = max(width, _NARROWEST)
    return printed(_parts(analysis, width), width=width, color=color)


def printed(parts: Iterable[RenderableType], *, width: int, color: bool) -> str:
    """Return what rich would print, without blanks at the ends of lines."""
    text = StringIO()
    console = Console(
        file=text,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        safe_box=False,
        _environ={},
    )
    for part in parts:
        console.print(part)
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def heading(text: str) -> Text:
    """Return the title of a section."""
    return Text(text, style="bold")


def kernel_table(kernels: Sequence[KernelTime], width: int) -> Table:
    """Return one line per kernel; its name takes what the figures leave of ``width``."""
    rows = _fitting_rows(_rows(kernels), width, _IN_REPORT)
    return _named_table(rows, _labels(kernels, width - _used(rows)))


def kernel_table_with_rules(kernels: Sequence[KernelTime], width: int) -> Table:
    """Return the same with the rule that won: in a column, or below the name if it is narrow."""
    rules = ["rule", *(kernel.rule or NO_RULE for kernel in kernels)]
    wide = [(*row, rule) for row, rule in zip(_rows(kernels), rules, strict=True)]
    if width - _used(wide) >= _ROOMY:
        return _named_table(wide, _labels(kernels, width - _used(wide)))
    below = [f"  by {rule}" for rule in rules[1:]]
    least_room = max(_LEAST_ROOM, *map(len, below))
    choices = [(kept, least_room) for kept, _ in _IN_REPORT]
    rows = _fitting_rows(_rows(kernels), width, choices)
    names = _labels(kernels, width - _used(rows))
    return _named_table(rows, [f"{name}\n{rule}" for name, rule in zip(names, below, strict=True)])


def _rows(kernels: Sequence[KernelTime]) -> list[Cells]:
    """Return titles and figures."""
    unit = kernel_unit(kernels)
    return [kernel_titles(unit), *(kernel_cells(kernel, unit) for kernel in kernels)]


def _fitting_rows(rows: list[Cells], width: int, choices: Sequence[Choice]) -> list[Cells]:
    """Return the columns of the first choice that leaves enough room; figures are never cut."""
    for kept, least_room in choices:
        fewer = [tuple(row[column] for column in kept) for row in rows]
        if width - _used(fewer) >= least_room:
            break
    return fewer


def _labels(kernels: Sequence[KernelTime], room: int) -> list[str]:
    labels = label_names((kernel.name for kernel in kernels), min(room, LIMIT))
    return [labels[kernel.name] for kernel in kernels]


def _used(rows: Sequence[Cells]) -> int:
    return sum(max(map(len, cells)) + _GUTTER for cells in zip(*rows, strict=True))


def _named_table(rows: Sequence[Cells], names: Sequence[str]) -> Table:
    """Return a table of rows, the first of which is the titles, and names."""
    titles, *figures = rows
    table = _ruled_table()
    for title in titles:
        _add_column(table, title, "left" if title in TEXT_TITLES else "right")
    _add_column(table, "kernel", "left")
    for row, name in zip(figures, names, strict=True):
        table.add_row(*map(Text, row), Text(name))
    return table


def _parts(analysis: Analysis, width: int) -> Iterator[RenderableType]:
    yield Text(headline(analysis), style="bold")
    yield Text(graph_sentence(analysis))
    if (simulated := simulated_sentence(analysis)) is not None:
        yield Text(visible(simulated), style="bold yellow")
    yield ""
    yield from _breakdown(analysis, width)
    yield from _unclassified_parts(analysis, width)
    yield from _kernel_parts(analysis, width)
    yield from _notice_parts(analysis)
    yield _provenance_grid(analysis)


def _breakdown(analysis: Analysis, width: int) -> Iterator[RenderableType]:
    if not analysis.per_gpu:
        return
    groups, totals = group_lines(analysis), total_lines(analysis)
    columns = _fitting(layouts(analysis), (*groups, *totals), width)
    table = _ruled_table()
    _add_column(table, "group", "left")
    for column in columns:
        _add_column(table, column.title, "right")
    for line in groups:
        table.add_row(_label(line), *(column.cell(line) for column in columns), style=_style(line))
    table.add_section()
    for line in totals:
        table.add_row(_label(line), *(column.cell(line) for column in columns))
    yield table
    yield Text(legend(analysis, columns), style="dim")
    yield ""


def _ruled_table() -> Table:
    return Table(
        box=_RULED, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold"
    )


def _add_column(table: Table, title: str, justify: JustifyMethod) -> None:
    """Add a column whose cells end at the edge of the terminal; rich's ellipsis is not ASCII."""
    table.add_column(title, justify=justify, no_wrap=True, overflow="crop")


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
        if names + sum(_GUTTER + len(max(texts, key=len)) for texts in cells) <= width:
            return columns
    return choices[-1]


def _unclassified_parts(analysis: Analysis, width: int) -> Iterator[RenderableType]:
    kernels = unclassified_kernels(analysis)
    yield Text(unclassified_sentence(analysis), style="yellow" if kernels else "")
    if kernels:
        yield kernel_table(kernels[:MOST_UNCLASSIFIED], width)
        if (more := len(kernels) - MOST_UNCLASSIFIED) > 0:
            yield Text(f"{count(more)} more: `traceattr kernels --unclassified`")
    yield ""


def _kernel_parts(analysis: Analysis, width: int) -> Iterator[RenderableType]:
    if not analysis.kernels:
        return
    shown = analysis.kernels[:MOST_KERNELS]
    yield heading(kernels_title(analysis, len(shown)))
    yield kernel_table(shown, width)
    yield ""


def _notice_parts(analysis: Analysis) -> Iterator[RenderableType]:
    warnings = [notice.text for notice in notices_below(analysis)]
    yield from _list("Warnings", warnings)
    yield from _list("nsys says", [diagnostic_text(each) for each in analysis.trace.diagnostics])


def _list(title: str, texts: list[str]) -> Iterator[RenderableType]:
    if not texts:
        return
    grid = Table.grid(padding=(0, 1, 0, 0))
    for text in texts:
        grid.add_row("-", Text(visible(text)))
    yield heading(title)
    yield grid
    yield ""


def _provenance_grid(analysis: Analysis) -> Table:
    grid = Table.grid(padding=(0, _GUTTER, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    for label, text in provenance(analysis):
        grid.add_row(label, Text(visible(text)))
    return grid
