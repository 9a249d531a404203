"""Everything found on one GPU, for the modules that look at one side of it each."""

from collections.abc import Mapping
from dataclasses import dataclass

import duckdb
import numpy as np

from traceattr.attribution.analysis import Window
from traceattr.attribution.intervals import Times
from traceattr.attribution.kinds import Kinds, find_kinds
from traceattr.attribution.labels import PRECEDENCE, KernelNames
from traceattr.attribution.partition import (
    Operations,
    Partition,
    Segments,
    inside,
    partition,
    segments,
)
from traceattr.attribution.piece_kinds import PieceKind
from traceattr.attribution.pieces import Pieces, find_pieces
from traceattr.attribution.rounds import Rounds, find_rounds
from traceattr.attribution.timeline import Timeline, read_timeline
from traceattr.ingest.gpu_work.operations import Operations as GpuOperations


@dataclass(frozen=True, slots=True)
class Account:
    """One GPU: what ran, which passes and rounds it was, and who owns the window.

    Attributes:
        timeline: Operations and replays, of the whole trace.
        pieces: Forward passes.
        kinds: What each pass is for.
        rounds: What the server repeats.
        names: The kernel names of the trace, classified.
    """

    timeline: Timeline
    pieces: Pieces
    kinds: Kinds
    rounds: Rounds
    names: KernelNames

    def partition(self, window: Window) -> Partition:
        """Return who owns each nanosecond of a window."""
        return partition(self._operations(), window.start_ns, window.end_ns)

    def inside(self, window: Window) -> Times:
        """Return how long each operation runs inside a window."""
        return inside(self._operations(), window.start_ns, window.end_ns)

    def owned_between(self, at: int, first: int, start_ns: int, end_ns: int) -> int:
        """Return what one operation owns of an interval.

        Args:
            at: Its position.
            first: Position of the first operation that ends after the begin of the interval.
            start_ns: Begin of the interval.
            end_ns: Its end.
        """
        if end_ns <= start_ns:
            return 0
        stop = max(at + 1, int(np.searchsorted(self.timeline.start_ns, end_ns)))
        part = slice(first, stop)
        some = Operations(
            self.timeline.start_ns[part],
            self.timeline.end_ns[part],
            PRECEDENCE[self.timeline.label[part]],
        )
        return int(partition(some, start_ns, end_ns).exclusive_ns[at - first])

    def segments(self, window: Window) -> Segments:
        """Return the same as stretches of time, in order."""
        return segments(self._operations(), window.start_ns, window.end_ns)

    def _operations(self) -> Operations:
        timeline = self.timeline
        return Operations(timeline.start_ns, timeline.end_ns, PRECEDENCE[timeline.label])


def open_account(
    connection: duckdb.DuckDBPyConnection,
    operations: GpuOperations,
    names: KernelNames,
    overrides: Mapping[int, PieceKind],
) -> Account:
    """Find the passes and rounds of one GPU."""
    timeline = read_timeline(connection, operations, names)
    pieces = find_pieces(timeline, names)
    kinds = find_kinds(timeline, pieces, names, overrides)
    rounds = find_rounds(timeline, pieces, kinds.of_piece, names)
    return Account(timeline, pieces, kinds, rounds, names)
