"""What differs in the graphs of two traces: kernels added, removed, fused and swapped."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from traceattr.attribution.analysis import Analysis
from traceattr.attribution.sequence_figures import GraphSequence, NamedKernel
from traceattr.report.diff.alignment import GAP, MOST_CELLS, Costs, align
from traceattr.report.names import shorten

VARIANT_COST = GAP // 2
"""Cost of pairing kernels that differ in numbers only, as in the shape of their tiles."""

ALIKE_COST = GAP + 2
"""Cost of pairing kernels of one category: less than leaving out both."""

STRANGERS_COST = 3 * GAP
"""Cost of pairing any others: more than leaving out both, so that they never are."""

NEARBY = 4
"""Places between a removed and an added kernel of one name up to which it only moved: work on two
streams begins in any order."""

MOST_FUSED = 8
"""Kernels in a row up to which one is said to stand for several."""


class EditKind(StrEnum):
    """What happened to some kernels."""

    REMOVED = "removed"
    ADDED = "added"
    SWAPPED = "swapped"
    FUSED = "fused"
    SPLIT = "split"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class Edit:
    """A change in what a graph runs, all its repetitions together.

    Attributes:
        kind: What happened.
        before: Names of the kernels that are gone, in order.
        after: Names of those in their place.
        times: How often, such as once in each layer.
        before_ns: Median time of what is gone, in one replay, all times together.
        after_ns: That of what is in its place.
    """

    kind: EditKind
    before: tuple[str, ...]
    after: tuple[str, ...]
    times: int
    before_ns: int
    after_ns: int

    @property
    def difference_ns(self) -> int:
        """Return by how much a replay became longer."""
        return self.after_ns - self.before_ns


@dataclass(frozen=True, slots=True)
class GraphChange:
    """What became of the graphs of one kind, on the first GPU.

    Attributes:
        kind: What they are for.
        kernels_before: Kernels in a replay; None where the first trace does not show them.
        kernels_after: The same of the second.
        before_ns: Sum of the kernels' median durations; waiting for other ranks is among it.
        after_ns: The same of the second.
        edits: Largest difference first.
        kept: How many kernels are in both.
        kept_before_ns: Their time before.
        kept_after_ns: Their time after.
        reason: Why there are no edits where there could be some.
        share_before: Of the replays of this kind, those that run exactly this; batch sizes differ.
        share_after: The same of the second.
    """

    kind: str
    kernels_before: int | None
    kernels_after: int | None
    before_ns: int | None
    after_ns: int | None
    edits: tuple[Edit, ...] = ()
    kept: int = 0
    kept_before_ns: int = 0
    kept_after_ns: int = 0
    reason: str | None = None
    share_before: float | None = None
    share_after: float | None = None


@dataclass(frozen=True, slots=True)
class _Node:
    """One kernel of a replay."""

    kernel: NamedKernel
    median_ns: int


@dataclass(frozen=True, slots=True)
class _Graph:
    """What the graphs of one kind run in one trace."""

    nodes: tuple[_Node, ...]
    share: float


def graph_changes(base: Analysis, head: Analysis) -> tuple[GraphChange, ...]:
    """Return what became of each kind of graph that either trace shows."""
    before, after = _first_of_each_kind(base), _first_of_each_kind(head)
    return tuple(
        _change(kind, before.get(kind), after.get(kind))
        for kind in dict.fromkeys((*before, *after))
    )


def _first_of_each_kind(analysis: Analysis) -> dict[str, _Graph]:
    """Return what graphs run on the first GPU that has any of a kind."""
    found: dict[str, _Graph] = {}
    for graph in analysis.sequences.graphs:
        found.setdefault(graph.kind, _graph(graph, analysis.sequences.kernels))
    return found


def _graph(graph: GraphSequence, kernels: Sequence[NamedKernel]) -> _Graph:
    nodes = (
        _Node(kernels[at], median_ns)
        for at, median_ns in zip(graph.kernels, graph.median_ns, strict=True)
    )
    return _Graph(tuple(nodes), graph.replays / max(graph.of_replays, 1))


def _change(kind: str, before: _Graph | None, after: _Graph | None) -> GraphChange:
    figures = GraphChange(
        kind=kind,
        kernels_before=None if before is None else len(before.nodes),
        kernels_after=None if after is None else len(after.nodes),
        before_ns=None if before is None else _total_ns(before.nodes),
        after_ns=None if after is None else _total_ns(after.nodes),
        share_before=None if before is None else before.share,
        share_after=None if after is None else after.share,
    )
    if before is None or after is None:
        side = "BASE" if before is None else "HEAD"
        return replace(figures, reason=f"{side} shows no such graph kernel by kernel")
    if len(before.nodes) * len(after.nodes) > MOST_CELLS:
        return replace(figures, reason="its sequences are too long to be aligned")
    return _aligned(figures, before.nodes, after.nodes)


def _total_ns(nodes: Sequence[_Node]) -> int:
    return sum(node.median_ns for node in nodes)


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in an alignment: a kernel before, one after, or both."""

    before: _Node | None
    after: _Node | None

    @property
    def is_kept(self) -> bool:
        """Whether the same kernel is in both."""
        if self.before is None or self.after is None:
            return False
        return self.before.kernel.name == self.after.kernel.name


