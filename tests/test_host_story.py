"""What the host was doing in gaps: clipped to the gap, to the process and to the thread."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.decoding import ATTENTION, GEMM
from tests.loading import PID, SECOND_PID
from traceattr.attribution.choice import Choice
from traceattr.attribution.gap_figures import Cause, Gap, LaunchFigures
from traceattr.attribution.gap_report import GapReport, report_gaps
from traceattr.ingest.host import load_host_ranges, load_os_calls
from traceattr.ingest.trace import open_trace
from traceattr.rules.rule_set import load_rules
from traces.export_writer import ExportWriter

LAUNCH = "cudaLaunchKernel_v7000"
GRAPH_LAUNCH = "cudaGraphLaunch_v10000"
THREAD, OTHER_THREAD = 77, 78


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trace.sqlite"


@contextmanager
def one_gap(path: Path, *, launched: tuple[int, int] | None = (180, 190)) -> Iterator[ExportWriter]:
    """Write two kernels with a gap from 100 to 200, the second launched at some time."""
    with ExportWriter(path) as export:
        export.api(LAUNCH, 10, 15, pid=PID, tid=THREAD, correlation=1)
        export.kernel("a", 50, 100, pid=PID, correlation=1)
        if launched:
            export.api(LAUNCH, *launched, pid=PID, tid=THREAD, correlation=2)
        export.kernel("b", 200, 250, pid=PID, correlation=2)
        yield export


def report(path: Path, window: tuple[int | None, int | None] = (None, None)) -> GapReport:
    with open_trace(path) as trace:
        load_os_calls(trace)
        load_host_ranges(trace)
        return report_gaps(trace, load_rules(), Choice(window=window))


def gaps(path: Path) -> list[Gap]:
    return sorted(report(path).per_gpu[0].longest, key=lambda gap: gap.start_ns)


def cause(path: Path) -> Cause:
    [gap] = gaps(path)
    return gap.cause


def test_a_launch_before_the_gap_leaves_the_host_out_of_it(path: Path) -> None:
    with one_gap(path, launched=(60, 65)) as export:
        export.api("cudaStreamSynchronize_v3020", 66, 300, pid=PID, tid=THREAD, correlation=3)

    assert cause(path) == Cause(dependency_ns=100)


def test_a_late_launch_is_explained_by_the_thread_that_made_it(path: Path) -> None:
    with one_gap(path) as export:
        export.api("cudaStreamSynchronize_v3020", 20, 107, pid=PID, tid=THREAD, correlation=3)
        export.osrt("futex", 110, 130, pid=PID, tid=THREAD)
        export.api("cudaMalloc_v3020", 140, 144, pid=PID, tid=THREAD, correlation=4)
        export.api(GRAPH_LAUNCH, 150, 151, pid=PID, tid=THREAD, correlation=5)

    assert cause(path) == Cause(
        sync_ns=7,
        os_ns=20,
        api_ns=4,
        launch_ns=1 + 10,
        python_ns=3 + 10 + 6 + 29,
        dependency_ns=10,
    )


def test_a_launch_that_still_runs_when_its_kernel_begins_ends_with_the_gap(path: Path) -> None:
    with one_gap(path, launched=(170, 400)):
        pass

    assert cause(path) == Cause(python_ns=70, launch_ns=30)


def test_other_threads_and_other_processes_explain_nothing(path: Path) -> None:
    with one_gap(path) as export:
        for pid, tid in ((PID, OTHER_THREAD), (SECOND_PID, THREAD)):
            export.api("cudaDeviceSynchronize_v3020", 90, 180, pid=pid, tid=tid, correlation=9)
            export.osrt("poll", 90, 180, pid=pid, tid=tid)

    assert cause(path) == Cause(python_ns=80, launch_ns=10, dependency_ns=10)


def test_calls_inside_calls_count_once_and_cuda_before_the_system(path: Path) -> None:
    with one_gap(path) as export:
        export.api("cudaEventSynchronize_v3020", 110, 150, pid=PID, tid=THREAD, correlation=3)
        export.api("cudaEventQuery_v3020", 140, 160, pid=PID, tid=THREAD, correlation=4)
        export.osrt("ioctl", 105, 170, pid=PID, tid=THREAD)

    assert cause(path) == Cause(
        sync_ns=40, api_ns=10, os_ns=15, python_ns=15, launch_ns=10, dependency_ns=10
    )


def test_without_a_launching_call_the_cause_is_unknown(path: Path) -> None:
    with one_gap(path, launched=None) as export:
        export.api("cudaDeviceSynchronize_v3020", 90, 180, pid=PID, tid=THREAD, correlation=9)

    assert cause(path) == Cause(unknown_ns=100)
    assert "launch-unknown" in {notice.code for notice in report(path).warnings}


def test_the_same_correlation_in_another_process_is_another_call(path: Path) -> None:
    with one_gap(path) as export:
        export.api(LAUNCH, 20, 30, pid=SECOND_PID, tid=THREAD, correlation=2)
        export.kernel("c", 60, 70, pid=SECOND_PID, correlation=2)

    [first, _] = report(path).per_gpu

    assert first.cause == Cause(python_ns=80, launch_ns=10, dependency_ns=10)


def test_a_copy_to_the_host_waits_if_it_lasts_until_the_data_is_there(path: Path) -> None:
    with ExportWriter(path) as export:
        export.api("cudaMemcpyAsync_v3020", 10, 120, pid=PID, correlation=1)
        export.memcpy(50, 100, pid=PID, kind=2, correlation=1)
        export.api("cudaMemcpyAsync_v3020", 130, 140, pid=PID, correlation=2)
        export.memcpy(300, 310, pid=PID, kind=2, correlation=2)
        export.api("cudaMemcpy_v3020", 150, 160, pid=PID, correlation=9)
        export.api(LAUNCH, 170, 180, pid=PID, correlation=3)
        export.kernel("b", 200, 300, pid=PID, correlation=3)

    assert cause(path) == Cause(
        sync_ns=20 + 10, api_ns=10, launch_ns=10, python_ns=30, dependency_ns=20
    )


def test_a_window_inside_a_gap_keeps_what_the_host_did_in_it(path: Path) -> None:
    with one_gap(path) as export:
        export.osrt("futex", 110, 150, pid=PID, tid=THREAD)

    [across_launch] = report(path, window=(120, 185)).per_gpu
    [before_launch] = report(path, window=(120, 160)).per_gpu

    assert across_launch.cause == Cause(os_ns=30, python_ns=30, launch_ns=5)
    assert before_launch.cause == Cause(os_ns=30, python_ns=10)


def test_without_os_calls_their_time_is_in_what_was_not_recorded(path: Path) -> None:
    with one_gap(path):
        pass

    [gpu] = report(path).per_gpu

    assert not gpu.knows_os_calls
    assert gpu.cause.python_ns == 80
    assert "no-os-calls" in {notice.code for notice in report(path).warnings}


def test_the_innermost_range_around_the_longest_silence_is_named(path: Path) -> None:
    with one_gap(path) as export:
        export.api("cudaMalloc_v3020", 110, 120, pid=PID, tid=THREAD, correlation=4)
        export.nvtx("scheduler.idle", 90, 115, pid=PID, tid=THREAD)
        export.nvtx("scheduler.run_batch", 118, 195, pid=PID, tid=THREAD)
        export.nvtx("plan", 119, 185, pid=PID, tid=THREAD)
        export.nvtx("too short", 130, 150, pid=PID, tid=THREAD)
        export.nvtx("elsewhere", 120, 180, pid=PID, tid=OTHER_THREAD)

    assert [gap.host_range for gap in gaps(path)] == ["plan"]


def replay(export: ExportWriter, begin: int, correlation: int) -> None:
    """Write one replay of graph 9 with a gap inside."""
    export.kernel("a", begin, begin + 10, pid=PID, correlation=correlation, graph=9, node=1)
    export.kernel("b", begin + 12, begin + 20, pid=PID, correlation=correlation, graph=9, node=2)


@pytest.mark.parametrize("linked", [True, False])
def test_replays_without_a_correlation_are_matched_to_launches_in_order(
    path: Path, linked: bool
) -> None:
    """The graph was instantiated before the capture began."""
    with ExportWriter(path) as export:
        for number, (launch, begin) in enumerate(((10, 50), (60, 100), (140, 160)), start=1):
            export.api(GRAPH_LAUNCH, launch, launch + 5, pid=PID, correlation=number)
            replay(export, begin, number if linked else 0)

    assert [(gap.kind, gap.start_ns, gap.cause) for gap in gaps(path)] == [
        ("in-graph", 60, Cause(dependency_ns=2)),
        ("seam", 70, Cause(dependency_ns=30)),
        ("in-graph", 110, Cause(dependency_ns=2)),
        ("seam", 120, Cause(python_ns=20, launch_ns=5, dependency_ns=15)),
        ("in-graph", 170, Cause(dependency_ns=2)),
    ]


def test_more_launches_than_replays_give_each_replay_the_last_one_before_it(path: Path) -> None:
    with ExportWriter(path) as export:
        for number, (launch, begin) in enumerate(((10, 50), (90, 100)), start=1):
            export.api(GRAPH_LAUNCH, launch, launch + 5, pid=PID, correlation=number)
            replay(export, begin, 0)
        export.api(GRAPH_LAUNCH, 200, 210, pid=PID, correlation=3)

    [seam] = [gap for gap in gaps(path) if gap.kind == "seam"]

    assert seam.cause == Cause(python_ns=20, launch_ns=5, dependency_ns=5)


def test_launching_is_summed_up_per_round_that_another_follows(path: Path) -> None:
    with ExportWriter(path) as export:
        for number, begin in enumerate((1000, 2000, 3000), start=1):
            eager, graph = 10 * number, 10 * number + 1
            export.api(LAUNCH, begin - 170, begin - 160, pid=PID, correlation=eager)
            export.kernel("prepare", begin - 30, begin - 20, pid=PID, correlation=eager)
            export.api(GRAPH_LAUNCH, begin - 100, begin - 80, pid=PID, correlation=graph)
            for node, (name, start) in enumerate(((ATTENTION, 0), (GEMM, 110)), start=1):
                export.kernel(
                    name,
                    begin + start,
                    begin + start + 100,
                    pid=PID,
                    correlation=graph,
                    graph=9,
                    node=node,
                )

    [figures] = report(path).per_gpu[0].launches

    assert figures == LaunchFigures(
        kind="decode",
        rounds=2,
        graph_launches=1.0,
        graph_launch_ns=20,
        eager_launches=1.0,
        graph_nodes=2.0,
        gpu_span_ns=240,
        busy_ns=210,
        kernel_ns=210,
        cpu_span_ns=90,
    )
