"""What a report warns of."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.loading import PID, SECOND_PID
from traceattr.attribution.analysis import Analysis
from traceattr.attribution.analyze import analyze
from traceattr.ingest.trace import open_trace
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


def test_unclassified_time_above_the_limit_is_a_warning(path: Path) -> None:
    with ExportWriter(path) as export:
        export.kernel("nobody_knows_this", 110, 150, pid=PID)
        export.memcpy(200, 2150, pid=PID)

    assert warnings(path)["unclassified"].startswith("2.0% of busy time")


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


def test_a_slow_read_is_said_in_the_report(path: Path) -> None:
    import sqlite3

    with ExportWriter(path) as export:
        export.kernel("f", 110, 150, pid=PID)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET streamId = 7.5")
    connection.close()

    found = warnings(path)

    assert "CUPTI_ACTIVITY_KIND_KERNEL" in found["slow-reader"]
    assert found["values-unreadable"].endswith("unknown: 1.")
