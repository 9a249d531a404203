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
    read_by_sqlite,
    rows_of,
    write_database,
    write_reserving,
    write_with_reserved_type,
)
from traceattr.ingest.export import open_export
from traceattr.ingest.selection import select
from traceattr.ingest.sqlite.btree import Declined
from traceattr.ingest.sqlite.pages import find_pages, read_pages


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        (
            ["CREATE TABLE event (number INTEGER PRIMARY KEY, text TEXT) WITHOUT ROWID"],
            "a table WITHOUT ROWID",
        ),
        (
            ["PRAGMA encoding = 'UTF-16le'", "CREATE TABLE event (number INTEGER, text TEXT)"],
            "text in UTF-16",
        ),
        (
            ["CREATE TABLE event (number INTEGER, twice AS (2 * number), text TEXT)"],
            "generated columns",
        ),
        (
            ["CREATE TABLE event (number INTEGER, text TEXT, rowid, _rowid_, oid)"],
            "columns named rowid, _rowid_ and oid",
        ),
    ],
)
def test_an_unusual_table_is_declined(tmp_path: Path, statements: list[str], reason: str) -> None:
    path = write_database(tmp_path / "a.sqlite", *statements)

    with pytest.raises(Declined) as caught:
        read_by_pages(path, BOTH)
    assert str(caught.value) == reason


@pytest.mark.parametrize(("page_bytes", "reserved_bytes"), [(512, 32), (4096, 8), (65536, 255)])
@pytest.mark.parametrize("auto_vacuum", [0, 1])
def test_reserved_bytes_at_the_end_of_pages_are_skipped(
    tmp_path: Path, page_bytes: int, reserved_bytes: int, auto_vacuum: int
) -> None:
    path = write_reserving(
        tmp_path / "a.sqlite",
        reserved_bytes,
        f"PRAGMA page_size = {page_bytes}",
        f"PRAGMA auto_vacuum = {auto_vacuum}",
        "CREATE TABLE event (number INTEGER, text TEXT)",
    )
    fits = page_bytes - reserved_bytes - 35
    long = [(1, "x" * length) for length in range(fits - 40, fits + 40)]
    insert(path, "event", [*rows_of(2000), *long, *rows_of(10)])

    assert len(assert_read_fast(path)) == 2090
    assert path.read_bytes()[20] == reserved_bytes
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_more_reserved_bytes_than_sqlite_allows_are_declined(tmp_path: Path) -> None:
    path = write_database(
        tmp_path / "a.sqlite", "PRAGMA page_size = 512", "CREATE TABLE event (number, text)"
    )
    with open_export(path) as export:
        content = bytearray(path.read_bytes())
        content[20] = 33
        path.write_bytes(content)

        with pytest.raises((Declined, sqlite3.DatabaseError)):
            find_pages(export, select(export, "event", BOTH))


@pytest.mark.parametrize(
    ("stored", "number", "unreadable"),
    [
        (3.0, 3, 0),
        (-0.0, 0, 0),
        (2.0**62, 2**62, 0),
        (2.0**63, -(2**63), 0),
        (1.8e19, 18 * 10**18 - 2**64, 0),
        (-(2.0**63), -(2**63), 0),
        (2.0**64, None, 1),
        (-1e19, None, 1),
        (1.5, None, 1),
        (float("inf"), None, 1),
        ("12", 12, 0),
        (b" -7 ", -7, 0),
        ("18446744073709551615", -1, 0),
        ("twelve", None, 1),
        ("", None, 1),
        (b"\xff", None, 1),
    ],
)
def test_reals_and_texts_are_read_as_the_integers_that_they_stand_for(
    tmp_path: Path, stored: object, number: int | None, unreadable: int
) -> None:
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE event (number, text)")
    insert(path, "event", [*rows_of(2000), (stored, "a"), (None, None), *rows_of(2000)])

    reading = read_by_pages(path, BOTH, block_bytes=4096)

    assert (reading.declined, reading.unreadable) == ([], unreadable)
    assert reading.rows[2000:2002] == [(number, b"a"), (None, None)]
    assert reading.rows[:2000] == reading.rows[2002:]


