"""The tables of a trace, whatever nsys wrote; numbers are points of the nsys reference, part 6."""

import sqlite3
from pathlib import Path

import pytest

from tests.loading import PID, SECOND_PID, rows
from traceattr.errors import ExportError
from traceattr.ingest.host import load_host_ranges, load_os_calls
from traceattr.ingest.trace import open_trace
from traces.export_writer import ERAS, ExportWriter, global_pid, global_tid

NAME = "void f<(int)4>(float *)"


def edit(path: Path, *statements: str) -> None:
    """Change a finished file the way other tools do."""
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trace.sqlite"


@pytest.mark.parametrize("era", ERAS)
def test_every_era_gives_the_same_tables(path: Path, era: str) -> None:
    with ExportWriter(path, era) as export:
        export.process(PID, "sglang::scheduler_TP0")
        export.api("cudaLaunchKernel_v7000", 100, 105, pid=PID, correlation=1)
        export.kernel(NAME, 110, 150, pid=PID, correlation=1)
        export.memcpy(160, 170, pid=PID, kind=2, size=64)
        export.memset(180, 181, pid=PID, size=4)

    with open_trace(path) as trace:
        query = trace.connection.execute
        assert query(
            "SELECT gpu_id, kind, start_ns, end_ns, stream_id, name_id, correlation_id, launch_ns,"
            " graph_id, replay_id, bytes, copy_kind FROM gpu_op ORDER BY start_ns"
        ).fetchall() == [
            (0, "kernel", 110, 150, 7, 0, 1, 100, None, None, None, None),
            (0, "memcpy", 160, 170, 7, None, None, None, None, None, 64, 2),
            (0, "memset", 180, 181, 7, None, None, None, None, None, 4, None),
        ]
        assert query("SELECT name_id, name, short_name FROM kernel_name").fetchall() == [
            (0, NAME, "f")
        ]
        assert query(
            "SELECT global_pid, global_tid, start_ns, end_ns, name, correlation_id FROM api_call"
        ).fetchall() == [(global_pid(PID), global_tid(PID, None), 100, 105, "cudaLaunchKernel", 1)]
        assert query("SELECT pid, process_name, rank, rank_from FROM gpu").fetchall() == [
            (PID, "sglang::scheduler_TP0", 0, "process title")
        ]
        assert trace.capture.schema_version is not None
        assert trace.capture.schema_version.startswith(f"{era}.")


def test_a_trace_of_kernels_alone_is_enough(path: Path) -> None:
    """9: any other table may be missing."""
    with ExportWriter(path) as export:
        export.kernel(NAME, 110, 150, pid=PID)
    edit(path, "DROP TABLE META_DATA_EXPORT", "DROP TABLE StringIds")

    assert rows(path, "SELECT name FROM kernel_name") == [("kernel#1",)]
    assert rows(path, "SELECT count(*) FROM api_call") == [(0,)]


@pytest.mark.parametrize("era", ERAS)
def test_empty_tables_are_as_good_as_missing_ones(path: Path, era: str) -> None:
    """10: nsys export --lazy=false."""
    with ExportWriter(path, era, lazy=False) as export:
        export.kernel(NAME, 110, 150, pid=PID)

    assert rows(path, "SELECT count(*) FROM gpu_op") == [(1,)]


def test_tables_and_columns_of_other_tools_are_ignored(path: Path) -> None:
    """11: indexes, views, added tables and columns."""
    with ExportWriter(path) as export:
        export.kernel(NAME, 110, 150, pid=PID)
    edit(
        path,
        "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD name TEXT",
        "CREATE TABLE _other_cache (start INTEGER)",
        "CREATE INDEX i ON CUPTI_ACTIVITY_KIND_KERNEL (start)",
        "CREATE VIEW v AS SELECT start FROM CUPTI_ACTIVITY_KIND_KERNEL",
    )

    assert rows(path, "SELECT start_ns, end_ns FROM gpu_op") == [(110, 150)]


def test_a_schema_from_the_future_is_read_by_column(path: Path) -> None:
    """13."""
    with ExportWriter(path, "3.28") as export:
        export.kernel(NAME, 110, 150, pid=PID)
        export.metadata("EXPORT_SCHEMA_VERSION", "4.1.0")
    edit(path, "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD someday INTEGER DEFAULT 7")

    assert rows(path, "SELECT start_ns, end_ns FROM gpu_op") == [(110, 150)]


