"""How a diff looks in a terminal."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from traceattr.report.console import (
    GUTTER,
    add_column,
    bullet_section,
    fact_grid,
    heading,
    printed,
    ruled_table,
    used_width,
)
from traceattr.report.diff.provenance import provenance_facts, rounds_title
from traceattr.report.diff.render import DiffReport
from traceattr.report.diff.sentences import (
    METHOD,
    caveats,
    gate_text,
    gates_sentence,
    simulated_sentences,
    verdict_sentence,
)
from traceattr.report.diff.tables import (
    BOUND_TITLES,
    CHANGE_TITLES,
    CHANGED,
    LAUNCH_TITLES,
    MOST_EDITS,
    PHASES,
    SEAMS,
    DiffRow,
    changed_rows,
    edit_rows,
    edit_title,
    graph_summary,
    group_rows,
    launch_rows,
    phase_rows,
    seam_rows,
    unit_of,
)
from traceattr.report.diff.verdicts import Verdict
from traceattr.report.diff.words import signed
from traceattr.report.escape import visible
from traceattr.report.figures import MICROSECONDS, counted
from traceattr.report.render import NARROWEST

_SPARE = (*BOUND_TITLES, "noise", "before", "percent", "after")
"""Columns that a narrow terminal does without, the first one first."""

_FIRST_COLUMN = {PHASES: "phase", CHANGED: "part", SEAMS: "seam"}
_STYLES = {Verdict.SLOWER: "red", Verdict.FASTER: "green", Verdict.CANNOT_TELL: "yellow"}


def render_terminal(report: DiffReport, *, width: int, color: bool) -> str:
    """Return the diff as text of at most ``width`` columns."""
    width = max(width, NARROWEST)
    return printed(_parts(report, width), width=width, color=color)


def _parts(report: DiffReport, width: int) -> Iterator[RenderableType]:
    diff = report.diff
    yield Text(visible(verdict_sentence(diff)), style="bold")
    if (gates := gates_sentence(report.judgements, is_advisory=report.is_advisory)) is not None:
        yield Text(gates, style="bold")
    for text in simulated_sentences(diff):
        yield Text(visible(text), style="bold yellow")
    yield ""
    yield from bullet_section("Gates", [gate_text(one) for one in report.judgements])
    yield from _groups(report, width)
    yield from _changes(PHASES, unit_of(diff).name, phase_rows(diff), width)
    yield from _changes(CHANGED, unit_of(diff).name, changed_rows(diff), width)
    yield from _changes(SEAMS, MICROSECONDS.name, seam_rows(diff), width)
    yield from _launches(report)
    yield from _graphs(report)
    yield from bullet_section("Warnings", list(caveats(diff)))
    yield Text(METHOD, style="dim")
    yield ""
    yield fact_grid(provenance_facts(diff))


def _groups(report: DiffReport, width: int) -> Iterator[RenderableType]:
    rows = group_rows(report.diff, report.comparison)
    if not rows:
        return
    titles = CHANGE_TITLES if report.comparison is None else (*CHANGE_TITLES, *BOUND_TITLES)
    yield heading(f"{rounds_title(report.diff)}; times in {unit_of(report.diff).name}")
    yield _table(("group", *titles), rows, width)
    yield ""


def _changes(
    title: str, unit: str, rows: Sequence[DiffRow], width: int
) -> Iterator[RenderableType]:
    if rows:
        yield heading(f"{title} ({unit} per round)")
        yield _table((_FIRST_COLUMN[title], *CHANGE_TITLES), rows, width)
        yield ""


def _table(titles: Sequence[str], rows: Sequence[DiffRow], width: int) -> RenderableType:
    texts = [(visible(row.name), *row.cells) for row in rows]
    kept = _kept(titles, texts, width)
    table = ruled_table()
    for at in kept:
        add_column(table, titles[at], "left" if at == 0 or titles[at] == "verdict" else "right")
    for row, cells in zip(rows, texts, strict=True):
        style = _STYLES.get(row.change.verdict, "") if row.change.noise_ns is not None else ""
        table.add_row(*(Text(cells[at], style=style) for at in kept))
    return table


def _kept(titles: Sequence[str], rows: Sequence[tuple[str, ...]], width: int) -> list[int]:
    """Return the columns that fit."""
    kept = list(range(len(titles)))
    for spare in _SPARE:
        cells = [[row[at] for at in kept] for row in (titles, *rows)]
        if used_width(cells) - GUTTER <= width:
            break
        kept = [at for at in kept if titles[at] != spare]
    return kept


def _launches(report: DiffReport) -> Iterator[RenderableType]:
    rows = launch_rows(report.diff)
    if not rows:
        return
    table = ruled_table()
    for title in LAUNCH_TITLES:
        add_column(table, title, "left" if title == LAUNCH_TITLES[0] else "right")
    for row in rows:
        table.add_row(*row)
    yield heading("Launches")
    yield table
    yield ""


def _graphs(report: DiffReport) -> Iterator[RenderableType]:
    if not report.diff.graphs:
        return
    yield heading("Graphs (one replay on the first GPU; us are sums of median kernel times)")
    facts: list[tuple[str, str]] = []
    for change, edits in edit_rows(report.diff.graphs, MOST_EDITS):
        facts.append((change.kind, graph_summary(change)))
        facts += [
            (f"  {edit_title(edit)}", f"{signed(edit.difference_ns)}: {kernels}")
            for edit, kernels in edits
        ]
        if (more := len(change.edits) - len(edits)) > 0:
            facts.append(("  ...", f"{counted(more, 'more kind')} of edit: --format json"))
    yield fact_grid(facts)
    yield ""
