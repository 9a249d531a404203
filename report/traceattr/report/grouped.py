"""Into which rows of a table the time of one GPU falls; the groups sum to its wall time."""

from collections.abc import Iterator
from dataclasses import dataclass

from traceattr.attribution.analysis import CategoryTime, GpuTime
from traceattr.attribution.groups import NO_WORK, group_of
from traceattr.report.per_round import PerRound, of_parts, of_spread
from traceattr.rules.categories import (
    CATEGORIES,
    DRAFT,
    GRAPH,
    GROUPS,
    HOST_GAPS,
    IN_GRAPH_GAPS,
    SUBCATEGORIES,
)

BETWEEN_GRAPHS = "between graphs"
OUTSIDE_GRAPHS = "outside graphs"
"""Kinds of host gap: between the first and the last graph replay, and the rest."""


@dataclass(frozen=True, slots=True)
class Row:
    """A part of a group on one GPU.

    Attributes:
        name: Category, subcategory of communication, or kind of gap.
        exclusive_ns: Wall time it owns.
        sum_ns: Sum of durations; None for a gap.
        operations: Number of operations; None for a gap.
        per_round: Its time in a round; None for a gap and without rounds.
    """

    name: str
    exclusive_ns: int
    sum_ns: int | None
    operations: int | None
    per_round: PerRound | None

    @property
    def is_gap(self) -> bool:
        """Return whether nothing runs in it."""
        return self.operations is None


@dataclass(frozen=True, slots=True)
class Group:
    """A group on one GPU.

    Attributes:
        name: Name, one of `GROUPS` or of `GAP_GROUPS`.
        exclusive_ns: Wall time it owns; None when the trace cannot tell.
        sum_ns: Sum of durations; None for gaps.
        operations: Number of operations; None for gaps.
        per_round: Its time in a round; None without rounds or when the trace cannot tell.
        rows: What it consists of, in table order.
    """

    name: str
    exclusive_ns: int | None
    sum_ns: int | None
    operations: int | None
    per_round: PerRound | None
    rows: tuple[Row, ...]

    @property
    def is_gap(self) -> bool:
        """Return whether nothing runs in it."""
        return self.operations is None

    @property
    def telling_rows(self) -> tuple[Row, ...]:
        """Return the rows, or nothing where a single one only repeats the group."""
        alone = len(self.rows) == 1 and (self.is_gap or self.rows[0].name == self._as_category)
        return () if alone else self.rows

    @property
    def _as_category(self) -> str:
        return self.name if self.name == GRAPH else self.name.lower().replace(" ", "_")

    def row(self, name: str) -> Row:
        """Return the row of that name, without any time if there is none."""
        none = None if self.is_gap else 0
        missing = Row(name, 0, none, none, PerRound(0, 0, 0) if self.per_round else None)
        return next((row for row in self.rows if row.name == name), missing)


def groups_of(time: GpuTime) -> tuple[Group, ...]:
    """Return every group in table order, also those without any time."""
    return (*_busy_groups(time), *_idle_groups(time))


def has_envelopes(time: GpuTime) -> bool:
    """Return whether some work of this GPU is only known as whole graphs."""
    return any(entry.category == GRAPH for entry in time.categories)


def hides_work(time: GpuTime) -> bool:
    """Return whether graphs ran on this GPU of which the trace lacks the nodes, or everything."""
    return has_envelopes(time) or time.idle.in_graph_ns is None


def owned_ns(group: Group) -> int:
    """Return the time of a group in a sum: what cannot be told is inside another group."""
    return group.exclusive_ns or 0


def row_position(name: str) -> tuple[int, str]:
    """Return a key that sorts the rows of a group into table order."""
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER)), name


def _names_in_order() -> Iterator[str]:
    for category in CATEGORIES:
        yield category
        for subcategory in SUBCATEGORIES.get(category, ()):
            yield subcategory
            yield f"{category}/{subcategory}"
    yield BETWEEN_GRAPHS


_ORDER = tuple(_names_in_order())


def _busy_groups(time: GpuTime) -> Iterator[Group]:
    per_round = _group_rounds(time)
    for name in GROUPS:
        members = [e for e in time.categories if group_of(e.category, e.phase) == name]
        yield Group(
            name=name,
            exclusive_ns=sum(entry.exclusive_ns for entry in members),
            sum_ns=sum(entry.sum_ns for entry in members),
            operations=sum(entry.operations for entry in members),
            per_round=per_round.get(name),
            rows=tuple(_merged(members, name)),
        )


def _group_rounds(time: GpuTime) -> dict[str, PerRound | None]:
    return {entry.group: of_spread(entry.spread) for entry in time.per_round}


def _merged(members: list[CategoryTime], group: str) -> Iterator[Row]:
    """Yield one row per category, or per subcategory where reports split by them."""
    names = dict.fromkeys(_row_name(entry, group) for entry in members)
    for name in sorted(names, key=row_position):
        alike = [entry for entry in members if _row_name(entry, group) == name]
        yield Row(
            name=name,
            exclusive_ns=sum(entry.exclusive_ns for entry in alike),
            sum_ns=sum(entry.sum_ns for entry in alike),
            operations=sum(entry.operations for entry in alike),
            per_round=of_parts([entry.per_round for entry in alike]),
        )


def _row_name(entry: CategoryTime, group: str) -> str:
    """Return the category, or its subcategory; of which category only the draft group must say."""
    if not entry.subcategory or entry.category not in SUBCATEGORIES:
        return entry.category
    return f"{entry.category}/{entry.subcategory}" if group == DRAFT else entry.subcategory


def _idle_groups(time: GpuTime) -> Iterator[Group]:
    idle, per_round = time.idle, _group_rounds(time)
    outside_ns = idle.other_ns - idle.no_work_ns
    between = ((BETWEEN_GRAPHS, idle.between_graph_ns), (OUTSIDE_GRAPHS, outside_ns))
    kinds = tuple(Row(name, ns, None, None, None) for name, ns in between if ns)
    for name, gap_ns, rows in (
        (IN_GRAPH_GAPS, idle.in_graph_ns, ()),
        (HOST_GAPS, idle.between_graph_ns + outside_ns, kinds),
        (NO_WORK, idle.no_work_ns, ()),
    ):
        yield Group(name, gap_ns, None, None, per_round.get(name), rows)
