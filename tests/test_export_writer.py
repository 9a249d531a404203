import sqlite3
from pathlib import Path

import pytest

from traces.eras import tables_of
from traces.export_writer import ERAS, ExportWriter, short_name


def query(path: Path, sql: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def table_names(path: Path) -> set[object]:
    return {name for (name,) in query(path, "SELECT name FROM sqlite_master")}


@pytest.mark.parametrize("era", ERAS)
def test_a_kernel_is_written_in_the_columns_of_its_era(tmp_path: Path, era: str) -> None:
    path = tmp_path / "export.sqlite"

    with ExportWriter(path, era) as export:
        export.process(101)
        export.api("cudaGraphLaunch_v10000", 100, 105, pid=101, correlation=1)
        export.kernel("void f<int>(int *)", 110, 150, pid=101, correlation=1, graph=5, node=3)

    assert query(
        path,
        'SELECT start, "end", correlationId, globalPid, graphNodeId, value'
        " FROM CUPTI_ACTIVITY_KIND_KERNEL, StringIds WHERE id = shortName",
    ) == [(110, 150, 1, (1 << 48) | (101 << 24), (5 << 32) | 3, "f")]
    columns = tables_of(era)["CUPTI_ACTIVITY_KIND_KERNEL"].columns
    assert ("graphId" in columns) == (era in ("3.25", "3.28"))


@pytest.mark.parametrize("era", ERAS)
def test_the_metadata_says_which_schema_it_is(tmp_path: Path, era: str) -> None:
    path = tmp_path / "export.sqlite"

    with ExportWriter(path, era) as export:
        export.metadata("EXPORT_PRODUCT_NAME", "a test")

    table = "EXPORT_META_DATA" if era in ("2.7", "3.0") else "META_DATA_EXPORT"
    stored = query(path, f"SELECT name, value FROM {table}")  # noqa: S608
    rows = {row[0]: row[1] for row in stored}
    assert str(rows["EXPORT_SCHEMA_VERSION"]).startswith(f"{era}.")
    assert rows["EXPORT_PRODUCT_NAME"] == "a test"


def test_metadata_is_set_once_and_rows_may_repeat_it(tmp_path: Path) -> None:
    path = tmp_path / "export.sqlite"

    with ExportWriter(path) as export:
        export.metadata("EXPORT_ARCH", "arm64")
        export.row("META_DATA_EXPORT", name="EXPORT_ARCH", value="x64")

    sql = "SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_ARCH'"
    assert query(path, sql) == [("arm64",), ("x64",)]


def test_tables_that_stay_empty_are_left_out_unless_the_export_is_not_lazy(tmp_path: Path) -> None:
    lazy, whole = tmp_path / "lazy.sqlite", tmp_path / "whole.sqlite"

    ExportWriter(lazy).close()
    ExportWriter(whole, lazy=False).close()

    assert "CUPTI_ACTIVITY_KIND_KERNEL" not in table_names(lazy)
    assert table_names(whole) >= tables_of("3.25").keys()


def test_the_file_looks_like_one_of_nsys(tmp_path: Path) -> None:
    path = tmp_path / "export.sqlite"

    with ExportWriter(path) as export:
        export.string(b"\xff\x00x")

    assert query(path, "PRAGMA page_size") == [(4096,)]
    assert query(path, "PRAGMA journal_mode") == [("delete",)]
    assert query(path, "PRAGMA encoding") == [("UTF-8",)]
    assert query(path, "SELECT name FROM sqlite_master WHERE type = 'index'") == []
    assert query(path, "SELECT typeof(value), hex(value) FROM StringIds") == [("text", "FF0078")]


def test_columns_of_other_eras_are_dropped_and_unknown_ones_refused(tmp_path: Path) -> None:
    with ExportWriter(tmp_path / "export.sqlite", "3.0") as export:
        export.kernel("f", 1, 2, pid=7, clusterX=4)

        with pytest.raises(KeyError, match="no column colour in any era"):
            export.row("CUPTI_ACTIVITY_KIND_KERNEL", colour=1)
        with pytest.raises(KeyError, match="no column colour in any era"):
            export.rows("CUPTI_ACTIVITY_KIND_KERNEL", ("colour",), [])
        with pytest.raises(KeyError, match="GRAPH_TRACE"):
            export.graph_trace(1, 2, pid=7, graph=1)


def test_many_rows_and_one_row_are_the_same(tmp_path: Path) -> None:
    one, many = tmp_path / "one.sqlite", tmp_path / "many.sqlite"
    with ExportWriter(one) as export:
        export.memset(3, 4, pid=7, correlation=2)
    with ExportWriter(many) as export:
        columns = ("end", "start", "globalPid", "correlationId")
        same = {"deviceId": 0, "contextId": 1, "streamId": 7, "bytes": 4, "memKind": 2}
        export.rows(
            "CUPTI_ACTIVITY_KIND_MEMSET",
            columns,
            [(4, 3, (1 << 48) | (7 << 24), 2)],
            same | {"greenContextId": 0},
        )

    sql = "SELECT * FROM CUPTI_ACTIVITY_KIND_MEMSET"
    assert query(one, sql) == query(many, sql)


@pytest.mark.parametrize(
    ("demangled", "short"),
    [
        ("store_kvcache", "store_kvcache"),
        ("void cutlass::Kernel2<cutlass_80_x<(int)4>>(T1::Params)", "Kernel2"),
        ("void at::native::<unnamed>::Cat<T<(int)4>, int>(T1 *, int)", "Cat"),
        ("void (anonymous namespace)::softmax_warp_forward<float>(T2 *)", "softmax_warp_forward"),
        ("ncclDevKernel_SendRecv(ncclStorage<(unsigned long)4096>)", "ncclDevKernel_SendRecv"),
    ],
)
def test_the_short_name_is_the_base_name(demangled: str, short: str) -> None:
    assert short_name(demangled) == short
