"""What the server repeats, in figures."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from traceattr.attribution.account import Account
from traceattr.attribution.analysis import (
    GraphFamily,
    RoundsSummary,
    SlowRounds,
    TraceFacts,
)
from traceattr.attribution.gpu_time import OwnedTime, group_rounds
from traceattr.attribution.per_round import RoundSample, largest_excess
from traceattr.attribution.piece_kinds import TARGETS, PieceKind
from traceattr.attribution.rounds import RoundKind
from traceattr.attribution.steady import Steady, main_kind

_DRAFTS = (PieceKind.DRAFT, PieceKind.DRAFT_EXTEND)

ENOUGH_ROUNDS = 30
"""Below this a 99th percentile is a single round and says nothing."""


def summarise_rounds(
    owned: Sequence[OwnedTime], steady: Steady, facts: TraceFacts
) -> RoundsSummary:
    """Return the summary of the first GPU's rounds; the graphs are those of every GPU."""
    first = owned[0]
    kind = main_kind(first.account)
    return RoundsSummary(
        kind=_kind_name(kind),
        why=None if kind else _why_none(first.account, facts),
        count=_count_inside(first, kind),
        sampled=len(first.sample) if kind else 0,
        prefills=_count_inside(first, RoundKind.PREFILL),
        wall=first.sample.wall if kind else None,
        replays_per_round=tuple(_replays_per_round(first.account, first.sample)),
        graphs=tuple(family for one in owned for family in _graphs(one.account)),
        slow=_slow_rounds(first) if len(first.sample) >= ENOUGH_ROUNDS else None,
        cut=steady.cut,
        target_graphs=_graph_ids(first.account, first.sample, TARGETS),
        draft_graphs=tuple(
            (str(kind), _graph_ids(first.account, first.sample, (kind,))) for kind in _DRAFTS
        ),
    )


def _kind_name(kind: RoundKind | None) -> Literal["speculative", "decode", "none"]:
    if kind is RoundKind.SPECULATIVE:
        return "speculative"
    return "decode" if kind is RoundKind.DECODE else "none"


def _why_none(account: Account, facts: TraceFacts) -> str:
    if not len(account.timeline.replays.start_ns):
        if facts.unrecorded_graph_launches:
            return "CUDA graphs were launched, but their work is not in the trace"
        return "no CUDA graph was replayed, and rounds are told by their graphs"
    return "no graph could be told to be that of the target model"


def _count_inside(owned: OwnedTime, kind: RoundKind | None) -> int:
    rounds, window = owned.account.rounds, owned.window
    return sum(
        bool(found == kind and start >= window.start_ns and end <= window.end_ns)
        for found, start, end in zip(rounds.kind, rounds.start_ns, rounds.end_ns, strict=True)
    )


def _replays_per_round(account: Account, sample: RoundSample) -> Iterator[tuple[str, float]]:
    """Yield the mean number of replays of each kind in a round of the sample."""
    if not len(sample):
        return
    is_replay = account.pieces.replay >= 0
    inside = (sample.index_of(account.pieces.start_ns) >= 0) & is_replay
    kinds = Counter(
        kind for kind, counts in zip(account.kinds.of_piece, inside, strict=True) if counts
    )
    for kind, count in sorted(kinds.items()):
        yield str(kind), count / len(sample)


def _graph_ids(
    account: Account, sample: RoundSample, kinds: Sequence[PieceKind]
) -> tuple[int, ...]:
    """Return the ids of the graphs of some kinds that the rounds of the sample replay."""
    pieces = account.pieces
    is_one = np.array([kind in kinds for kind in account.kinds.of_piece], np.bool_)
    inside = is_one & (pieces.replay >= 0) & (sample.index_of(pieces.start_ns) >= 0)
    graph_ids = account.timeline.replays.graph_id[pieces.replay[inside]]
    return tuple(np.unique(graph_ids).tolist())


def _graphs(account: Account) -> Iterator[GraphFamily]:
    for family in account.kinds.families:
        yield GraphFamily(
            gpu=account.timeline.gpu_id,
            graph_ids=family.graph_ids,
            replays=family.replays,
            kind=str(family.kind),
            confidence=family.confidence,
            evidence=family.evidence,
            passes=family.passes,
        )


def _slow_rounds(owned: OwnedTime) -> SlowRounds | None:
    """Return which group makes the slowest rounds slow."""
    walls, slow = owned.sample.wall_ns, owned.sample.is_slow
    parts = [(name, times) for name, times in group_rounds(owned) if times is not None]
    group, excess_ns = largest_excess(parts, slow)
    whole_ns = float(walls[slow].mean() - np.median(walls))
    if excess_ns <= 0 or whole_ns <= 0:
        return None
    return SlowRounds(int(slow.sum()), group, excess_ns, excess_ns / whole_ns)
