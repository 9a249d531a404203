"""Threads beside the scheduler's: they wait in the operating system; one asks CUDA now and then.

What they do says nothing about why a GPU is idle, so whoever tells that has to leave them out.
"""

from collections.abc import Iterator

from traces.description import Simulation
from traces.export_writer import ExportWriter, global_tid
from traces.timeline import Timeline

WATCHDOG, POLLER = 11, 12  # offsets of their thread ids to the process id
WATCHDOG_PERIOD_NS = 1_000_000
POLLER_PERIOD_NS = 20_000_000
QUERY_NS = 2_400
WAKE_UP_NS = 30_000


def write_other_threads(export: ExportWriter, simulation: Simulation, timeline: Timeline) -> None:
    """Write a watchdog of collectives and a poller of sockets for each rank."""
    for rank in range(len(simulation.slowdowns)):
        pid = simulation.pid(rank)
        calls = [call for call in timeline.calls if call.rank == rank]
        window = (calls[0].start_ns, calls[-1].end_ns)
        for offset, name in ((WATCHDOG, "pt_nccl_watchdg"), (POLLER, "ZMQbg/IO/0")):
            thread = global_tid(pid, pid + offset)
            export.row("ThreadNames", nameId=export.string(name), priority=20, globalTid=thread)
        correlation = calls[-1].correlation
        for start_ns in _times(window, WATCHDOG_PERIOD_NS):
            correlation += 1
            _write_watch(export, pid, start_ns, correlation)
        for start_ns in _times(window, POLLER_PERIOD_NS):
            end_ns = start_ns + POLLER_PERIOD_NS - WAKE_UP_NS
            export.osrt("epoll_wait", start_ns, end_ns, pid=pid, tid=pid + POLLER)


def _write_watch(export: ExportWriter, pid: int, start_ns: int, correlation: int) -> None:
    tid = pid + WATCHDOG
    asked_ns = start_ns + QUERY_NS
    export.api(
        "cudaEventQuery_v3020", start_ns, asked_ns, pid=pid, tid=tid, correlation=correlation
    )
    end_ns = start_ns + WATCHDOG_PERIOD_NS - WAKE_UP_NS
    export.osrt("pthread_cond_timedwait", asked_ns + 500, end_ns, pid=pid, tid=tid)


def _times(window: tuple[int, int], period_ns: int) -> Iterator[int]:
    start_ns, end_ns = window
    yield from range(start_ns, end_ns, period_ns)
