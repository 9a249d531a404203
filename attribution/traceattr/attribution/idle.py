"""Which kind of idle each gap is."""

from dataclasses import dataclass

import duckdb
import numpy as np
import numpy.typing as npt

from traceattr.attribution.analysis import Idle
from traceattr.attribution.intervals import Cover, Times


@dataclass(frozen=True, slots=True)
class _Replays:
    """Replays of one GPU in order of start, and whether any was traced per node."""

    start_ns: Times
    end_ns: Times
    any_by_node: bool


def split_idle(
    connection: duckdb.DuckDBPyConnection, gpu_id: int, gaps: Cover, *, hides_gaps: bool
) -> Idle:
    """Return the idle time of one GPU by where it lies; see `Idle`.

    Args:
        connection: Holds the trace.
        gpu_id: Number of the GPU.
        gaps: Where nothing runs.
        hides_gaps: Whether graphs ran on this GPU whose nodes were not recorded.
    """
    replays = _replays(connection, gpu_id)
    length = gaps.end_ns - gaps.start_ns
    in_graph = _in_graph(replays, gaps)
    between = _between(replays, gaps) & ~in_graph
    is_unknown = hides_gaps and not replays.any_by_node
    return Idle(
        total_ns=gaps.total_ns,
        in_graph_ns=None if is_unknown else int(length[in_graph].sum()),
        between_graph_ns=int(length[between].sum()),
        other_ns=int(length[~in_graph & ~between].sum()),
        edge_ns=int(length[_at_edge(connection, gpu_id, gaps)].sum()),
    )


def _replays(connection: duckdb.DuckDBPyConnection, gpu_id: int) -> _Replays:
    found = connection.execute(
        "SELECT start_ns, end_ns, traced = 'node' AS is_node FROM replay"
        " WHERE gpu_id = ? ORDER BY start_ns, replay_id",
        [gpu_id],
    ).fetchnumpy()
    return _Replays(found["start_ns"], found["end_ns"], bool(found["is_node"].any()))


def _in_graph(replays: _Replays, gaps: Cover) -> npt.NDArray[np.bool_]:
    """Return whether one replay reaches from before each gap to after it."""
    if not len(replays.start_ns):
        return np.zeros(len(gaps.start_ns), np.bool_)
    latest: Times = np.maximum.accumulate(replays.end_ns)
    at = np.searchsorted(replays.start_ns, gaps.start_ns, side="right") - 1
    return (at >= 0) & (latest[at] >= gaps.end_ns)


def _between(replays: _Replays, gaps: Cover) -> npt.NDArray[np.bool_]:
    """Return whether each gap lies after the first replay began and before the last one ended."""
    if not len(replays.start_ns):
        return np.zeros(len(gaps.start_ns), np.bool_)
    first_ns, last_ns = int(replays.start_ns[0]), int(replays.end_ns.max())
    return (gaps.start_ns >= first_ns) & (gaps.end_ns <= last_ns)


def _at_edge(
    connection: duckdb.DuckDBPyConnection, gpu_id: int, gaps: Cover
) -> npt.NDArray[np.bool_]:
    """Return whether each gap lies before the GPU's first operation or after its last."""
    row = connection.execute(
        "SELECT min(start_ns), max(end_ns) FROM gpu_op WHERE gpu_id = ?", [gpu_id]
    ).fetchone()
    assert row is not None
    first_ns, last_ns = int(row[0]), int(row[1])
    return (gaps.end_ns <= first_ns) | (gaps.start_ns >= last_ns)
