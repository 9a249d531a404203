"""The CUDA calls of one GPU's process, and which of them launched what."""

from dataclasses import dataclass
from enum import IntEnum

import duckdb
import numpy as np
import numpy.typing as npt

from traceattr.attribution.intervals import Times
from traceattr.attribution.timeline import Ids, Places, Timeline
from traceattr.ingest.database import read_sql
from traceattr.ingest.gpu_work.order import in_order

NO_LAUNCH = np.iinfo(np.int64).min
"""Begin of a launching call that is not in the trace."""

NONE = -1


class CallKind(IntEnum):
    """What a CUDA call does; codes as in ``sql/host_calls.sql``."""

    SYNC = 0
    LAUNCH = 1
    OTHER = 2


@dataclass(frozen=True, slots=True)
class Calls:
    """CUDA calls of one process in order of start; arrays of shape (calls,).

    Attributes:
        thread: Threads that made them.
        start_ns: Begins.
        end_ns: Ends.
        kind: Values of `CallKind`.
        correlation: What links them to GPU work, -1 where nothing does.
    """

    thread: Ids
    start_ns: Times
    end_ns: Times
    kind: npt.NDArray[np.int8]
    correlation: Ids

    def find(self, correlation: Ids) -> Ids:
        """Return the first call with each correlation, -1 where there is none."""
        if not len(self.correlation):
            return np.full(len(correlation), NONE)
        order = np.argsort(self.correlation, kind="stable")
        numbers = self.correlation[order]
        at = np.minimum(np.searchsorted(numbers, correlation), len(numbers) - 1)
        return np.where((correlation >= 0) & (numbers[at] == correlation), order[at], NONE)


@dataclass(frozen=True, slots=True)
class Launches:
    """What launched each of some operations or replays; arrays of one shape.

    Attributes:
        launch_ns: Begin of the call, `NO_LAUNCH` where it is not in the trace.
        correlation: Of the call, -1 where it is not known.
    """

    launch_ns: Times
    correlation: Ids

    def of(self, at: Ids) -> "Launches":
        """Return those at some positions; at the last position there must be none."""
        return Launches(self.launch_ns[at], self.correlation[at])


@dataclass(frozen=True, slots=True)
class EagerWork:
    """Work that no graph ran, in order of start, and what launched it.

    Attributes:
        start_ns: Begins, shape (operations,).
        is_kernel: Whether it is a kernel and no copy, shape (operations,).
        launches: What launched each.
    """

    start_ns: Times
    is_kernel: npt.NDArray[np.bool_]
    launches: Launches


@dataclass(frozen=True, slots=True)
class GpuLaunches:
    """What launched the work of one GPU.

    Attributes:
        eager: Work outside graphs.
        replays: Launches of the replays, in their order on the timeline.
    """

    eager: EagerWork
    replays: Launches

    def of_operations(self, timeline: Timeline, at: Places) -> Launches:
        """Return what launched the operations at some positions of the timeline; -1 is none.

        Eager work is found by its begin; of work that begins together the first launched counts.
        """
        starts = np.append(timeline.start_ns, 0)[at]
        replay = np.append(timeline.replay, NONE)[at]
        eager = np.searchsorted(self.eager.start_ns, starts)
        by_eager = _with_none(self.eager.launches).of(np.where(at < 0, NONE, eager))
        by_replay = _with_none(self.replays).of(replay)
        is_replay = replay >= 0
        return Launches(
            np.where(is_replay, by_replay.launch_ns, by_eager.launch_ns),
            np.where(is_replay, by_replay.correlation, by_eager.correlation),
        )


def read_calls(
    connection: duckdb.DuckDBPyConnection, gpu_id: int, start_ns: int, end_ns: int
) -> Calls:
    """Return the calls of a GPU's process that overlap an interval, those of launching threads."""
    found = connection.execute(
        read_sql("traceattr.attribution", "host_calls"),
        {"gpu_id": gpu_id, "start_ns": start_ns, "end_ns": end_ns},
    ).fetchnumpy()
    order, starts_ns = in_order(found.pop("start_ns"), found["end_ns"], found["global_tid"])
    return Calls(
        thread=found.pop("global_tid")[order],
        start_ns=starts_ns,
        end_ns=found.pop("end_ns")[order],
        kind=found.pop("kind")[order],
        correlation=found.pop("correlation_id")[order],
    )


def read_launches(connection: duckdb.DuckDBPyConnection, gpu_id: int) -> GpuLaunches:
    """Return what launched everything that ran on a GPU."""
    eager = connection.execute(
        read_sql("traceattr.attribution", "eager_launches"), {"gpu_id": gpu_id}
    ).fetchnumpy()
    # As unsigned numbers, unknown launches come last.
    order = np.lexsort((eager["launch_ns"].view(np.uint64), eager["start_ns"]))
    replays = connection.execute(
        read_sql("traceattr.attribution", "replay_launches"), {"gpu_id": gpu_id}
    ).fetchnumpy()
    return GpuLaunches(
        EagerWork(
            start_ns=eager["start_ns"][order],
            is_kernel=eager["is_kernel"][order].astype(np.bool_),
            launches=Launches(eager["launch_ns"], eager["correlation_id"]).of(order),
        ),
        Launches(replays["launch_ns"], replays["correlation_id"]),
    )


def _with_none(launches: Launches) -> Launches:
    """Return the same with an unknown launch at the end, which is where position -1 leads."""
    return Launches(np.append(launches.launch_ns, NO_LAUNCH), np.append(launches.correlation, NONE))
