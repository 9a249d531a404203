import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.page_files import (
    Row,
    assert_read_fast,
    write_reserving,
)
from traceattr.ingest.export import open_export
from traceattr.ingest.scan import ColumnType, scan_table
from traceattr.ingest.selection import select
from traceattr.ingest.sqlite.rows import read_rows

PLAIN_NUMBERS = st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 300)
PLAIN_TEXTS = st.none() | st.text(max_size=90) | st.binary(max_size=90)
LONG_TEXTS = st.builds(str.__mul__, st.sampled_from("aé"), st.integers(0, 3000))
ODD_VALUES = PLAIN_NUMBERS | PLAIN_TEXTS | st.floats(allow_nan=False)
CHANGES = (
    "DELETE FROM event WHERE rowid % 3 = 1",
    "DELETE FROM event WHERE rowid < 40",
    "UPDATE event SET text = text || number || text",
    "UPDATE event SET number = rowid * 3 WHERE number IS NULL",
    "INSERT INTO event (number, text) SELECT number, text FROM event",
    "VACUUM",
    "CREATE INDEX IF NOT EXISTS by_number ON event (number)",
    "CREATE TABLE IF NOT EXISTS other AS SELECT * FROM event",
    "DROP TABLE IF EXISTS other",
)
DEFAULTS = ("", "DEFAULT -7", "DEFAULT 2.0", "DEFAULT 2.5", "DEFAULT '12'", "DEFAULT X'61'")
ANY_TYPE = ("", "INTEGER", "REAL", "DOUBLE PRECISION", "FLOATING POINT", "TEXT", "NUMERIC", "BLOB")
ADDED = ("added_0", "added_1", "added_2")
WIDE = ", ".join(f"c{number}" for number in range(130))


def added(kinds: Sequence[str]) -> st.SearchStrategy[list[str]]:
    """Columns that are added after the first rows were written."""
    declared = st.builds(
        "{} {}".format, st.sampled_from(kinds), st.sampled_from((*DEFAULTS, "DEFAULT NULL"))
    )
    return st.lists(declared, max_size=len(ADDED))


@dataclass(frozen=True, slots=True)
class Table:
    """How to make a table `event`: settings of the file, declaration, rows, then statements."""

    page_bytes: int
    reserved_bytes: int
    auto_vacuum: int
    declared: str
    rows: list[Row]
    repeats: int
    added: list[str]
    changes: list[str]

    def write(self, path: Path) -> Path:
        path.unlink(missing_ok=True)
        write_reserving(
            path,
            self.reserved_bytes,
            f"PRAGMA page_size = {self.page_bytes}",
            f"PRAGMA auto_vacuum = {self.auto_vacuum}",
            f"CREATE TABLE event ({self.declared})",
        )
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute("BEGIN")
            query = "INSERT INTO event (number, text) VALUES (?, ?)"
            for _ in range(self.repeats):
                database.executemany(query, self.rows)
            for name, declared in zip(ADDED, self.added, strict=False):
                database.execute(f"ALTER TABLE event ADD COLUMN {name} {declared}")
                database.executemany(query, self.rows)
            database.execute("COMMIT")
            for change in self.changes:
                database.execute(change)
        return path


PLAIN_TABLES = st.sampled_from(
    [
        "number INTEGER, text TEXT",
        "id INTEGER PRIMARY KEY, number, spare DEFAULT 5, text",
        "text TEXT, id INTEGER PRIMARY KEY, number BIGINT",
        "number INT, spare REAL DEFAULT 2.5, text VARCHAR(9), other TEXT DEFAULT 'abc'",
        f"number, {WIDE}, text",
    ]
)
ODD_TABLES = PLAIN_TABLES | st.builds(
    "number {}, id INTEGER PRIMARY KEY, text {}".format,
    st.sampled_from(ANY_TYPE),
    st.sampled_from(ANY_TYPE),
)


def tables(
    declared: st.SearchStrategy[str],
    numbers: st.SearchStrategy[object],
    texts: st.SearchStrategy[object],
) -> st.SearchStrategy[Table]:
    return st.builds(
        Table,
        page_bytes=st.sampled_from([512, 512, 1024, 4096, 65536]),
        reserved_bytes=st.sampled_from([0, 0, 1, 8, 32]),
        auto_vacuum=st.integers(0, 2),
        declared=declared,
        rows=st.lists(st.tuples(numbers, texts), max_size=12),
        repeats=st.sampled_from([1, 1, 5, 60]),
        added=added(ANY_TYPE),
        changes=st.lists(st.sampled_from(CHANGES), max_size=4),
    )


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that each example of a property overwrites."""
    return tmp_path_factory.mktemp("pages") / "a.sqlite"


@given(
    tables(PLAIN_TABLES, PLAIN_NUMBERS, PLAIN_TEXTS | LONG_TEXTS),
    st.sampled_from([512, 4096, 2**20]),
)
def test_whatever_sqlite_writes_is_read_the_same(
    scratch: Path, table: Table, block_bytes: int
) -> None:
    assert_read_fast(table.write(scratch), block_bytes=block_bytes)


@given(tables(ODD_TABLES, ODD_VALUES, ODD_VALUES), st.data())
def test_a_scan_has_the_same_rows_as_the_slow_reader_whatever_they_hold(
    scratch: Path, table: Table, data: st.DataObject
) -> None:
    path = table.write(scratch)
    names = ["id", "number", "text", "spare", "other", "c99", *ADDED]
    choice = st.lists(st.sampled_from(names), min_size=1)
    columns = {name: data.draw(st.sampled_from(ColumnType)) for name in data.draw(choice)}

    with open_export(path) as export:
        scan = scan_table(export, "event", columns)
        rows = scan.batches.read_all()
        with closing(export.connect()) as connection:
            slow = list(read_rows(connection, select(export, "event", columns)))

    assert rows == pa.Table.from_batches([piece.rows for piece in slow], rows.schema)
    assert scan.unreadable == sum(piece.unreadable for piece in slow)
    assert scan.declined is None
