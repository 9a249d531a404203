"""The tables ``replay`` and ``gpu_op``, from rows as they were read."""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from traceattr.ingest.arrow_arrays import integer_array
from traceattr.ingest.database import run_sql
from traceattr.ingest.for_each import for_each
from traceattr.ingest.gpu_work.columns import is_known, null_of
from traceattr.ingest.gpu_work.linking import NO_REPLAY, Launches, Linked, link, with_replays
from traceattr.ingest.gpu_work.lookup import Lookup
from traceattr.ingest.gpu_work.operations import Operations, as_table
from traceattr.ingest.gpu_work.placing import place
from traceattr.ingest.held import Held
from traceattr.ingest.identity import Identity
from traceattr.ingest.names import NameKeys
from traceattr.ingest.stage import run_over

OPERATIONS = "_gpu_op"
"""Under this name the operations are registered; a cursor knows nothing of it."""


@dataclass(frozen=True, slots=True)
class GpuWork:
    """What the GPUs of a trace ran.

    Attributes:
        gpus: The operations of each GPU, in order.
        table: All of them, sharing the memory; behind ``_work`` and ``gpu_op``.
    """

    gpus: tuple[Operations, ...]
    table: pa.Table

    @property
    def recorded_ns(self) -> tuple[int, int]:
        """Return when the first operation began and the last one ended."""
        first_ns = min(int(one.start_ns[0]) for one in self.gpus)
        return first_ns, max(int(one.end_ns.max()) for one in self.gpus)


def resolve(
    connection: duckdb.DuckDBPyConnection,
    work: Sequence[Held],
    identity: Identity,
    names: NameKeys,
    *,
    details: bool,
) -> GpuWork:
    """Make ``replay`` and ``gpu_op``, and return what is in the latter.

    Args:
        connection: Holds the table of launching calls.
        work: Rows of each kind, in the order of `KINDS`; given up.
        identity: The GPUs.
        names: Kernel names by their ids.
        details: Whether ``gpu_op`` is wanted with all its columns; without, there is none.
    """
    gpus = identity.gpus
    owners = {owner: gpu.gpu_id for owner, gpu in identity.gpu_of.items()}
    placed = place(work, owners, len(gpus), names)
    launches = {pid: _launches(connection, pid) for pid in {gpu.global_pid for gpu in gpus}}
    linked = for_each(
        lambda pair: link(pair[0], launches[pair[1].global_pid]), zip(placed, gpus, strict=True)
    )
    pids = [gpu.global_pid for gpu in gpus]
    run_over(connection, "replay", _runs(linked, pids))
    replays = [_replays(connection, at, one) for at, one in enumerate(linked)]
    operations = tuple(
        with_replays(at, *pair, details=details)
        for at, pair in enumerate(zip(linked, replays, strict=True))
    )
    table = as_table(operations)
    connection.register(OPERATIONS, table)
    run_sql(connection, "_work")
    if details:
        run_sql(connection, "gpu_op")
    return GpuWork(operations, table)


def _launches(connection: duckdb.DuckDBPyConnection, global_pid: int | None) -> Launches:
    found = connection.execute(
        "SELECT correlation_id, launch_ns, is_graph_launch FROM _launch WHERE global_pid = ?",
        [global_pid],
    ).fetchnumpy()
    return Launches(found["correlation_id"], found["launch_ns"], found["is_graph_launch"])


def _runs(linked: Sequence[Linked], pids: Sequence[int | None]) -> pa.Table:
    """Return the stretches of each GPU that are part of a replay."""
    parts = [_runs_of(at, *pair) for at, pair in enumerate(zip(linked, pids, strict=True))]
    return pa.concat_tables(parts)


def _runs_of(gpu_id: int, linked: Linked, global_pid: int | None) -> pa.Table:
    runs, placed = linked.runs, linked.placed
    chosen = runs.in_graphs
    first = runs.first[chosen]
    pid = null_of(np.dtype(np.int64)) if global_pid is None else global_pid
    return pa.table(
        {
            "gpu_id": integer_array(np.full(len(chosen), gpu_id, np.int32)),
            "replay_key": integer_array(runs.key[chosen]),
            "global_pid": _nullable(np.full(len(chosen), pid)),
            "graph_id": _nullable(runs.graph_id[chosen]),
            "correlation_id": _nullable(placed.correlation_id[first]),
            "launch_ns": _nullable(linked.launch_ns[first]),
            "start_ns": integer_array(placed.start_ns[first]),
            "end_ns": integer_array(runs.end_ns[chosen]),
            "operations": integer_array(runs.length[chosen]),
        }
    )


def _nullable(numbers: npt.NDArray[np.integer]) -> pa.Array:
    return integer_array(numbers.astype(np.int64), is_known(numbers))


def _replays(
    connection: duckdb.DuckDBPyConnection, gpu_id: int, linked: Linked
) -> npt.NDArray[np.int32]:
    """Return the replay of each run of a GPU."""
    found = connection.execute(
        "SELECT replay_key, replay_id FROM _replay WHERE gpu_id = ?", [gpu_id]
    ).fetchnumpy()
    at = Lookup(found["replay_key"]).of(linked.runs.key)
    return np.append(found["replay_id"], np.int32(NO_REPLAY))[at]
