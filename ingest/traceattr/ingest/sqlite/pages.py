"""Reading table columns straight from the pages of an SQLite file, without libsqlite3.

libsqlite3 spends some 35 ns on each column of each row, and Python ten times that on fetching it.
The pages of an nsys table are so regular that numpy decodes thousands of rows at once. Whatever is
not regular is declined and left to libsqlite3: a table as a whole when its layout is unusual, a
block of pages when a value in it is, single rows when they continue in overflow pages.
"""

import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from traceattr.ingest.arrow_arrays import integer_array, replaced
from traceattr.ingest.export import Export
from traceattr.ingest.remote.rows import fetch_rows
from traceattr.ingest.selection import Piece, Selection
from traceattr.ingest.sqlite.btree import (
    Damaged,
    Declined,
    Integers,
    Leaves,
    Malformed,
    PageFile,
    leaves_of,
    open_pages,
)
from traceattr.ingest.sqlite.record import (
    Cells,
    Decoded,
    Field,
    Layout,
    decode,
    split_cells,
)
from traceattr.ingest.sqlite.rows import read_rowids, read_span, rows_to_arrow

# Small enough that the arrays made from a block stay in a core's cache, large enough that threads
# spend their time in numpy and not waiting for each other's interpreter lock. A million kernels on
# one / two threads took 0.16 / 0.17 s with half of it, 0.16 / 0.13 s so, 0.18 / 0.11 s with twice.
_BLOCK_BYTES = 2**20
_CHECKED_LEAVES = 4
_AHEAD = 14
"""Blocks that may wait for their consumer, who works on some ten of them at a time."""
_MOST_DEFAULT_BYTES = 2**26


@dataclass(frozen=True, slots=True)
class TablePages:
    """A table that the fast reader can read, and where it lies.

    Attributes:
        export: The open export.
        wanted: The columns to read.
        layout: What its records look like.
        leaves: Its leaf pages.
        page_bytes: The size of each.
    """

    export: Export
    wanted: Selection
    layout: Layout
    leaves: Leaves
    page_bytes: int

    def fetch(self, leaves: Iterable[int]) -> None:
        """Fetch some leaves of a remote file and what libsqlite3 looks at when it reads them.

        To find out that a leaf was the last in a span of rows, it goes to the next one.
        """
        if self.export.copy is not None:
            last = len(self.leaves.numbers) - 1
            wanted = {min(at, last) for leaf in leaves for at in (leaf, leaf + 1)}
            fetch_rows(self.export.copy, self.leaves.numbers[sorted(wanted)])


class _Column(NamedTuple):
    """A column as `pragma_table_xinfo` has it."""

    name: str
    kind: str
    default: str | None
    key: int
    hidden: int


def find_pages(export: Export, wanted: Selection) -> TablePages:
    """Find the pages of a table and make sure that they can be read without libsqlite3.

    A few leaf pages are compared, value by value, with what libsqlite3 finds under the row numbers
    that belong to them: the first, the last and some between. Rows are not counted once more, as
    `count(*)` takes a fifth of the whole read and only adds up the cells of the same leaves. That
    each of these occurs once, and that their row numbers ascend, says as much.

    Raises:
        Declined: They cannot.
        sqlite3.Error: The file is damaged.
    """
    if wanted.rowid is None:
        raise Declined("columns named rowid, _rowid_ and oid")
    with (
        closing(export.connect_to_fetched()) as connection,
        open_pages(export.database, export.copy) as file,
    ):
        layout = _layout(connection, wanted)
        leaves = leaves_of(file, _root(connection, wanted))
        pages = TablePages(export, wanted, layout, leaves, file.page_bytes)
        _compare_some_leaves(pages, file, connection)
    return pages


def sample_leaves(pages: TablePages, leaves: Integers) -> list[pa.RecordBatch]:
    """Return the rows of some leaf pages.

    Raises:
        Declined: Only libsqlite3 reads one of them right.
    """
    with open_pages(pages.export.database, pages.export.copy) as file:
        file.fetch(pages.leaves.numbers[leaves])
        return [_decode_block(pages, file, leaf, leaf + 1).rows for leaf in leaves.tolist()]


