"""The rounds of one GPU: what a decode server repeats, and the prefills that interrupt it.

A speculative round is draft, verification and draft extension; a round without speculation is one
decode pass and its sampling.  The eager work between two rounds belongs to the one it finishes
(sampling, reading tokens back) or to the one it prepares (everything after that).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import compress

import numpy as np

from traceattr.attribution import roles
from traceattr.attribution.intervals import Times
from traceattr.attribution.labels import KernelNames
from traceattr.attribution.piece_kinds import TARGETS, PieceKind
from traceattr.attribution.pieces import Pieces, named
from traceattr.attribution.roles import Flags
from traceattr.attribution.timeline import Ids, Places, Timeline

NO_ROUND = -1

_PREFILLS = (PieceKind.PREFILL, PieceKind.PREFILL_PIECE)


class RoundKind(StrEnum):
    """What a round does."""

    SPECULATIVE = "speculative"
    DECODE = "decode"
    PREFILL = "prefill"
    PARTIAL = "partial"


@dataclass(frozen=True, slots=True)
class Rounds:
    """Rounds in order; arrays of shape (rounds,) unless said otherwise.

    Attributes:
        kind: What each round does.
        start_ns: Begin of its first operation.
        end_ns: End of its last operation.
        of_piece: Round of each piece, -1 outside; shape (pieces,).
        first: Position of its first operation.
        stop: Position after its last operation.
    """

    kind: tuple[RoundKind, ...]
    start_ns: Times
    end_ns: Times
    of_piece: Ids
    first: Ids
    stop: Ids

    def of(self, operations: Ids) -> Ids:
        """Return the round of operations at some positions, -1 outside."""
        at = np.searchsorted(self.first, operations, side="right") - 1
        return np.where(operations < np.append(self.stop, 0)[at], at, NO_ROUND)

    def hold(self, chosen: Flags, operations: int) -> Flags:
        """Return, for each of all operations, whether it is part of a chosen round."""
        change = np.zeros(operations + 1, np.int8)
        np.add.at(change, self.first[chosen], 1)
        np.subtract.at(change, self.stop[chosen], 1)
        return np.cumsum(change, dtype=np.int8, out=change)[:-1].view(np.bool_)


def find_rounds(
    timeline: Timeline, pieces: Pieces, kinds: tuple[PieceKind, ...], names: KernelNames
) -> Rounds:
    """Return the rounds of one GPU; none where no graph replay shows a target model."""
    of_piece, round_kinds = _group(kinds)
    for cut in _cut_rounds(timeline, pieces, of_piece):
        round_kinds[cut] = RoundKind.PARTIAL
    count = len(round_kinds)
    nothing = np.empty(0, np.int64)
    if not count:
        return Rounds((), nothing, nothing, of_piece, nothing, nothing)
    first, last = _operation_bounds(timeline, pieces, of_piece, count, names)
    # Replays that run during others leave a round without operations of its own; what is left of it
    # is part of the round before.
    is_real = first <= last
    number = np.append(np.cumsum(is_real) - 1, NO_ROUND)
    first, last, of_piece = first[is_real], last[is_real], number[of_piece]
    round_kinds = list(compress(round_kinds, is_real))
    stop = np.minimum(last + 1, np.append(first[1:], len(timeline.start_ns)))
    ends = zip(first.tolist(), stop.tolist(), strict=True)
    never_ns = np.iinfo(np.int64).min
    return Rounds(
        kind=tuple(round_kinds),
        start_ns=timeline.start_ns[_first_forward(timeline, first, last)],
        end_ns=np.array([timeline.end_ns[a:b].max(initial=never_ns) for a, b in ends]),
        of_piece=of_piece,
        first=first,
        stop=stop,
    )


def _first_forward(timeline: Timeline, first: Ids, last: Ids) -> Ids:
    """Return the first operation of each round on the forward stream, else the first of all.

    Other streams prepare the next batch while a round still runs.
    """
    forward = np.append(np.flatnonzero(timeline.is_forward), len(timeline.start_ns))
    found = forward[np.searchsorted(forward, first)]
    return np.where(found <= last, found, first)


def _group(kinds: tuple[PieceKind, ...]) -> tuple[Ids, list[RoundKind]]:
    """Return the round of each piece and what each round is."""
    of_piece = np.full(len(kinds), NO_ROUND, np.int64)
    if not any(kind in TARGETS for kind in kinds):
        return of_piece, []
    contents: list[set[PieceKind]] = []
    for at, kind in enumerate(kinds):
        if _begins_round(kind, contents[-1] if contents else None):
            contents.append(set())
        if contents:
            contents[-1].add(kind)
            of_piece[at] = len(contents) - 1
    return of_piece, [_round_kind(content) for content in contents]


def _begins_round(kind: PieceKind, current: set[PieceKind] | None) -> bool:
    """Return whether a piece cannot belong to the round so far, `current`, or None before any."""
    if current is None:
        return kind is not PieceKind.OTHER
    if kind in (PieceKind.OTHER, PieceKind.DRAFT_EXTEND):
        return False
    is_over = not current.isdisjoint(TARGETS)
    is_prefill = not current.isdisjoint(_PREFILLS)
    if kind in _PREFILLS:
        return not is_prefill or PieceKind.DRAFT_EXTEND in current
    return is_over or is_prefill or PieceKind.DRAFT_EXTEND in current


def _round_kind(content: set[PieceKind]) -> RoundKind:
    if PieceKind.VERIFY in content:
        return RoundKind.SPECULATIVE
    if PieceKind.DECODE in content:
        return RoundKind.DECODE
    return RoundKind.PREFILL if not content.isdisjoint(_PREFILLS) else RoundKind.PARTIAL


def _cut_rounds(timeline: Timeline, pieces: Pieces, of_piece: Ids) -> Iterator[int]:
    """Yield the rounds in which the capture began or ended in the middle of a replay.

    Its first or last replay then has fewer operations than others of the same graph.
    """
    at = np.flatnonzero(pieces.replay >= 0)
    inside = pieces.of_operation >= 0
    operations = np.bincount(pieces.of_operation[inside], minlength=len(pieces.replay))[at]
    graph_id = timeline.replays.graph_id[pieces.replay[at]]
    for end in {0, len(at) - 1} if len(at) else ():
        usual = np.median(operations[graph_id == graph_id[end]])
        if operations[end] < usual and of_piece[at[end]] != NO_ROUND:
            yield int(of_piece[at[end]])


BREAK_NS = 5_000_000
"""Idle time that parts what finishes a round from what prepares the next, or neither."""


def _operation_bounds(
    timeline: Timeline, pieces: Pieces, of_piece: Ids, count: int, names: KernelNames
) -> tuple[Ids, Ids]:
    """Return the positions of each round's first and last operation.

    The last is the last one that only a pass or its sampling runs, and the copies to the host that
    follow it at once.  The first is the one after the last of the round before, or after a break.
    """
    operations = len(timeline.start_ns)
    at = _run_edges(pieces.of_operation)
    owner = np.append(of_piece, NO_ROUND)[pieces.of_operation[at]]
    at, owner = at[owner >= 0], owner[owner >= 0]
    first_piece = np.full(count, operations)
    last_piece = np.full(count, -1)
    np.minimum.at(first_piece, owner, at)
    np.maximum.at(last_piece, owner, at)
    breaks = _breaks(timeline)
    limit = np.append(first_piece[1:], operations) - 1
    next_break = np.append(breaks, operations)[np.searchsorted(breaks, last_piece, "right")]
    finishing = named(roles.finishing(names), timeline)
    last = np.maximum.accumulate(
        _last_finishing(
            finishing, timeline.is_readback, last_piece, np.minimum(limit, next_break - 1)
        )
    )
    last_break = np.append(breaks, 0)[np.searchsorted(breaks, first_piece, "right") - 1]
    return np.maximum(np.append(0, last[:-1] + 1), last_break), last


def _run_edges(piece: Places) -> Ids:
    """Return the first and last position of each row of operations of one piece, ascending."""
    changes = piece[1:] != piece[:-1]
    return np.flatnonzero(np.append(True, changes) | np.append(changes, True))


def _breaks(timeline: Timeline) -> Ids:
    """Return the positions of operations before which nothing ran for long, ascending."""
    latest = np.maximum.accumulate(timeline.end_ns)
    return np.flatnonzero(timeline.start_ns[1:] - latest[:-1] > BREAK_NS) + 1


def _last_finishing(finishing: Flags, is_readback: Flags, last_piece: Ids, limit: Ids) -> Ids:
    """Return the last operation of each round, from its last pass up to a limit."""
    last = []
    for begin, end in zip(last_piece.tolist(), limit.tolist(), strict=True):
        found = np.flatnonzero(finishing[begin + 1 : end + 1])
        at = begin + 1 + int(found[-1]) if len(found) else begin
        while at < end and is_readback[at + 1]:
            at += 1
        last.append(at)
    return np.array(last, np.int64)
