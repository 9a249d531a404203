"""How a prediction and its alternatives look in a terminal."""

from collections.abc import Iterator, Sequence

from rich.bar import Bar
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from traceattr.report.console import (
    GUTTER,
    add_column,
    bullet_section,
    fact_grid,
    heading,
    printed,
    ruled_table,
)
from traceattr.report.escape import visible
from traceattr.report.figures import MILLISECONDS
from traceattr.report.render import NARROWEST
from traceattr.report.roofline_text import METHOD, gpu_fact, input_facts, roofline_headline
from traceattr.report.what_if_text import (
    CHANGE_TITLES,
    change_cells,
    change_title,
    group_cells,
    group_titles,
    groups_title,
    lines,
    remarks,
    what_if_headline,
)
from traceattr.roofline.what_if import WhatIf


def render_terminal(what_if: WhatIf, *, width: int, color: bool) -> str:
    """Return the alternatives as text of at most ``width`` columns."""
    return printed(_parts(what_if), width=max(width, NARROWEST), color=color)


def _parts(what_if: WhatIf) -> Iterator[RenderableType]:
    base = what_if.base
    yield Text(visible(roofline_headline(base)), style="bold")
    yield Text(visible(what_if_headline(what_if)), style="bold")
    yield ""
    yield heading(change_title(what_if))
    yield alternatives_table(CHANGE_TITLES, [change_cells(line, base) for line in lines(what_if)])
    yield ""
    yield heading(groups_title(what_if))
    titles = group_titles(what_if)
    broken = [title.replace(" ", "\n", 1) for title in titles]
    yield alternatives_table(broken, [group_cells(line, titles) for line in lines(what_if)])
    yield ""
    yield from _plot(what_if)
    yield Text(METHOD)
    yield ""
    warnings = [notice.text for notice in base.notices]
    yield from bullet_section("Warnings", [*warnings, *remarks(what_if)])
    yield fact_grid((*input_facts(base), (base.gpu.name, gpu_fact(base))))


def alternatives_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> RenderableType:
    """Return a table whose first column takes several lines when there is no room."""
    table = ruled_table()
    table.add_column(titles[0], justify="left", overflow="fold")
    for title in titles[1:]:
        add_column(table, title, "right")
    for row in rows:
        table.add_row(*map(Text, map(visible, row)))
    return table


def _plot(what_if: WhatIf) -> Iterator[RenderableType]:
    """Yield bars of the expected time and, where all of them are known, of tokens/s."""
    shown = lines(what_if)
    times = [line.roofline.prediction.expected_ns / MILLISECONDS.ns for line in shown]
    rates = [line.roofline.prediction.expected_tokens_per_s or 0.0 for line in shown]
    plotted = {"ms": times, "tokens/s": rates} if all(rates) else {"ms": times}
    grid = Table.grid(padding=(0, GUTTER, 0, 0), expand=True)
    grid.add_column(overflow="fold", ratio=1)
    for _ in plotted:
        grid.add_column(justify="right", no_wrap=True)
        grid.add_column(ratio=1)
    grid.add_row("", *(Text(text) for title in plotted for text in (title, "")))
    for place, line in enumerate(shown):
        cells = (_bar(values, place) for values in plotted.values())
        grid.add_row(Text(visible(line.name)), *(part for cell in cells for part in cell))
    yield heading("Expected, drawn to scale")
    yield grid
    yield ""


def _bar(values: Sequence[float], place: int) -> tuple[RenderableType, RenderableType]:
    """Return a value as text and as a bar; the largest one takes all the room."""
    return Text(f"{values[place]:,.1f}"), Bar(max(values), 0, values[place])
