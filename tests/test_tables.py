"""The tables of the analysis against the report itself."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.loading import PID
from traceattr.attribution.analysis import Analysis
from traceattr.attribution.analyze import analyze
from traceattr.attribution.choice import Choice, parse_choice
from traceattr.attribution.groups import GAP_GROUPS
from traceattr.attribution.tables import add_tables
from traceattr.ingest.host import load_os_calls
from traceattr.ingest.trace import Trace, open_trace
from traceattr.report.grouped import groups_of
from traceattr.rules.rule_set import load_rules
from traces.export_writer import ExportWriter

DEMO = Path(__file__).parent.parent / "traces" / "demo.sqlite"


@pytest.fixture(scope="module")
def demo() -> Iterator[tuple[Trace, Analysis]]:
    with open_trace(DEMO) as trace:
        load_os_calls(trace)
        add_tables(trace, load_rules(), Choice())
        yield trace, analyze(trace, load_rules())


def test_segments_sum_to_the_groups_of_the_report(demo: tuple[Trace, Analysis]) -> None:
    trace, analysis = demo

    sums = {
        (gpu, group): ns
        for gpu, group, ns in trace.connection.execute(
            "SELECT gpu_id, report_group, sum(end_ns - start_ns) FROM segment GROUP BY ALL"
        ).fetchall()
    }

    expected = {
        (time.gpu, group.name): group.exclusive_ns
        for time in analysis.per_gpu
        for group in groups_of(time)
        if group.exclusive_ns
    }
    assert sums == expected
    assert {group for _, group in sums} >= set(GAP_GROUPS)


def test_segments_of_each_gpu_tile_the_window(demo: tuple[Trace, Analysis]) -> None:
    trace, analysis = demo

    for time in analysis.per_gpu:
        edges = trace.connection.execute(
            "SELECT start_ns, end_ns FROM segment WHERE gpu_id = ? ORDER BY start_ns", [time.gpu]
        ).fetchall()
        assert edges[0][0] == analysis.window.start_ns
        assert edges[-1][1] == analysis.window.end_ns
        assert all(before[1] == after[0] for before, after in pairwise(edges))


def test_operations_own_what_their_segments_say(demo: tuple[Trace, Analysis]) -> None:
    trace, analysis = demo

    wrong = trace.connection.execute(
        "SELECT count(*) FROM operation LEFT JOIN ("
        "SELECT operation_id, sum(end_ns - start_ns) AS ns FROM segment GROUP BY operation_id"
        ") USING (operation_id) WHERE coalesce(ns, 0) != exclusive_ns"
    ).fetchall()
    by_phase = trace.connection.execute(
        "SELECT gpu_id, category, phase, sum(exclusive_ns) FROM operation GROUP BY ALL ORDER BY ALL"
    ).fetchall()

    assert wrong == [(0,)]
    expected: dict[tuple[int, str, str | None], int] = {}
    for time in analysis.per_gpu:
        for row in time.categories:
            key = (time.gpu, row.category, row.phase)
            expected[key] = expected.get(key, 0) + row.exclusive_ns
    assert {tuple(row[:3]): row[3] for row in by_phase} == expected


def test_gaps_are_the_idle_segments_and_their_causes_sum_to_them(
    demo: tuple[Trace, Analysis],
) -> None:
    trace, analysis = demo

    idle = "SELECT gpu_id, start_ns, end_ns FROM segment WHERE category IS NULL ORDER BY ALL"
    gaps = "SELECT gpu_id, start_ns, end_ns FROM gap ORDER BY ALL"
    assert trace.connection.execute(gaps).fetchall() == trace.connection.execute(idle).fetchall()
    unexplained = trace.connection.execute(
        "SELECT count(*) FROM gap WHERE end_ns - start_ns !="
        " sync_ns + launch_ns + api_ns + os_ns + python_ns + dependency_ns + unknown_ns"
    ).fetchall()
    assert unexplained == [(0,)]
    seams = trace.connection.execute(
        "SELECT joins, sum(end_ns - start_ns) FROM gap"
        " WHERE gpu_id = 0 AND kind = 'seam' GROUP BY ALL"
    ).fetchall()
    assert dict(seams) == {seam.seam: seam.total_ns for seam in analysis.gaps[0].seams}


def test_rounds_are_numbered_as_the_option_counts_them(demo: tuple[Trace, Analysis]) -> None:
    trace, analysis = demo

    rounds = trace.connection.execute(
        "SELECT number, kind, wall_ns, is_sampled FROM round WHERE gpu_id = 0 ORDER BY round_id"
    ).fetchall()

    assert [row[:2] for row in rounds] == [(at, "speculative") for at in range(3)]
    assert analysis.rounds.wall is not None
    assert min(row[2] for row in rounds if row[3]) == analysis.rounds.wall.min
    assert (rounds[-1][2], sum(row[3] for row in rounds)) == (None, analysis.rounds.sampled)


def test_passes_name_their_round_replay_and_launching_call(demo: tuple[Trace, Analysis]) -> None:
    trace, _ = demo

    rows = trace.connection.execute(
        "SELECT pass.kind, pass.phase, pass.layers, pass.forward_passes, round.number, api.name"
        " FROM pass JOIN round USING (round_id)"
        " JOIN gpu ON pass.gpu_id = gpu.gpu_id"
        " JOIN api_call AS api ON api.global_pid = gpu.global_pid"
        " AND api.correlation_id = pass.correlation_id"
        " WHERE pass.gpu_id = 1 AND round.number = 1 ORDER BY pass.start_ns"
    ).fetchall()

    assert rows == [
        ("draft", "draft", 2, 2, 1, "cudaGraphLaunch"),
        ("verify", "target", 64, 1, 1, "cudaGraphLaunch"),
        ("draft_extend", "draft", 1, 1, 1, "cudaGraphLaunch"),
    ]


def test_a_window_cuts_segments_but_not_operations(tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    with ExportWriter(path) as export:
        export.kernel("f", 100, 200, pid=PID)
        export.kernel("g", 300, 400, pid=PID)
        export.kernel("h", 500, 600, pid=PID)

    with open_trace(path) as trace:
        choice = parse_choice(window="0.00000015:0.00000035", rounds="", graph_kinds=())
        add_tables(trace, load_rules(), choice)

        query = "SELECT start_ns, end_ns, report_group FROM segment ORDER BY start_ns"
        assert trace.connection.execute(query).fetchall() == [
            (150, 200, "unclassified"),
            (200, 300, "host gaps"),
            (300, 350, "unclassified"),
        ]
        query = "SELECT start_ns, end_ns, inside_ns FROM operation ORDER BY start_ns"
        assert trace.connection.execute(query).fetchall() == [(100, 200, 50), (300, 400, 50)]


def test_a_window_of_a_colon_is_the_whole_trace() -> None:
    assert parse_choice(window=":", rounds="", graph_kinds=()).window == (None, None)
    assert parse_choice(window="", rounds="", graph_kinds=()).window is None
