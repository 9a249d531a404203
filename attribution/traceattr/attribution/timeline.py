"""The operations and replays of one GPU in order of time."""

from dataclasses import dataclass

import duckdb
import numpy as np
import numpy.typing as npt

from traceattr.attribution.intervals import Times
from traceattr.attribution.labels import KernelNames
from traceattr.ingest.gpu_work.columns import Integers
from traceattr.ingest.gpu_work.operations import Operations

Ids = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]
"""Positions in another array, one for each operation; not to be multiplied."""

Labels = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Replays:
    """Launches of CUDA graphs on one GPU, in order of start; arrays of shape (replays,).

    Attributes:
        replay_id: As in the table ``replay``, ascending.
        graph_id: Graph, unique within the process; -1 where it is not known.
        is_envelope: Whether its operations are hidden.
        start_ns: Begins.
        end_ns: Ends.
    """

    replay_id: Ids
    graph_id: Ids
    is_envelope: npt.NDArray[np.bool_]
    start_ns: Times
    end_ns: Times


@dataclass(frozen=True, slots=True)
class Timeline:
    """Operations of one GPU, in order of start; arrays of shape (operations,).

    Attributes:
        gpu_id: Number of the GPU.
        start_ns: Begins.
        end_ns: Ends.
        label: Index into `traceattr.attribution.labels.LABELS`.
        name_id: Kernel name, -1 for what has none.
        replay: Position in `replays`, -1 for eager work.
        is_readback: Whether it is a copy from the device to the host.
        is_forward: Whether it is on the stream that replays graphs; SGLang prepares batches and
            copies results on streams of their own.
        replays: The graph launches.
    """

    gpu_id: int
    start_ns: Times
    end_ns: Times
    label: Labels
    name_id: npt.NDArray[np.int32]
    replay: Places
    is_readback: npt.NDArray[np.bool_]
    is_forward: npt.NDArray[np.bool_]
    replays: Replays

    def touches(self, start_ns: int, end_ns: int) -> npt.NDArray[np.bool_]:
        """Return which operations are of a window: one of length zero covers nothing but did run.

        Args:
            start_ns: Begin of the window.
            end_ns: Its end; what begins there is outside.
        """
        covers = (self.start_ns < end_ns) & (self.end_ns > start_ns)
        is_instant = self.start_ns == self.end_ns
        inside = (self.start_ns >= start_ns) & (self.start_ns <= end_ns)
        return np.asarray(covers | (is_instant & inside), np.bool_)


DEVICE_TO_HOST = 2
"""CUpti_ActivityMemcpyKind."""


def read_timeline(
    connection: duckdb.DuckDBPyConnection, operations: Operations, names: KernelNames
) -> Timeline:
    """Return one GPU; operations keep their order and share their memory."""
    replays = _replays(connection, operations.gpu_id)
    replay = _positions(operations.replay_id, replays)
    return Timeline(
        gpu_id=operations.gpu_id,
        start_ns=operations.start_ns,
        end_ns=operations.end_ns,
        label=names.label_operations(operations.kind, operations.name_id),
        name_id=operations.name_id,
        replay=replay,
        is_readback=operations.copy_kind == DEVICE_TO_HOST,
        is_forward=_forward(operations.stream_id, replay),
        replays=replays,
    )


def _positions(replay_id: Places, replays: Replays) -> Places:
    """Return the position of each replay; the ids of one GPU follow each other."""
    first = int(replays.replay_id[0]) if len(replays.replay_id) else 0
    return np.maximum(replay_id - first, -1) if first else replay_id


def _forward(stream_id: Integers, replay: Places) -> npt.NDArray[np.bool_]:
    """Return what runs on the stream that most graph work runs on; everything without graphs."""
    streams, counts = np.unique(stream_id[replay >= 0], return_counts=True)
    if not len(streams):
        return np.ones(len(stream_id), np.bool_)
    is_main: npt.NDArray[np.bool_] = stream_id == streams[np.argmax(counts)]
    return is_main


def _replays(connection: duckdb.DuckDBPyConnection, gpu_id: int) -> Replays:
    """Fetch the replays; their ids ascend with their start on each GPU."""
    found = connection.execute(
        "SELECT replay_id, coalesce(graph_id, -1) AS graph_id, traced = 'graph' AS is_envelope,"
        " start_ns, end_ns FROM replay WHERE gpu_id = ? ORDER BY replay_id",
        [gpu_id],
    ).fetchnumpy()
    return Replays(
        replay_id=found["replay_id"].astype(np.int64),
        graph_id=found["graph_id"],
        is_envelope=found["is_envelope"].astype(np.bool_),
        start_ns=found["start_ns"],
        end_ns=found["end_ns"],
    )
