"""Which lines the table of groups and categories has, with one value for each GPU."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from traceattr.attribution.analysis import Analysis, GpuTime
from traceattr.attribution.groups import GAP_GROUPS
from traceattr.report.grouped import Group, Row, groups_of, has_envelopes, hides_work, row_position
from traceattr.rules.categories import GRAPH, MEMORY, UNCLASSIFIED

Values = tuple[int | None, ...]
"""One value per GPU, in the order of `Analysis.per_gpu`; None where the trace cannot tell."""

WINDOW = "window"
ROUND = "round"
IDLE = "idle"
NO_KERNEL = "no kernel running"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table.

    Attributes:
        name: What is in the first column.
        kind: Whether it has operations, is a gap, or is a total of other lines.
        is_part: Whether it is a part of the group above it.
        exclusive_ns: Wall time it owns.
        sum_ns: Sum of durations; None also for gaps and totals.
        operations: Number of operations; None also for gaps and totals.
        median_ns: Median time in a round; None as a whole where there is nothing to say.
        p99_ns: 99th percentile of the time in a round; the same.
        round_mean_ns: Mean time in a round, which adds up; the same.
    """

    name: str
    kind: Literal["busy", "gap", "total"]
    is_part: bool
    exclusive_ns: Values
    sum_ns: Values
    operations: Values
    median_ns: Values | None = None
    p99_ns: Values | None = None
    round_mean_ns: Values | None = None

    @property
    def is_without_operations(self) -> bool:
        """Return whether this is a gap or a total, which has no operations to count or sum."""
        return self.kind != "busy"

    @property
    def is_notable(self) -> bool:
        """Return whether this is unclassified time that is not zero."""
        return self.name == UNCLASSIFIED and any(self.exclusive_ns)


def mean(values: Values) -> int | None:
    """Return the mean over the GPUs, None where it is unknown for one of them."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return (2 * sum(known) + len(known)) // (2 * len(known))


def group_lines(analysis: Analysis) -> tuple[Line, ...]:
    """Return each group, followed by its parts; graphs as a whole only where there are any."""
    lines = tuple(_group_lines(analysis.per_gpu))
    if any(map(has_envelopes, analysis.per_gpu)):
        return lines
    return tuple(line for line in lines if line.name != GRAPH)


def total_lines(analysis: Analysis) -> tuple[Line, ...]:
    """Return what the groups sum to, and two parts of it that cut across them.

    With rounds that is the round: what else is in the window is no part of one.
    """
    whole = round_line(analysis) if has_rounds(analysis) else window_line(analysis)
    return (
        whole,
        _total(IDLE, analysis, lambda time: time.idle.total_ns, _idle_of_round),
        _total(NO_KERNEL, analysis, lambda time: time.wall_ns - time.kernel_ns, _no_kernel),
    )


def window_line(analysis: Analysis) -> Line:
    """Return what the groups sum to in the window."""
    return _total(WINDOW, analysis, lambda time: time.wall_ns, None)


def round_line(analysis: Analysis) -> Line:
    """Return what the groups sum to in a round; its median and percentile are its own."""
    wall = analysis.rounds.wall
    gpus = len(analysis.per_gpu)
    return replace(
        window_line(analysis),
        name=ROUND,
        median_ns=(wall.median,) * gpus if wall else None,
        p99_ns=(wall.p99,) * gpus if wall else None,
        round_mean_ns=round_means(analysis),
    )


def round_means(analysis: Analysis) -> tuple[int, ...]:
    """Return how long a round is on each GPU, as the mean: what the groups' means sum to."""
    return tuple(
        sum(entry.spread.mean for entry in time.per_round if entry.spread)
        for time in analysis.per_gpu
    )


def _idle_of_round(time: GpuTime) -> int:
    """Return the idle time in a round, as far as it is known."""
    spreads = (entry.spread for entry in time.per_round if entry.group in GAP_GROUPS)
    return sum(spread.mean for spread in spreads if spread)


def _no_kernel(time: GpuTime) -> int:
    """Return the time in a round in which nothing runs, or only copies: they own what is left."""
    spreads = (entry.spread for entry in time.category_rounds if entry.category == MEMORY)
    return _idle_of_round(time) + sum(spread.mean for spread in spreads if spread)


