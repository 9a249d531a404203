"""What launched each operation, and to which replay of a graph it belongs."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from traceattr.ingest.gpu_work.columns import Integers, is_known, null_of
from traceattr.ingest.gpu_work.lookup import Lookup
from traceattr.ingest.gpu_work.operations import GRAPH, Details, Operations
from traceattr.ingest.gpu_work.placing import Placed, graph_of
from traceattr.ingest.gpu_work.replays import GraphWork, number_replays

Times = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

NULL_TIME = null_of(np.dtype(np.int64))

NO_REPLAY = -1

_NO_KEY = np.iinfo(np.int64).max
_ENVELOPE = 2**32
"""Keys of envelopes lie above every correlation, which are 32 bits wide and may be signed."""


@dataclass(frozen=True, slots=True)
class Launches:
    """Calls of one process that carry a correlation, each once; arrays of shape (calls,).

    Attributes:
        correlation_id: Theirs.
        launch_ns: Begins.
        is_graph_launch: Whether the call launches a graph.
    """

    correlation_id: Integers
    launch_ns: Times
    is_graph_launch: Flags


@dataclass(frozen=True, slots=True)
class Linked:
    """Operations of one GPU with what launched them.

    Attributes:
        placed: The operations.
        launch_ns: Begin of the launching call, NULL where it is not in the trace; shape
            (operations,).
        runs: Where they change from one replay to another.
    """

    placed: Placed
    launch_ns: Times
    runs: "Runs"


@dataclass(frozen=True, slots=True)
class Runs:
    """Operations of one GPU that follow each other in one replay; arrays of shape (runs,).

    Attributes:
        key: Key of the replay, unique on the GPU; `_NO_KEY` for work outside graphs.
        first: Position of the first operation.
        length: How many there are.
        end_ns: When the last of them ends.
        graph_id: The least graph that any of them names.
    """

    key: Times
    first: npt.NDArray[np.int64]
    length: npt.NDArray[np.int64]
    end_ns: Times
    graph_id: Times

    @property
    def in_graphs(self) -> npt.NDArray[np.int64]:
        """Return the positions of the runs that are part of a replay."""
        return np.flatnonzero(self.key != _NO_KEY)


def link(placed: Placed, launches: Launches) -> Linked:
    """Return what launched each operation of a GPU."""
    calls = Lookup(launches.correlation_id).of(placed.correlation_id)
    launch_ns = np.append(launches.launch_ns, NULL_TIME)[calls]
    is_graph_launch = np.append(launches.is_graph_launch, False)[calls]
    return Linked(placed, launch_ns, _runs(placed, _keys(placed, is_graph_launch)))


def _keys(placed: Placed, is_graph_launch: Flags) -> Times:
    """Return the key of the replay of each operation.

    Rows of one replay have one key: the correlation of their launch; below those the number of
    work without a correlation, by node order and time; one of its own for an envelope.  A row is
    graph work when it says so, or when a graph launch started it (some captures lack the graph
    columns).
    """
    is_node = is_known(placed.graph_node_id)
    is_graph_work = is_node | is_known(placed.graph_id) | is_graph_launch
    is_linked = is_known(placed.correlation_id)
    key = np.where(is_graph_work & is_linked, placed.correlation_id, np.int64(_NO_KEY))
    unlinked = np.flatnonzero(is_node & ~is_linked & (placed.kind != GRAPH))
    key[unlinked] = -_ENVELOPE - _number(placed, unlinked)
    envelopes = np.flatnonzero(placed.kind == GRAPH)
    key[envelopes] = _ENVELOPE + envelopes
    return key


def _number(placed: Placed, unlinked: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return replay numbers of graph work without a correlation.

    Copies have no graphId column, so the graph is taken from the node for every kind.
    """
    node = placed.graph_node_id[unlinked].astype(np.int64)
    of_node = graph_of(node)
    graph = np.where(of_node != 0, of_node, placed.graph_id[unlinked])
    return number_replays(
        GraphWork(graph, node, placed.start_ns[unlinked], placed.end_ns[unlinked])
    )


def _runs(placed: Placed, key: Times) -> Runs:
    first = np.flatnonzero(np.append(True, key[1:] != key[:-1])) if len(key) else key
    graph_id = np.where(is_known(placed.graph_id), placed.graph_id, np.int64(_NO_KEY))
    least = _reduced(np.minimum, graph_id, first)
    return Runs(
        key=key[first],
        first=first,
        length=np.diff(np.append(first, len(key))),
        end_ns=_reduced(np.maximum, placed.end_ns, first),
        graph_id=np.where(least == _NO_KEY, NULL_TIME, least),
    )


def _reduced(function: np.ufunc, values: Times, first: npt.NDArray[np.int64]) -> Times:
    return function.reduceat(values, first) if len(first) else values[:0]


def with_replays(
    gpu_id: int, linked: Linked, replay_id: npt.NDArray[np.int32], *, details: bool
) -> Operations:
    """Return the operations of a GPU with the replay of each run.

    An envelope without a replay is left out: its nodes were recorded too.
    """
    placed, runs = linked.placed, linked.runs
    of_operation = np.repeat(replay_id, runs.length)
    doubled = (placed.kind == GRAPH) & (of_operation == NO_REPLAY)
    kept: slice | Flags = ~doubled if doubled.any() else slice(None)
    return Operations(
        gpu_id=gpu_id,
        kind=placed.kind[kept],
        start_ns=placed.start_ns[kept],
        end_ns=placed.end_ns[kept],
        stream_id=placed.stream_id[kept],
        name_id=placed.name_id[kept],
        correlation_id=placed.correlation_id[kept],
        launch_ns=linked.launch_ns[kept],
        replay_id=of_operation[kept],
        copy_kind=placed.copy_kind[kept],
        details=_details(placed, kept) if details else None,
    )


def _details(placed: Placed, kept: slice | Flags) -> Details:
    return Details(
        context_id=placed.context_id[kept],
        graph_id=placed.graph_id[kept],
        graph_node_id=placed.graph_node_id[kept],
        bytes=placed.bytes[kept],
    )
