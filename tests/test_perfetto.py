"""The timeline for Perfetto, read back by Google's own schema."""

from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from tests.loading import PID
from tests.timelines import Slice, read_timeline
from traceattr.attribution.choice import Choice
from traceattr.attribution.tables import add_tables
from traceattr.cli import app
from traceattr.ingest.host import load_host_ranges, load_os_calls
from traceattr.ingest.trace import open_trace
from traceattr.report.perfetto import write_perfetto
from traceattr.report.perfetto_lanes import edges, lanes, nesting_lanes
from traceattr.report.perfetto_packets import TraceWriter, time_varint, varint
from traceattr.rules.rule_set import load_rules
from traces.export_writer import ExportWriter

DEMO = Path(__file__).parent.parent / "traces" / "demo.sqlite"


@pytest.fixture(scope="module")
def demo(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[duckdb.DuckDBPyConnection, list[Slice], Path]]:
    path = tmp_path_factory.mktemp("timeline") / "timeline.pftrace"
    with open_trace(DEMO) as trace:
        load_os_calls(trace)
        load_host_ranges(trace)
        add_tables(trace, load_rules(), Choice())
        with path.open("wb") as file:
            write_perfetto(trace.connection, file)
        yield trace.connection, read_timeline(path), path


def timeline(path: Path, folder: Path, *options: str) -> list[Slice]:
    target = folder / "timeline.pftrace"
    result = export(path, "--perfetto", target, "--force", *options)
    assert (result.exit_code, result.stderr) == (0, f"Wrote {target}\n")
    return read_timeline(target)


def export(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["export", *map(str, arguments)])


def on(slices: list[Slice], *path: str) -> list[Slice]:
    return [each for each in slices if each.path == path]


def test_every_operation_is_a_slice_exact_to_the_nanosecond(
    demo: tuple[duckdb.DuckDBPyConnection, list[Slice], Path],
) -> None:
    connection, slices, _ = demo

    expected = connection.execute(
        "SELECT 'stream ' || stream_id, start_ns, end_ns, category, phase"
        " FROM operation WHERE gpu_id = 0"
    ).fetchall()

    found = [
        (each.path[1], each.start_ns, each.end_ns, each.category, each.notes["phase"])
        for each in slices
        if each.path[0].startswith("GPU 0") and each.path[1].startswith("stream")
    ]
    assert Counter(found) == Counter(expected)


def test_slices_of_a_category_have_one_colour(
    demo: tuple[duckdb.DuckDBPyConnection, list[Slice], Path],
) -> None:
    _, slices, _ = demo
    work = [each for each in slices if each.path[-1].startswith(("stream", "time"))]

    colors = {(each.name.partition("/")[0], each.color) for each in work if "time" in each.path[-1]}

    assert all(name == color for name, color in colors)
    assert {each.color for each in work if "stream" in each.path[-1]} == {
        color for _, color in colors
    }


def test_rounds_hold_their_passes(
    demo: tuple[duckdb.DuckDBPyConnection, list[Slice], Path],
) -> None:
    connection, slices, _ = demo
    gpu = "GPU 0: NVIDIA RTX A6000, rank 0, pid 4101"

    rounds = on(slices, gpu, "rounds")

    assert [(each.depth, each.name) for each in rounds][:4] == [
        (0, "speculative 0"),
        (1, "draft"),
        (1, "verify"),
        (1, "draft_extend"),
    ]
    walls = connection.execute(
        "SELECT wall_ns FROM round WHERE gpu_id = 0 AND wall_ns IS NOT NULL ORDER BY start_ns"
    ).fetchall()
    shown = [each.end_ns - each.start_ns for each in rounds if each.depth == 0]
    assert shown[:2] == [wall for (wall,) in walls]


def test_gaps_say_what_they_join_and_why(
    demo: tuple[duckdb.DuckDBPyConnection, list[Slice], Path],
) -> None:
    connection, slices, _ = demo

    gaps = on(slices, "GPU 1: NVIDIA RTX A6000, rank 1, pid 4102", "idle")

    expected = connection.execute(
        "SELECT start_ns, end_ns, joins, kind FROM gap WHERE gpu_id = 1 ORDER BY start_ns"
    ).fetchall()
    assert [(each.start_ns, each.end_ns, each.name, each.category) for each in gaps] == expected
    several = [each for each in gaps if len(each.notes) > 1]
    for gap in several:
        parts = {key: int(ns) for key, ns in gap.notes.items() if key != "cause"}
        assert sum(parts.values()) == gap.end_ns - gap.start_ns
        assert max(parts, key=lambda key: parts[key]) == f"{gap.notes['cause']}_ns"
    assert several
    assert {each.notes["cause"] for each in gaps if each.category == "in-graph"} == {"dependency"}


def test_launches_are_linked_to_what_they_launched(
    demo: tuple[duckdb.DuckDBPyConnection, list[Slice], Path],
) -> None:
    _, slices, _ = demo

    out = {flow: each for each in slices for flow in each.flows_out}
    into = {flow: each for each in slices for flow in each.flows_in}

    assert out.keys() == into.keys()
    assert len(into) == sum(len(each.flows_in) for each in slices) == 300
    for flow, call in out.items():
        assert call.path[-1].endswith("CUDA calls")
        assert call.start_ns <= into[flow].start_ns
        process = call.path[0].removeprefix("host: process ")
        assert into[flow].path[0].endswith(f"pid {process}")
    graph_launches = [each for each in slices if each.name == "cudaGraphLaunch"]
    assert len(graph_launches) == 18
    assert {len(each.flows_out) for each in graph_launches} == {1}


