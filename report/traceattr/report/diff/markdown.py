"""How a diff looks in a pull request: GitHub's Markdown that stands on its own."""

from collections.abc import Callable, Iterator, Sequence

from traceattr.report.diff.gates import Judgement, Outcome
from traceattr.report.diff.kernels import KernelChange, kernel_changes
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
from traceattr.report.diff.words import signed, signed_number, verdict_text
from traceattr.report.escape import (
    markdown_code,
    markdown_code_cell,
    markdown_sentence,
    markdown_text,
)
from traceattr.report.figures import MICROSECONDS, counted
from traceattr.report.markdown import MOST_CHARACTERS
from traceattr.report.markdown_blocks import LONGEST_ITEM, details, markdown_table
from traceattr.report.markdown_cut import cut_markdown
from traceattr.report.names import cut, label_names

MOST_CHANGED = 5
MOST_SEAMS = 4
MOST_GATES = 4
MOST_WARNINGS = 4
"""Lines of each list above the fold."""

_FIRST_COLUMN = {CHANGED: "part", SEAMS: "seam"}
_FEWEST = (200, 50, 20, 5, 0)
"""Edits of a graph in folded lists: as many as fit."""

_MOST_KERNELS = 30

_KERNEL_TITLES = ("launches before", "after", "us before", "after", "change", "kernel")

_CUT = "The rest is left out, as it is too long for a comment: `traceattr diff --format json`"

_Below = Callable[[DiffReport, int], Iterator[str]]
"""A folded section, with at most so many lines in its list."""


def render_markdown(report: DiffReport) -> str:
    """Return the diff, shorter than `MOST_CHARACTERS`; what is left out is said."""
    above = "\n".join(_above_the_fold(report))
    for most in _FEWEST:
        text = "\n".join((above, *(line for section in _BELOW for line in section(report, most))))
        if len(text) <= MOST_CHARACTERS:
            return text
    return cut_markdown(text, MOST_CHARACTERS, _CUT)


def _above_the_fold(report: DiffReport) -> Iterator[str]:
    diff = report.diff
    yield f"**{markdown_text(verdict_sentence(diff))}**\n"
    for text in simulated_sentences(diff):
        yield f"> **{markdown_text(text)}**\n"
    yield from _gates(report)
    yield from _groups(report)
    yield from _changed(CHANGED, unit_of(diff).name, changed_rows(diff), MOST_CHANGED)
    yield from _changed(SEAMS, MICROSECONDS.name, seam_rows(diff), MOST_SEAMS)
    if launches := launch_rows(diff):
        texts = [f"{name} {_arrow(before, after)}" for name, before, after in launches]
        yield f"Launches per round: {', '.join(texts)}.\n"
    yield from _bullets("Warnings", list(caveats(diff)), MOST_WARNINGS)


def _arrow(before: str, after: str) -> str:
    return before if before == after else f"{before} → **{after}**"


def _gates(report: DiffReport) -> Iterator[str]:
    sentence = gates_sentence(report.judgements, is_advisory=report.is_advisory)
    if sentence is not None:
        texts = [gate_text(one) for one in sorted(report.judgements, key=_worst_first)]
        yield from _bullets(sentence, texts, MOST_GATES)


def _worst_first(judgement: Judgement) -> bool:
    return judgement.outcome is Outcome.PASSED


def _bullets(title: str, texts: Sequence[str], most: int) -> Iterator[str]:
    if not texts:
        return
    yield f"**{markdown_text(title)}**\n"
    for text in texts[:most]:
        yield f"- {markdown_sentence(cut(text, LONGEST_ITEM))}"
    if len(texts) > most:
        yield f"- {len(texts) - most} more: `--format json`"
    yield ""


def _groups(report: DiffReport) -> Iterator[str]:
    rows = group_rows(report.diff, report.comparison)
    if not rows:
        return
    titles = CHANGE_TITLES if report.comparison is None else (*CHANGE_TITLES, *BOUND_TITLES)
    yield f"{rounds_title(report.diff)}, in {unit_of(report.diff).name}:\n"
    yield _table(("group", *titles), rows)


