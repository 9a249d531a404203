import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from traceattr.ingest.export import Export, open_export
from traceattr.ingest.scan import ColumnType, scan_table
from traceattr.ingest.selection import Piece, select
from traceattr.ingest.sqlite_btree import Damaged, Declined
from traceattr.ingest.sqlite_pages import find_pages, read_pages
from traceattr.ingest.sqlite_rows import read_rows

EXAMPLES = int(os.environ.get("TRACEATTR_EXAMPLES", "60"))
"""Tables that are made up and read both ways; more of them find rarer mistakes."""

TRACES = Path(__file__).parents[2] / "shared" / "traces"
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


def read_by_pages(
    path: Path, columns: Mapping[str, ColumnType], *, block_bytes: int = 2**20, workers: int = 1
) -> Reading:
    """What the page reader has in the columns of the table `event`."""
    with open_export(path) as export:
        pages = find_pages(export, select(export, "event", columns))
        pieces = list(read_pages(pages, workers, block_bytes))
    table = pa.Table.from_batches([piece.rows for piece in pieces])
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return Reading(rows, [piece.declined for piece in pieces if piece.declined])


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


def test_pages_with_reserved_bytes_are_declined(tmp_path: Path) -> None:
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE event (number INTEGER, text TEXT)")
    content = bytearray(path.read_bytes())
    content[20] = 8
    path.write_bytes(content)

    with pytest.raises(Declined, match="reserved bytes"):
        read_by_pages(path, BOTH)


@pytest.mark.parametrize(
    ("odd", "value", "reason"),
    [
        ((1.5, "a"), (None, b"a"), "values in column number that are not integers"),
        (("x", "a"), (None, b"a"), "values in column number that are not integers"),
        ((b"7", "a"), (7, b"a"), "values in column number that are not integers"),
        ((2.0**63, "a"), (-(2**63), b"a"), "values in column number that are not integers"),
        ((1, 2), (1, b"2"), "numbers in text column text"),
    ],
)
def test_a_block_with_an_odd_value_is_left_to_libsqlite3_and_the_others_are_not(
    tmp_path: Path, odd: Row, value: Row, reason: str
) -> None:
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE event (number, text)")
    insert(path, "event", [*rows_of(2000), odd, *rows_of(2000)])

    reading = read_by_pages(path, BOTH, block_bytes=4096)

    assert reading.declined == [reason]
    assert reading.rows[:2000] == reading.rows[2001:]
    assert reading.rows[2000] == value


def test_rows_older_than_a_column_with_a_default_are_left_to_libsqlite3(tmp_path: Path) -> None:
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE event (number INTEGER)")
    insert(path, "event", [(1,), (2,)])
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("ALTER TABLE event ADD COLUMN text TEXT DEFAULT 'none'")
    insert(path, "event", [(3, "c")])

    reading = read_by_pages(path, BOTH)

    assert reading.rows == [(1, b"none"), (2, b"none"), (3, b"c")]
    assert reading.declined == ["rows older than column text, which has a default"]


def test_records_with_long_headers_are_left_to_libsqlite3(tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(200)]
    path = write_database(tmp_path / "a.sqlite", f"CREATE TABLE event ({', '.join(names)})")
    insert(path, "event", [tuple(range(200))])

    reading = read_by_pages(path, {"c7": INTEGER, "c199": INTEGER})

    assert reading == Reading([(7, 199)], ["records with long headers"])


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


@dataclass(frozen=True, slots=True)
class Table:
    """How to make a table `event`: settings of the file, declaration, rows, then statements."""

    page_bytes: int
    auto_vacuum: int
    declared: str
    rows: list[Row]
    repeats: int
    changes: list[str]

    def write(self, path: Path) -> Path:
        path.unlink(missing_ok=True)
        write_database(
            path,
            f"PRAGMA page_size = {self.page_bytes}",
            f"PRAGMA auto_vacuum = {self.auto_vacuum}",
            f"CREATE TABLE event ({self.declared})",
        )
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute("BEGIN")
            query = "INSERT INTO event (number, text) VALUES (?, ?)"
            for _ in range(self.repeats):
                database.executemany(query, self.rows)
            database.execute("COMMIT")
            for change in self.changes:
                database.execute(change)
        return path


