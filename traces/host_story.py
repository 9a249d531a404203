"""What the scheduler thread of a rank was doing while its GPU had nothing to do."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from traces.timeline import ApiCall, GpuOp, HostSpan, Timeline
from traces.truth import CauseTruth, GapTruth

AnySpan = TypeVar("AnySpan", ApiCall, HostSpan)

LAUNCHES = ("cudaGraphLaunch", "cudaLaunchKernel", "cuLaunchKernel")


class HostStory:
    """The calls of one scheduler thread, to be clipped to gaps of its GPU."""

    def __init__(self, rank: int, timeline: Timeline, operations: Iterable[GpuOp]) -> None:
        """Take what concerns `rank`; `operations` are those that the trace shows of it."""
        self._calls = [call for call in timeline.calls if call.rank == rank]
        self._call_ends = [call.end_ns for call in self._calls]
        self._os_calls = sorted(call for call in timeline.os_calls if call.rank == rank)
        self._os_ends = [call.end_ns for call in self._os_calls]
        self._pauses = [  # by their middles
            (span.start_ns + span.end_ns) // 2 for span in timeline.pauses if span.rank == rank
        ]
        launched = {call.correlation: call for call in self._calls}
        self._launch_at = {op.start_ns: launched[op.correlation] for op in operations}

    def is_pause(self, start_ns: int, end_ns: int) -> bool:
        """Whether nobody had asked for anything in some part of the gap."""
        return bisect_left(self._pauses, start_ns) < bisect_left(self._pauses, end_ns)

    def gap(self, start_ns: int, end_ns: int) -> GapTruth:
        """Tell what happened in one gap, which the start of an operation ended."""
        launch = self._launch_at[end_ns]
        if launch.start_ns < start_ns:
            return GapTruth(start_ns, end_ns, CauseTruth(dependency_ns=end_ns - start_ns))
        cause = CauseTruth()
        at_ns = start_ns
        for call in _clipped(self._calls, self._call_ends, start_ns, end_ns):
            cause += self._outside_cuda(at_ns, call.start_ns) + _of_call(call, launch)
            at_ns = call.end_ns
        return GapTruth(start_ns, end_ns, cause + self._outside_cuda(at_ns, end_ns))

    def _outside_cuda(self, start_ns: int, end_ns: int) -> CauseTruth:
        os_ns = sum(
            call.end_ns - call.start_ns
            for call in _clipped(self._os_calls, self._os_ends, start_ns, end_ns)
        )
        return CauseTruth(os_ns=os_ns, python_ns=end_ns - start_ns - os_ns)


def _clipped(
    spans: Sequence[AnySpan], ends: Sequence[int], start_ns: int, end_ns: int
) -> Iterator[AnySpan]:
    """Yield what `spans`, which follow each other, have in common with the gap."""
    for at in range(bisect_right(ends, start_ns), len(spans)):
        span = spans[at]
        if span.start_ns >= end_ns:
            return
        yield span._replace(start_ns=max(span.start_ns, start_ns), end_ns=min(span.end_ns, end_ns))


def _of_call(call: ApiCall, launch: ApiCall) -> CauseTruth:
    length_ns = call.end_ns - call.start_ns
    if call.blocks:
        return CauseTruth(sync_ns=length_ns)
    if call.correlation == launch.correlation or call.name.startswith(LAUNCHES):
        return CauseTruth(launch_ns=length_ns)
    return CauseTruth(api_ns=length_ns)
