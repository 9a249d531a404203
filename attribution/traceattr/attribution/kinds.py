"""What each CUDA graph is for: verification, decode, draft, draft extension, prefill piece.

No kernel name says it: the draft layer runs the same kernels as the target.  Evidence is how many
layers a replay runs in how many passes, what runs eagerly before and after it, and how replays
follow each other.  Graphs whose nodes are hidden are judged by durations and order instead.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from traceattr.attribution.labels import KernelNames
from traceattr.attribution.piece_kinds import TARGETS, PieceKind
from traceattr.attribution.pieces import Pieces
from traceattr.attribution.roles import Flags
from traceattr.attribution.signs import (
    MOSTLY,
    Signs,
    Surroundings,
    evidence,
    find_chains,
    read_signs,
    surroundings,
)
from traceattr.attribution.timeline import Ids, Timeline

CONFIDENCES = ("low", "medium", "high")


@dataclass(frozen=True, slots=True)
class Family:
    """Graphs that differ only in the batch size they were captured for.

    Attributes:
        graph_ids: Their ids, unique within the process.
        replays: How many replays they have.
        kind: What they are for.
        confidence: ``high`` when composition and surroundings agree, ``medium`` when one of them
            tells, ``low`` when neither does.
        evidence: Why, in words.
        is_conflicting: Whether the evidence contradicts itself; the kind is ``other`` then.
        passes: Forward passes in a replay; None where graphs hide or differ in them.
    """

    graph_ids: tuple[int, ...]
    replays: int
    kind: PieceKind
    confidence: str
    evidence: str
    is_conflicting: bool = False
    passes: int | None = None


@dataclass(frozen=True, slots=True)
class Kinds:
    """The kinds of one GPU's pieces.

    Attributes:
        of_piece: `PieceKind` of each piece.
        families: What was decided about graphs, and why.
        depth: Layers of the target model, None where no replay shows them.
    """

    of_piece: tuple[PieceKind, ...]
    families: tuple[Family, ...]
    depth: float | None


def find_kinds(
    timeline: Timeline,
    pieces: Pieces,
    names: KernelNames,
    overrides: Mapping[int, PieceKind],
) -> Kinds:
    """Return what each piece of one GPU is for.

    Args:
        timeline: The operations.
        pieces: The replays and eager passes.
        names: The kernel names, classified.
        overrides: Kinds that the user gave for graph ids.
    """
    graph_of, graphs = _graphs(timeline, pieces)
    in_chain = find_chains(timeline, pieces, names)
    is_target = _targets(pieces, graph_of, in_chain)
    around = surroundings(timeline, pieces, names)
    signs = [
        read_signs(pieces, graph_of == at, around, is_target, in_chain) for at in range(len(graphs))
    ]
    speculates = bool(
        around.tree_after.any()
        or around.verified_after.any()
        or _keep_step(signs, graph_of, is_target)
    )
    decided = [
        _decide(sign, bool(is_target[graph_of == at].any()), speculates)
        for at, sign in enumerate(signs)
    ]
    alone = [
        _overridden(_family(graph, graph_of, at, signs[at], decided[at]), overrides)
        for at, graph in enumerate(graphs)
    ]
    depth = max((sign.depth for sign in signs if not sign.is_hidden), default=0.0)
    eager = _Eager(around, _as_deep_as_target(pieces, is_target, depth), speculates)
    of_piece = tuple(_piece_kinds(pieces, graph_of, alone, eager))
    return Kinds(of_piece, tuple(_merged(alone, signs)), depth or None)


@dataclass(frozen=True, slots=True)
class _Eager:
    """What eager passes are judged by.

    Attributes:
        around: What runs beside each piece.
        is_deep: Which pieces run about as many layers as the target.
        speculates: Whether the server drafts.
    """

    around: Surroundings
    is_deep: Flags
    speculates: bool


def _graphs(timeline: Timeline, pieces: Pieces) -> tuple[Ids, list[int]]:
    """Return the position of each piece's graph (-1 for eager passes) and the graph ids.

    Where the trace has no graph ids, replays of the same make-up are taken for one graph.
    """
    keys: dict[tuple[int, ...], int] = {}
    graph_of = np.full(len(pieces.replay), -1)
    for at in np.flatnonzero(pieces.replay >= 0).tolist():
        graph_id = int(timeline.replays.graph_id[pieces.replay[at]])
        make_up: tuple[int, ...] = (graph_id,)
        if graph_id < 0:
            make_up = (graph_id, int(pieces.layers[at]), int(pieces.passes[at]))
        graph_of[at] = keys.setdefault(make_up, len(keys))
    return graph_of, [key[0] for key in keys]


def _targets(pieces: Pieces, graph_of: Ids, in_chain: Flags) -> Flags:
    """Return which pieces replay the target: half the greatest depth or duration at least."""
    whole = (graph_of >= 0) & ~in_chain
    size = np.where(pieces.layers > 0, pieces.depth, 0.0)
    if not size[whole].any():
        size = (pieces.end_ns - pieces.start_ns).astype(np.float64)
    medians = {
        at: float(np.median(size[whole & (graph_of == at)]))
        for at in np.unique(graph_of[whole]).tolist()
    }
    least = max(medians.values(), default=0.0) / 2
    large = [at for at, median in medians.items() if median > 0 and median >= least]
    return whole & np.isin(graph_of, large)


def _decide(signs: Signs, is_target: bool, speculates: bool) -> tuple[PieceKind, str, bool]:
    """Return kind, confidence and whether the evidence contradicts itself."""
    said = _said_by_surroundings(signs)
    if is_target:
        if not speculates:
            return PieceKind.DECODE, "high" if not signs.is_hidden else "medium", False
        if said is PieceKind.VERIFY:
            return PieceKind.VERIFY, "high", False
        if said is PieceKind.DRAFT and signs.passes > 1:
            return PieceKind.DRAFT, "medium", False
        if said is None:
            return PieceKind.VERIFY, "medium", False
        return PieceKind.OTHER, "low", True
    if signs.in_chain > MOSTLY:
        return PieceKind.PREFILL_PIECE, "high" if not signs.is_hidden else "medium", False
    if said is PieceKind.DRAFT_EXTEND and _is_only_draft(signs):
        return PieceKind.DRAFT, "medium", False
    if said in (PieceKind.DRAFT, PieceKind.DRAFT_EXTEND):
        return said, "high", False
    if said is PieceKind.VERIFY:
        return PieceKind.OTHER, "low", True
    return _said_by_order(signs) if speculates else (PieceKind.OTHER, "low", False)


def _is_only_draft(signs: Signs) -> bool:
    """Return whether the one graph between two targets drafts for the next, in a single pass.

    It follows verification like an extension, but no tree is built from what it predicts.
    """
    between_targets = signs.after_target > MOSTLY and signs.before_target > MOSTLY
    return between_targets and signs.tree_after <= MOSTLY


def _said_by_surroundings(signs: Signs) -> PieceKind | None:
    """Return what the eager kernels on both sides say.

    Their order in a round is draft, tree building, target, verification, draft extension.
    With one draft step the extension also drafts, so verification before it outweighs a tree after.
    """
    if signs.tree_before > MOSTLY or (
        signs.verified_after > MOSTLY and signs.verified_before <= MOSTLY
    ):
        return PieceKind.VERIFY
    if signs.verified_before > MOSTLY:
        return PieceKind.DRAFT_EXTEND
    return PieceKind.DRAFT if signs.tree_after > MOSTLY else None


def _said_by_order(signs: Signs) -> tuple[PieceKind, str, bool]:
    """Return what the place between targets says, where no eager kernel tells."""
    after, before = signs.after_target > MOSTLY, signs.before_target > MOSTLY
    if after and not before:
        return PieceKind.DRAFT_EXTEND, "medium", False
    if before and (not after or signs.passes > 1):
        return PieceKind.DRAFT, "medium", False
    return PieceKind.OTHER, "low", False


def _keep_step(signs: Sequence[Signs], graph_of: Ids, is_target: Flags) -> bool:
    """Return whether small graphs are replayed about as often as the target, next to it.

    That is a draft model where no eager kernel of speculation is seen.
    """
    targets = int(is_target.sum())
    small = [
        at
        for at, sign in enumerate(signs)
        if (sign.after_target > MOSTLY or sign.before_target > MOSTLY)
        and sign.in_chain <= MOSTLY
        and (sign.is_hidden or sign.depth > 0)
    ]
    often = int((np.isin(graph_of, small) & ~is_target).sum())
    return targets > 1 and often > MOSTLY * targets


def _family(
    graph_id: int, graph_of: Ids, at: int, signs: Signs, decided: tuple[PieceKind, str, bool]
) -> Family:
    kind, confidence, is_conflicting = decided
    return Family(
        graph_ids=(graph_id,),
        replays=int((graph_of == at).sum()),
        kind=kind,
        confidence=confidence,
        evidence=", ".join(evidence(signs)),
        is_conflicting=is_conflicting,
        passes=None if signs.is_hidden or not signs.depth else signs.passes,
    )


def _overridden(graph: Family, overrides: Mapping[int, PieceKind]) -> Family:
    [graph_id] = graph.graph_ids
    if graph_id not in overrides:
        return graph
    return replace(
        graph,
        kind=overrides[graph_id],
        confidence="high",
        evidence="given with --graph-kind",
        is_conflicting=False,
    )


def _merged(alone: Sequence[Family], signs: Sequence[Signs]) -> Iterator[Family]:
    """Yield graphs of the same kind and make-up as one family.

    They were captured for other batch sizes, or are the many that a prefill is cut into.  Hidden
    graphs show no make-up.
    """
    families: dict[tuple[object, ...], list[Family]] = {}
    for graph, sign in zip(alone, signs, strict=True):
        make_up: tuple[object, ...] = (sign.depth, sign.passes)
        if graph.kind is PieceKind.PREFILL_PIECE:
            make_up = ()
        elif sign.is_hidden:
            make_up = graph.graph_ids
        families.setdefault((graph.kind, graph.is_conflicting, make_up), []).append(graph)
    for members in families.values():
        yield Family(
            graph_ids=tuple(sorted({graph for one in members for graph in one.graph_ids})),
            replays=sum(one.replays for one in members),
            kind=members[0].kind,
            confidence=min((one.confidence for one in members), key=CONFIDENCES.index),
            evidence=max(members, key=lambda one: one.replays).evidence,
            is_conflicting=members[0].is_conflicting,
            passes=members[0].passes if len({one.passes for one in members}) == 1 else None,
        )


def _as_deep_as_target(pieces: Pieces, is_target: Flags, depth: float) -> Flags:
    """Return which pieces run as many layers as the target.

    Where it is hidden, those that take as long and run as many layers as any eager pass.
    """
    if depth:
        return pieces.depth >= depth / 2
    duration = pieces.end_ns - pieces.start_ns
    if not is_target.any():
        return np.zeros(len(duration), np.bool_)
    least_ns = float(np.median(duration[is_target])) / 2
    deepest = float(pieces.depth[pieces.replay < 0].max(initial=0.0))
    return (duration >= least_ns) & (pieces.depth >= deepest / 2)


def _piece_kinds(
    pieces: Pieces, graph_of: Ids, graphs: Sequence[Family], eager: _Eager
) -> Iterator[PieceKind]:
    """Yield the kind of each piece; an eager pass is judged by its depth and its neighbours."""
    has_target = any(graph.kind in TARGETS for graph in graphs)
    of_graph = [graphs[graph].kind if graph >= 0 else None for graph in graph_of.tolist()]
    before: PieceKind | None = None
    for at, known in enumerate(of_graph):
        if known is not None:
            before = known
        elif not has_target:
            before = PieceKind.OTHER
        elif PieceKind.PREFILL_PIECE in of_graph[max(0, at - 1) : at + 2]:
            before = PieceKind.PREFILL
        elif eager.is_deep[at]:
            is_verify = eager.around.verified_after[at] and not pieces.is_prefill[at]
            before = PieceKind.VERIFY if is_verify else PieceKind.PREFILL
        else:
            before = _shallow_kind(at, before, of_graph, eager)
        yield before


def _shallow_kind(
    at: int, before: PieceKind | None, of_graph: Sequence[PieceKind | None], eager: _Eager
) -> PieceKind:
    """Return what an eager pass of few layers is for.

    A draft model runs after the target; what runs before a prefill otherwise encodes its images.
    """
    if eager.speculates and before in (*TARGETS, PieceKind.PREFILL, PieceKind.PREFILL_PIECE):
        return PieceKind.DRAFT_EXTEND
    following = of_graph[at + 1 : at + 2]
    if following == [PieceKind.PREFILL_PIECE] or (following == [None] and eager.is_deep[at + 1]):
        return PieceKind.PREFILL
    return PieceKind.DRAFT_EXTEND if eager.speculates else PieceKind.OTHER
