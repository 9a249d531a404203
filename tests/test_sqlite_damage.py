import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest

from tests.page_files import (
    BOTH,
    INTEGER,
    TEXT,
    Pages,
    Row,
    read_by_pages,
    rows_of,
    write_small_pages,
    write_with_reserved_type,
)
from traceattr.errors import ExportError
from traceattr.ingest.export import Export, open_export
from traceattr.ingest.scan import ColumnType, scan_table
from traceattr.ingest.selection import Piece, select
from traceattr.ingest.sqlite.btree import Damaged, Declined
from traceattr.ingest.sqlite.pages import find_pages, read_pages
from traceattr.ingest.sqlite.rows import read_rows


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that each example of a property overwrites."""
    return tmp_path_factory.mktemp("pages") / "a.sqlite"


def outcome(read: Callable[[], list[Piece]], schema: pa.Schema) -> pa.Table | None:
    """The rows that were read; None where the file was found damaged."""
    try:
        return pa.Table.from_batches([piece.rows for piece in read()], schema)
    except (sqlite3.DatabaseError, Damaged):
        return None


def assert_damage_is_noticed_or_harmless(export: Export, columns: Mapping[str, ColumnType]) -> None:
    """The page reader declines, fails, or has the rows that libsqlite3 finds in page order."""
    wanted = select(export, "event", columns)
    with closing(export.connect()) as connection:
        slow = outcome(lambda: list(read_rows(connection, wanted)), wanted.schema)
    try:
        fast = outcome(
            lambda: list(read_pages(find_pages(export, wanted), 1, 3 * 512)), wanted.schema
        )
    except Declined:
        return
    assert fast is None or fast == slow


def damaged(byte: int, at: int) -> int:
    """The byte with one bit flipped, or all of them; either may be what goes unnoticed."""
    return byte ^ (1 if at % 2 else 255)


@dataclass(frozen=True, slots=True)
class Victim:
    """A table whose second leaf is damaged, and the text of row 40, which may lie in it."""

    columns: Mapping[str, ColumnType]
    unit: str = "text"
    long: str = "short"
    leaves: int = 9
    added: str | None = None


VICTIMS = {
    "all values": Victim(BOTH),
    "first values": Victim({"number": INTEGER}),
    "long serial types": Victim(BOTH, unit="text" * 12, leaves=53),
    "rows older than a column": Victim(
        {"number": INTEGER, "added": TEXT}, added="added TEXT DEFAULT 'none'"
    ),
    "row numbers and an overflow row": Victim({"id": INTEGER, **BOTH}, long="long " * 100),
}


@pytest.mark.parametrize("victim", VICTIMS.values(), ids=VICTIMS)
def test_a_damaged_byte_of_a_leaf_is_noticed_or_harmless(scratch: Path, victim: Victim) -> None:
    scratch.unlink(missing_ok=True)
    rows: list[Row] = [(number**5, victim.unit * (number % 5)) for number in range(200)]
    rows[39] = (1, victim.long)
    pages = write_small_pages(scratch, rows)
    if victim.added is not None:
        with closing(sqlite3.connect(scratch)) as database:
            database.execute(f"ALTER TABLE event ADD COLUMN {victim.added}")
        pages = Pages(scratch)
    # Only the first, the last and two leaves between are compared with libsqlite3 beforehand.
    assert len(pages.cells(pages.root)) + 1 == victim.leaves
    leaf = pages.leaf(1)

    with open_export(scratch) as export:
        # Every byte of the header, the cell pointers and free space; every fifth of the cells.
        for at in (*range(leaf, leaf + 64), *range(leaf + 64, leaf + 512, 5)):
            pages.write(at, damaged(pages.content[at], at))
            assert_damage_is_noticed_or_harmless(export, victim.columns)


def test_no_byte_of_an_interior_page_can_be_damaged_unnoticed(scratch: Path) -> None:
    scratch.unlink(missing_ok=True)
    pages = write_small_pages(scratch, [(number**5, "text " * 9) for number in range(250)])
    cells = pages.cells(pages.root)
    used = [*range(pages.root, pages.root + 12 + 2 * len(cells)), *range(min(cells), max(cells))]

    with open_export(scratch) as export:
        for at in used:
            pages.write(at, damaged(pages.content[at], at))
            assert_damage_is_noticed_or_harmless(export, BOTH)


def test_a_row_number_outside_its_leaf_makes_the_table_go_through_libsqlite3(
    tmp_path: Path,
) -> None:
    pages = write_small_pages(tmp_path / "a.sqlite", rows_of(100))
    first_row_of_table = pages.cells(pages.leaf(0))[0]
    pages.write(first_row_of_table + 1, 99)

    with pytest.raises(Declined) as caught:
        read_by_pages(pages.path, BOTH)

    assert str(caught.value) == "values that differ from those libsqlite3 reads"


def test_a_leaf_that_a_tree_holds_twice_is_damage(tmp_path: Path) -> None:
    pages = write_small_pages(tmp_path / "a.sqlite", rows_of(200))
    first, second, *_ = pages.cells(pages.root)
    pages.write(second, *pages.content[first : first + 4])

    with open_export(pages.path) as export:
        scan = scan_table(export, "event", BOTH)

        with pytest.raises(ExportError, match=r"table event is damaged \(.*2nd reference to page"):
            scan.batches.read_all()


def test_an_overflow_row_with_the_number_of_another_row_is_damage(tmp_path: Path) -> None:
    rows: list[Row] = [(number, f"long {number} " * 200) for number in range(60)]
    pages = write_small_pages(tmp_path / "a.sqlite", rows)
    first_row = pages.cells(pages.leaf(1))[0]
    # The length of the record takes two bytes, its row number, 2, takes one.
    pages.write(first_row + 2, 3)

    with pytest.raises(Damaged):
        read_by_pages(pages.path, BOTH, block_bytes=512)


def test_an_odd_block_whose_rows_libsqlite3_does_not_all_find_is_damage(tmp_path: Path) -> None:
    pages = write_with_reserved_type(tmp_path / "a.sqlite")
    leaf = pages.cells(pages.leaf(1))
    pages.write(leaf[-1] + 1, 119)

    with pytest.raises(Damaged, match="row numbers out of order"):
        read_by_pages(pages.path, BOTH, block_bytes=512)