def _aligned(figures: GraphChange, before: Sequence[_Node], after: Sequence[_Node]) -> GraphChange:
    places = _places(before, after)
    kept = [place for place in places if place.is_kept]
    return replace(
        figures,
        edits=tuple(_collapsed(_edits(places))),
        kept=len(kept),
        kept_before_ns=_total_ns([place.before for place in kept if place.before]),
        kept_after_ns=_total_ns([place.after for place in kept if place.after]),
    )


def _places(before: Sequence[_Node], after: Sequence[_Node]) -> list[_Place]:
    names = {node.kernel.name: node.kernel for node in (*before, *after)}
    position = {name: at for at, name in enumerate(names)}
    first, second = (
        np.array([position[node.kernel.name] for node in nodes], np.int64)
        for nodes in (before, after)
    )
    return [
        _Place(
            None if pair.first is None else before[pair.first],
            None if pair.second is None else after[pair.second],
        )
        for pair in align(first, second, _costs(list(names.values())))
    ]


def _costs(kernels: Sequence[NamedKernel]) -> Costs:
    """Return what it costs to take one kernel for another."""
    family = [_family(kernel.name) for kernel in kernels]
    category = np.unique([kernel.category for kernel in kernels], return_inverse=True)[1]
    number = np.unique(family, return_inverse=True)[1]
    costs = np.full((len(kernels), len(kernels)), STRANGERS_COST)
    costs[category[:, np.newaxis] == category] = ALIKE_COST
    costs[number[:, np.newaxis] == number] = VARIANT_COST
    np.fill_diagonal(costs, 0)
    return costs


def _family(name: str) -> str:
    """Return what kernels have in common that differ in numbers only."""
    return re.sub(r"\d+", "#", shorten(name, len(name)))


def _edits(places: Sequence[_Place]) -> Iterator[Edit]:
    """Yield every edit once for each time."""
    moves = _moves(places)
    for was, became in moves.items():
        before, after = places[was].before, places[became].after
        if before and after:
            yield _edit(EditKind.MOVED, [before], [after])
    moved = {*moves, *moves.values()}
    hunk: list[_Place] = []
    for at, place in enumerate(places):
        if at in moved:
            continue
        if not place.is_kept:
            hunk.append(place)
        elif hunk:
            yield from _edits_of_hunk(hunk)
            hunk = []
    yield from _edits_of_hunk(hunk)


def _moves(places: Sequence[_Place]) -> dict[int, int]:
    """Return where kernels are left out that are put in close to it, and where that is."""
    left_out = [at for at, place in enumerate(places) if place.after is None]
    put_in = [at for at, place in enumerate(places) if place.before is None]
    moves: dict[int, int] = {}
    taken: set[int] = set()
    for was in left_out:
        first = bisect_left(put_in, was - NEARBY)
        last = bisect_right(put_in, was + NEARBY)
        for became in put_in[first:last]:
            if became not in taken and _is_move(places[was], places[became]):
                moves[was] = became
                taken.add(became)
                break
    return moves


def _is_move(one: _Place, other: _Place) -> bool:
    return bool(one.before and other.after and one.before.kernel.name == other.after.kernel.name)


def _edits_of_hunk(hunk: Sequence[_Place]) -> Iterator[Edit]:
    """Yield what happened between two kernels that are in both."""
    rest = []
    for place in hunk:
        if place.before and place.after and _is_variant(place.before, place.after):
            yield _edit(EditKind.SWAPPED, [place.before], [place.after])
        else:
            rest.append(place)
    before = [place.before for place in rest if place.before]
    after = [place.after for place in rest if place.after]
    if before and after and len(before) == len(after):
        for was, became in zip(before, after, strict=True):
            yield _edit(EditKind.SWAPPED, [was], [became])
    elif before and after and max(len(before), len(after)) <= MOST_FUSED:
        yield _edit(_merged(before, after), before, after)
    else:
        yield from _one_by_one(rest)


def _is_variant(before: _Node, after: _Node) -> bool:
    return _family(before.kernel.name) == _family(after.kernel.name)


def _merged(before: Sequence[_Node], after: Sequence[_Node]) -> EditKind:
    return EditKind.FUSED if len(before) > len(after) else EditKind.SPLIT


def _one_by_one(places: Sequence[_Place]) -> Iterator[Edit]:
    for place in places:
        if place.before and place.after:
            yield _edit(EditKind.SWAPPED, [place.before], [place.after])
        elif place.before:
            yield _edit(EditKind.REMOVED, [place.before], [])
        elif place.after:
            yield _edit(EditKind.ADDED, [], [place.after])


def _edit(kind: EditKind, before: Sequence[_Node], after: Sequence[_Node]) -> Edit:
    return Edit(
        kind=kind,
        before=tuple(node.kernel.name for node in before),
        after=tuple(node.kernel.name for node in after),
        times=1,
        before_ns=_total_ns(before),
        after_ns=_total_ns(after),
    )


def _collapsed(edits: Iterator[Edit]) -> list[Edit]:
    """Return edits that are the same as one, the one that changes most first."""
    found: dict[tuple[EditKind, tuple[str, ...], tuple[str, ...]], Edit] = {}
    for edit in edits:
        key = (edit.kind, edit.before, edit.after)
        seen = found.get(key)
        found[key] = edit if seen is None else _both(seen, edit)
    return sorted(
        found.values(), key=lambda edit: (-abs(edit.difference_ns), edit.before, edit.after)
    )


def _both(one: Edit, other: Edit) -> Edit:
    return replace(
        one,
        times=one.times + other.times,
        before_ns=one.before_ns + other.before_ns,
        after_ns=one.after_ns + other.after_ns,
    )
