"""What the host was doing in each idle gap, clipped to the gap and to the launching thread."""

from dataclasses import dataclass

import duckdb
import numpy as np

from traceattr.attribution.gap_figures import Cause
from traceattr.attribution.host_calls import (
    NO_LAUNCH,
    NONE,
    CallKind,
    Calls,
    Launches,
)
from traceattr.attribution.intervals import Cover, Times, union
from traceattr.attribution.seams import GapKind, Gaps
from traceattr.attribution.timeline import Ids, Places
from traceattr.ingest.database import read_sql

_LAUNCH, _DEPENDENCY, _UNKNOWN = 1, 5, 6
"""Columns of `Story.parts_ns`; those before `_DEPENDENCY` are what the host can be seen doing."""


@dataclass(frozen=True, slots=True)
class Story:
    """What the host was doing in each gap of one GPU; inside graphs it does not matter.

    Attributes:
        gaps: The gaps; the arrays are about those outside graphs, in order.
        parts_ns: Columns are the fields of `Cause`; shape (gaps outside graphs, 7).
        thread: Thread that ended each gap, -1 where it is not known or did not matter.
        launched_ns: When the host had done its part, in each gap.
        knows_os_calls: Whether OS calls were loaded and recorded.
    """

    gaps: Gaps
    parts_ns: Times
    thread: Ids
    launched_ns: Times
    knows_os_calls: bool

    def cause(self, chosen: Ids | Places) -> Cause:
        """Return the sums over the gaps at some positions."""
        is_in_graph = self.gaps.kind[chosen] == GapKind.IN_GRAPH
        sums = self.parts_ns[self._rows(chosen[~is_in_graph])].sum(axis=0)
        sums[_DEPENDENCY] += self.gaps.lengths_ns(chosen[is_in_graph]).sum()
        return Cause(*sums.tolist())

    def launch_of(self, at: int) -> tuple[int, int]:
        """Return the thread that ended one gap, -1 for none, and when it had done its part."""
        if self.gaps.kind[at] == GapKind.IN_GRAPH:
            return NONE, int(self.gaps.start_ns[at])
        row = self._rows(np.array(at))
        return int(self.thread[row]), int(self.launched_ns[row])

    def of_every_gap(self) -> tuple[Ids, Times]:
        """Return thread and parts of all gaps, those in graphs included."""
        thread = np.full(len(self.gaps.kind), NONE)
        parts_ns = np.zeros((len(thread), self.parts_ns.shape[1]), np.int64)
        parts_ns[:, _DEPENDENCY] = self.gaps.length_ns
        thread[self.gaps.outside] = self.thread
        parts_ns[self.gaps.outside] = self.parts_ns
        return thread, parts_ns

    def _rows(self, positions: Ids | Places) -> Ids:
        rows: Ids = np.searchsorted(self.gaps.outside, positions)
        return rows


def tell_story(
    connection: duckdb.DuckDBPyConnection, gaps: Gaps, by: Launches, calls: Calls
) -> Story:
    """Return what the host was doing in each gap of one GPU.

    Algorithm: a gap is ended by an operation, and that by a call.  If the call began before the
    GPU ran dry, the host is not to blame.  Otherwise the thread that made it is watched from the
    begin of the gap to the end of the call; what then remains is the launch on its way.

    Args:
        connection: Holds the trace, and OS calls if they were loaded.
        gaps: The gaps.
        by: What launched the operation that ended each gap outside graphs.
        calls: The calls of the process around the gaps.
    """
    start_ns, end_ns = gaps.start_ns[gaps.outside], gaps.end_ns[gaps.outside]
    is_known = by.launch_ns != NO_LAUNCH
    is_late = is_known & (by.launch_ns >= gaps.since_ns)
    call = np.where(is_late, calls.find(by.correlation), NONE)
    thread = np.append(calls.thread, NONE)[call]
    begun_ns = np.clip(np.append(calls.start_ns, 0)[call], start_ns, end_ns)
    launched_ns = np.clip(np.append(calls.end_ns, 0)[call], start_ns, end_ns)
    knows_os_calls = _knows_os_calls(connection)
    window = (int(start_ns[0]), int(end_ns[-1])) if len(call) else (0, 0)
    parts = np.zeros((len(call), 7), np.int64)
    parts[:, _DEPENDENCY] = np.where(is_known & ~is_late, end_ns - start_ns, 0)
    for one in np.unique(thread[call >= 0]).tolist():
        mine = np.flatnonzero((thread == one) & (call >= 0))
        covers = _call_covers(calls, one)
        if knows_os_calls:
            covers[-1] = _with_os_calls(connection, covers[-1], one, window)
        parts[mine, :_DEPENDENCY] = _split(covers, start_ns[mine], begun_ns[mine])
        parts[mine, _LAUNCH] += launched_ns[mine] - begun_ns[mine]
        parts[mine, _DEPENDENCY] = end_ns[mine] - launched_ns[mine]
    parts[:, _UNKNOWN] = end_ns - start_ns - parts.sum(axis=1)
    return Story(gaps, parts, thread, launched_ns, knows_os_calls)


