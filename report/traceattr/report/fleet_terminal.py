"""How a report on several traces looks in a terminal."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from traceattr.attribution.fleet_figures import Fleet
from traceattr.report.console import (
    GUTTER,
    add_column,
    bullet_section,
    heading,
    printed,
    ruled_table,
    used_width,
)
from traceattr.report.escape import visible
from traceattr.report.fleet_text import Section, fleet_headline, run_title, sections
from traceattr.report.names import cut
from traceattr.report.render import NARROWEST

_SHORTEST_TEXT = 12


def render_fleet_terminal(fleet: Fleet, *, width: int, color: bool) -> str:
    """Return the report as text of at most ``width`` columns."""
    width = max(width, NARROWEST)
    return printed(_parts(fleet, width), width=width, color=color)


def _parts(fleet: Fleet, width: int) -> Iterator[RenderableType]:
    yield Text(visible(fleet_headline(fleet)), style="bold")
    yield ""
    for run in fleet.runs:
        for section in sections(run, run_title(fleet, run)):
            yield heading(section.title)
            if section.rows:
                yield _table(section, width)
            if section.note:
                yield Text(visible(section.note), style="dim")
            yield ""
    yield from bullet_section("Not read", [f"{reason}" for _, reason in fleet.failed])
    yield from bullet_section("Notices", [notice.text for notice in fleet.warnings])


def _table(section: Section, width: int) -> RenderableType:
    """Return a table; columns that have no room are left out, the last ones first."""
    rows = [[visible(cell) for cell in row] for row in (section.columns, *section.rows)]
    longest = max(len(row[0]) for row in rows)
    room = width - (used_width([row[1:] for row in rows]) if len(rows[0]) > 1 else 0)
    kept = len(rows[0])
    while room < min(longest, _SHORTEST_TEXT) and kept > 2:
        kept -= 1
        room = width - used_width([row[1:kept] for row in rows])
    table = ruled_table()
    for at, title in enumerate(rows[0][:kept]):
        add_column(table, title, "left" if at < section.texts else "right")
    for row in rows[1:]:
        table.add_row(cut(row[0], max(room - GUTTER, _SHORTEST_TEXT)), *row[1:kept])
    return table
