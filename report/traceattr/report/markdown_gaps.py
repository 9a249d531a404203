"""How gaps and what launching costs are shown in Markdown."""

from collections.abc import Iterable, Iterator, Sequence

from traceattr.attribution.analysis import Analysis
from traceattr.attribution.gap_figures import Cause
from traceattr.report.escape import markdown_code_cell, markdown_sentence, markdown_text
from traceattr.report.figures import counted
from traceattr.report.gap_tables import cause_text
from traceattr.report.gaps_text import (
    all_know_os_calls,
    full_rows,
    full_titles,
    gap_facts,
    gap_rows,
    gap_titles,
    gaps_title,
    pair_rows,
)
from traceattr.report.launch_text import LAUNCH_TITLES, launch_rows, launch_title
from traceattr.report.markdown_blocks import details, markdown_table
from traceattr.report.sampled import has_gap_percentiles

MOST_ROWS = 20
"""Lines of a folded list."""

MOST_SEAMS = 4
"""Seams in the list that is not folded."""

_ABOVE = (0, 2, 3, 4)
"""Columns of `gap_titles` in the list that is not folded."""

_P99 = 4
"""Column that few rounds have nothing for."""


def gaps_section(analysis: Analysis) -> Iterator[str]:
    """Yield the seams that take longest."""
    rows = gap_rows(analysis, MOST_SEAMS)
    if not rows:
        return
    above = [column for column in _ABOVE if column != _P99 or has_gap_percentiles(analysis)]
    titles = [gap_titles(analysis)[column] for column in above]
    cells = [[row.cells[column] for column in above] for row in rows]
    yield f"**{gaps_title(analysis)}**\n"
    yield _with_host(analysis, titles, cells, [row.cause for row in rows])


def gaps_details(analysis: Analysis) -> Iterator[str]:
    """Yield seams, gaps inside graphs and what launching costs, folded."""
    facts = [f"- {label}: {markdown_sentence(text)}" for label, text in gap_facts(analysis)]
    texts = [*facts, "", *_seams(analysis), *_pairs(analysis), *_launches(analysis)]
    if facts or len(texts) > 1:
        yield from details(gaps_title(analysis), texts)


def _seams(analysis: Analysis) -> Iterator[str]:
    rows = full_rows(analysis)
    if rows:
        shown = rows[:MOST_ROWS]
        causes = [seam.cause for seam, _ in shown]
        titles, *cells = _kept(analysis, [full_titles(analysis), *(cells for _, cells in shown)])
        yield _with_host(analysis, titles, cells, causes)
        yield from _more(len(rows))


def _kept(analysis: Analysis, lines: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return lines without the 99th percentile where rounds are too few for one."""
    if has_gap_percentiles(analysis):
        return list(lines)
    return [(*cells[:_P99], *cells[_P99 + 1 :]) for cells in lines]


def _pairs(analysis: Analysis) -> Iterator[str]:
    """Yield the gaps inside graphs; nobody looked for their 99th percentile."""
    rows = [(*cells[:4], *cells[5:]) for cells in pair_rows(analysis)]
    if rows:
        _, *titles = full_titles(analysis)
        yield _table(("inside graphs", *titles[:3], *titles[4:]), map(_named, rows[:MOST_ROWS]))
        yield from _more(len(rows))


def _launches(analysis: Analysis) -> Iterator[str]:
    rows = launch_rows(analysis)
    if rows:
        yield f"{launch_title(analysis)}:\n"
        yield _table(LAUNCH_TITLES, map(_escaped, rows))


def _more(rows: int) -> Iterator[str]:
    if rows > MOST_ROWS:
        yield f"{counted(rows - MOST_ROWS, 'more line')}: `traceattr gaps`\n"


def _with_host(
    analysis: Analysis,
    titles: Sequence[str],
    rows: Iterable[Sequence[str]],
    causes: Iterable[Cause],
) -> str:
    knows_os_calls = all_know_os_calls(analysis)
    lines = (
        (*cells, cause_text(cause, knows_os_calls))
        for cells, cause in zip(rows, causes, strict=True)
    )
    aligned = f"l{'r' * (len(titles) - 1)}l"
    return markdown_table((*titles, "host"), aligned, map(_named, lines))


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return markdown_table(titles, f"l{'r' * (len(titles) - 1)}", rows)


def _named(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the cells of a gap, whose first one is its name, or says that there are more."""
    name, *figures = cells
    shown = markdown_text(name) if " " in name else markdown_code_cell(name)
    return (shown, *_escaped(figures))


def _escaped(cells: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(markdown_text, cells))
