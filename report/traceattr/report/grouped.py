"""Into which rows of a table the time of one GPU falls; the groups sum to its wall time."""

from collections.abc import Iterator
from dataclasses import dataclass

from traceattr.attribution.analysis import CategoryTime, GpuTime
from traceattr.attribution.groups import HOST_GAPS, IN_GRAPH_GAPS, NO_WORK, group_of
from traceattr.rules.categories import CATEGORIES, GRAPH, GROUPS, SUBCATEGORIES

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
    """

    name: str
    exclusive_ns: int
    sum_ns: int | None
    operations: int | None

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
        rows: What it consists of, in table order.
    """

    name: str
    exclusive_ns: int | None
    sum_ns: int | None
    operations: int | None
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
        return next((row for row in self.rows if row.name == name), Row(name, 0, none, none))


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
    order = (*CATEGORIES, *(n for names in SUBCATEGORIES.values() for n in names), BETWEEN_GRAPHS)
    return (order.index(name) if name in order else len(order)), name


def _busy_groups(time: GpuTime) -> Iterator[Group]:
    for name in GROUPS:
        members = [e for e in time.categories if group_of(e.category, e.phase) == name]
        yield Group(
            name=name,
            exclusive_ns=sum(entry.exclusive_ns for entry in members),
            sum_ns=sum(entry.sum_ns for entry in members),
            operations=sum(entry.operations for entry in members),
            rows=tuple(_merged(members)),
        )


def _merged(members: list[CategoryTime]) -> Iterator[Row]:
    """Yield one row per category, or per subcategory where reports split by them."""
    for category in CATEGORIES:
        mine = [entry for entry in members if entry.category == category]
        for name in _row_names(category, mine):
            alike = [entry for entry in mine if _row_name(entry) == name]
            yield Row(
                name=name,
                exclusive_ns=sum(entry.exclusive_ns for entry in alike),
                sum_ns=sum(entry.sum_ns for entry in alike),
                operations=sum(entry.operations for entry in alike),
            )


def _row_names(category: str, members: list[CategoryTime]) -> list[str]:
    present = dict.fromkeys(map(_row_name, members))
    known = [name for name in SUBCATEGORIES.get(category, ()) if name in present]
    return [*known, *(name for name in present if name not in known)]


def _row_name(entry: CategoryTime) -> str:
    if entry.subcategory and entry.category in SUBCATEGORIES:
        return entry.subcategory
    return entry.category


def _idle_groups(time: GpuTime) -> Iterator[Group]:
    idle = time.idle
    outside_ns = idle.other_ns - idle.no_work_ns
    between = ((BETWEEN_GRAPHS, idle.between_graph_ns), (OUTSIDE_GRAPHS, outside_ns))
    kinds = tuple(Row(name, ns, None, None) for name, ns in between if ns)
    yield Group(IN_GRAPH_GAPS, idle.in_graph_ns, None, None, ())
    yield Group(HOST_GAPS, idle.between_graph_ns + outside_ns, None, None, kinds)
    yield Group(NO_WORK, idle.no_work_ns, None, None, ())