def test_ids_without_a_string_become_numbered_names(path: Path) -> None:
    """14: exports of some tables only."""
    with ExportWriter(path) as export:
        export.api("cudaLaunchKernel_v7000", 100, 105, pid=PID, correlation=1)
        export.kernel("only_short", 110, 150, pid=PID, demangledName=999)
        export.kernel("nothing", 160, 170, pid=PID, demangledName=777, shortName=778)
    edit(path, "DELETE FROM StringIds WHERE value LIKE 'cuda%'")

    assert rows(path, "SELECT name FROM kernel_name ORDER BY name_id") == [
        ("kernel#777",),
        ("only_short",),
    ]
    [(name,)] = rows(path, "SELECT name FROM api_call")
    assert name.startswith("api#")


def test_repeated_metadata_of_an_appended_export_counts_once(path: Path) -> None:
    """15: the last row holds."""
    with ExportWriter(path) as export:
        export.kernel(NAME, 110, 150, pid=PID)
    edit(path, "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2099.9')")

    assert rows(path, "SELECT nsys_version FROM capture") == [("2099.9",)]


def test_numbers_stored_as_text_are_numbers(path: Path) -> None:
    """16: SQLite types values, not columns."""
    with ExportWriter(path) as export:
        export.kernel(NAME, 110, 150, pid=PID)
        export.kernel(NAME, 160, 190, pid=PID)
    edit(
        path,
        "CREATE TABLE k AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL",
        "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL",
        "ALTER TABLE k RENAME TO CUPTI_ACTIVITY_KIND_KERNEL",
        "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME COLUMN streamId TO old",
        "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD streamId",
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET streamId = '7' WHERE start = 110",
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET streamId = 8.0 WHERE start = 160",
    )

    assert rows(path, "SELECT stream_id FROM gpu_op ORDER BY start_ns") == [(7,), (8,)]


def test_a_name_that_is_not_utf8_loses_only_its_bad_bytes(path: Path) -> None:
    """18, 19: nsys stores names as bytes; NUL and bad UTF-8 occur."""
    with ExportWriter(path) as export:
        export.kernel(b"bad \xff name\x00tail", 110, 150, pid=PID)

    assert rows(path, "SELECT name FROM kernel_name") == [("bad \ufffd name\x00tail",)]


def test_unsigned_values_stored_as_negative_are_understood(path: Path) -> None:
    """20: a process on host 0xFE has a negative id."""
    whole = (0xFE << 56) | (1 << 48) | (PID << 24)
    signed = whole - (1 << 64)
    with ExportWriter(path) as export:
        export.kernel(NAME, 110, 150, pid=PID, globalPid=signed)

    assert rows(path, "SELECT pid, global_pid FROM gpu") == [(PID, signed)]


def test_rows_without_begin_or_end_are_left_out_and_counted(path: Path) -> None:
    """22."""
    with ExportWriter(path) as export:
        export.kernel(NAME, 110, 150, pid=PID)
        export.memcpy(200, 210, pid=PID)
    edit(
        path,
        "CREATE TABLE m AS SELECT * FROM CUPTI_ACTIVITY_KIND_MEMCPY",
        'UPDATE m SET "end" = NULL',
        "DROP TABLE CUPTI_ACTIVITY_KIND_MEMCPY",
        "ALTER TABLE m RENAME TO CUPTI_ACTIVITY_KIND_MEMCPY",
    )

    with open_trace(path) as trace:
        assert trace.oddities.without_times == 1
        assert trace.connection.execute("SELECT count(*) FROM gpu_op").fetchall() == [(1,)]


def test_an_end_before_its_begin_is_taken_as_length_zero(path: Path) -> None:
    """22."""
    with ExportWriter(path) as export:
        export.kernel(NAME, 110, 90, pid=PID)
        export.kernel(NAME, -50, -20, pid=PID)

    with open_trace(path) as trace:
        assert trace.oddities.ending_before_start == 1
        assert trace.connection.execute(
            "SELECT start_ns, end_ns FROM gpu_op ORDER BY start_ns"
        ).fetchall() == [(-50, -20), (110, 110)]


def test_times_since_1970_are_kept(path: Path) -> None:
    """22: nsys export --ts-normalize."""
    begin = 1_779_630_014_975_716_426
    with ExportWriter(path) as export:
        export.kernel(NAME, begin, begin + 7, pid=PID)
        export.metadata("EXPORT_PARAM_TIME_NORMALIZE", "true")

    with open_trace(path) as trace:
        assert trace.capture.is_time_normalised
        assert trace.connection.execute("SELECT end_ns FROM gpu_op").fetchall() == [(begin + 7,)]