def tables(
    numbers: st.SearchStrategy[object], texts: st.SearchStrategy[object]
) -> st.SearchStrategy[Table]:
    return st.builds(
        Table,
        page_bytes=st.sampled_from([512, 512, 1024, 4096, 65536]),
        auto_vacuum=st.integers(0, 2),
        declared=st.sampled_from(
            [
                "number INTEGER, text TEXT",
                "id INTEGER PRIMARY KEY, number, spare DEFAULT 5, text",
                "text TEXT, id INTEGER PRIMARY KEY, number BIGINT",
                "number INT, spare REAL DEFAULT 2.5, text VARCHAR(9), other TEXT DEFAULT 'abc'",
            ]
        ),
        rows=st.lists(st.tuples(numbers, texts), max_size=12),
        repeats=st.sampled_from([1, 1, 5, 60]),
        changes=st.lists(st.sampled_from(CHANGES), max_size=4),
    )


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that each example of a property overwrites."""
    return tmp_path_factory.mktemp("pages") / "a.sqlite"


@settings(deadline=None, max_examples=EXAMPLES)
@given(tables(PLAIN_NUMBERS, PLAIN_TEXTS | LONG_TEXTS), st.sampled_from([512, 4096, 2**20]))
def test_whatever_sqlite_writes_is_read_the_same(
    scratch: Path, table: Table, block_bytes: int
) -> None:
    assert_read_fast(table.write(scratch), block_bytes=block_bytes)


@settings(deadline=None, max_examples=EXAMPLES)
@given(tables(ODD_VALUES, ODD_VALUES), st.data())
def test_a_scan_has_the_same_rows_as_the_slow_reader_whatever_they_hold(
    scratch: Path, table: Table, data: st.DataObject
) -> None:
    path = table.write(scratch)
    choice = st.lists(st.sampled_from(["id", "number", "text", "spare", "other"]), min_size=1)
    columns = {name: data.draw(st.sampled_from(ColumnType)) for name in data.draw(choice)}

    with open_export(path) as export:
        scan = scan_table(export, "event", columns)
        rows = scan.batches.read_all()
        with closing(export.connect()) as connection:
            slow = list(read_rows(connection, select(export, "event", columns)))

    assert rows == pa.Table.from_batches([piece.rows for piece in slow], rows.schema)
    assert scan.unreadable == sum(piece.unreadable for piece in slow)


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


DAMAGE: dict[str, Callable[[int], int]] = {
    "flip a bit": lambda byte: byte ^ 1,
    "flip all bits": lambda byte: byte ^ 255,
}


@dataclass(frozen=True, slots=True)
class Victim:
    """A table whose second leaf is damaged, and the text of row 40, which may lie in it."""

    columns: Mapping[str, ColumnType]
    unit: str = "text"
    long: str = "short"
    leaves: int = 9


VICTIMS = {
    "all values": Victim(BOTH),
    "first values": Victim({"number": INTEGER}),
    "long serial types": Victim(BOTH, unit="text" * 12, leaves=53),
    "row numbers and an overflow row": Victim({"id": INTEGER, **BOTH}, long="long " * 100),
}


@pytest.mark.parametrize("victim", VICTIMS.values(), ids=VICTIMS)
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_byte_of_a_leaf_is_noticed_or_harmless(
    scratch: Path, victim: Victim, damage: Callable[[int], int]
) -> None:
    scratch.unlink(missing_ok=True)
    rows: list[Row] = [(number**5, victim.unit * (number % 5)) for number in range(200)]
    rows[39] = (1, victim.long)
    pages = write_small_pages(scratch, rows)
    # Only the first, the last and two leaves between are compared with libsqlite3 beforehand.
    assert len(pages.cells(pages.root)) + 1 == victim.leaves
    leaf = pages.leaf(1)

    with open_export(scratch) as export:
        # Every byte of the header, the cell pointers and free space; every third of the cells.
        for at in (*range(leaf, leaf + 64), *range(leaf + 64, leaf + 512, 3)):
            pages.write(at, damage(pages.content[at]))
            assert_damage_is_noticed_or_harmless(export, victim.columns)


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_no_byte_of_an_interior_page_can_be_damaged_unnoticed(
    scratch: Path, damage: Callable[[int], int]
) -> None:
    scratch.unlink(missing_ok=True)
    pages = write_small_pages(scratch, [(number**5, "text " * 9) for number in range(250)])
    cells = pages.cells(pages.root)
    used = [*range(pages.root, pages.root + 12 + 2 * len(cells)), *range(min(cells), max(cells))]

    with open_export(scratch) as export:
        for at in used:
            pages.write(at, damage(pages.content[at]))
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


def test_an_overflow_row_with_the_number_of_another_row_is_damage(tmp_path: Path) -> None:
    rows: list[Row] = [(number, f"long {number} " * 200) for number in range(60)]
    pages = write_small_pages(tmp_path / "a.sqlite", rows)
    first_row = pages.cells(pages.leaf(1))[0]
    # The length of the record takes two bytes, its row number, 2, takes one.
    pages.write(first_row + 2, 3)

    with pytest.raises(Damaged):
        read_by_pages(pages.path, BOTH, block_bytes=512)


def test_an_odd_block_whose_rows_libsqlite3_does_not_all_find_is_damage(tmp_path: Path) -> None:
    rows = rows_of(120)
    rows[39] = ("odd", "a")
    pages = write_small_pages(tmp_path / "a.sqlite", rows)
    leaf = pages.cells(pages.leaf(1))
    assert pages.content[leaf[0] + 1] < 40 < pages.content[leaf[-1] + 1]
    pages.write(leaf[-1] + 1, 119)

    with pytest.raises(Damaged, match="row numbers out of order"):
        read_by_pages(pages.path, BOTH, block_bytes=512)


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
