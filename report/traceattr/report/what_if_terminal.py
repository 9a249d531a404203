"""How a prediction and its alternatives look in a terminal."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from traceattr.report.bar_chart_terminal import bar_section
from traceattr.report.console import (
    bullet_section,
    fact_grid,
    heading,
    printed,
)
from traceattr.report.escape import visible
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
    what_if_chart,
    what_if_headline,
)
from traceattr.report.wide_table import tables_in_turn
from traceattr.roofline.what_if import WhatIf


def render_terminal(what_if: WhatIf, *, width: int, color: bool) -> str:
    """Return the alternatives as text of at most ``width`` columns."""
    width = max(width, NARROWEST)
    return printed(_parts(what_if, width), width=width, color=color)


def _parts(what_if: WhatIf, width: int) -> Iterator[RenderableType]:
    base = what_if.base
    yield Text(visible(roofline_headline(base)), style="bold")
    yield Text(visible(what_if_headline(what_if)), style="bold")
    yield ""
    yield heading(change_title(what_if))
    shown = lines(what_if)
    yield from tables_in_turn(CHANGE_TITLES, [change_cells(e, base) for e in shown], width)
    yield ""
    yield heading(groups_title(what_if))
    titles = group_titles(what_if)
    broken = [title.replace(" ", "\n", 1) for title in titles]
    yield from tables_in_turn(broken, [group_cells(e, titles) for e in shown], width)
    yield ""
    yield from bar_section(what_if_chart(what_if), width)
    yield Text(METHOD)
    yield ""
    warnings = [notice.text for notice in base.notices]
    yield from bullet_section("Warnings", [*warnings, *remarks(what_if)])
    yield fact_grid((*input_facts(base), (base.gpu.name, gpu_fact(base))))
