"""The table that a reviewer of a pull request sees first: what takes time, and what it could take.

A table of two traces has the same lines with other columns: `summary_lines` and `summary_table`
serve both.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from traceattr.attribution.analysis import Analysis
from traceattr.report.breakdown import ROUND, Line, group_lines, shown_ns, total_lines
from traceattr.report.escape import markdown_text
from traceattr.report.layout import Column, Columns, summary_layout
from traceattr.report.markdown_blocks import markdown_table

if TYPE_CHECKING:  # it takes a while to import, and few reports need it
    from traceattr.report.comparison import Comparison


def summary_lines(analysis: Analysis) -> tuple[Line, ...]:
    """Return the groups that are known to have time, gaps that may have, and what all sum to."""
    groups = [line for line in group_lines(analysis) if not line.is_part and _tells(line)]
    whole, *_ = total_lines(analysis)
    return (*groups, whole)


def _tells(line: Line) -> bool:
    times = shown_ns(line)
    return any(times) or (line.kind == "gap" and None in times)


def summary_columns(analysis: Analysis, comparison: "Comparison | None") -> Columns:
    """Return time and share, and beside them what the hardware allows where that is known."""
    columns = summary_layout(analysis)
    return columns if comparison is None else (*columns, *_bound_columns(comparison))


def summary_table(lines: Iterable[Line], columns: Columns, first: str = "group") -> str:
    """Return the table; its last line, the sum, is bold."""
    *rows, total = [[line.name, *(column.cell(line) for column in columns)] for line in lines]
    shown = [tuple(map(markdown_text, row)) for row in rows]
    shown.append(tuple(f"**{markdown_text(cell)}**" if cell else "" for cell in total))
    titles = (first, *(column.title for column in columns))
    return markdown_table(titles, f"l{'r' * len(columns)}", shown)


def _bound_columns(comparison: "Comparison") -> Columns:
    from traceattr.report.comparison_text import bound_cells, group_figures

    def cells(line: Line) -> tuple[str, str]:
        if line.name == ROUND:
            return bound_cells(comparison.round)
        # A part of a group, where graphs hide the rest, stands beside no bound of the whole.
        return ("", "") if comparison.reason else bound_cells(group_figures(comparison, line.name))

    return (
        Column("bound", lambda line: cells(line)[0]),
        Column("measured / bound", lambda line: cells(line)[1]),
    )