def test_one_correlation_id_in_two_processes_links_each_to_its_own_call(path: Path) -> None:
    """24."""
    with ExportWriter(path) as export:
        for pid, begin in ((PID, 100), (SECOND_PID, 500)):
            export.api("cudaLaunchKernel_v7000", begin, begin + 5, pid=pid, correlation=1)
            export.kernel(NAME, begin + 10, begin + 20, pid=pid, correlation=1)

    assert rows(path, "SELECT gpu_id, start_ns, launch_ns FROM gpu_op ORDER BY gpu_id") == [
        (0, 110, 100),
        (1, 510, 500),
    ]


def test_a_call_recorded_twice_does_not_double_its_kernel(path: Path) -> None:
    """Fact 5; CUDA backtraces record runtime and driver rows under one id."""
    with ExportWriter(path) as export:
        export.api("cudaLaunchKernel_v7000", 100, 108, pid=PID, correlation=1)
        export.api("cuLaunchKernel", 101, 107, pid=PID, correlation=1)
        export.kernel(NAME, 110, 120, pid=PID, correlation=1)

    assert rows(path, "SELECT start_ns, launch_ns FROM gpu_op") == [(110, 100)]
    assert rows(path, "SELECT count(*) FROM api_call") == [(2,)]


def test_identical_kernels_at_one_instant_are_both_kept(path: Path) -> None:
    """25."""
    with ExportWriter(path) as export:
        for _ in range(2):
            export.kernel(NAME, 110, 120, pid=PID, stream=7)

    assert rows(path, "SELECT count(*) FROM gpu_op") == [(2,)]


def test_work_without_a_launch_and_launches_without_work_are_counted(path: Path) -> None:
    """26."""
    with ExportWriter(path) as export:
        export.api("cudaLaunchKernel_v7000", 100, 108, pid=PID, correlation=1)
        export.api("cudaLaunchKernelExC_v11060", 200, 208, pid=PID, correlation=2)
        export.api("cudaStreamSynchronize_v3020", 300, 308, pid=PID, correlation=3)
        export.kernel(NAME, 110, 120, pid=PID, correlation=1)
        export.kernel(NAME, 130, 140, pid=PID, correlation=77)

    with open_trace(path) as trace:
        [work] = trace.work
    assert (work.kernels, work.kernels_without_launch) == (2, 1)
    assert (work.kernel_launches, work.kernel_launches_without_work) == (2, 1)


def test_host_waits_drawn_on_the_gpu_are_not_gpu_work(path: Path) -> None:
    with ExportWriter(path) as export:
        export.kernel(NAME, 110, 120, pid=PID)
        export.synchronization(120, 900, pid=PID)

    assert rows(path, "SELECT count(*), max(end_ns) FROM gpu_op") == [(1, 120)]


def test_nvtx_names_come_from_the_row_or_from_the_strings(path: Path) -> None:
    """29: text XOR textId, unnamed, open at the end, across threads, in domains."""
    with ExportWriter(path) as export:
        export.kernel(NAME, 110, 120, pid=PID)
        export.nvtx("plain", 10, 20, pid=PID)
        export.nvtx("registered", 30, 40, pid=PID, registered=True)
        export.nvtx(None, 50, 60, pid=PID)
        export.nvtx("open", 70, None, pid=PID)
        export.nvtx_domain("NCCL", 3, pid=PID)
        export.nvtx("ncclAllReduce", 80, 90, pid=PID, domain=3)
        export.nvtx("mark", 95, None, pid=PID, event_type=34)

    with open_trace(path) as trace:
        load_host_ranges(trace)
        found = trace.connection.execute(
            "SELECT kind, start_ns, end_ns, name, domain FROM host_range ORDER BY start_ns"
        ).fetchall()
    assert found == [
        ("push_pop", 10, 20, "plain", None),
        ("push_pop", 30, 40, "registered", None),
        ("push_pop", 50, 60, None, None),
        ("push_pop", 70, 95, "open", None),
        ("push_pop", 80, 90, "ncclAllReduce", "NCCL"),
        ("mark", 95, 95, "mark", None),
    ]


def test_os_calls_are_named(path: Path) -> None:
    with ExportWriter(path) as export:
        export.kernel(NAME, 110, 120, pid=PID)
        export.osrt("futex", 10, 20, pid=PID)

    with open_trace(path) as trace:
        load_os_calls(trace)
        assert trace.connection.execute(
            "SELECT start_ns, end_ns, name FROM os_call"
        ).fetchall() == [(10, 20, "futex")]


