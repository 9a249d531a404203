import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from traceattr.errors import ExportError
from traceattr.ingest.export import open_export
from traceattr.ingest.scan import ColumnType, scan_table

INTEGER, TEXT = ColumnType.INTEGER, ColumnType.TEXT
ROWS = [(number, f"name {number}") for number in range(5000)]


def write_export(path: Path, *statements: str) -> Path:
    """Write an export with the tables `event`, of many pages, and `other`, of one."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE META_DATA_EXPORT (name, value)")
        database.execute("CREATE TABLE event (start INTEGER, name TEXT)")
        database.execute("CREATE TABLE other (start INTEGER)")
        database.executemany("INSERT INTO event VALUES (?, ?)", ROWS)
        database.execute("INSERT INTO other VALUES (7)")
        for statement in statements:
            database.execute(statement)
    return path


def damage(path: Path, table: str) -> Path:
    """Overwrite the second page of a table, as a failing disk would."""
    with closing(sqlite3.connect(path)) as database:
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        (root,) = database.execute(query, (table,)).fetchone()
    content = bytearray(path.read_bytes())
    # The first cell of the interior root page starts with the number of its left-most leaf.
    cell = int.from_bytes(content[(root - 1) * 4096 + 12 :][:2], "big")
    leaf = int.from_bytes(content[(root - 1) * 4096 + cell :][:4], "big")
    content[(leaf - 1) * 4096 : leaf * 4096] = b"\xee" * 4096
    path.write_bytes(content)
    return path


def test_columns_come_in_the_order_asked_for_and_missing_ones_as_null(tmp_path: Path) -> None:
    path = write_export(tmp_path / "a.sqlite")

    with open_export(path) as export:
        scan = scan_table(export, "EVENT", {"Name": TEXT, "end": INTEGER, "start": INTEGER})
        rows = scan.batches.read_all()

    expected = [{"Name": name.encode(), "end": None, "start": start} for start, name in ROWS]
    assert rows.to_pylist() == expected
    assert rows.schema == pa.schema(
        [("Name", pa.binary()), ("end", pa.int64()), ("start", pa.int64())]
    )
    assert (scan.declined, scan.unreadable, scan.failure) == (None, 0, None)


def test_a_missing_table_is_a_key_error_at_once(tmp_path: Path) -> None:
    path = write_export(tmp_path / "a.sqlite")

    with open_export(path) as export, pytest.raises(KeyError):
        scan_table(export, "NVTX_EVENTS", {"start": INTEGER})


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_the_number_of_workers_does_not_matter(tmp_path: Path, workers: int) -> None:
    path = write_export(tmp_path / "a.sqlite")

    with open_export(path) as export:
        scan = scan_table(export, "event", {"start": INTEGER}, workers=workers)

        assert scan.batches.read_all()["start"].to_pylist() == list(range(5000))


def test_values_that_mean_nothing_are_counted(tmp_path: Path) -> None:
    path = write_export(
        tmp_path / "a.sqlite",
        "UPDATE event SET start = 'soon' WHERE rowid = 10",
        "UPDATE event SET start = 1.5 WHERE rowid = 20",
        "UPDATE event SET start = 18446744073709551615.0 / 2 WHERE rowid = 30",
    )

    with open_export(path) as export:
        scan = scan_table(export, "event", {"start": INTEGER})
        starts = scan.batches.read_all()["start"].to_pylist()

    assert [start for at, start in enumerate(starts) if start != at] == [None, None, -(2**63)]
    assert scan.unreadable == 2
    assert scan.declined is None


def test_a_table_without_row_numbers_is_read_the_slow_way(tmp_path: Path) -> None:
    path = write_export(
        tmp_path / "a.sqlite",
        "CREATE TABLE k (start INTEGER PRIMARY KEY, name TEXT) WITHOUT ROWID",
        "INSERT INTO k VALUES (2, 'b'), (1, 'a')",
    )

    with open_export(path) as export:
        scan = scan_table(export, "k", {"start": INTEGER, "name": TEXT})
        rows = scan.batches.read_all()

    assert rows.to_pylist() == [{"start": 1, "name": b"a"}, {"start": 2, "name": b"b"}]
    assert scan.declined == (
        "k: 2 of 2 rows read through libsqlite3, which is slow: a table WITHOUT ROWID"
    )


def test_text_of_a_utf16_file_comes_as_utf8(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA encoding = 'UTF-16'")
    write_export(path, "INSERT INTO event VALUES (1, 'größer →')")

    with open_export(path) as export:
        scan = scan_table(export, "event", {"name": TEXT})

        assert scan.batches.read_all()["name"].to_pylist()[-1] == "größer →".encode()


def test_a_live_log_is_read_fast(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        write_export(path)
        writer.execute("PRAGMA wal_checkpoint")
        writer.execute("DELETE FROM event WHERE start < 1000")
        writer.execute("INSERT INTO event SELECT start + 5000, name FROM event")

        with open_export(path) as export:
            scan = scan_table(export, "event", {"start": INTEGER})
            starts = scan.batches.read_all()["start"].to_pylist()

    assert starts == [*range(1000, 5000), *range(6000, 10_000)]
    assert scan.declined is None


def test_a_damaged_table_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    path = damage(write_export(tmp_path / "a.sqlite"), "event")

    with open_export(path) as export:
        broken = scan_table(export, "EVENT", {"start": INTEGER})
        with pytest.raises(ExportError) as caught:
            broken.batches.read_all()
        sound = scan_table(export, "other", {"start": INTEGER}).batches.read_all()

    assert str(caught.value) == (
        f"{path}: table event is damaged (database disk image is malformed); export again: "
        f"nsys export --type sqlite --force-overwrite true --output {path} "
        f"{tmp_path / 'a.nsys-rep'}"
    )
    assert broken.failure is caught.value
    assert sound["start"].to_pylist() == [7]


def test_the_failure_can_be_told_after_duckdb_stumbled_over_it(tmp_path: Path) -> None:
    path = damage(write_export(tmp_path / "a.sqlite"), "event")

    with open_export(path) as export, duckdb.connect() as database:
        scan = scan_table(export, "event", {"start": INTEGER})
        database.register("event", scan.batches)
        with pytest.raises(duckdb.Error):
            database.execute("SELECT sum(start) FROM event")

    assert "table event is damaged" in str(scan.failure)


def test_duckdb_may_pull_slow_rows_from_its_own_threads(tmp_path: Path) -> None:
    path = write_export(tmp_path / "a.sqlite", "CREATE TABLE k (a PRIMARY KEY) WITHOUT ROWID")
    with closing(sqlite3.connect(path)) as writer, writer:
        writer.executemany("INSERT INTO k VALUES (?)", [(number,) for number in range(50_000)])

    with open_export(path) as export, duckdb.connect(config={"threads": 4}) as database:
        database.register("k", scan_table(export, "k", {"a": INTEGER}).batches)

        assert database.execute("SELECT count(*), sum(a) FROM k").fetchall() == [
            (50_000, sum(range(50_000)))
        ]


def test_a_file_that_changes_during_a_scan_is_an_error(tmp_path: Path) -> None:
    path = write_export(tmp_path / "a.sqlite")

    with open_export(path) as export:
        scan = scan_table(export, "other", {"start": INTEGER})
        with closing(sqlite3.connect(path)) as writer, writer:
            writer.executemany("INSERT INTO event VALUES (?, ?)", ROWS)

        with pytest.raises(ExportError, match="changed while it was being read") as caught:
            scan.batches.read_all()

    assert scan.failure is caught.value


def test_a_file_that_vanishes_before_a_scan_is_an_error(tmp_path: Path) -> None:
    path = write_export(tmp_path / "a.sqlite")

    with open_export(path) as export:
        scan = scan_table(export, "other", {"start": INTEGER})
        path.unlink()

        with pytest.raises(ExportError, match="cannot be read") as caught:
            scan.batches.read_all()

    assert scan.failure is caught.value


def test_a_file_that_gets_locked_before_a_scan_is_an_error(tmp_path: Path) -> None:
    path = write_export(tmp_path / "a.sqlite")

    with (
        open_export(path) as export,
        closing(sqlite3.connect(path, isolation_level=None)) as writer,
    ):
        writer.execute("PRAGMA journal_mode = MEMORY")
        writer.execute("BEGIN EXCLUSIVE")
        scan = scan_table(export, "other", {"start": INTEGER})

        with pytest.raises(ExportError, match="locked by another process"):
            scan.batches.read_all()


def test_a_scan_that_is_never_pulled_leaves_nothing_open(tmp_path: Path) -> None:
    path = write_export(tmp_path / "a.sqlite")

    with open_export(path) as export:
        scan_table(export, "event", {"start": INTEGER})
        half_read = scan_table(export, "event", {"start": INTEGER})
        half_read.batches.read_next_batch()
        del half_read


def test_reading_does_not_load_pandas(tmp_path: Path) -> None:
    path = write_export(tmp_path / "a.sqlite", "INSERT INTO event VALUES (1.5, 2)")
    (tmp_path / "pandas.py").write_text("raise SystemExit('pandas was imported')")
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from traceattr.ingest.export import open_export\n"
        "from traceattr.ingest.scan import ColumnType, scan_table\n"
        "columns = {'start': ColumnType.INTEGER, 'name': ColumnType.TEXT}\n"
        "with open_export(Path(sys.argv[1])) as export:\n"
        "    print(scan_table(export, 'event', columns).batches.read_all().num_rows)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout, done.stderr) == ("5001\n", "")


def test_gaps_with_what_the_host_did_do_not_load_pandas(tmp_path: Path) -> None:
    trace = Path(__file__).parents[1] / "traces" / "demo.sqlite"
    (tmp_path / "pandas.py").write_text("raise SystemExit('pandas was imported')")

    done = subprocess.run(
        [sys.executable, "-m", "traceattr", "gaps", str(trace), "--no-cache"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
