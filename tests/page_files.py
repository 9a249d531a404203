"""Small SQLite files, and both ways of reading them."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from traceattr.ingest.export import open_export
from traceattr.ingest.scan import ColumnType
from traceattr.ingest.selection import select
from traceattr.ingest.sqlite.pages import find_pages, read_pages

INTEGER, TEXT = ColumnType.INTEGER, ColumnType.TEXT
BOTH = {"number": INTEGER, "text": TEXT}
Row = tuple[object, ...]


def write_database(path: Path, *statements: str) -> Path:
    """Write an export with the tables that the statements make; pragmas go first."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        pragmas = [text for text in statements if text.startswith("PRAGMA")]
        for text in (*pragmas, "CREATE TABLE META_DATA_EXPORT (name, value)"):
            database.execute(text).fetchall()
        for text in statements[len(pragmas) :]:
            database.execute(text).fetchall()
    return path


def write_reserving(path: Path, reserved_bytes: int, *statements: str) -> Path:
    """As `write_database`, with bytes at the end of each page that SQLite leaves alone.

    The shell's `.filectrl reserve_bytes` does so before the first page is written; here that page
    is changed while it is the only one. Its cells, of which there are none yet, grow downwards from
    the end of what is usable (fileformat2.html section 1.6, offset 5).
    """
    pragmas = [text for text in statements if text.startswith("PRAGMA")]
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        for text in (*pragmas, "PRAGMA user_version = 1"):
            database.execute(text)
    content = bytearray(path.read_bytes())
    content[20] = reserved_bytes
    content[105:107] = (len(content) - reserved_bytes).to_bytes(3, "big")[1:]
    path.write_bytes(content)
    return write_database(path, *statements)


def insert(path: Path, table: str, rows: Sequence[Row]) -> None:
    places = ", ".join("?" * len(rows[0]))
    with closing(sqlite3.connect(path)) as database, database:
        database.executemany(f"INSERT INTO {table} VALUES ({places})", rows)  # noqa: S608


def read_by_sqlite(path: Path, table: str, columns: Mapping[str, ColumnType]) -> list[Row]:
    """What libsqlite3 has in the columns, texts as bytes."""
    names = ", ".join(f'"{name}"' for name in columns)
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
        database.text_factory = bytes
        query = f'SELECT {names} FROM "{table}" NOT INDEXED'  # noqa: S608
        return database.execute(query).fetchall()


@dataclass(frozen=True, slots=True)
class Reading:
    """Rows of a table and, for each block of pages that libsqlite3 had to read, the reason."""

    rows: list[Row]
    declined: list[str]
    unreadable: int = 0


def read_by_pages(
    path: Path, columns: Mapping[str, ColumnType], *, block_bytes: int = 2**20, workers: int = 1
) -> Reading:
    """What the page reader has in the columns of the table `event`."""
    with open_export(path) as export:
        pages = find_pages(export, select(export, "event", columns))
        pieces = list(read_pages(pages, workers, block_bytes))
    table = pa.Table.from_batches([piece.rows for piece in pieces])
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return Reading(
        rows,
        [piece.declined for piece in pieces if piece.declined],
        sum(piece.unreadable for piece in pieces),
    )


def assert_read_fast(
    path: Path, columns: Mapping[str, ColumnType] = BOTH, *, block_bytes: int = 2**20
) -> list[Row]:
    """Both readers have the same rows, and libsqlite3 was not needed for the pages."""
    reading = read_by_pages(path, columns, block_bytes=block_bytes)
    assert reading.declined == []
    assert reading.rows == read_by_sqlite(path, "event", columns)
    return reading.rows


def rows_of(count: int) -> list[Row]:
    return [(number * 77 - 99, f"text {number}") for number in range(count)]


class Pages:
    """The bytes of a database in pages of 512 bytes, to be damaged in well-chosen places."""

    def __init__(self, path: Path, table: str = "event") -> None:
        self.path = path
        self.content = bytearray(path.read_bytes())
        with closing(sqlite3.connect(path)) as database:
            query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
            (number,) = database.execute(query, (table,)).fetchone()
        self.root = (number - 1) * 512

    def cells(self, page: int) -> list[int]:
        """Where the cells of the page that starts at `page` start."""
        header = 8 if self.content[page] == 13 else 12
        count = int.from_bytes(self.content[page + 3 : page + 5], "big")
        pointers = range(page + header, page + header + 2 * count, 2)
        return [page + int.from_bytes(self.content[at : at + 2], "big") for at in pointers]

    def leaf(self, place: int) -> int:
        """Where the leaf in this place under an only interior page starts."""
        cell = self.cells(self.root)[place]
        return (int.from_bytes(self.content[cell : cell + 4], "big") - 1) * 512

    def write(self, at: int, *damage: int) -> None:
        damaged = bytearray(self.content)
        damaged[at : at + len(damage)] = bytes(damage)
        self.path.write_bytes(damaged)


def write_small_pages(path: Path, rows: Sequence[Row]) -> Pages:
    write_database(
        path,
        "PRAGMA page_size = 512",
        "CREATE TABLE event (id INTEGER PRIMARY KEY, number INTEGER, text TEXT)",
    )
    insert(path, "event", [(None, *row) for row in rows])
    return Pages(path)


def write_with_reserved_type(path: Path) -> Pages:
    """Write rows of which one, in the second leaf, has a NULL written as serial type 10."""
    rows = rows_of(120)
    rows[39] = (None, "a")
    pages = write_small_pages(path, rows)
    [cell] = [cell for cell in pages.cells(pages.leaf(1)) if pages.content[cell + 1] == 40]
    # The record's length and row number take a byte each; its header begins with its own length.
    pages.write(cell + 4, 10)
    return Pages(path)