def test_no_string_that_nothing_refers_to_is_copied(path: Path) -> None:
    """31: StringIds and the metadata hold environments, of unrelated processes too."""
    secret = "HF_TOKEN=hf_notarealtoken"
    with ExportWriter(path) as export:
        export.string(f"PATH=/bin\x00{secret}\x00")
        export.capture_metadata("PROCESS_0:ENVIRONMENT_VARIABLE_0", secret)
        export.row("TARGET_INFO_SYSTEM_ENV", name="DeviceEnvironment", value=secret)
        export.kernel(NAME, 110, 120, pid=PID)
        export.nvtx("step", 10, 20, pid=PID)

    with open_trace(path) as trace:
        load_host_ranges(trace)
        load_os_calls(trace)
        tables = trace.connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE NOT internal"
        ).fetchall()
        content = [
            trace.connection.execute(f'SELECT t::VARCHAR FROM "{table}" AS t').fetchall()  # noqa: S608
            for (table,) in tables
        ]
    assert len(tables) > 5
    assert "hf_notarealtoken" not in repr(content)


def test_a_damaged_table_of_calls_leaves_gpu_time_exact(path: Path) -> None:
    """3: only launches are unknown then, and the table is named."""
    with ExportWriter(path) as export:
        export.kernel(NAME, 110, 120, pid=PID)
        for at in range(2000):
            export.api("cudaLaunchKernel_v7000", at, at + 1, pid=PID, correlation=at + 1)
    overwrite_a_leaf_of(path, "CUPTI_ACTIVITY_KIND_RUNTIME")

    with open_trace(path) as trace:
        assert trace.connection.execute("SELECT count(*) FROM gpu_op").fetchall() == [(1,)]
        assert trace.oddities.damaged == ("CUPTI_ACTIVITY_KIND_RUNTIME",)


def test_a_damaged_table_of_kernels_is_an_error_that_names_it(path: Path) -> None:
    """3."""
    with ExportWriter(path) as export:
        for at in range(0, 4000, 2):
            export.kernel(NAME, at, at + 1, pid=PID)
    overwrite_a_leaf_of(path, "CUPTI_ACTIVITY_KIND_KERNEL")

    with pytest.raises(ExportError, match="table CUPTI_ACTIVITY_KIND_KERNEL is damaged"):
        rows(path, "SELECT 1")


def overwrite_a_leaf_of(path: Path, table: str) -> None:
    """Fill the page after the root of a table's b-tree with rubbish."""
    connection = sqlite3.connect(path)
    [[root]] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,))
    connection.close()
    content = bytearray(path.read_bytes())
    interior = content[(root - 1) * 4096 : root * 4096]
    cell = int.from_bytes(interior[12:14], "big")
    leaf = int.from_bytes(interior[cell : cell + 4], "big")
    content[(leaf - 1) * 4096 : leaf * 4096] = b"\xa5" * 4096
    path.write_bytes(content)


def test_a_trace_without_gpu_work_says_what_nsys_says(path: Path) -> None:
    with ExportWriter(path) as export:
        export.api("cudaGetDevice_v3020", 1, 2, pid=PID, correlation=1)
        export.diagnostic("No CUDA events collected. Does the process use CUDA?", 2, pid=PID)

    with pytest.raises(
        ExportError, match=r"Does the process use CUDA\?.*record again: nsys profile"
    ):
        rows(path, "SELECT 1")


def test_graph_launches_without_any_gpu_row_are_named_as_the_reason(path: Path) -> None:
    """Graph mode before schema 3.16 exports nothing of what a graph ran."""
    with ExportWriter(path, "3.0") as export:
        for at in range(3):
            export.api("cudaGraphLaunch_v10000", at, at + 1, pid=PID, correlation=at + 1)

    with pytest.raises(ExportError, match=r"3 CUDA graph launches .* --cuda-graph-trace=node"):
        rows(path, "SELECT 1")


def test_a_gpu_whose_rows_are_all_without_times_is_no_gpu_of_the_trace(path: Path) -> None:
    with ExportWriter(path) as export:
        export.kernel(NAME, 110, 120, pid=PID)
        export.graph_trace(0, 0, pid=SECOND_PID, graph=9, correlation=1)

    assert rows(path, "SELECT pid FROM gpu") == [(PID,)]