def longest_quiet(
    connection: duckdb.DuckDBPyConnection,
    calls: Calls,
    thread: int,
    start_ns: int,
    end_ns: int,
) -> tuple[int, int]:
    """Return the longest part of an interval in which a thread made no call that was recorded."""
    busy = _call_covers(calls, thread)[-1]
    if _knows_os_calls(connection):
        busy = _with_os_calls(connection, busy, thread, (start_ns, end_ns))
    inside = (busy.end_ns > start_ns) & (busy.start_ns < end_ns)
    clipped = Cover(
        np.maximum(busy.start_ns[inside], start_ns), np.minimum(busy.end_ns[inside], end_ns)
    )
    quiet = clipped.gaps(start_ns, end_ns)
    if not len(quiet.start_ns):
        return start_ns, start_ns
    at = int(np.argmax(quiet.end_ns - quiet.start_ns))
    return int(quiet.start_ns[at]), int(quiet.end_ns[at])


def _call_covers(calls: Calls, thread: int) -> list[Cover]:
    """Return when a thread was in CUDA calls of the first kind, of the first two, and so on.

    The last one is there twice: OS calls are to be added to it.
    """
    mine = calls.thread == thread
    start_ns, end_ns, kind = calls.start_ns[mine], calls.end_ns[mine], calls.kind[mine]
    covers = [union(start_ns[kind <= last], end_ns[kind <= last]) for last in CallKind]
    return [*covers, covers[-1]]


def _with_os_calls(
    connection: duckdb.DuckDBPyConnection, cover: Cover, thread: int, window: tuple[int, int]
) -> Cover:
    """Return a cover with the OS calls of a thread that overlap a window."""
    found = connection.execute(
        read_sql("traceattr.attribution", "os_calls_of_thread"),
        {"global_tid": thread, "start_ns": window[0], "end_ns": window[1]},
    ).fetchnumpy()
    starts = np.concatenate((cover.start_ns, found["start_ns"]))
    ends = np.concatenate((cover.end_ns, found["end_ns"]))
    order = np.argsort(starts, kind="stable")
    return union(starts[order], ends[order])


def _split(covers: list[Cover], start_ns: Times, end_ns: Times) -> Times:
    """Return how much of each interval is in calls of each kind, and in none; shape (n, 5)."""
    reached = [cover.covered_before(end_ns) - cover.covered_before(start_ns) for cover in covers]
    steps = [np.zeros(len(start_ns), np.int64), *reached, end_ns - start_ns]
    return np.diff(np.stack(steps, axis=1), axis=1)


def _knows_os_calls(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether OS calls were loaded, and any was recorded."""
    if not has_view(connection, "os_call"):
        return False
    return bool(connection.execute("SELECT 1 FROM os_call LIMIT 1").fetchall())


def has_view(connection: duckdb.DuckDBPyConnection, name: str) -> bool:
    """Return whether a part of the trace was loaded."""
    query = "SELECT 1 FROM duckdb_views() WHERE view_name = ?"
    return bool(connection.execute(query, [name]).fetchall())
