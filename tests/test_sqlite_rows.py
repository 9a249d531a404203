import gc
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest

from traceattr.ingest.export import open_export
from traceattr.ingest.scan import ColumnType
from traceattr.ingest.selection import Piece, select
from traceattr.ingest.sqlite.rows import read_rowids, read_rows, read_span

INTEGER, TEXT = ColumnType.INTEGER, ColumnType.TEXT


def write_table(path: Path, declared: str, rows: list[tuple[object, ...]]) -> Path:
    """Write an export whose table `event` has no types, so that values stay as they are."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE META_DATA_EXPORT (name, value)")
        database.execute(f"CREATE TABLE event ({declared})")
        places = ", ".join("?" * (declared.count(",") + 1))
        database.executemany(f"INSERT INTO event VALUES ({places})", rows)  # noqa: S608
    return path


def read(path: Path, columns: Mapping[str, ColumnType]) -> tuple[pa.Table, int]:
    with open_export(path) as export, closing(export.connect()) as connection:
        wanted = select(export, "event", columns)
        pieces: list[Piece] = list(read_rows(connection, wanted))
    rows = pa.Table.from_batches([piece.rows for piece in pieces], wanted.schema)
    return rows, sum(piece.unreadable for piece in pieces)


@pytest.mark.parametrize(
    ("stored", "value"),
    [
        (0, 0),
        (-(2**63), -(2**63)),
        (2**63 - 1, 2**63 - 1),
        (3.0, 3),
        (-0.0, 0),
        (2.0**62, 2**62),
        (2.0**63, -(2**63)),
        (1.8e19, 18 * 10**18 - 2**64),
        ("12", 12),
        (" -7 ", -7),
        ("18446744073709551615", -1),
        (b"13", 13),
        (None, None),
    ],
)
def test_what_stands_for_an_integer_is_read_as_one(
    tmp_path: Path, stored: object, value: int | None
) -> None:
    path = write_table(tmp_path / "a.sqlite", "start", [(1,), (stored,)])

    assert read(path, {"start": INTEGER}) == (
        pa.table({"start": pa.array([1, value], pa.int64())}),
        0,
    )


@pytest.mark.parametrize(
    "stored",
    [1.5, float("inf"), 2.0**64, -1e19, "", "twelve", "1_2", "1e3", "0x1", "9" * 21, b"\xff", "٣"],
)
def test_what_stands_for_no_integer_becomes_null_and_is_counted(
    tmp_path: Path, stored: object
) -> None:
    path = write_table(tmp_path / "a.sqlite", "start", [(stored,), (None,), (1,)])

    assert read(path, {"start": INTEGER}) == (
        pa.table({"start": pa.array([None, None, 1], pa.int64())}),
        1,
    )


@pytest.mark.parametrize(
    ("stored", "value"),
    [
        ("grün", "grün".encode()),
        ("a\0b", b"a\0b"),
        (b"\xff\x00", b"\xff\x00"),
        ("", b""),
        (12, b"12"),
        (1.5, b"1.5"),
        (None, None),
    ],
)
def test_text_comes_as_the_bytes_that_are_stored(
    tmp_path: Path, stored: object, value: bytes | None
) -> None:
    path = write_table(tmp_path / "a.sqlite", "text", [("x",), (stored,)])

    assert read(path, {"text": TEXT}) == (
        pa.table({"text": pa.array([b"x", value], pa.binary())}),
        0,
    )


def test_columns_come_in_the_order_asked_for_and_missing_ones_as_null(tmp_path: Path) -> None:
    path = write_table(tmp_path / "a.sqlite", "Start, text", [(1, "a"), (2, "b")])

    rows, unreadable = read(
        path, {"nothing": TEXT, "TEXT": TEXT, "start": INTEGER, "none": INTEGER}
    )

    assert unreadable == 0
    assert rows.schema == pa.schema(
        [
            ("nothing", pa.binary()),
            ("TEXT", pa.binary()),
            ("start", pa.int64()),
            ("none", pa.int64()),
        ]
    )
    assert rows.to_pylist() == [
        {"nothing": None, "TEXT": b"a", "start": 1, "none": None},
        {"nothing": None, "TEXT": b"b", "start": 2, "none": None},
    ]


def test_an_empty_table_has_no_rows(tmp_path: Path) -> None:
    path = write_table(tmp_path / "a.sqlite", "start", [])

    rows, unreadable = read(path, {"start": INTEGER})

    assert (rows.num_rows, rows.schema, unreadable) == (0, pa.schema([("start", pa.int64())]), 0)


def test_names_that_need_quoting_are_quoted(tmp_path: Path) -> None:
    path = write_table(tmp_path / "a.sqlite", '"a""b", "end", "select"', [(1, 2, 3)])

    rows, _ = read(path, {'a"b': INTEGER, "end": INTEGER, "select": INTEGER})

    assert rows.to_pylist() == [{'a"b': 1, "end": 2, "select": 3}]


def test_rows_come_in_row_order_even_where_an_index_covers_the_columns(tmp_path: Path) -> None:
    path = write_table(tmp_path / "a.sqlite", "start, other", [(3, "c" * 99), (1, "a"), (2, "b")])
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE INDEX by_start ON event (start)")

    rows, _ = read(path, {"start": INTEGER})

    assert rows["start"].to_pylist() == [3, 1, 2]


def test_many_rows_come_in_several_pieces(tmp_path: Path) -> None:
    path = write_table(tmp_path / "a.sqlite", "start", [(number,) for number in range(10_000)])

    rows, _ = read(path, {"start": INTEGER})

    assert rows["start"].to_pylist() == list(range(10_000))
    assert rows["start"].num_chunks > 1


def test_rows_are_found_by_span_and_by_number(tmp_path: Path) -> None:
    path = write_table(tmp_path / "a.sqlite", "rowid, start", [(9, 10), (9, 20), (9, 30), (9, 40)])

    with open_export(path) as export, closing(export.connect()) as connection:
        wanted = select(export, "event", {"start": INTEGER})
        (span,) = read_span(connection, wanted, 2, 3)
        chosen = read_rowids(connection, wanted, [4, 77, 1])

    assert span.rows["start"].to_pylist() == [20, 30]
    assert chosen.rows["start"].to_pylist() == [40, 10]


def test_a_table_that_hides_every_name_of_the_row_number_has_none(tmp_path: Path) -> None:
    path = write_table(tmp_path / "a.sqlite", "ROWID, _rowid_, oid", [])

    with open_export(path) as export:
        assert select(export, "event", {"oid": INTEGER}).rowid is None


def test_the_garbage_collector_runs_again_between_the_pieces(tmp_path: Path) -> None:
    path = write_table(tmp_path / "a.sqlite", "start", [(1,)])

    with open_export(path) as export, closing(export.connect()) as connection:
        for _ in read_rows(connection, select(export, "event", {"start": INTEGER})):
            assert gc.isenabled()