def test_time_by_category_covers_exactly_what_is_busy(
    demo: tuple[duckdb.DuckDBPyConnection, list[Slice], Path],
) -> None:
    connection, slices, _ = demo

    time = on(slices, "GPU 0: NVIDIA RTX A6000, rank 0, pid 4101", "time by category")

    [(busy_ns,)] = connection.execute(
        "SELECT sum(end_ns - start_ns) FROM segment WHERE gpu_id = 0 AND category IS NOT NULL"
    ).fetchall()
    assert sum(each.end_ns - each.start_ns for each in time) == busy_ns
    assert {each.depth for each in time} == {0}


def test_kernels_that_overlap_on_one_stream_lie_beside_each_other(tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    with ExportWriter(path) as trace:
        trace.kernel("a", 100, 200, pid=PID)
        trace.kernel("b", 150, 250, pid=PID)
        trace.kernel("c", 160, 170, pid=PID)
        trace.kernel("d", 250, 250, pid=PID)
        trace.nvtx("outer", 100, 240, pid=PID)
        trace.nvtx("inner <b>\x1b", 200, 220, pid=PID)
        trace.osrt("poll", 110, 120, pid=PID)

    slices = timeline(path, tmp_path)

    work = [each for each in slices if each.path[-1] == "stream 7"]
    assert sorted((each.name, each.start_ns, each.end_ns, each.depth) for each in work) == [
        ("a", 100, 200, 0),
        ("b", 150, 250, 0),
        ("c", 160, 170, 0),
        ("d", 250, 250, 0),
    ]
    host = [each for each in slices if each.path[0] == f"host: process {PID}"]
    assert [(each.path[1], each.name, each.depth) for each in host] == [
        (f"thread {PID}: NVTX ranges", "outer", 0),
        (f"thread {PID}: NVTX ranges", "inner <b>\x1b", 1),
        (f"thread {PID}: OS calls", "poll", 0),
    ]


def test_times_before_zero_and_since_1970_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    with ExportWriter(path) as trace:
        trace.kernel("a", -50, 20, pid=PID)
    [early] = [s for s in timeline(path, tmp_path) if s.path[-1].startswith("stream")]
    assert (early.start_ns, early.end_ns) == (0, 70)

    late_path = tmp_path / "late.sqlite"
    begin = 1_777_000_000_123_456_789
    with ExportWriter(late_path) as trace:
        trace.kernel("a", begin, begin + 1, pid=PID)
    [late] = [s for s in timeline(late_path, tmp_path) if s.path[-1].startswith("stream")]
    assert (late.start_ns, late.end_ns) == (begin, begin + 1)


def test_a_call_before_the_window_is_shown_when_it_launched_work_in_it(tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    with ExportWriter(path) as trace:
        trace.api("cudaLaunchKernel_v7000", 10, 20, pid=PID, correlation=1)
        trace.api("cudaMalloc_v3020", 30, 40, pid=PID, correlation=2)
        trace.kernel("a", 1_000, 2_000, pid=PID, correlation=1)
        trace.kernel("b", 3_000, 4_000, pid=PID)

    slices = timeline(path, tmp_path, "--window", "0.000001:0.0000025")

    calls = [each for each in slices if each.path[0] == f"host: process {PID}"]
    assert [(each.name, each.start_ns) for each in calls] == [("cudaLaunchKernel", 10)]
    assert [each.name for each in slices if each.path[-1].startswith("stream")] == ["a"]


def test_the_same_trace_gives_the_same_bytes(
    demo: tuple[duckdb.DuckDBPyConnection, list[Slice], Path], tmp_path: Path
) -> None:
    again = tmp_path / "again"

    assert export(DEMO, "--perfetto", again).exit_code == 0

    assert again.read_bytes() == demo[2].read_bytes()


INTERVALS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 10)), max_size=15).map(
    lambda rows: sorted((start, start + length) for start, length in rows)
)


@given(INTERVALS)
def test_no_two_intervals_of_a_lane_overlap(rows: list[tuple[int, int]]) -> None:
    of_row = lanes([start for start, _ in rows], [end for _, end in rows])

    for lane in set(of_row):
        mine = [row for row, at in zip(rows, of_row, strict=True) if at == lane]
        assert all(before[1] <= after[0] for before, after in pairwise(mine))
    most = max(sum(s <= t < max(e, s + 1) for s, e in rows) for t in range(41))
    assert len(set(of_row)) <= most


@given(INTERVALS)
def test_intervals_of_a_nesting_lane_nest_in_order_of_time(rows: list[tuple[int, int]]) -> None:
    rows = sorted(rows, key=lambda row: (row[0], -row[1]))
    of_row = nesting_lanes([start for start, _ in rows], [end for _, end in rows])

    for lane in set(of_row):
        mine = [row for row, at in zip(rows, of_row, strict=True) if at == lane]
        open_: list[int] = []
        now = 0
        ends = [end for _, end in mine]
        for time, at in edges([start for start, _ in mine], ends, range(len(mine))):
            assert time >= now
            now = time
            if at is not None:
                assert time == mine[at][0]
                open_.append(at)
            else:
                assert time == ends[open_.pop()]
        assert not open_


@given(st.integers(0, 2**64 - 1))
def test_numbers_are_written_as_protobuf_has_them(number: int) -> None:
    TraceWriter(BytesIO())

    found = varint(number)

    assert found == time_varint(number)
    assert sum((byte & 0x7F) << 7 * at for at, byte in enumerate(found)) == number
    assert [byte >> 7 for byte in found] == [1] * (len(found) - 1) + [0]