def is_idle_upper_limit(analysis: Analysis) -> bool:
    """Return whether work is known to be missing, which then looks idle."""
    if analysis.trace.unrecorded_graph_launches:
        return True
    return any(time.idle.completeness == "incomplete" for time in analysis.per_gpu)


def has_rounds(analysis: Analysis) -> bool:
    """Return whether there are figures per round."""
    return analysis.rounds.wall is not None


def shown_ns(line: Line) -> Values:
    """Return the times that shares are of: those of a round where there are any."""
    return line.exclusive_ns if line.round_mean_ns is None else line.round_mean_ns


def wholes(analysis: Analysis) -> tuple[int, ...]:
    """Return what shares are parts of, on each GPU: a round where there are any."""
    if has_rounds(analysis):
        return round_means(analysis)
    return tuple(time.wall_ns for time in analysis.per_gpu)


def _total(
    name: str,
    analysis: Analysis,
    value: Callable[[GpuTime], int],
    of_round: Callable[[GpuTime], int] | None,
) -> Line:
    unknown = (None,) * len(analysis.per_gpu)
    means = tuple(map(of_round, analysis.per_gpu)) if of_round and has_rounds(analysis) else None
    return Line(
        name=name,
        kind="total",
        is_part=name != WINDOW,
        exclusive_ns=tuple(map(value, analysis.per_gpu)),
        sum_ns=unknown,
        operations=unknown,
        round_mean_ns=means,
    )


def _group_lines(per_gpu: tuple[GpuTime, ...]) -> Iterator[Line]:
    for groups in zip(*map(groups_of, per_gpu), strict=True):
        yield _line(groups[0].name, False, groups, per_gpu)
        for name in _part_names(groups):
            yield _line(name, True, [group.row(name) for group in groups], per_gpu)


def _part_names(groups: tuple[Group, ...]) -> list[str]:
    """Return the names of the parts of one group on any GPU, in table order."""
    if not any(group.telling_rows for group in groups):
        return []
    names = dict.fromkeys(row.name for group in groups for row in group.rows)
    return sorted(names, key=row_position)


def _line(
    name: str,
    is_part: bool,
    entries: Sequence[Group | Row],
    per_gpu: tuple[GpuTime, ...],
) -> Line:
    cells = [_cell(entry, time) for entry, time in zip(entries, per_gpu, strict=True)]
    exclusive, sums, operations = zip(*cells, strict=True)
    medians, p99s, means = _round_values(entries, per_gpu)
    kind: Literal["busy", "gap"] = "gap" if entries[0].is_gap else "busy"
    return Line(name, kind, is_part, exclusive, sums, operations, medians, p99s, means)


def _cell(entry: Group | Row, time: GpuTime) -> tuple[int | None, int | None, int | None]:
    """Return time, sum and operations; none seen is unknown where graphs may hide some."""
    if entry.operations == 0 and hides_work(time):
        return None, None, None
    return entry.exclusive_ns, entry.sum_ns, entry.operations


def _round_values(
    entries: Sequence[Group | Row], per_gpu: tuple[GpuTime, ...]
) -> tuple[Values | None, Values | None, Values | None]:
    """Return medians, 99th percentiles and means, None as a whole where rounds say nothing.

    What none of the rounds shows is unknown where graphs may hide it.  A kind of host gap and
    the 99th percentile of parts that vary have no figure.
    """
    if not any(time.per_round for time in per_gpu):
        return None, None, None
    if any(isinstance(entry, Row) and entry.is_gap for entry in entries):
        return None, None, None
    known = [
        None if _is_hidden(entry, time) else entry.per_round
        for entry, time in zip(entries, per_gpu, strict=True)
    ]
    medians = tuple(None if one is None else one.median_ns for one in known)
    means = tuple(None if one is None else one.mean_ns for one in known)
    if any(one is not None and one.p99_ns is None for one in known):
        return medians, None, means
    return medians, tuple(None if one is None else one.p99_ns for one in known), means


def _is_hidden(entry: Group | Row, time: GpuTime) -> bool:
    seen = entry.per_round and entry.per_round.median_ns
    return not entry.is_gap and not seen and hides_work(time)
