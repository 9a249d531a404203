"""What each CUDA graph is for: verification, decode, draft, draft extension, prefill piece.

No kernel name says it: the draft layer runs the same kernels as the target.  Evidence is how many
layers a replay runs in how many passes, what runs eagerly before and after it, and how replays
follow each other.  Graphs whose nodes are hidden are judged by durations and order instead.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from traceattr.attribution.labels import KernelNames
from traceattr.attribution.pieces import Pieces
from traceattr.attribution.roles import Flags
from traceattr.attribution.signs import (
    MOSTLY,
    Signs,
    Surroundings,
    evidence,
    read_signs,
    surroundings,
)
from traceattr.attribution.timeline import Timeline
from traceattr.errors import OptionError


class PieceKind(StrEnum):
    """What a graph replay or an eager pass is for."""

    VERIFY = "verify"
    DECODE = "decode"
    DRAFT = "draft"
    DRAFT_EXTEND = "draft_extend"
    PREFILL = "prefill"
    PREFILL_PIECE = "prefill_piece"
    OTHER = "other"


CONFIDENCES = ("low", "medium", "high")

GRAPH_KINDS = tuple(kind for kind in PieceKind if kind is not PieceKind.PREFILL)
"""What a graph can be for."""

TARGETS = (PieceKind.VERIFY, PieceKind.DECODE)


def parse_graph_kinds(texts: Iterable[str]) -> dict[int, PieceKind]:
    """Return the kind given for each graph id in texts such as ``17=draft``.

    Raises:
        OptionError: A text is not of that form, or names no kind.
    """
    kinds: dict[int, PieceKind] = {}
    for text in texts:
        graph_id, _, kind = text.partition("=")
        if not graph_id.isdecimal() or kind not in GRAPH_KINDS:
            raise OptionError(
                f"--graph-kind {text!r}: not ID=KIND (expected a graph id and one of"
                f" {', '.join(GRAPH_KINDS)})"
            )
        kinds[int(graph_id)] = PieceKind(kind)
    return kinds


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
    """

    graph_ids: tuple[int, ...]
    replays: int
    kind: PieceKind
    confidence: str
    evidence: str
    is_conflicting: bool = False


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
    family_of, members = _families(timeline, pieces)
    is_target = _targets(pieces, family_of, members)
    around = surroundings(timeline, pieces, names)
    signs = [read_signs(pieces, family_of == at, around, is_target) for at in range(len(members))]
    speculates = bool(
        around.tree_after.any()
        or around.verified_after.any()
        or _keep_step(signs, family_of, is_target)
    )
    decided = [
        _decide(sign, bool(is_target[family_of == at].any()), speculates)
        for at, sign in enumerate(signs)
    ]
    families = tuple(
        _overridden(_family(ids, family_of, at, signs[at], decided[at]), overrides)
        for at, ids in enumerate(members)
    )
    depth = max((sign.depth for sign in signs if not sign.is_hidden), default=0.0)
    is_deep = _as_deep_as_target(pieces, is_target, depth)
    of_piece = tuple(_piece_kinds(pieces, family_of, families, around, is_deep))
    return Kinds(of_piece, tuple(_pieces_as_one(families)), depth or None)


def _families(
    timeline: Timeline, pieces: Pieces
) -> tuple[npt.NDArray[np.int64], list[tuple[int, ...]]]:
    """Return the family of each piece (-1 for eager passes) and the graph ids of each family."""
    keys: dict[tuple[object, ...], int] = {}
    ids: list[set[int]] = []
    family_of = np.full(len(pieces.replay), -1)
    for at in np.flatnonzero(pieces.replay >= 0).tolist():
        replay = int(pieces.replay[at])
        graph_id = int(timeline.replays.graph_id[replay])
        hidden = bool(timeline.replays.is_envelope[replay])
        key = (graph_id,) if hidden else (int(pieces.layers[at]), int(pieces.passes[at]), None)
        family = keys.setdefault(key, len(ids))
        if family == len(ids):
            ids.append(set())
        ids[family].add(graph_id)
        family_of[at] = family
    return family_of, [tuple(sorted(members)) for members in ids]


