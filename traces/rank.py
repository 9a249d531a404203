"""One process with one GPU: where its host and its streams have got to, and its luck."""

from collections import defaultdict
from random import Random

from traces.timeline import ApiCall, HostSpan, HostWait, Timeline
from traces.workload import Lane, Span

SESSION_OFFSET_NS = 1_200_000_000  # a server has started and captured its graphs by then
DURATION_JITTER = 0.02
GAP_IN_STREAM_NS = (900, 2_200)
LAUNCH_LATENCY_NS = (4_200, 9_000)
BETWEEN_CALLS_NS = (1_000, 3_000)
SYNC_RETURN_NS = (3_000, 8_000)
EVENT_CALL_NS = (1_200, 2_600)


class Rank:
    """A host that makes CUDA calls and a GPU whose streams they fill."""

    def __init__(self, index: int, seed: int, slowdown: float, timeline: Timeline) -> None:
        """Start with nothing done; a rank of 1.01 takes 1 % longer for everything."""
        self.index = index
        self.host_ns = SESSION_OFFSET_NS
        self.free_ns: dict[Lane, int] = {"main": 0, "alternate": 0, "copy": 0, "schedule": 0}
        self._slowdown = slowdown
        self._random = Random(f"{seed}/{index}")
        self._correlation = 0
        self._timeline = timeline
        self._events: defaultdict[str, list[int]] = defaultdict(list)
        self._range: tuple[int, str] | None = None

    def draw(self, span: Span) -> int:
        """Draw a time from `span`."""
        low, high = span
        return low + int((high - low) * self._random.random())

    def draw_short(self, span: Span) -> int:
        """Draw a time from `span`, most of them near its low end."""
        low, high = span
        share = self._random.random()
        return low + int((high - low) * share * share * share)

    def duration(self, nominal_ns: float) -> int:
        """Return how long something takes this time on this GPU."""
        jitter = 1 + DURATION_JITTER * (2 * self._random.random() - 1)
        return max(1, int(nominal_ns * jitter * self._slowdown))

    def call(self, name: str, duration_ns: int, *, blocks: bool = False) -> ApiCall:
        """Make a CUDA call; the host has moved on when it returns."""
        self._correlation += 1
        start = self.host_ns
        call = ApiCall(start, start + duration_ns, self.index, name, self._correlation, blocks)
        self._timeline.calls.append(call)
        self.host_ns = call.end_ns + self.draw(BETWEEN_CALLS_NS)
        return call

    def ready(self, call: ApiCall, lane: Lane) -> int:
        """Return when what `call` launched can begin on `lane`."""
        after_launch = call.start_ns + self.draw(LAUNCH_LATENCY_NS)
        return max(after_launch, self.free_ns[lane] + self.draw(GAP_IN_STREAM_NS))

    def last_until(self, call: ApiCall, done_ns: int) -> None:
        """Let the call just made last until `done_ns` and the way back."""
        longer = call._replace(end_ns=max(call.end_ns, done_ns + self.draw(SYNC_RETURN_NS)))
        self._timeline.calls[-1] = longer
        self.host_ns = max(self.host_ns, longer.end_ns + self.draw(BETWEEN_CALLS_NS))

    def synchronize(self, lane: Lane) -> None:
        """Wait for a stream."""
        self._wait("cudaStreamSynchronize_v3020", self.free_ns[lane], lane, is_event=False)

    def record(self, event: str, lane: Lane) -> None:
        """Record an event at the end of what `lane` has got so far."""
        self.call("cudaEventRecord_v3020", self.draw(EVENT_CALL_NS))
        self._events[event].append(self.free_ns[lane])

    def join(self, lane: Lane, event: str) -> None:
        """Let a stream wait for the last event of that name, if there is one."""
        if self._events[event]:
            self.call("cudaStreamWaitEvent_v3020", self.draw(EVENT_CALL_NS))
            self.free_ns[lane] = max(self.free_ns[lane], self._events[event][-1])

    def wait_for(self, event: str, behind: int) -> None:
        """Wait for the last event of that name, or one before it, if there is one."""
        times = self._events[event]
        if len(times) > behind:
            done_ns = times[len(times) - 1 - behind]
            self._wait("cudaEventSynchronize_v3020", done_ns, "main", is_event=True)

    def enter(self, name: str) -> None:
        """Leave the scheduler's present range and enter another one."""
        self.leave()
        self._range = (self.host_ns, name)

    def leave(self) -> None:
        """Leave the scheduler's present range."""
        if self._range is not None and self._range[0] < self.host_ns - 1:
            start, name = self._range
            self._timeline.ranges.append(HostSpan(start, self.host_ns - 1, self.index, name))
        self._range = None

    def _wait(self, name: str, done_ns: int, lane: Lane, *, is_event: bool) -> None:
        done = done_ns + self.draw(SYNC_RETURN_NS)
        duration = max(self.draw((1_500, 2_500)), done - self.host_ns)
        call = self.call(name, duration, blocks=True)
        times = (call.start_ns + 300, call.end_ns - 400)
        self._timeline.waits.append(HostWait(*times, self.index, call.correlation, lane, is_event))
