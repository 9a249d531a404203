import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.page_files import (
    BOTH,
    INTEGER,
    TEXT,
    Reading,
    assert_read_fast,
    insert,
    read_by_pages,
    rows_of,
    write_database,
)
from traceattr.ingest.export import Export, open_export
from traceattr.ingest.scan import scan_table

TRACES = Path(__file__).parents[2] / "shared" / "traces"


def test_integers_of_every_width_are_read(tmp_path: Path) -> None:
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE event (number INTEGER, text TEXT)")
    edges = [sign * 2**bits + step for bits in range(64) for sign in (-1, 1) for step in (-1, 0, 1)]
    numbers = [number for number in edges if -(2**63) <= number < 2**63]
    insert(path, "event", [(number, None) for number in (*numbers, None)])

    assert [number for number, _ in assert_read_fast(path)] == [*numbers, None]


@pytest.mark.parametrize("number", [0, 1, 2, -129, None])
def test_a_column_of_one_value_is_read(tmp_path: Path, number: int | None) -> None:
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE event (number INTEGER, text TEXT)")
    insert(path, "event", [(number, "a")] * 100)

    assert assert_read_fast(path) == [(number, b"a")] * 100


def test_texts_are_read_as_the_bytes_that_are_stored(tmp_path: Path) -> None:
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE event (number INTEGER, text TEXT)")
    texts = ["", "a", "ü" * 70, "a\0b", "x" * 57, "x" * 58, "x" * 3000, b"\xff\xfe", b"", None]
    insert(path, "event", [(1, text) for text in texts])
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("INSERT INTO event VALUES (1, CAST(X'C328' AS TEXT))")

    rows = assert_read_fast(path)

    assert rows[-1] == (1, b"\xc3\x28")
    assert rows[3] == (1, b"a\0b")


@pytest.mark.parametrize("page_bytes", [512, 1024, 4096, 32768, 65536])
@pytest.mark.parametrize("auto_vacuum", [0, 1])
def test_pages_of_every_size_are_read(tmp_path: Path, page_bytes: int, auto_vacuum: int) -> None:
    path = write_database(
        tmp_path / "a.sqlite",
        f"PRAGMA page_size = {page_bytes}",
        f"PRAGMA auto_vacuum = {auto_vacuum}",
        "CREATE TABLE event (number INTEGER, text TEXT)",
    )
    insert(path, "event", [*rows_of(3000), (1, "long " * 40_000), *rows_of(10)])

    assert len(assert_read_fast(path)) == 3011


def test_a_deep_tree_is_read_block_by_block_in_row_order(tmp_path: Path) -> None:
    path = write_database(
        tmp_path / "a.sqlite",
        "PRAGMA page_size = 512",
        "CREATE TABLE event (number INTEGER, text TEXT)",
    )
    insert(path, "event", rows_of(40_000))

    reading = read_by_pages(path, BOTH, block_bytes=8 * 512, workers=3)

    assert reading == Reading(
        [(number, str(text).encode()) for number, text in rows_of(40_000)], []
    )


def test_tables_that_grew_together_are_read(tmp_path: Path) -> None:
    path = write_database(
        tmp_path / "a.sqlite",
        "PRAGMA page_size = 512",
        "CREATE TABLE event (number INTEGER, text TEXT)",
        *(f"CREATE TABLE other_{number} (text TEXT)" for number in range(9)),
    )
    for part in range(20):
        insert(path, "event", rows_of(50))
        for number in range(9 if part % 2 else 1):
            insert(path, f"other_{number}", [("x" * 300,)] * 9)

    assert len(assert_read_fast(path)) == 1000


def test_rows_that_were_changed_and_deleted_are_read(tmp_path: Path) -> None:
    path = write_database(
        tmp_path / "a.sqlite",
        "PRAGMA page_size = 512",
        "CREATE TABLE event (number INTEGER, text TEXT)",
    )
    insert(path, "event", rows_of(2000))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM event WHERE rowid % 3 = 0 OR rowid BETWEEN 500 AND 900")
        database.execute("UPDATE event SET text = text || text || text WHERE rowid % 5 = 0")
        database.execute("UPDATE event SET number = number * 1000000007 WHERE rowid % 7 = 0")

    assert_read_fast(path, block_bytes=4096)


def test_rows_that_just_fit_their_page_or_just_do_not_are_read(tmp_path: Path) -> None:
    path = write_database(
        tmp_path / "a.sqlite",
        "PRAGMA page_size = 512",
        "CREATE TABLE event (number INTEGER, text TEXT)",
    )
    insert(path, "event", [(length, "x" * length) for length in range(400, 600)])

    assert len(assert_read_fast(path)) == 200


def test_an_empty_table_is_read(tmp_path: Path) -> None:
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE event (number INTEGER, text TEXT)")

    assert assert_read_fast(path) == []


def test_a_table_that_became_empty_is_read(tmp_path: Path) -> None:
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE event (number INTEGER, text TEXT)")
    insert(path, "event", rows_of(2000))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM event")

    assert assert_read_fast(path) == []


