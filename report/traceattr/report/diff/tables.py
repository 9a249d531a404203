"""The tables of a diff as texts, the same for every format."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from traceattr.attribution.groups import GAP_GROUPS
from traceattr.attribution.round_figures import Phase
from traceattr.report.diff.diff import Diff
from traceattr.report.diff.graphs import Edit, GraphChange
from traceattr.report.diff.launches import COUNTED, launch_changes
from traceattr.report.diff.parts import ROUND, PartKind
from traceattr.report.diff.sentences import changed_parts
from traceattr.report.diff.verdicts import Change
from traceattr.report.diff.words import percent, signed, signed_number, verdict_text
from traceattr.report.figures import (
    MICROSECONDS,
    NOTHING,
    UNKNOWN,
    Unit,
    count,
    counted,
    share,
    unit_for,
)
from traceattr.report.names import label_names
from traceattr.rules.categories import GROUPS

if TYPE_CHECKING:  # it takes a while to import, and few diffs need it
    from traceattr.report.comparison import Comparison

MOST_EDITS = 12
"""Edits of one kind of graph that a terminal lists."""

CHANGED = "Changed parts"
PHASES = "Phases"
SEAMS = "Seams"
"""Titles of the tables below the groups."""

CHANGE_TITLES = ("before", "after", "change", "percent", "noise", "verdict")
BOUND_TITLES = ("bound", "after/bound")
LAUNCH_TITLES = ("per round", "before", "after")


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One line of a table.

    Attributes:
        name: What it is about.
        cells: The other columns.
        change: What became of it.
    """

    name: str
    cells: tuple[str, ...]
    change: Change


def unit_of(diff: Diff) -> Unit:
    """Return the unit of the table of groups: that of the round."""
    change = diff.change(ROUND)
    both = (change.before_ns or 0, change.after_ns or 0) if change else (0,)
    return unit_for(max(both))


def group_rows(diff: Diff, comparison: "Comparison | None") -> tuple[DiffRow, ...]:
    """Return the groups in table order, and the round as the last line."""
    unit = unit_of(diff)
    order = (*GROUPS, *GAP_GROUPS)
    groups = sorted(diff.of_kind(PartKind.GROUP), key=lambda one: order.index(one.part.name))
    whole = diff.change(ROUND)
    return tuple(
        DiffRow(one.part.name, (*_cells(one, unit), *_bound_cells(one, comparison, unit)), one)
        for one in (*groups, *([whole] if whole else []))
    )


def _bound_cells(change: Change, comparison: "Comparison | None", unit: Unit) -> tuple[str, ...]:
    """Return the bound of a group or of the round, and how far the second trace is from it."""
    if comparison is None:
        return ()
    if change.part == ROUND:
        bound_ns: int | None = comparison.roofline.prediction.bound_ns
    else:
        mine = [e for e in comparison.categories if e.group == change.part.name and e.prediction]
        bound_ns = sum(e.figures.bound_ns or 0 for e in mine) if mine else None
    if bound_ns is None:
        return NOTHING, NOTHING
    if not bound_ns or change.after_ns is None or comparison.reason:
        return unit.number(bound_ns), NOTHING
    return unit.number(bound_ns), f"{change.after_ns / bound_ns:.2f}"


def changed_rows(diff: Diff) -> tuple[DiffRow, ...]:
    """Return the parts that changed and are no seam, the largest change first."""
    unit = unit_of(diff)
    return tuple(
        DiffRow(one.part.label, _cells(one, unit), one)
        for one in changed_parts(diff)
        if one.part.kind is not PartKind.SEAM
    )


def seam_rows(diff: Diff) -> tuple[DiffRow, ...]:
    """Return every seam, the longest first; in microseconds."""
    seams = sorted(
        diff.of_kind(PartKind.SEAM),
        key=lambda one: (-max(one.before_ns or 0, one.after_ns or 0), one.part.name),
    )
    return tuple(DiffRow(one.part.name, _cells(one, MICROSECONDS), one) for one in seams)


def phase_rows(diff: Diff) -> tuple[DiffRow, ...]:
    """Return each phase: what the passes of the target and of the draft take, and the rest."""
    unit = unit_of(diff)
    order = get_args(Phase)
    phases = sorted(diff.of_kind(PartKind.PHASE), key=lambda one: order.index(one.part.name))
    return tuple(DiffRow(one.part.label, _cells(one, unit), one) for one in phases)