def read_pages(
    pages: TablePages,
    workers: int,
    block_bytes: int = _BLOCK_BYTES,
    leaves: range | None = None,
) -> Iterator[Piece]:
    """Read rows of a table.

    Args:
        pages: The table.
        workers: Threads that decode.
        leaves: Positions of the leaf pages to read; all of them by default.
        block_bytes: How much of the file one of them takes at a time.

    Yields:
        The rows in the order in which the table holds them, some thousand at a time. At most
        `workers` + `_AHEAD` blocks are in memory.

    Raises:
        Damaged: Rows that libsqlite3 had to read do not add up.
        sqlite3.Error: The file is damaged.
    """
    size = max(1, block_bytes // pages.page_bytes)
    wanted = range(len(pages.leaves.numbers)) if leaves is None else leaves
    starts = wanted[::size]
    with open_pages(pages.export.database, pages.export.copy) as file:
        file.fetch(pages.leaves.numbers[wanted.start : wanted.stop])

        def read(start: int) -> list[Piece]:
            return _read_block(pages, file, start, min(start + size, wanted.stop))

        if len(starts) == 1 or workers == 1:
            for start in starts:
                yield from read(start)
        else:
            yield from _in_order(read, starts, workers)


def _in_order(read: Callable[[int], list[Piece]], starts: range, workers: int) -> Iterator[Piece]:
    with ThreadPoolExecutor(workers) as pool:
        running: deque[Future[list[Piece]]] = deque()
        for start in starts:
            running.append(pool.submit(read, start))
            if len(running) >= workers + _AHEAD:
                yield from running.popleft().result()
        while running:
            yield from running.popleft().result()


def _read_block(pages: TablePages, file: PageFile, first: int, stop: int) -> list[Piece]:
    try:
        return [_decode_block(pages, file, first, stop)]
    except Declined as declined:
        return _slow_block(pages, file, first, stop, declined)


def _decode_block(pages: TablePages, file: PageFile, first: int, stop: int) -> Piece:
    block = file.read(pages.leaves.numbers[first:stop])
    if len(pages.leaves.numbers) == 1 and not block.cell_counts[0]:
        return rows_to_arrow([], pages.wanted)
    cells = split_cells(block, with_rowids=pages.layout.needs_rowids)
    if cells.rowids is not None:
        low, high = pages.leaves.rowid_span(first, stop)
        if not low <= cells.rowids[0] <= cells.rowids[-1] <= high:
            raise Malformed("row numbers out of order")
    decoded = decode(block, cells.whole, pages.layout)
    if decoded.older or bool(cells.overflow.any()):
        pages.fetch(range(first, stop))
    if decoded.older:
        decoded = _with_defaults(pages, decoded, cells.whole)
    rows = pa.RecordBatch.from_arrays(decoded.arrays, schema=pages.wanted.schema)
    piece = Piece(rows, decoded.unreadable)
    if cells.rowids is None or not bool(cells.overflow.any()):
        return piece
    return _with_overflow(pages, piece, cells.overflow, cells.rowids[cells.overflow].tolist())


def _with_defaults(pages: TablePages, decoded: Decoded, cells: Cells) -> Decoded:
    """Let rows older than a column have its default; libsqlite3 says, for one of them, what it is.

    The default is an expression in SQL, and the column's declared type has a say in its value.
    """
    assert cells.rowids is not None, "asked for by the layout"
    arrays, unreadable = list(decoded.arrays), decoded.unreadable
    with closing(pages.export.connect_to_fetched()) as connection:
        for place, older in decoded.older.items():
            rows = np.flatnonzero(older)
            column = pages.wanted.column(place)
            one = read_rowids(connection, column, cells.rowids[rows[:1]].tolist())
            if one.rows.num_rows != 1:
                raise Malformed("row numbers out of order")
            (value,) = one.rows.columns
            if value.nbytes * len(rows) > _MOST_DEFAULT_BYTES:
                raise Declined("a long default of rows older than a column")
            arrays[place] = replaced(arrays[place], rows, value)
            unreadable += one.unreadable * len(rows)
    return Decoded(arrays, unreadable, {})


def _with_overflow(
    pages: TablePages, whole: Piece, overflow: NDArray[np.bool_], rowids: list[int]
) -> Piece:
    """Add the rows that continue in overflow pages; libsqlite3 puts those together."""
    with closing(pages.export.connect_to_fetched()) as connection:
        try:
            others = read_rowids(connection, pages.wanted, rowids)
        except OverflowError as error:
            raise Declined("very long texts") from error
    if others.rows.num_rows != len(rowids):
        raise Malformed("malformed page")
    # Rows that lie in the block come first, the others behind them: put each where it belongs.
    places = np.empty(len(overflow), np.int64)
    places[~overflow] = np.arange(whole.rows.num_rows)
    places[overflow] = np.arange(whole.rows.num_rows, len(places))
    both = pa.concat_batches([whole.rows, others.rows])
    return Piece(both.take(integer_array(places)), whole.unreadable + others.unreadable)


def _slow_block(
    pages: TablePages, file: PageFile, first: int, stop: int, declined: Declined
) -> list[Piece]:
    """Read a block through libsqlite3, by the row numbers that the interior pages give it."""
    low, high = pages.leaves.rowid_span(first, stop)
    if isinstance(declined, Malformed):
        with closing(pages.export.connect()) as connection:
            check_table(connection, pages.wanted.table)
    pages.fetch(range(first, stop))
    with closing(pages.export.connect_to_fetched()) as connection:
        pieces = list(read_span(connection, pages.wanted, low, high))
    expected = int(file.read(pages.leaves.numbers[first:stop]).cell_counts.sum())
    if sum(piece.rows.num_rows for piece in pieces) != expected:
        raise Damaged("row numbers out of order")
    return [Piece(piece.rows, piece.unreadable, str(declined)) for piece in pieces]


def check_table(connection: sqlite3.Connection, table: str) -> None:
    """Let SQLite judge a table: by row number it may find other rows than in page order.

    Raises:
        Damaged: It is not sound.
    """
    quoted = table.replace('"', '""')
    (verdict,) = connection.execute(f'PRAGMA quick_check("{quoted}")').fetchone()
    if verdict != "ok":
        raise Damaged(" ".join(verdict.split()))


def _layout(connection: sqlite3.Connection, wanted: Selection) -> Layout:
    query = "SELECT name, type, dflt_value, pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid"
    columns = [_Column(*row) for row in connection.execute(query, (wanted.table,))]
    if any(column.hidden for column in columns):
        raise Declined("generated columns")
    keys = [column.name for column in columns if column.key and column.kind.upper() == "INTEGER"]
    alias = keys[0] if _is_rowid_key(connection, wanted) and keys else None
    places = {column.name: place for place, column in enumerate(columns)}
    fields = []
    for name, kind, stored in zip(wanted.names, wanted.types, wanted.stored, strict=True):
        place = None if stored is None else places[stored]
        field = Field(name, kind, place)
        if place is not None:
            field = replace(
                field,
                is_rowid=stored == alias,
                has_default=columns[place].default is not None,
                is_real=_is_real(columns[place].kind),
            )
        fields.append(field)
    return Layout(tuple(fields), len(columns))


def _is_real(declared: str) -> bool:
    """Whether SQLite turns numbers in a column so declared into REALs.

    https://www.sqlite.org/datatype3.html section 3.1.
    """
    kind = declared.upper()
    if any(word in kind for word in ("INT", "CHAR", "CLOB", "TEXT", "BLOB")):
        return False
    return any(word in kind for word in ("REAL", "FLOA", "DOUB"))


def _is_rowid_key(connection: sqlite3.Connection, wanted: Selection) -> bool:
    """Whether the primary key, if any, is the row number: then it needs no index of its own."""
    query = "SELECT name FROM pragma_index_list(?) WHERE origin = 'pk'"
    return not connection.execute(query, (wanted.table,)).fetchall()


def _root(connection: sqlite3.Connection, wanted: Selection) -> int:
    query = "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?"
    (root,) = connection.execute(query, (wanted.table,)).fetchone()
    return int(root)


def _compare_some_leaves(pages: TablePages, file: PageFile, connection: sqlite3.Connection) -> None:
    count = len(pages.leaves.numbers)
    chosen = {round(part * (count - 1) / (_CHECKED_LEAVES - 1)) for part in range(_CHECKED_LEAVES)}
    pages.fetch(chosen)
    for leaf in sorted(chosen):
        try:
            ours = _decode_block(pages, file, leaf, leaf + 1).rows
        except Declined:
            continue  # and the block it is in will be, too
        span = pages.leaves.rowid_span(leaf, leaf + 1)
        theirs = [piece.rows for piece in read_span(connection, pages.wanted, *span)]
        if pa.Table.from_batches([ours]) != pa.Table.from_batches(theirs, pages.wanted.schema):
            raise Declined("values that differ from those libsqlite3 reads")
