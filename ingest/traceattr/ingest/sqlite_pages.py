"""Reading table columns straight from the pages of an SQLite file, without libsqlite3.

libsqlite3 spends some 35 ns on each column of each row, and Python ten times that on fetching it.
The pages of an nsys table are so regular that numpy decodes thousands of rows at once. Whatever is
not regular is declined and left to libsqlite3: a table as a whole when its layout is unusual, a
block of pages when a value in it is, single rows when they continue in overflow pages.
"""

import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from traceattr.ingest.arrow_arrays import integer_array
from traceattr.ingest.export import Export
from traceattr.ingest.selection import Piece, Selection
from traceattr.ingest.sqlite_btree import (
    Damaged,
    Declined,
    Integers,
    Leaves,
    Malformed,
    PageFile,
    leaves_of,
    open_pages,
)
from traceattr.ingest.sqlite_record import Field, Layout, SplitCells, decode, split_cells
from traceattr.ingest.sqlite_rows import read_rowids, read_span, rows_to_arrow

# Small enough that the arrays made from a block stay in a core's cache, large enough that threads
# spend their time in numpy and not waiting for each other's interpreter lock. A million kernels on
# one / two threads took 0.16 / 0.17 s with half of it, 0.16 / 0.13 s so, 0.18 / 0.11 s with twice.
_BLOCK_BYTES = 2**20
_CHECKED_LEAVES = 4


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


def find_pages(export: Export, wanted: Selection) -> TablePages:
    """Find the pages of a table and make sure that they can be read without libsqlite3.

    A few leaf pages are compared, value by value, with what libsqlite3 reads: the first, the last
    and some between. `count(*)` would check the rest at a fifth of the cost of the whole read; the
    keys in the interior pages, which must ascend, say nearly as much.

    Raises:
        Declined: They cannot.
        sqlite3.Error: The file is damaged.
    """
    if wanted.rowid is None:
        raise Declined("columns named rowid, _rowid_ and oid")
    with closing(export.connect()) as connection, open_pages(export.database) as file:
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
    with open_pages(pages.export.database) as file:
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
        `workers` + 2 blocks are in memory.

    Raises:
        Damaged: Rows that libsqlite3 had to read do not add up.
        sqlite3.Error: The file is damaged.
    """
    size = max(1, block_bytes // pages.page_bytes)
    wanted = range(len(pages.leaves.numbers)) if leaves is None else leaves
    starts = wanted[::size]
    with open_pages(pages.export.database) as file:

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
            if len(running) >= workers + 2:
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
    cells = split_cells(block, with_rowids=pages.layout.has_rowid)
    arrays = decode(block, cells.whole, pages.layout)
    rows = pa.RecordBatch.from_arrays(arrays, schema=pages.wanted.schema)
    if not len(cells.overflow_rowids):
        return Piece(rows)
    low, high = pages.leaves.rowid_span(first, stop)
    if not low <= cells.overflow_rowids[0] <= cells.overflow_rowids[-1] <= high:
        raise Malformed("row numbers out of order")
    return _with_overflow(pages, rows, cells)


def _with_overflow(pages: TablePages, rows: pa.RecordBatch, cells: SplitCells) -> Piece:
    """Add the rows that continue in overflow pages; libsqlite3 puts those together."""
    with closing(pages.export.connect()) as connection:
        try:
            others = read_rowids(connection, pages.wanted, cells.overflow_rowids.tolist())
        except OverflowError as error:
            raise Declined("very long texts") from error
    if others.rows.num_rows != len(cells.overflow_rowids):
        raise Malformed("malformed page")
    # Rows that lie in the block come first, the others behind them: put each where it belongs.
    places = np.empty(len(cells.overflow), np.int64)
    places[~cells.overflow] = np.arange(rows.num_rows)
    places[cells.overflow] = np.arange(rows.num_rows, len(places))
    both = pa.concat_batches([rows, others.rows])
    return Piece(both.take(integer_array(places)), others.unreadable)


def _slow_block(
    pages: TablePages, file: PageFile, first: int, stop: int, declined: Declined
) -> list[Piece]:
    """Read a block through libsqlite3, by the row numbers that the interior pages give it."""
    low, high = pages.leaves.rowid_span(first, stop)
    with closing(pages.export.connect()) as connection:
        if isinstance(declined, Malformed):
            _check(connection, pages.wanted.table)
        pieces = list(read_span(connection, pages.wanted, low, high))
    expected = int(file.read(pages.leaves.numbers[first:stop]).cell_counts.sum())
    if sum(piece.rows.num_rows for piece in pieces) != expected:
        raise Damaged("row numbers out of order")
    return [Piece(piece.rows, piece.unreadable, str(declined)) for piece in pieces]


def _check(connection: sqlite3.Connection, table: str) -> None:
    """Let SQLite judge a table: by row number it may find other rows than in page order."""
    quoted = table.replace('"', '""')
    (verdict,) = connection.execute(f'PRAGMA quick_check("{quoted}")').fetchone()
    if verdict != "ok":
        raise Damaged(" ".join(verdict.split()))


def _layout(connection: sqlite3.Connection, wanted: Selection) -> Layout:
    columns = connection.execute(
        "SELECT name, type, dflt_value, pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid",
        (wanted.table,),
    ).fetchall()
    if any(hidden for *_, hidden in columns):
        raise Declined("generated columns")
    keys = [name for name, kind, _, pk, _ in columns if pk and kind.upper() == "INTEGER"]
    alias = keys[0] if _is_rowid_key(connection, wanted) and keys else None
    places = {name: place for place, (name, *_) in enumerate(columns)}
    fields = tuple(
        Field(name, kind, None)
        if stored is None
        else Field(
            name, kind, places[stored], stored == alias, columns[places[stored]][2] is not None
        )
        for name, kind, stored in zip(wanted.names, wanted.types, wanted.stored, strict=True)
    )
    return Layout(fields, len(columns))


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
    for leaf in sorted(chosen):
        try:
            ours = _decode_block(pages, file, leaf, leaf + 1).rows
        except Declined:
            continue  # and the block it is in will be, too
        span = pages.leaves.rowid_span(leaf, leaf + 1)
        theirs = [piece.rows for piece in read_span(connection, pages.wanted, *span)]
        if pa.Table.from_batches([ours]) != pa.Table.from_batches(theirs, pages.wanted.schema):
            raise Declined("values that differ from those libsqlite3 reads")
