"""Figures about idle gaps, as every list of gaps shows them; times are integer ns."""

from dataclasses import astuple, dataclass
from typing import Literal

Completeness = Literal["complete", "incomplete", "unknown"]
GapKindName = Literal["seam", "in-graph", "no work"]


@dataclass(frozen=True, slots=True)
class Cause:
    """What the thread that launched the next operation was doing in idle time; sums to it.

    Attributes:
        sync_ns: In a call that waits for the GPU.
        launch_ns: In a call that launches a kernel or a graph, or in the one that ended the gap.
        api_ns: In another CUDA call: copies, allocations, events.
        os_ns: In an operating-system call outside CUDA calls; 0 when they were not recorded or
            not loaded, and part of `python_ns` then.
        python_ns: In nothing that was recorded: the program itself, in SGLang mostly Python.
        dependency_ns: The host had done its part: the GPU waited for other GPU work, or the
            launch was on its way.
        unknown_ns: The call that launched the next operation is not in the trace.
    """

    sync_ns: int = 0
    launch_ns: int = 0
    api_ns: int = 0
    os_ns: int = 0
    python_ns: int = 0
    dependency_ns: int = 0
    unknown_ns: int = 0

    def __add__(self, other: "Cause") -> "Cause":
        return Cause(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def total_ns(self) -> int:
        """Return the idle time that was explained."""
        return sum(astuple(self))


@dataclass(frozen=True, slots=True)
class SeamTime:
    """The gaps of one GPU that join the same.

    Attributes:
        seam: Forward passes before and after, such as ``draft->verify``; one name where both are
            the same pass; ``no work`` for the edges of the trace and for pauses.
        count: Gaps; one seam of a round has several where eager work runs in it.
        total_ns: Their length.
        median_ns: Median length of one gap.
        p99_ns: 99th percentile of that.
        longest_ns: Longest gap.
        per_round_count: Mean number of gaps in a round of the main kind, None without rounds.
        per_round_ns: Mean time in a round of the main kind, None without rounds.
        cause: What the host was doing.
        rounds_with: In how many of the rounds it occurs, None without rounds.
    """

    seam: str
    count: int
    total_ns: int
    median_ns: int
    p99_ns: int
    longest_ns: int
    per_round_count: float | None
    per_round_ns: int | None
    cause: Cause
    rounds_with: int | None = None


@dataclass(frozen=True, slots=True)
class PairTime:
    """The gaps inside graph replays of one GPU between operations of the same categories.

    Attributes:
        before: Category of the operation that ended last before the gap.
        after: Category of the operation that starts after it.
        count: Gaps.
        total_ns: Their length.
        median_ns: Median length of one gap.
        per_round_count: Mean number of gaps in a round of the main kind, None without rounds.
        per_round_ns: Mean time in a round of the main kind, None without rounds.
    """

    before: str
    after: str
    count: int
    total_ns: int
    median_ns: int
    per_round_count: float | None
    per_round_ns: int | None


@dataclass(frozen=True, slots=True)
class Gap:
    """One gap.

    Attributes:
        start_ns: Begin on the clock of the trace.
        end_ns: End.
        kind: ``seam``, ``in-graph`` or ``no work``.
        seam: What it joins: passes, or categories when it lies in a graph.
        cause: What the host was doing.
        host_range: Innermost NVTX range around the longest part in which no call was recorded;
            None when there is none or none was loaded.
    """

    start_ns: int
    end_ns: int
    kind: GapKindName
    seam: str
    cause: Cause
    host_range: str | None = None

    @property
    def length_ns(self) -> int:
        """Return how long it is."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True)
class LaunchFigures:
    """What launching costs in the rounds of one kind on one GPU; means per round.

    Attributes:
        kind: What the rounds do.
        rounds: How many of them these are means over.
        graph_launches: Graph replays.
        graph_launch_ns: Host time in the calls that launched them; None when a call is missing.
        eager_launches: Kernels launched one by one.
        graph_nodes: Operations that graphs ran; None when graphs hide theirs.
        gpu_span_ns: From the begin of the first operation to the end of the last.
        busy_ns: Time in which at least one operation ran.
        kernel_ns: Sum of the durations of kernels; None when graphs hide theirs.
        cpu_span_ns: From the begin of the first launching call to the end of the last; None when
            a call is missing.
    """

    kind: str
    rounds: int
    graph_launches: float
    graph_launch_ns: int | None
    eager_launches: float
    graph_nodes: float | None
    gpu_span_ns: int
    busy_ns: int
    kernel_ns: int | None
    cpu_span_ns: int | None


@dataclass(frozen=True, slots=True)
class GpuGaps:
    """The idle time of one GPU; seams, pairs, no work and shorter gaps sum to it.

    Attributes:
        gpu: Number of the GPU.
        rank: Tensor-parallel rank, when known.
        pid: Operating-system id of the owning process, when known.
        wall_ns: Length of the window.
        idle_ns: All idle time in it.
        completeness: Whether what the process launched was recorded; where it was not, part of
            the idle time is no idle time.
        rounds: Rounds of the main kind that figures per round are means over; without the first
            where the trace does not show which pass came before it.
        seams: Gaps between forward passes and in eager ones, longest in total first.
        pairs: Gaps inside graph replays, longest in total first; None when graphs hide them.
        no_work: The edges of the trace and pauses, None when there are none.
        shorter_count: Gaps that were left out because they are shorter than asked for.
        shorter_ns: Their length.
        longest: The longest gaps.
        launches: What launching costs, per kind of round.
        knows_os_calls: Whether OS calls were loaded and recorded.
    """

    gpu: int
    rank: int | None
    pid: int | None
    wall_ns: int
    idle_ns: int
    completeness: Completeness
    rounds: int
    seams: tuple[SeamTime, ...]
    pairs: tuple[PairTime, ...] | None
    no_work: SeamTime | None
    shorter_count: int
    shorter_ns: int
    longest: tuple[Gap, ...]
    launches: tuple[LaunchFigures, ...]
    knows_os_calls: bool

    @property
    def cause(self) -> Cause:
        """Return what the host was doing in all seams together."""
        return sum((seam.cause for seam in self.seams), Cause())

    @property
    def seams_ns(self) -> int:
        """Return the time in seams."""
        return sum(seam.total_ns for seam in self.seams)

    @property
    def pairs_ns(self) -> int | None:
        """Return the time in graphs, None when graphs hide it."""
        return None if self.pairs is None else sum(pair.total_ns for pair in self.pairs)
