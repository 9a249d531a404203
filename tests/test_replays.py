"""Launches of CUDA graphs, in node mode, graph mode and both."""

from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.loading import PID, SECOND_PID, rows
from traceattr.ingest.gpu_work.replays import GraphWork, number_replays
from traceattr.ingest.trace import open_trace
from traces.export_writer import ERAS, ExportWriter

REPLAYS = (
    "SELECT gpu_id, graph_id, traced, start_ns, end_ns, launch_ns, operations"
    " FROM replay ORDER BY replay_id"
)
GRAPH_ERAS = [era for era in ERAS if era not in ("2.7", "3.0")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trace.sqlite"


def replay(export: ExportWriter, begin: int, *, correlation: int | None, pid: int = PID) -> None:
    """Write one replay of graph 9: two kernels and a copy."""
    export.kernel("a", begin, begin + 10, pid=pid, correlation=correlation, graph=9, node=1)
    export.memcpy(begin + 12, begin + 14, pid=pid, correlation=correlation, graph=9, node=2)
    export.kernel("b", begin + 15, begin + 20, pid=pid, correlation=correlation, graph=9, node=3)


@pytest.mark.parametrize("era", ERAS)
def test_nodes_of_one_launch_are_one_replay(path: Path, era: str) -> None:
    with ExportWriter(path, era) as export:
        for at, correlation in ((100, 1), (200, 2)):
            export.api("cudaGraphLaunch_v10000", at, at + 5, pid=PID, correlation=correlation)
            replay(export, at + 10, correlation=correlation)
        export.kernel("eager", 300, 310, pid=PID, correlation=3)

    assert rows(path, REPLAYS) == [
        (0, 9, "node", 110, 130, 100, 3),
        (0, 9, "node", 210, 230, 200, 3),
    ]
    assert rows(path, "SELECT count(replay_id), count(*) FROM gpu_op") == [(6, 7)]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("correlation", [0, None])
def test_nodes_without_a_correlation_are_grouped_by_node_and_time(
    path: Path, era: str, correlation: int | None
) -> None:
    """Graphs instantiated before the collection began; TensorRT-LLM PR 16212."""
    with ExportWriter(path, era) as export:
        for at in (100, 200, 300):
            export.api("cudaGraphLaunch_v10000", at - 9, at - 5, pid=PID, correlation=at)
            replay(export, at, correlation=correlation)

    assert [row[3:5] for row in rows(path, REPLAYS)] == [(100, 120), (200, 220), (300, 320)]


def test_a_correlation_below_zero_is_none_of_the_replays_without_one(path: Path) -> None:
    """Correlations are unsigned numbers of 32 bits, but not every column says so."""
    with ExportWriter(path) as export:
        replay(export, 110, correlation=None)
        replay(export, 210, correlation=-1)

    assert [row[3:5] + row[6:] for row in rows(path, REPLAYS)] == [(110, 130, 3), (210, 230, 3)]


def test_a_capture_that_begins_inside_a_replay_does_not_shift_the_others(path: Path) -> None:
    with ExportWriter(path) as export:
        export.kernel("b", 10, 15, pid=PID, correlation=0, graph=9, node=3)
        replay(export, 100, correlation=0)
        replay(export, 200, correlation=0)

    assert [row[3:5] for row in rows(path, REPLAYS)] == [(10, 15), (100, 120), (200, 220)]


def test_replays_of_two_processes_are_apart_though_their_ids_are_equal(path: Path) -> None:
    with ExportWriter(path) as export:
        for pid in (PID, SECOND_PID):
            replay(export, 100, correlation=5, pid=pid)
            replay(export, 200, correlation=0, pid=pid)

    assert [row[:1] + row[3:5] for row in rows(path, REPLAYS)] == [
        (0, 100, 120),
        (0, 200, 220),
        (1, 100, 120),
        (1, 200, 220),
    ]


def test_work_of_a_graph_launch_without_graph_columns_is_a_replay(path: Path) -> None:
    """Some captures of nsys 2025.3 lack the columns; the call says what it was."""
    with ExportWriter(path) as export:
        export.api("cudaGraphLaunch_v10000", 90, 95, pid=PID, correlation=1)
        export.kernel("a", 100, 110, pid=PID, correlation=1)
        export.kernel("b", 115, 120, pid=PID, correlation=1)

    assert rows(path, REPLAYS) == [(0, None, "node", 100, 120, 90, 2)]


@pytest.mark.parametrize("era", GRAPH_ERAS)
def test_an_envelope_is_one_replay_and_one_operation(path: Path, era: str) -> None:
    with ExportWriter(path, era) as export:
        export.api("cudaGraphLaunch_v10000", 90, 95, pid=PID, correlation=1)
        export.graph_trace(100, 150, pid=PID, graph=9, correlation=1)

    assert rows(path, REPLAYS) == [(0, 9, "graph", 100, 150, 90, 1)]
    assert rows(path, "SELECT kind, start_ns, end_ns, graph_id FROM gpu_op") == [
        ("graph", 100, 150, 9)
    ]


def test_an_envelope_whose_nodes_are_known_too_is_not_counted_beside_them(path: Path) -> None:
    """25: mixed mode."""
    with ExportWriter(path) as export:
        export.graph_trace(100, 125, pid=PID, graph=9, correlation=1)
        replay(export, 100, correlation=1)
        export.graph_trace(200, 225, pid=PID, graph=9, correlation=2)
        replay(export, 200, correlation=0)
        export.graph_trace(300, 325, pid=PID, graph=9, correlation=3)

    assert [row[2:5] for row in rows(path, REPLAYS)] == [
        ("node", 100, 120),
        ("node", 200, 220),
        ("graph", 300, 325),
    ]
    assert rows(path, "SELECT count(*) FROM gpu_op WHERE kind = 'graph'") == [(1,)]


def test_envelopes_without_usable_times_are_left_out_and_counted(path: Path) -> None:
    """23: CUPTI writes 0 for both when it could not collect them."""
    with ExportWriter(path) as export:
        export.graph_trace(0, 0, pid=PID, graph=9, correlation=1)
        export.graph_trace(100, 150, pid=PID, graph=9, correlation=2)

    with open_trace(path) as trace:
        assert trace.oddities.without_times == 1
        assert trace.connection.execute("SELECT count(*) FROM gpu_op").fetchall() == [(1,)]


def test_an_envelope_that_began_on_the_host_belongs_to_the_only_gpu_of_its_process(
    path: Path,
) -> None:
    """23: its device and context are INT_MAX."""
    with ExportWriter(path) as export:
        export.kernel("a", 10, 20, pid=PID, device=3)
        export.graph_trace(
            100, 150, pid=PID, graph=9, device=2**31 - 1, context=2**31 - 1, correlation=2
        )

    with open_trace(path) as trace:
        assert [gpu.device_id for gpu in trace.gpus] == [3]
        assert trace.oddities.with_inferred_owner == 1


def test_graph_launches_beyond_the_recorded_replays_are_counted(path: Path) -> None:
    """Presence is not completeness: one peer found 753 rows for 4183 launches."""
    with ExportWriter(path) as export:
        for at in range(100, 600, 100):
            export.api("cudaGraphLaunch_v10000", at - 9, at - 5, pid=PID, correlation=at)
        export.graph_trace(100, 150, pid=PID, graph=9, correlation=100)
        replay(export, 200, correlation=0)

    with open_trace(path) as trace:
        [work] = trace.work
    assert (work.graph_launches, work.graph_launches_without_work) == (5, 3)


@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=5),
    st.integers(0, 5),
    st.randoms(use_true_random=False),
)
def test_interleaved_graphs_are_told_apart_however_the_rows_lie(
    sizes: list[int], skipped: int, random: Random
) -> None:
    """Replay r of a graph with n nodes; the first `skipped` operations are before the capture."""
    operations = [
        (graph, node, 1000 * replay_number + 10 * graph + node, (graph, replay_number))
        for replay_number in range(3)
        for graph, size in enumerate(sizes)
        for node in range(size)
    ][min(skipped, sizes[0] - 1) :]
    random.shuffle(operations)

    graph, node, start_ns = (
        np.array([row[column] for row in operations], np.int64) for column in range(3)
    )

    numbers = number_replays(GraphWork(graph, node, start_ns, start_ns + 1))

    found = {(number, row[3]) for number, row in zip(numbers.tolist(), operations, strict=True)}
    assert len(found) == len({number for number, _ in found}) == len({key for _, key in found})


def test_no_work_has_no_replay() -> None:
    nothing = np.empty(0, np.int64)

    assert number_replays(GraphWork(nothing, nothing, nothing, nothing)).tolist() == []