def _targets(
    pieces: Pieces, family_of: npt.NDArray[np.int64], members: list[tuple[int, ...]]
) -> Flags:
    """Return which pieces replay the target: half the greatest depth or duration at least."""
    is_target = np.zeros(len(family_of), np.bool_)
    size = np.where(pieces.layers > 0, pieces.depth, 0.0)
    if not size[family_of >= 0].any():
        size = (pieces.end_ns - pieces.start_ns).astype(np.float64)
    medians = [float(np.median(size[family_of == at])) for at in range(len(members))]
    for at, median in enumerate(medians):
        is_target[family_of == at] = median > 0 and median >= max(medians) / 2
    return is_target


def _decide(signs: Signs, is_target: bool, speculates: bool) -> tuple[PieceKind, str, bool]:
    """Return kind, confidence and whether the evidence contradicts itself."""
    said = _said_bysurroundings(signs)
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
    if signs.in_long_run > MOSTLY:
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


def _said_bysurroundings(signs: Signs) -> PieceKind | None:
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


def _keep_step(signs: Sequence[Signs], family_of: npt.NDArray[np.int64], is_target: Flags) -> bool:
    """Return whether a small graph is replayed about as often as the target, next to it.

    That is a draft model where no eager kernel of speculation is seen.
    """
    targets = int(is_target[family_of >= 0].sum())
    for at, sign in enumerate(signs):
        mine = family_of == at
        is_beside = sign.after_target > MOSTLY or sign.before_target > MOSTLY
        often = int(mine.sum()) > MOSTLY * targets
        if is_beside and often and targets > 1 and not is_target[mine].any():
            return sign.in_long_run <= MOSTLY and (sign.is_hidden or sign.depth > 0)
    return False


def _family(
    graph_ids: tuple[int, ...],
    family_of: npt.NDArray[np.int64],
    at: int,
    signs: Signs,
    decided: tuple[PieceKind, str, bool],
) -> Family:
    kind, confidence, is_conflicting = decided
    return Family(
        graph_ids=graph_ids,
        replays=int((family_of == at).sum()),
        kind=kind,
        confidence=confidence,
        evidence=", ".join(evidence(signs)),
        is_conflicting=is_conflicting,
    )


def _overridden(family: Family, overrides: Mapping[int, PieceKind]) -> Family:
    given = {overrides[graph_id] for graph_id in family.graph_ids if graph_id in overrides}
    if len(given) != 1:
        return family
    return Family(
        family.graph_ids, family.replays, given.pop(), "high", "given with --graph-kind", False
    )


def _pieces_as_one(families: tuple[Family, ...]) -> Iterator[Family]:
    """Yield the families, the many graphs that a prefill is cut into as one."""
    pieces = [family for family in families if family.kind is PieceKind.PREFILL_PIECE]
    yield from (family for family in families if family.kind is not PieceKind.PREFILL_PIECE)
    if pieces:
        yield Family(
            graph_ids=tuple(sorted(graph for family in pieces for graph in family.graph_ids)),
            replays=sum(family.replays for family in pieces),
            kind=PieceKind.PREFILL_PIECE,
            confidence=min((family.confidence for family in pieces), key=CONFIDENCES.index),
            evidence="in long runs of replays",
        )


def _as_deep_as_target(pieces: Pieces, is_target: Flags, depth: float) -> Flags:
    """Return which pieces run as many layers as the target, or take as long where it is hidden."""
    if depth:
        return pieces.depth >= depth / 2
    duration = pieces.end_ns - pieces.start_ns
    if not is_target.any():
        return np.zeros(len(duration), np.bool_)
    least_ns = float(np.median(duration[is_target])) / 2
    return duration >= least_ns


def _piece_kinds(
    pieces: Pieces,
    family_of: npt.NDArray[np.int64],
    families: tuple[Family, ...],
    around: Surroundings,
    is_deep: Flags,
) -> Iterator[PieceKind]:
    """Yield the kind of each piece; an eager pass is judged by its depth and what follows it."""
    has_target = any(family.kind in TARGETS for family in families)
    of_graph = [families[family].kind if family >= 0 else None for family in family_of.tolist()]
    for at, kind in enumerate(of_graph):
        if kind is not None:
            yield kind
        elif not has_target:
            yield PieceKind.OTHER
        elif PieceKind.PREFILL_PIECE in of_graph[max(0, at - 1) : at + 2]:
            yield PieceKind.PREFILL
        elif is_deep[at]:
            is_verify = around.verified_after[at] and not pieces.is_prefill[at]
            yield PieceKind.VERIFY if is_verify else PieceKind.PREFILL
        else:
            yield PieceKind.DRAFT_EXTEND