def category_rows(diff: Diff) -> tuple[DiffRow, ...]:
    """Return each phase, followed by its categories in table order."""
    unit = unit_of(diff)
    categories = diff.of_kind(PartKind.CATEGORY)
    return tuple(
        row
        for phase in phase_rows(diff)
        for row in (
            phase,
            *(
                DiffRow(one.part.label, _cells(one, unit), one)
                for one in categories
                if one.part.phase == phase.name
            ),
        )
    )


def _cells(change: Change, unit: Unit) -> tuple[str, ...]:
    difference_ns, noise_ns = change.difference_ns, change.noise_ns
    return (
        _time(change.before_ns, unit),
        _time(change.after_ns, unit),
        NOTHING if difference_ns is None else signed_number(difference_ns, unit),
        percent(change),
        NOTHING if noise_ns is None else unit.number(noise_ns),
        verdict_text(change),
    )


def _time(time_ns: int | None, unit: Unit) -> str:
    return UNKNOWN if time_ns is None else unit.number(time_ns)


def launch_rows(diff: Diff) -> tuple[tuple[str, str, str], ...]:
    """Return what is launched in a round before and after, as means of the GPUs."""
    changes = {one.figure: one for one in launch_changes(diff)}
    return tuple(
        (name, _number(changes[figure].before), _number(changes[figure].after))
        for figure, name in COUNTED.items()
        if figure in changes
    )


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:,.1f}".removesuffix(".0")


def graph_summary(change: GraphChange) -> str:
    """Return how many kernels a kind of graph runs before and after, and in what time."""
    return f"{_graph_text(change)}{_shares_text(change)}"


def _shares_text(change: GraphChange) -> str:
    """Return of how many replays this is the sequence, nothing where it is that of all."""
    shares = {"before": change.share_before, "after": change.share_after}
    texts = [
        f"{share(round(1_000 * part), 1_000)} of replays {side}"
        for side, part in shares.items()
        if part is not None and part < 1
    ]
    return f"; run by {' and '.join(texts)}" if texts else ""


def _graph_text(change: GraphChange) -> str:
    if change.kernels_before is None or change.kernels_after is None:
        shown = change.kernels_before or change.kernels_after or 0
        return f"{counted(shown, 'kernel')} in one trace; {change.reason}"
    before_ns, after_ns = change.before_ns or 0, change.after_ns or 0
    counts = f"{count(change.kernels_before)} -> {counted(change.kernels_after, 'kernel')}"
    times = f"{MICROSECONDS.number(before_ns)} -> {MICROSECONDS.text(after_ns)}"
    if change.reason is not None:
        return f"{counts}, {times}; {change.reason}"
    if not change.edits:
        return f"the same {counted(change.kept, 'kernel')}, {times}"
    edits_ns = sum(edit.difference_ns for edit in change.edits)
    kept_ns = change.kept_after_ns - change.kept_before_ns
    edits = counted(sum(edit.times for edit in change.edits), "edit")
    kept = f"{signed(kept_ns)} in the {count(change.kept)} that are the same"
    return f"{counts}, {times}: {signed(edits_ns)} by {edits}, {kept}"


def edit_rows(
    changes: Sequence[GraphChange], most: int | None
) -> Iterator[tuple[GraphChange, tuple[tuple[Edit, str], ...]]]:
    """Yield the edits of each kind of graph with the names of their kernels, the largest first."""
    labels = label_names(
        name for change in changes for e in change.edits for name in (*e.before, *e.after)
    )
    for change in changes:
        shown = change.edits[:most]
        yield change, tuple((edit, _kernels_text(edit, labels)) for edit in shown)


def _kernels_text(edit: Edit, labels: dict[str, str]) -> str:
    before, after = (
        " + ".join(labels[name] for name in names) for names in (edit.before, edit.after)
    )
    if edit.before == edit.after or not edit.after:
        return before
    return f"{before} -> {after}" if before else after


def edit_title(edit: Edit) -> str:
    """Return what happened, and how often."""
    number = {1: ""}.get(edit.times, f" x{edit.times}")
    sizes = (
        f" {len(edit.before)} to {len(edit.after)}"
        if len(edit.before) * len(edit.after) > 1
        else ""
    )
    return f"{edit.kind}{sizes}{number}"
