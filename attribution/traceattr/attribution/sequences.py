"""What the replays of each kind of graph run, in order, and how long each kernel takes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from traceattr.attribution.account import Account
from traceattr.attribution.analysis import Window
from traceattr.attribution.labels import LABELS, KernelNames
from traceattr.attribution.piece_kinds import GRAPH_KINDS, PieceKind
from traceattr.attribution.sequence_figures import GraphSequence, GraphSequences, NamedKernel
from traceattr.attribution.spread import lower_median
from traceattr.attribution.timeline import Ids, Places


@dataclass(frozen=True, slots=True)
class _Nodes:
    """Operations of the replays of one kind, one row for each replay of one length.

    Attributes:
        at: Positions in the timeline; shape (replays, nodes).
        what: What each is: its kernel name, or its label where it has none; the same shape.
    """

    at: Places
    what: Places


@dataclass(frozen=True, slots=True)
class _PieceWork:
    """Operations of all pieces of one GPU, piece after piece.

    Attributes:
        at: Positions in the timeline; shape (operations,).
        what: As in `_Nodes`; the same shape.
        first: Where each piece begins in both; shape (pieces,).
        count: How many operations it has; shape (pieces,).
    """

    at: Places
    what: Places
    first: Places
    count: Places


def graph_sequences(
    accounts: Sequence[Account], names: KernelNames, window: Window
) -> GraphSequences:
    """Return the most frequent sequence of each kind of graph that lies in the window."""
    found = [graph for account in accounts for graph in _of_gpu(account, window)]
    used = sorted({what for graph in found for what in graph.kernels})
    position = {what: at for at, what in enumerate(used)}
    return GraphSequences(
        kernels=tuple(_named(what, names) for what in used),
        graphs=tuple(
            replace(graph, kernels=tuple(position[what] for what in graph.kernels))
            for graph in found
        ),
    )


def _named(what: int, names: KernelNames) -> NamedKernel:
    if what >= 0:
        return NamedKernel(names.names[what], names.classifications[what].category)
    category = LABELS[-1 - what].category
    return NamedKernel(f"({category})", category)


def _of_gpu(account: Account, window: Window) -> Iterator[GraphSequence]:
    """Yield the sequences of one GPU; kernels are ids of names, or labels below zero."""
    work = _in_order(account)
    for kind in GRAPH_KINDS:
        pieces = _replays(account, window, kind)
        lengths = list(_by_length(work, pieces))
        if not lengths:
            continue
        rows = max(map(_most_frequent, lengths), key=lambda nodes: nodes.at.shape)
        yield GraphSequence(
            gpu=account.timeline.gpu_id,
            kind=kind.value,
            replays=len(rows.at),
            of_replays=len(pieces),
            kernels=tuple(rows.what[0].tolist()),
            median_ns=tuple(_median_ns(account, at) for at in rows.at.T),
        )


def _replays(account: Account, window: Window, kind: PieceKind) -> Ids:
    """Return the pieces that replay a kind of graph node by node and as a whole in the window."""
    pieces, replays = account.pieces, account.timeline.replays
    is_kind = np.array([found is kind for found in account.kinds.of_piece], np.bool_)
    inside = (pieces.start_ns >= window.start_ns) & (pieces.end_ns <= window.end_ns)
    at = np.flatnonzero(is_kind & inside & (pieces.replay >= 0))
    return at[~replays.is_envelope[pieces.replay[at]]]


def _in_order(account: Account) -> _PieceWork:
    """Return the operations of all pieces.

    In each piece what runs beside the main stream comes last: where it begins between the others
    differs from replay to replay.
    """
    timeline, of_operation = account.timeline, account.pieces.of_operation
    at = np.flatnonzero(of_operation >= 0).astype(np.int32)
    owner = of_operation[at]
    at = at[np.argsort(2 * owner + ~timeline.is_forward[at], kind="stable")]
    count = np.bincount(owner, minlength=len(account.pieces.start_ns)).astype(np.int32)
    names = timeline.name_id[at]
    what = np.where(names >= 0, names, np.int32(-1) - timeline.label[at])
    return _PieceWork(at, what, np.cumsum(count, dtype=np.int32) - count, count)


def _by_length(work: _PieceWork, pieces: Ids) -> Iterator[_Nodes]:
    """Yield the operations of some pieces, those of equally many together."""
    first, count = work.first[pieces], work.count[pieces]
    for length in np.unique(count[count > 0]).tolist():
        rows = first[count == length][:, np.newaxis] + np.arange(length, dtype=np.int32)
        yield _Nodes(work.at[rows], work.what[rows])


def _most_frequent(nodes: _Nodes) -> _Nodes:
    """Return the replays that run what most of some equally long ones run."""
    # Rows are told apart by a sum with random weights: sorting whole rows would take seconds.
    weights = np.random.default_rng(0).integers(1, 2**62, nodes.what.shape[1])
    _, first, counts = np.unique(nodes.what @ weights, return_index=True, return_counts=True)
    usual = nodes.what[first[counts.argmax()]]
    same = (nodes.what == usual).all(axis=1)
    return _Nodes(nodes.at[same], nodes.what[same])


def _median_ns(account: Account, at: Places) -> int:
    """Return the median length of operations at some positions."""
    return lower_median(account.timeline.end_ns[at] - account.timeline.start_ns[at])
