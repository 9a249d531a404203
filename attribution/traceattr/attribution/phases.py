"""Of which model's pass each operation is part."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import get_args

import numpy as np
import numpy.typing as npt

from traceattr.attribution import roles
from traceattr.attribution.account import Account
from traceattr.attribution.piece_kinds import PieceKind
from traceattr.attribution.pieces import named
from traceattr.attribution.roles import Flags
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
    is_work = named(roles.model_work(account.names), account.timeline)
    eager = _eager_work(account, is_work)
    joins: Ids = eager.at[_is_of(account, _DRAFTS)[eager.before] & eager.follows]
    return joins


def _joins_pieces(account: Account) -> Ids:
    """Return the eager operations of prefills of which graphs run but pieces.

    They are what lies between two pieces, and what only a pass runs after the last.
    """
    is_piece = _is_of(account, (PieceKind.PREFILL_PIECE,))
    if not is_piece.any():
        return np.empty(0, np.int64)
    is_prefill = _is_of(account, (PieceKind.PREFILL, PieceKind.PREFILL_PIECE))
    eager = _eager_work(account, account.timeline.is_forward)
    in_pieces = np.isin(eager.round, eager.of_piece[is_piece])
    follows = is_prefill[eager.before] & eager.follows
    precedes = is_prefill[eager.before + 1] & (eager.of_piece[eager.before + 1] == eager.round)
    ends = named(roles.finishing(account.names), account.timeline)[eager.at]
    joins: Ids = eager.at[in_pieces & follows & (precedes | ends)]
    return joins


def _is_of(account: Account, kinds: Collection[PieceKind]) -> Flags:
    """Return which passes are of some kinds; the last stands for no pass."""
    return np.array([kind in kinds for kind in account.kinds.of_piece] + [False], np.bool_)


@dataclass(frozen=True, slots=True)
class _EagerWork:
    """Operations in rounds that are part of no pass; arrays of shape (operations,).

    Attributes:
        at: Their positions.
        round: Their rounds.
        before: The pass that began last before each, -1 for none.
        of_piece: Round of each pass; the last stands for no pass.
    """

    at: Ids
    round: Ids
    before: Ids
    of_piece: Ids

    @property
    def follows(self) -> Flags:
        """Return which follow a pass of their round."""
        return np.asarray(self.of_piece[self.before] == self.round, np.bool_)


def _eager_work(account: Account, chosen: Flags) -> _EagerWork:
    at = np.flatnonzero((account.pieces.of_operation < 0) & chosen)
    round_ = account.rounds.of(at)
    at, round_ = at[round_ != NO_ROUND], round_[round_ != NO_ROUND]
    starts = account.timeline.start_ns[at]
    before = np.searchsorted(account.pieces.start_ns, starts, side="right") - 1
    return _EagerWork(at, round_, before, np.append(account.rounds.of_piece, NO_ROUND))