@pytest.mark.parametrize(
    "declared",
    [
        "number INTEGER PRIMARY KEY, text TEXT",
        "number integer, text TEXT, PRIMARY KEY (number)",
        "number INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT",
        "number INT PRIMARY KEY, text TEXT",
        "number INTEGER PRIMARY KEY DESC, text TEXT",
        "number INTEGER, text TEXT, PRIMARY KEY (number DESC)",
        "number INTEGER, text TEXT, PRIMARY KEY (number, text)",
        "number BIGINT UNIQUE, text TEXT PRIMARY KEY",
    ],
)
def test_a_primary_key_is_read_whether_it_is_the_row_number_or_not(
    tmp_path: Path, declared: str
) -> None:
    path = write_database(tmp_path / "a.sqlite", f"CREATE TABLE event ({declared})")
    insert(path, "event", [(number**5, str(number)) for number in range(-300, 300)])

    assert len(assert_read_fast(path)) == 600


@pytest.mark.parametrize("first", [1, 120, 16_300, 2_097_000, 2**28 - 99, 2**56, 2**63 - 400, -400])
def test_row_numbers_of_every_length_are_skipped(tmp_path: Path, first: int) -> None:
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE event (number INTEGER, text TEXT)")
    with closing(sqlite3.connect(path)) as database, database:
        database.executemany(
            "INSERT INTO event (rowid, number, text) VALUES (?, ?, ?)",
            [(first + at, *row) for at, row in enumerate(rows_of(300))],
        )

    assert_read_fast(path)


def test_columns_added_later_are_null_in_older_rows(tmp_path: Path) -> None:
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE event (number INTEGER)")
    insert(path, "event", [(number,) for number in range(500)])
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("ALTER TABLE event ADD COLUMN text TEXT")
        database.execute("ALTER TABLE event ADD COLUMN more INTEGER DEFAULT 7")
    insert(path, "event", [(number, "new", 8) for number in range(500)])

    rows = assert_read_fast(path)
    assert rows[0] == (0, None)
    assert rows[-1] == (499, b"new")


def test_a_short_record_may_have_a_header_as_long_as_a_complete_one(tmp_path: Path) -> None:
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE event (text TEXT, number INTEGER)")
    insert(path, "event", [("x" * 100, number) for number in range(50)])
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("ALTER TABLE event ADD COLUMN more INTEGER")

    assert assert_read_fast(path)[49] == (49, b"x" * 100)


def test_columns_are_found_whatever_the_order_and_however_many_there_are(tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(120)]
    path = write_database(
        tmp_path / "a.sqlite",
        f"CREATE TABLE event ({', '.join(f'{name} INTEGER' for name in names)})",
    )
    insert(path, "event", [tuple(row * at for at in range(120)) for row in range(50)])

    assert_read_fast(path, dict.fromkeys(("c119", "c3", "c64"), INTEGER))
    assert_read_fast(path, dict.fromkeys(names, INTEGER))


def test_a_column_may_be_asked_for_twice_and_a_missing_one_too(tmp_path: Path) -> None:
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE event (number INTEGER, text TEXT)")
    insert(path, "event", [(1, "a"), (2, "b")])

    reading = read_by_pages(path, {"NUMBER": INTEGER, "number": INTEGER, "none": TEXT})

    assert reading == Reading([(1, 1, None), (2, 2, None)], [])


def test_only_missing_columns_still_have_the_right_number_of_rows(tmp_path: Path) -> None:
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE event (number INTEGER, text TEXT)")
    insert(path, "event", rows_of(5))

    assert read_by_pages(path, {"none": TEXT}) == Reading([(None,)] * 5, [])


@pytest.mark.skipif(not TRACES.is_dir(), reason="the real exports are not beside this checkout")
def test_every_table_of_real_exports_is_read_as_libsqlite3_reads_it() -> None:
    for path in sorted(TRACES.glob("*.sqlite")):
        with open_export(path) as export, closing(export.connect()) as connection:
            for table, names in export.tables.items():
                assert_table_read_fast(export, connection, table, names)


def assert_table_read_fast(
    export: Export, connection: sqlite3.Connection, table: str, names: tuple[str, ...]
) -> None:
    connection.text_factory = bytes
    query = "SELECT CAST(type AS BLOB) FROM pragma_table_xinfo(?)"
    kinds = [kind.upper() for (kind,) in connection.execute(query, (table,))]
    columns = {
        name: TEXT if kind == b"TEXT" else INTEGER for name, kind in zip(names, kinds, strict=True)
    }

    scan = scan_table(export, table, columns)
    rows = scan.batches.read_all()

    assert list(zip(*(column.to_pylist() for column in rows.columns), strict=True)) == (
        connection.execute(f'SELECT * FROM "{table}" NOT INDEXED').fetchall()  # noqa: S608
    )
    assert scan.declined is None
