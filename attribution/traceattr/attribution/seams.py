"""What each idle gap of one GPU joins: two forward passes, two kernels of a graph, or nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from traceattr.attribution.account import Account
from traceattr.attribution.groups import NO_WORK
from traceattr.attribution.idle import IdleParts
from traceattr.attribution.intervals import Cover, Times
from traceattr.attribution.labels import LABELS
from traceattr.attribution.per_round import RoundSample
from traceattr.attribution.piece_kinds import PieceKind
from traceattr.attribution.rounds import NO_ROUND, RoundKind
from traceattr.attribution.timeline import Ids, Places, Timeline
from traceattr.rules.categories import CATEGORIES

EAGER = "eager"
"""Side of a seam on which no forward pass is known, as in traces without graphs."""

NO_OPERATION = -1

_SIDES = (EAGER, *(kind.value for kind in PieceKind if kind is not PieceKind.PREFILL_PIECE))
_PREFILL = _SIDES.index(PieceKind.PREFILL)
_CATEGORY = np.array([CATEGORIES.index(label.category) for label in LABELS], np.int16)


class GapKind(IntEnum):
    """Where a gap lies."""

    SEAM = 0
    IN_GRAPH = 1
    NO_WORK = 2


@dataclass(frozen=True, slots=True)
class Gaps:
    """Idle gaps of one GPU in order of time; arrays of shape (gaps,).

    Attributes:
        start_ns: Begins, inside the window.
        end_ns: Ends, inside the window.
        outside: Positions of those outside graphs, ascending.
        since_ns: When the work before each of those ended, which may be before the window.
        next_operation: Position in the timeline of the operation that ended each of those, or
            `NO_OPERATION`.
        kind: Values of `GapKind`.
        key: Gaps of one kind and key join the same.
    """

    start_ns: Times
    end_ns: Times
    outside: Ids
    since_ns: Times
    next_operation: Places
    kind: npt.NDArray[np.int8]
    key: npt.NDArray[np.int16]

    @property
    def length_ns(self) -> Times:
        """Return how long each gap is."""
        return self.end_ns - self.start_ns

    def lengths_ns(self, at: Ids | Places) -> Times:
        """Return how long the gaps at some positions are."""
        return self.end_ns[at] - self.start_ns[at]

    def groups(self, chosen: Ids | Places) -> Iterator[tuple[int, Ids | Places]]:
        """Yield each key that occurs at some positions, and those of its gaps in order of time."""
        order = chosen[np.argsort(self.key[chosen], kind="stable")]
        keys = self.key[order]
        first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
        yield from zip(keys[first].tolist(), np.split(order, first[1:]), strict=False)

    def name(self, at: int) -> str:
        """Return what one gap joins."""
        key = int(self.key[at])
        match int(self.kind[at]):
            case GapKind.SEAM:
                return seam_name(key)
            case GapKind.IN_GRAPH:
                return "->".join(pair_names(key))
            case _:
                return NO_WORK


def seam_name(key: int) -> str:
    """Return the name of a seam from its key."""
    before, after = divmod(key, len(_SIDES))
    return _SIDES[after] if before == len(_SIDES) else f"{_SIDES[before]}->{_SIDES[after]}"


def pair_names(key: int) -> tuple[str, str]:
    """Return the categories before and after an in-graph gap from its key."""
    before, after = divmod(key, len(CATEGORIES))
    return CATEGORIES[before], CATEGORIES[after]


def classify_gaps(account: Account, idle: IdleParts) -> Gaps:
    """Return what each gap joins."""
    gaps = idle.gaps
    before, after = _neighbours(account.timeline, gaps)
    kind = np.where(idle.in_graph, np.int8(GapKind.IN_GRAPH), np.int8(GapKind.SEAM))
    kind[idle.no_work] = GapKind.NO_WORK
    key = np.where(idle.in_graph, _pair_keys(account.timeline, before, after), np.int16(0))
    is_seam = kind == GapKind.SEAM
    key[is_seam] = _seam_keys(account, Cover(gaps.start_ns[is_seam], gaps.end_ns[is_seam]))
    outside = np.flatnonzero(kind != GapKind.IN_GRAPH)
    before, after = before[outside], after[outside]
    ends = np.append(account.timeline.end_ns, 0)[before]
    return Gaps(
        start_ns=gaps.start_ns,
        end_ns=gaps.end_ns,
        outside=outside,
        since_ns=np.where(before == NO_OPERATION, gaps.start_ns[outside], ends),
        next_operation=after,
        kind=kind,
        key=key,
    )


def _neighbours(timeline: Timeline, gaps: Cover) -> tuple[Places, Places]:
    """Return the operation that ended last before each gap and the one that starts after it.

    Operations of length zero cover nothing and end no gap.
    """
    is_real = timeline.end_ns > timeline.start_ns
    real = np.append(np.flatnonzero(is_real), NO_OPERATION).astype(np.int32)
    starts, ends = timeline.start_ns, timeline.end_ns
    if not is_real.all():
        starts, ends = starts[is_real], ends[is_real]
    after = np.searchsorted(starts, gaps.end_ns).astype(np.int32)
    is_latest = ends == np.maximum.accumulate(ends)
    last = np.maximum.accumulate(np.where(is_latest, np.arange(len(ends), dtype=np.int32), 0))
    before = np.append(last, np.int32(NO_OPERATION))[after - 1]
    return real[before], real[after]


def _pair_keys(timeline: Timeline, before: Places, after: Places) -> npt.NDArray[np.int16]:
    category = np.append(_CATEGORY[timeline.label], np.int16(0))
    keys: npt.NDArray[np.int16] = category[before] * len(CATEGORIES) + category[after]
    return keys


def _seam_keys(account: Account, gaps: Cover) -> Ids:
    """Return the key of each gap outside replays: the passes on both sides, or the one around it.

    Positions of passes are shifted by one, so that 0 and the last stand for no pass.
    """
    pieces = account.pieces
    side = np.concatenate(([0], _piece_sides(account), [0]))
    round_ = np.concatenate(([NO_ROUND], account.rounds.of_piece, [NO_ROUND]))
    before = np.searchsorted(pieces.start_ns, gaps.start_ns, side="right")
    after = before + 1
    joined = side[before] * len(_SIDES) + side[after]
    alone = len(_SIDES) * len(_SIDES)
    is_one_prefill = (
        (side[before] == _PREFILL)
        & (side[after] == _PREFILL)
        & (round_[before] == round_[after])
        & (round_[before] != NO_ROUND)
    )
    is_eager = (side[before] == 0) & (side[after] == 0)
    joined = np.where(is_one_prefill | is_eager, alone + side[after], joined)
    around = _piece_around(pieces.end_ns, before, gaps)
    return np.where(around >= 0, alone + side[around + 1], joined)


def _piece_sides(account: Account) -> Ids:
    """Return the position in `_SIDES` of each piece; a prefill of the draft model is a prefill."""
    position = {PieceKind(name): at for at, name in enumerate(_SIDES) if name != EAGER}
    position[PieceKind.PREFILL_PIECE] = _PREFILL
    sides = np.array([position[kind] for kind in account.kinds.of_piece], np.int64)
    is_prefill = np.array([kind is RoundKind.PREFILL for kind in (*account.rounds.kind, None)])
    is_draft_prefill = is_prefill[account.rounds.of_piece] & (
        sides == position[PieceKind.DRAFT_EXTEND]
    )
    sides = np.where(is_draft_prefill, _PREFILL, sides)
    is_unknown = (account.pieces.replay < 0) & (sides == position[PieceKind.OTHER])
    return np.where(is_unknown, 0, sides)


def _piece_around(ends: Times, before: Ids, gaps: Cover) -> Ids:
    """Return the piece that had begun before each gap and ends after it, or -1."""
    if not len(ends):
        return np.full(len(before), -1)
    latest = np.maximum.accumulate(ends)
    last = np.maximum.accumulate(np.where(ends == latest, np.arange(len(ends)), 0))
    at = before - 1
    return np.where((at >= 0) & (latest[at] >= gaps.end_ns), last[at], -1)


def whole_rounds(gaps: Gaps, sample: RoundSample) -> RoundSample:
    """Return the rounds of a sample without the first, where a seam of it has no known begin.

    What prepares the first round of a trace follows no pass, so that round lacks a seam that all
    others have, and has one that none has.
    """
    unknown = np.flatnonzero(_begins_unknown(gaps))
    round_ = sample.index_of(gaps.start_ns[unknown])
    in_first = np.unique(gaps.key[unknown[round_ == 0]])
    in_others = np.unique(gaps.key[unknown[round_ > 0]])
    if len(sample) < 2 or not len(np.setdiff1d(in_first, in_others)):
        return sample
    return RoundSample(sample.start_ns[1:], sample.end_ns[1:])


def _begins_unknown(gaps: Gaps) -> npt.NDArray[np.bool_]:
    """Return which gaps are seams after no known pass, such as before the first of a trace."""
    is_unknown: npt.NDArray[np.bool_] = (gaps.kind == GapKind.SEAM) & (gaps.key < len(_SIDES))
    return is_unknown
