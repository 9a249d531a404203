"""Of which model's pass each operation is part."""

from typing import get_args

import numpy as np
import numpy.typing as npt

from traceattr.attribution.account import Account
from traceattr.attribution.analysis import Phase
from traceattr.attribution.kinds import PieceKind

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


def phase_of_operations(account: Account) -> npt.NDArray[np.int8]:
    """Return the phase of each operation as an index into `PHASES`, shape (operations,).

    The draft pass over a prompt after its prefill is draft work too.  Without rounds no pass is
    known for what it is, and all is ``other``.
    """
    if not account.rounds.kind:
        return np.full(len(account.timeline.start_ns), PHASES.index("other"), np.int8)
    of_piece = [PHASES.index(_OF_KIND[kind]) for kind in account.kinds.of_piece]
    table = np.array([*of_piece, PHASES.index("other")], np.int8)
    return table[account.pieces.of_operation]
