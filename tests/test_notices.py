"""What a report warns of."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.loading import PID, SECOND_PID
from traceattr.attribution.analysis import Analysis
from traceattr.attribution.analyze import analyze
from traceattr.attribution.gap_report import report_gaps
from traceattr.ingest.trace import open_trace
from traceattr.report.gap_view import GapView
from traceattr.report.gaps import render_gaps
from traceattr.report.render import ReportFormat, render
from traceattr.rules.rule_set import load_rules
from traces.export_writer import ExportWriter


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trace.sqlite"


def analysed(path: Path) -> Analysis:
    with open_trace(path) as trace:
        return analyze(trace, load_rules())


def warnings(path: Path) -> dict[str, str]:
    return {notice.code: notice.text for notice in analysed(path).warnings}


def test_a_plain_trace_warns_only_of_what_cannot_be_known(path: Path) -> None:
    with ExportWriter(path) as export:
        export.gpu(0, ordinals={PID: 0})
        export.api("cudaLaunchKernel_v7000", 100, 105, pid=PID, correlation=1)
        export.kernel(
            "void cublasLt::splitKreduce_kernel<(int)32>()", 110, 150, pid=PID, correlation=1
        )

    assert warnings(path).keys() == {"no-rounds"}


def test_launches_and_work_that_do_not_meet_are_counted(path: Path) -> None:
    with ExportWriter(path) as export:
        export.api("cudaLaunchKernel_v7000", 100, 105, pid=PID, correlation=1)
        export.kernel("f", 110, 150, pid=PID, correlation=2)

    found = warnings(path)

    assert found["work-without-launch"].startswith("1 of 1 kernels have no launching call")
    assert found["launches-without-work"].startswith("1 of 1 kernel launches have no GPU work")


def test_work_of_several_processes_that_names_none_of_them_is_warned_of_alone(path: Path) -> None:
    with ExportWriter(path) as export:
        for pid in (PID, SECOND_PID):
            export.api("cudaLaunchKernel_v7000", 100, 105, pid=pid, correlation=1)
            export.kernel("f", 110, 150, pid=pid, correlation=1)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = NULL")

    found = warnings(path)

    assert "2 processes launched some" in found["owner-unknown"]
    assert "work-without-launch" not in found
    assert "launches-without-work" not in found


def test_a_trace_without_api_calls_says_so_once(path: Path) -> None:
    with ExportWriter(path) as export:
        export.kernel("f", 110, 150, pid=PID)

    found = warnings(path)

    assert "no-launches" in found
    assert "work-without-launch" not in found


def test_envelopes_are_named_as_what_hides_categories(path: Path) -> None:
    with ExportWriter(path) as export:
        export.graph_trace(100, 150, pid=PID, graph=9, correlation=2)

    analysis = analysed(path)

    assert analysis.trace.graph_trace == "graph"
    assert analysis.trace.opaque_replays == 1
    assert "--cuda-graph-trace=node" in {n.code: n.text for n in analysis.warnings}["graph-mode"]


def test_nodes_and_envelopes_together_are_mixed(path: Path) -> None:
    with ExportWriter(path) as export:
        export.graph_trace(100, 150, pid=PID, graph=9, correlation=2)
        export.kernel("f", 200, 210, pid=PID, correlation=3, graph=9, node=1)

    assert analysed(path).trace.graph_trace == "mixed"


def without_graph_work(path: Path) -> None:
    with ExportWriter(path) as export:
        for number in range(4):
            export.api(
                "cudaGraphLaunch_v10000",
                100 * number,
                100 * number + 5,
                pid=PID,
                correlation=number,
            )
        export.api("cudaLaunchKernel_v7000", 500, 505, pid=PID, correlation=9)
        export.kernel("f", 510, 550, pid=PID, correlation=9)
        export.api("cudaLaunchKernel_v7000", 600, 605, pid=PID, correlation=10)
        export.kernel("f", 610, 650, pid=PID, correlation=10)


def test_graphs_that_left_no_work_are_not_called_missing(path: Path) -> None:
    without_graph_work(path)

    analysis = analysed(path)
    text = render(analysis, ReportFormat.TERMINAL, width=200, color=False)

    assert analysis.rounds.why == "CUDA graphs were launched, but their work is not in the trace"
    assert "No rounds: CUDA graphs were launched, but their work is not in the trace." in text
    assert "no CUDA graph was replayed" not in text
    assert "gaps and what hosts did in them are upper limits: work is missing" in text


def test_a_list_of_gaps_calls_them_at_most_where_graph_work_is_missing(path: Path) -> None:
    without_graph_work(path)

    with open_trace(path) as trace:
        report = report_gaps(trace, load_rules())
    text = render_gaps(report, GapView.SEAM, ReportFormat.TERMINAL, width=200, color=False)

    assert "idle at most 60 ns" in text
    assert "gaps and their causes are upper limits" in text
    assert "Rounds are told by CUDA graphs, whose work is missing" in text


def test_unclassified_time_above_the_limit_is_a_warning(path: Path) -> None:
    with ExportWriter(path) as export:
        export.kernel("nobody_knows_this", 110, 150, pid=PID)
        export.memcpy(200, 2150, pid=PID)

    assert warnings(path)["unclassified"].startswith("2.0 % of busy time")


def test_an_unknown_gpu_is_not_guessed(path: Path) -> None:
    with ExportWriter(path) as export:
        export.kernel("f", 110, 150, pid=PID)

    analysis = analysed(path)

    assert analysis.gpus[0].name is None
    assert "gpu-unknown" in {notice.code for notice in analysis.warnings}


def test_odd_rows_are_counted_in_the_report(path: Path) -> None:
    with ExportWriter(path) as export:
        export.kernel("f", 110, 90, pid=PID)
        export.kernel("f", 120, 190, pid=PID, globalPid=None)

    found = warnings(path)

    assert (
        found["rows-reversed"]
        == "1 of 2 GPU operations end before they begin and count as zero long."
    )
    assert found["owner-inferred"].startswith("1 of 2 GPU operations name no process or device")


@pytest.mark.parametrize(
    ("version", "code"),
    [("3.29.0", "schema-newer"), ("4.0.1", "schema-newer"), ("2.3.0", "schema-older")],
)
def test_a_schema_that_is_not_known_is_named(path: Path, version: str, code: str) -> None:
    with ExportWriter(path) as export:
        export.kernel("f", 110, 150, pid=PID)
        export.metadata("EXPORT_SCHEMA_VERSION", version)

    assert version in warnings(path)[code]


def test_a_partial_export_is_named(path: Path) -> None:
    with ExportWriter(path) as export:
        export.kernel("f", 110, 150, pid=PID)
        export.metadata("EXPORT_PARAM_TIMES_TO_EXPORT", "1s/2s")

    assert "partial-export" in warnings(path)


def test_messages_of_nsys_come_once_and_without_the_noise_of_helpers(path: Path) -> None:
    """30: severity 2 and 3; a helper process uses no CUDA, and that is right."""
    with ExportWriter(path) as export:
        export.kernel("f", 110, 150, pid=PID)
        for _ in range(3):
            export.diagnostic("Not all CUDA events might have been collected.", 2, pid=PID)
        export.diagnostic("No CUDA events collected. Does the process use CUDA?", 2, pid=SECOND_PID)
        export.diagnostic("Profiling has started.", 1)
        export.diagnostic("Verbose.", 4)

    analysis = analysed(path)

    assert [(d.severity, d.text, d.count, d.pid) for d in analysis.trace.diagnostics] == [
        (2, "Not all CUDA events might have been collected.", 3, PID)
    ]
    assert {n.code: n.text for n in analysis.warnings}["processes-without-cuda"].startswith(
        "Processes that used no CUDA: 1."
    )


def test_a_helper_without_cuda_is_no_warning_to_a_reader(path: Path) -> None:
    with ExportWriter(path) as export:
        export.kernel("f", 110, 150, pid=PID)
        export.diagnostic("No CUDA events collected. Does the process use CUDA?", 2, pid=SECOND_PID)

    analysis = analysed(path)

    assert "processes-without-cuda" in {notice.code for notice in analysis.warnings}
    for report_format in (ReportFormat.TERMINAL, ReportFormat.MARKDOWN):
        assert "used no CUDA" not in render(analysis, report_format, width=80, color=False)


def test_a_slow_read_is_said_in_the_report(path: Path) -> None:
    import sqlite3

    with ExportWriter(path) as export:
        export.kernel("f", 110, 150, pid=PID)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET streamId = 7.5")
        connection.execute("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN twice AS (2 * start)")
    connection.close()

    found = warnings(path)

    assert "CUPTI_ACTIVITY_KIND_KERNEL" in found["slow-reader"]
    assert found["values-unreadable"].endswith("unknown: 1.")