@pytest.mark.parametrize(
    ("declared", "stored", "text"),
    [
        ("", 12, b"12"),
        ("", -(2**63), b"-9223372036854775808"),
        ("", 1.5, b"1.5"),
        ("REAL", 12, b"12.0"),
        ("DOUBLE PRECISION", 0, b"0.0"),
        ("FLOATING POINT", 1, b"1"),
    ],
)
def test_numbers_are_read_as_texts(
    tmp_path: Path, declared: str, stored: object, text: bytes
) -> None:
    path = write_database(tmp_path / "a.sqlite", f"CREATE TABLE event (number, text {declared})")
    insert(path, "event", [(1, "a"), (2, stored), (3, None)])

    assert read_by_pages(path, BOTH) == Reading([(1, b"a"), (2, text), (3, None)], [])


def test_a_row_number_is_read_as_text(tmp_path: Path) -> None:
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE event (number INTEGER PRIMARY KEY)")
    insert(path, "event", [(7,), (-8,)])

    assert read_by_pages(path, {"number": TEXT}) == Reading([(b"-8",), (b"7",)], [])


@pytest.mark.parametrize(
    ("declared", "number", "text", "unreadable"),
    [
        ("TEXT DEFAULT 'none'", None, b"none", 500),
        ("TEXT DEFAULT ''", None, b"", 500),
        ("TEXT DEFAULT 12", 12, b"12", 0),
        ("INTEGER DEFAULT '12'", 12, b"12", 0),
        ("INTEGER NOT NULL DEFAULT -5", -5, b"-5", 0),
        ("REAL DEFAULT 5", 5, b"5.0", 0),
        ("DEFAULT 1.5", None, b"1.5", 500),
        ("DEFAULT 1e19", 10**19 - 2**64, b"1e+19", 0),
        ("DEFAULT X'3700'", None, b"7\x00", 500),
        ("DEFAULT TRUE", 1, b"1", 0),
        ("DEFAULT word", None, b"word", 500),
        ("DEFAULT (NULL)", None, None, 0),
    ],
)
def test_rows_older_than_a_column_have_its_default(
    tmp_path: Path, declared: str, number: int | None, text: bytes | None, unreadable: int
) -> None:
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE event (old INTEGER)")
    insert(path, "event", [(at,) for at in range(500)])
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"ALTER TABLE event ADD COLUMN number {declared}")
    insert(path, "event", [(1, "3")])

    numbers = read_by_pages(path, {"number": INTEGER}, block_bytes=4096)
    texts = read_by_pages(path, {"old": INTEGER, "number": TEXT}, block_bytes=4096)

    assert (numbers.declined, numbers.unreadable) == ([], unreadable)
    assert numbers.rows == [(number,)] * 500 + [(3,)]
    assert (texts.declined, texts.unreadable) == ([], 0)
    assert texts.rows[:500] == [(at, text) for at in range(500)]


def test_a_default_that_would_fill_the_memory_is_left_to_libsqlite3(tmp_path: Path) -> None:
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE event (number INTEGER)")
    insert(path, "event", [(at,) for at in range(2000)])
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"ALTER TABLE event ADD COLUMN text TEXT DEFAULT '{'x' * 40_000}'")

    with open_export(path) as export:
        pages = find_pages(export, select(export, "event", BOTH))
        reasons = {piece.declined for piece in read_pages(pages, 1)}

    assert reasons == {"a long default of rows older than a column"}


@pytest.mark.parametrize("older", [0, 50])
def test_records_of_many_columns_are_read(tmp_path: Path, older: int) -> None:
    names = [f"c{number}" for number in range(200)]
    path = write_database(tmp_path / "a.sqlite", f"CREATE TABLE event ({', '.join(names[:150])})")
    insert(path, "event", [tuple(range(at, at + 150)) for at in range(older)] or [(None,) * 150])
    with closing(sqlite3.connect(path)) as database, database:
        if not older:
            database.execute("DELETE FROM event")
        for name in names[150:]:
            database.execute(f"ALTER TABLE event ADD COLUMN {name}")
    insert(path, "event", [tuple(range(at, at + 200)) for at in range(50)])

    assert len(assert_read_fast(path, {"c7": INTEGER, "c149": INTEGER, "c199": INTEGER})) == (
        50 + older
    )


def test_a_value_of_a_type_that_sqlite_reserves_is_left_to_libsqlite3(tmp_path: Path) -> None:
    pages = write_with_reserved_type(tmp_path / "a.sqlite")

    reading = read_by_pages(pages.path, BOTH, block_bytes=512)

    assert reading.declined == ["values in column number of a type that SQLite reserves"]
    assert reading.rows == read_by_sqlite(pages.path, "event", BOTH)