def _changed(title: str, unit: str, rows: Sequence[DiffRow], most: int) -> Iterator[str]:
    if not rows:
        return
    yield f"**{title}** ({unit} per round)\n"
    yield _table((_FIRST_COLUMN[title], *CHANGE_TITLES), rows[:most])
    if len(rows) > most:
        yield f"{len(rows) - most} more: `--format json`\n"


def _table(titles: Sequence[str], rows: Sequence[DiffRow]) -> str:
    aligned = "".join("l" if title == "verdict" else "r" for title in titles[1:])
    return markdown_table(titles, f"l{aligned}", map(_cells, rows))


def _cells(row: DiffRow) -> tuple[str, ...]:
    """Return a row; only names can hold what Markdown obeys."""
    verdict = verdict_text(row.change)
    is_bold = row.change.is_changed
    cells = (f"**{cell}**" if cell == verdict and is_bold else cell for cell in row.cells)
    return markdown_text(row.name), *cells


def _kernels(report: DiffReport, most: int) -> Iterator[str]:
    kernels = kernel_changes(report.diff)
    if not kernels or not most:
        return
    labels = label_names(kernel.name for kernel in kernels)
    shown = kernels[: min(most, _MOST_KERNELS)]
    rows = (_kernel_row(kernel, labels) for kernel in shown)
    table = markdown_table(_KERNEL_TITLES, "rrrrrl", rows)
    left_out = len(kernels) - len(shown)
    more = f"{left_out} more, which changed less, are left out.\n" if left_out else ""
    title = "Kernels in the graphs of a round, on the first GPU"
    yield from details(title, [table, *([more] if more else [])])


def _kernel_row(kernel: KernelChange, labels: dict[str, str]) -> tuple[str, ...]:
    return (
        f"{kernel.launches_before:,.4g}",
        f"{kernel.launches_after:,.4g}",
        MICROSECONDS.number(kernel.before_ns),
        MICROSECONDS.number(kernel.after_ns),
        signed_number(kernel.difference_ns, MICROSECONDS),
        markdown_code_cell(labels[kernel.name]),
    )


def _graphs(report: DiffReport, most: int) -> Iterator[str]:
    if report.diff.graphs:
        title = "Graphs: what one replay runs on the first GPU"
        yield from details(title, _graph_lines(report, most))


def _graph_lines(report: DiffReport, most: int) -> Iterator[str]:
    for change, edits in edit_rows(report.diff.graphs, most):
        yield f"**{markdown_text(change.kind)}**: {markdown_text(graph_summary(change))}\n"
        for edit, kernels in edits:
            what = f"{edit_title(edit)}, {signed(edit.difference_ns)}"
            yield f"- {markdown_text(what)}: {markdown_code(kernels)}"
        if (more := len(change.edits) - len(edits)) > 0:
            yield f"- {counted(more, 'more kind')} of edit left out"
        if edits:
            yield ""


def _categories(report: DiffReport, _most: int) -> Iterator[str]:
    rows = category_rows(report.diff)
    if rows:
        title = f"Phases and their categories ({unit_of(report.diff).name} per round)"
        yield from details(title, [_table(("category", *CHANGE_TITLES), rows)])


def _seams(report: DiffReport, most: int) -> Iterator[str]:
    rows = seam_rows(report.diff)
    if len(rows) > MOST_SEAMS:
        table = _table(("seam", *CHANGE_TITLES), rows[: max(most, MOST_SEAMS)])
        yield from details(f"All seams ({MICROSECONDS.name} per round)", [table])


def _method(_report: DiffReport, _most: int) -> Iterator[str]:
    yield from details("Method", [f"{markdown_text(METHOD)}\n"])


def _provenance(report: DiffReport, _most: int) -> Iterator[str]:
    facts = provenance_facts(report.diff)
    pairs = ((markdown_text(label), markdown_text(text)) for label, text in facts)
    yield from details("Provenance", [markdown_table(("", ""), "ll", pairs)])


_BELOW: tuple[_Below, ...] = (_graphs, _kernels, _categories, _seams, _method, _provenance)
"""What is folded, from top to bottom."""
