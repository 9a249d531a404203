"""Why the simulator says that a GPU was idle: calls on the scheduler's thread, one by one."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from tests.recordings import recorded
from traces.answer import truth_of
from traces.description import Simulation
from traces.export_writer import global_tid
from traces.host_story import HostStory
from traces.simulate import run
from traces.timeline import ApiCall, GpuOp, HostSpan, Timeline
from traces.truth import CauseTruth
from traces.workload import Set

DECODE = Simulation(rounds=2, round_program="decode_blocking")
SYNC = "cudaStreamSynchronize_v3020"
LAUNCH, GRAPH, COPY = "cudaLaunchKernel_v7000", "cudaGraphLaunch_v10000", "cudaMemcpyAsync_v3020"


def story(calls: list[ApiCall], os_calls: list[HostSpan] | None = None) -> HostStory:
    """Tell of a GPU whose operation of correlation 9 ends a gap at 1000."""
    timeline = Timeline(calls=calls, os_calls=os_calls or [])
    ends = [GpuOp(1000, 1100, 0, "main", Set(8), 9, "other", 0)]
    return HostStory(0, timeline, ends)


@pytest.mark.parametrize(
    ("calls", "os_calls", "cause"),
    [
        ([ApiCall(50, 90, 0, LAUNCH, 9)], [], CauseTruth(dependency_ns=900)),
        (
            [
                ApiCall(40, 300, 0, "cudaStreamSynchronize_v3020", 1, True),
                ApiCall(700, 990, 0, GRAPH, 9),
            ],
            [],
            CauseTruth(sync_ns=200, launch_ns=290, python_ns=410),
        ),
        (
            [ApiCall(300, 400, 0, "cudaEventQuery_v3020", 1), ApiCall(900, 1200, 0, COPY, 9)],
            [],
            CauseTruth(api_ns=100, launch_ns=100, python_ns=700),
        ),
        (
            [ApiCall(300, 400, 0, LAUNCH, 1), ApiCall(900, 950, 0, COPY, 9)],
            [],
            CauseTruth(launch_ns=150, python_ns=750),
        ),
        (
            [ApiCall(400, 500, 0, COPY, 1, True), ApiCall(900, 1000, 0, LAUNCH, 9)],
            [HostSpan(20, 450, 0, "futex"), HostSpan(800, 950, 0, "recv")],
            CauseTruth(sync_ns=100, launch_ns=100, os_ns=400, python_ns=300),
        ),
    ],
    ids=["launched before", "sync", "other call", "a launch before the last", "system calls"],
)
def test_each_instant_of_a_gap_has_one_cause(
    calls: list[ApiCall], os_calls: list[HostSpan], cause: CauseTruth
) -> None:
    assert story(calls, os_calls).gap(100, 1000).cause == cause


def test_a_copy_to_pageable_memory_blocks_and_a_pinned_one_does_not() -> None:
    blocking = {call.blocks for call in run(DECODE).calls if call.name == COPY}
    pinned = Simulation(rounds=2, round_program="decode")

    assert blocking == {True, False}  # from the device, and to it
    assert {call.blocks for call in run(pinned).calls if call.name == COPY} == {False}


def test_other_threads_change_nothing_but_the_file() -> None:
    path, truth = recorded(replace(DECODE, other_threads=True))

    assert truth == truth_of(run(DECODE), DECODE)
    with closing(sqlite3.connect(path)) as connection:
        for table in ("OSRT_API", "CUPTI_ACTIVITY_KIND_RUNTIME"):
            sql = f"SELECT DISTINCT globalTid FROM {table}"  # noqa: S608
            threads = {thread for (thread,) in connection.execute(sql)}
            for gpu in truth.gpus:
                assert global_tid(gpu.pid) in threads
                assert global_tid(gpu.pid, gpu.pid + 11) in threads
        sql = "SELECT count(*), count(DISTINCT correlationId) FROM CUPTI_ACTIVITY_KIND_RUNTIME"
        rows, ids = connection.execute(
            f"{sql} WHERE globalTid >> 24 << 24 = ?", (global_tid(truth.gpus[0].pid, 0),)
        ).fetchone()
        assert rows == ids
