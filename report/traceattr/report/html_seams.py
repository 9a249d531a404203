"""Seams of a page with what the host was doing in them, as bars and in words."""

from collections.abc import Iterator
from dataclasses import dataclass

from traceattr.attribution.analysis import Analysis
from traceattr.attribution.gap_figures import Cause
from traceattr.report.gap_tables import cause_parts, cause_text
from traceattr.report.gaps_text import (
    all_know_os_calls,
    full_rows,
    full_titles,
    gap_facts,
    gaps_title,
    pair_rows,
)
from traceattr.report.html_names import cause_class
from traceattr.report.html_table import HtmlTable, html_table
from traceattr.report.launch_text import LAUNCH_TITLES, launch_rows, launch_title
from traceattr.report.sampled import has_gap_percentiles

MOST_ROWS = 40
"""Lines of a list of gaps."""

_P99 = 4
"""Column that few rounds have nothing for."""


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a bar, in percents of its width: what the host was doing."""

    css: str
    begin: float
    width: float


@dataclass(frozen=True, slots=True)
class SeamRow:
    """One seam.

    Attributes:
        cells: Texts in the order of `SeamsView.titles`.
        slices: Causes as a bar that is filled whole.
        host: The same in words.
    """

    cells: tuple[str, ...]
    slices: tuple[Slice, ...]
    host: str


@dataclass(frozen=True, slots=True)
class SeamsView:
    """The section of a page.

    Attributes:
        title: What it is called.
        titles: Titles of the columns of figures.
        rows: Seams, longest time first.
        causes: Words and classes of what hosts were doing.
        facts: Labels and sentences on what is no line.
        pairs: Gaps inside graphs.
        launches: What launching costs.
    """

    title: str
    titles: tuple[str, ...]
    rows: tuple[SeamRow, ...]
    causes: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    pairs: HtmlTable | None
    launches: HtmlTable | None


def seams_view(analysis: Analysis) -> SeamsView:
    """Return what is shown of idle time."""
    knows_os_calls = all_know_os_calls(analysis)
    rows = full_rows(analysis)[:MOST_ROWS]
    whole = sum((one.cause for one, _ in rows), Cause())
    used = [name for name, ns in cause_parts(whole, knows_os_calls).items() if ns]
    return SeamsView(
        title=gaps_title(analysis),
        titles=_kept(full_titles(analysis), analysis),
        rows=tuple(
            SeamRow(
                _kept(cells, analysis),
                tuple(_slices(one.cause)),
                cause_text(one.cause, knows_os_calls),
            )
            for one, cells in rows
        ),
        causes=tuple((name, cause_class(_PLAIN.get(name, name))) for name in used),
        facts=gap_facts(analysis),
        pairs=_pairs(analysis),
        launches=html_table(launch_title(analysis), LAUNCH_TITLES, launch_rows(analysis)),
    )


_PLAIN = {"host code": "python"}
"""Causes by what they are called where OS calls are not known."""


def _kept(cells: tuple[str, ...], analysis: Analysis) -> tuple[str, ...]:
    """Return cells without the 99th percentile where rounds are too few for one."""
    return cells if has_gap_percentiles(analysis) else (*cells[:_P99], *cells[_P99 + 1 :])


def _pairs(analysis: Analysis) -> HtmlTable | None:
    """Return the gaps inside graphs; nobody looked for their 99th percentile."""
    every = [("between", *full_titles(analysis)[1:]), *pair_rows(analysis)[:MOST_ROWS]]
    titles, *rows = [(*cells[:_P99], *cells[_P99 + 1 :]) for cells in every]
    return html_table("Gaps inside graphs", titles, rows)


def _slices(cause: Cause) -> Iterator[Slice]:
    begin_ns, whole_ns = 0, cause.total_ns
    for name, ns in cause_parts(cause).items():
        if ns:
            yield Slice(
                cause_class(name),
                round(100 * begin_ns / whole_ns, 3),
                round(100 * ns / whole_ns, 3),
            )
        begin_ns += ns
