"""What the page of a diff holds, as texts and as percents of its drawings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from traceattr.report.diff.diff import Diff
from traceattr.report.diff.kernels import KernelChange, kernel_changes
from traceattr.report.diff.parts import ROUND
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
    SEAMS,
    DiffRow,
    category_rows,
    changed_rows,
    edit_rows,
    edit_title,
    graph_summary,
    group_rows,
    launch_rows,
    seam_rows,
    unit_of,
)
from traceattr.report.diff.words import difference_text, signed, signed_number
from traceattr.report.escape import visible
from traceattr.report.figures import MICROSECONDS, UNKNOWN, counted, duration
from traceattr.report.html_closeup import LONGEST_NAME
from traceattr.report.html_figures import Figure
from traceattr.report.html_histogram import Histogram, histograms
from traceattr.report.html_table import HtmlTable, html_table
from traceattr.report.names import cut, label_names

MOST_KERNELS = 500
MOST_EDITS = 200
"""Lines of each list."""

_CENTRE = 50.0
"""Where a chart of changes has its zero, in percent of its width."""


@dataclass(frozen=True, slots=True)
class ChangeBar:
    """A line of a table with its change as a bar; places are percents of the drawing.

    Attributes:
        name: What it is about.
        cells: The other columns.
        css: Class of what became of it.
        left: Where the bar begins, None without a change that is known.
        width: How long it is.
        noise_left: Where the noise begins, None when it is unknown.
        noise_width: How far it reaches.
    """

    name: str
    cells: tuple[str, ...]
    css: str
    left: float | None
    width: float
    noise_left: float | None
    noise_width: float


@dataclass(frozen=True, slots=True)
class BarTable:
    """A table of changes.

    Attributes:
        caption: What it shows.
        titles: Titles of its columns, that of the names first.
        rows: Its lines.
    """

    caption: str
    titles: tuple[str, ...]
    rows: tuple[ChangeBar, ...]


@dataclass(frozen=True, slots=True)
class GraphSection:
    """What became of the graphs of one kind."""

    kind: str
    summary: str
    edits: HtmlTable | None
    more: str | None


@dataclass(frozen=True, slots=True)
class KernelLine:
    """One kernel of the graphs of a round.

    Attributes:
        label: What tells it apart, in few characters.
        whole: Its whole name, None where that says no more.
        cells: Figures, as texts.
        values: The same as numbers, to sort by.
    """

    label: str
    whole: str | None
    cells: tuple[str, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class DiffPage:
    """The page."""

    version: str
    title: str
    sections: tuple[tuple[str, str], ...]
    headline: str
    simulated: tuple[str, ...]
    gates_sentence: str | None
    gates: tuple[str, ...]
    figures: tuple[Figure, ...]
    warnings: tuple[str, ...]
    groups: BarTable
    changed: BarTable | None
    seams: BarTable | None
    categories: HtmlTable | None
    launches: HtmlTable | None
    rounds: tuple[tuple[str, Histogram], ...]
    graphs: tuple[GraphSection, ...]
    kernels: tuple[KernelLine, ...]
    kernels_more: str | None
    method: str
    provenance: tuple[tuple[str, str], ...]


def diff_page(report: DiffReport) -> DiffPage:
    """Return what the page of a diff shows."""
    diff = report.diff
    unit = unit_of(diff)
    titles = CHANGE_TITLES if report.comparison is None else (*CHANGE_TITLES, *BOUND_TITLES)
    groups = group_rows(diff, report.comparison)
    kernels = kernel_changes(diff)
    page = DiffPage(
        version=diff.head.version,
        title=f"{diff.base.trace.file} and {diff.head.trace.file}",
        sections=(),
        headline=verdict_sentence(diff),
        simulated=tuple(simulated_sentences(diff)),
        gates_sentence=gates_sentence(report.judgements, is_advisory=report.is_advisory),
        gates=tuple(map(gate_text, report.judgements)),
        figures=tuple(_figures(diff)),
        warnings=tuple(caveats(diff)),
        groups=_bars(f"{rounds_title(diff)}, in {unit.name}", ("group", *titles), groups),
        changed=_table(f"{CHANGED}, in {unit.name} per round", "part", changed_rows(diff)),
        seams=_table(f"{SEAMS}, in {MICROSECONDS.name} per round", "seam", seam_rows(diff)),
        categories=html_table(
            f"Phases and their categories, in {unit.name} per round",
            ("category", *CHANGE_TITLES),
            [(row.name, *row.cells) for row in category_rows(diff)],
        ),
        launches=html_table("Launches", LAUNCH_TITLES, launch_rows(diff)),
        rounds=_distribution(diff),
        graphs=tuple(_graphs(diff)),
        kernels=tuple(_kernel_lines(kernels[:MOST_KERNELS])),
        kernels_more=_more(len(kernels) - MOST_KERNELS, "kernel"),
        method=METHOD,
        provenance=provenance_facts(diff),
    )
    return replace(page, sections=tuple(_sections(page)))


def _sections(page: DiffPage) -> Iterator[tuple[str, str]]:
    """Yield anchors and names of what there is to go to."""
    found = (
        ("groups", "Groups", page.groups.rows),
        ("rounds", "Rounds", page.rounds),
        ("seams", "Seams", page.seams),
        ("graphs", "Graphs", page.graphs),
        ("kernels", "Kernels", page.kernels),
    )
    yield from ((anchor, name) for anchor, name, rows in found if rows)
    yield "method", "How to read this"
    yield "provenance", "Provenance"


def _more(number: int, noun: str) -> str | None:
    return f"{counted(number, f'more {noun}')}: `--format json`" if number > 0 else None


def _table(caption: str, name: str, rows: Sequence[DiffRow]) -> BarTable | None:
    return _bars(caption, (name, *CHANGE_TITLES), rows) if rows else None


def _bars(caption: str, titles: tuple[str, ...], rows: Sequence[DiffRow]) -> BarTable:
    """Return a table whose longest bar, or widest noise, fills half of a drawing."""
    sizes = [abs(row.change.difference_ns or 0) for row in rows]
    sizes += [row.change.noise_ns or 0 for row in rows]
    scale = _CENTRE / max(*sizes, 1)
    return BarTable(caption, titles, tuple(_bar(row, scale) for row in rows))


def _bar(row: DiffRow, scale: float) -> ChangeBar:
    change, noise_ns = row.change, row.change.noise_ns
    length = (change.difference_ns or 0) * scale
    return ChangeBar(
        name=row.name,
        cells=row.cells,
        css=f"d-{change.verdict.replace(' ', '-')}",
        left=None if change.difference_ns is None else round(_CENTRE + min(length, 0), 3),
        width=round(abs(length), 3),
        noise_left=None if noise_ns is None else round(_CENTRE - noise_ns * scale, 3),
        noise_width=0.0 if noise_ns is None else round(2 * noise_ns * scale, 3),
    )


def _distribution(diff: Diff) -> tuple[tuple[str, Histogram], ...]:
    """Return how long the rounds of the first GPU are, before and after, on one scale."""
    series = [side.series[0].wall_ns for side in (diff.base, diff.head) if side.series]
    if len(series) < 2 or diff.comparability.obstacles:
        return ()
    return tuple(zip(("before", "after"), histograms(series), strict=False))


def _figures(diff: Diff) -> Iterator[Figure]:
    """Yield the round before and after, and by how much it changed."""
    change = diff.change(ROUND)
    if change is None:
        return
    sides = (("Before", change.before_ns, diff.base), ("After", change.after_ns, diff.head))
    for (name, time_ns, analysis), rounds in zip(sides, diff.rounds, strict=True):
        text = UNKNOWN if time_ns is None else duration(time_ns)
        yield Figure(name, text, f"mean of {counted(rounds, 'round')} of {analysis.trace.file}")
    noise = UNKNOWN if change.noise_ns is None else duration(change.noise_ns)
    yield Figure("Change", difference_text(change), f"noise {noise}")
    yield Figure("Verdict", str(change.verdict), change.reason or "of the whole round")


def _graphs(diff: Diff) -> Iterator[GraphSection]:
    for change, edits in edit_rows(diff.graphs, MOST_EDITS):
        rows = [
            (edit_title(edit), signed(edit.difference_ns), f"`{visible(kernels)}`")
            for edit, kernels in edits
        ]
        yield GraphSection(
            kind=change.kind,
            summary=graph_summary(change),
            edits=html_table(f"Edits of {change.kind}", ("edit", "change", "kernels"), rows, "lrl"),
            more=_more(len(change.edits) - len(edits), "kind"),
        )


def _kernel_lines(kernels: Sequence[KernelChange]) -> Iterator[KernelLine]:
    labels = label_names(kernel.name for kernel in kernels)
    for kernel in kernels:
        whole = cut(visible(kernel.name), LONGEST_NAME)
        yield KernelLine(
            label=labels[kernel.name],
            whole=None if whole == labels[kernel.name] else whole,
            cells=(
                f"{kernel.launches_before:,.4g}",
                f"{kernel.launches_after:,.4g}",
                MICROSECONDS.number(kernel.before_ns),
                MICROSECONDS.number(kernel.after_ns),
                signed_number(kernel.difference_ns, MICROSECONDS),
            ),
            values=(
                kernel.launches_before,
                kernel.launches_after,
                kernel.before_ns,
                kernel.after_ns,
                kernel.difference_ns,
            ),
        )
