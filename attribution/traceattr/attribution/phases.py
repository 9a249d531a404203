"""Of which model's pass each operation is part."""

from typing import get_args

import numpy as np
import numpy.typing as npt

from traceattr.attribution import roles
from traceattr.attribution.account import Account
from traceattr.attribution.piece_kinds import PieceKind
from traceattr.attribution.pieces import named
from traceattr.attribution.round_figures import Phase
from traceattr.attribution.rounds import NO_ROUND
from traceattr.attribution.timeline import Ids

PHASES: tuple[Phase, ...] = get_args(Phase)
"""Every phase; arrays hold indices into it."""

_OF_KIND: dict[PieceKind, Phase] = {
    PieceKind.VERIFY: "target",
    PieceKind.DECODE: "target",
    PieceKind.DRAFT: "draft",
    PieceKind.DRAFT_EXTEND: "draft",
    PieceKind.PREFILL: "prefill",
    PieceKind.PREFILL_PIECE: "prefill",
    PieceKind.OTHER: "other",
}


def phase_of_pass(account: Account, kind: PieceKind) -> Phase:
    """Return of which model a pass is; without rounds none is known for what it is."""
    return _OF_KIND[kind] if account.rounds.kind else "other"


_DRAFTS = (PieceKind.DRAFT, PieceKind.DRAFT_EXTEND)


def phase_of_operations(account: Account) -> npt.NDArray[np.int8]:
    """Return the phase of each operation as an index into `PHASES`, shape (operations,).

    The draft pass over a prompt after its prefill is draft work too, and so is what a draft pass
    leaves to do eagerly: its softmax and top-k.  Without rounds no pass is known for what it is,
    and all is ``other``.
    """
    other = PHASES.index("other")
    if not account.rounds.kind:
        return np.full(len(account.timeline.start_ns), other, np.int8)
    of_piece = [PHASES.index(phase_of_pass(account, kind)) for kind in account.kinds.of_piece]
    phase = np.array([*of_piece, other], np.int8)[account.pieces.of_operation]
    phase[_ends_draft(account)] = PHASES.index("draft")
    phase[_joins_pieces(account)] = PHASES.index("prefill")
    return phase


def _ends_draft(account: Account) -> Ids:
    """Return the eager operations that only a pass runs and that follow a draft pass in its round.

    They are few, so that all but the first look is at them alone.
    """
    timeline, pieces, rounds = account.timeline, account.pieces, account.rounds
    is_work = named(roles.model_work(account.names), timeline)
    at = np.flatnonzero((pieces.of_operation < 0) & is_work)
    round_ = rounds.of(at)
    at, round_ = at[round_ >= 0], round_[round_ >= 0]
    is_draft = np.array([kind in _DRAFTS for kind in account.kinds.of_piece], np.bool_)
    before = np.searchsorted(pieces.start_ns, timeline.start_ns[at], side="right") - 1
    same_round = rounds.of_piece[before] == round_
    follows: Ids = at[(before >= 0) & same_round & is_draft[before]]
    return follows


def _joins_pieces(account: Account) -> Ids:
    """Return the eager operations of prefills of which graphs run but pieces.

    They are what lies between two pieces, and what only a pass runs after the last.
    """
    timeline, pieces, rounds = account.timeline, account.pieces, account.rounds
    kinds = (*account.kinds.of_piece, None)  # the last is for no pass
    is_piece = np.array([kind is PieceKind.PREFILL_PIECE for kind in kinds], np.bool_)
    is_prefill = is_piece | np.array([kind is PieceKind.PREFILL for kind in kinds], np.bool_)
    of_piece = np.append(rounds.of_piece, NO_ROUND)
    at = (
        np.flatnonzero((pieces.of_operation < 0) & timeline.is_forward) if is_piece.any() else _NONE
    )
    round_ = rounds.of(at)
    in_pieces = (round_ != NO_ROUND) & np.isin(round_, of_piece[is_piece])
    at, round_ = at[in_pieces], round_[in_pieces]
    before = np.searchsorted(pieces.start_ns, timeline.start_ns[at], side="right") - 1
    follows = is_prefill[before] & (of_piece[before] == round_)
    precedes = is_prefill[before + 1] & (of_piece[before + 1] == round_)
    ends = named(roles.finishing(account.names), timeline)[at]
    joins: Ids = at[follows & (precedes | ends)]
    return joins


_NONE = np.empty(0, np.int64)
