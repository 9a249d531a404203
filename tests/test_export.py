import bz2
import gzip
import io
import lzma
import os
import shlex
import sqlite3
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from traceattr.errors import ExportError
from traceattr.ingest.export import open_export, sqlite_failure

TABLES = (
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)",
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, shortName INTEGER)",
)
FILL = "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2), (3, 4)"


def write_database(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        for statement in statements:
            database.execute(statement).fetchall()
    return path


def write_export(path: Path) -> Path:
    return write_database(path, *TABLES, FILL)


def refusal(path: Path) -> str:
    """The message, without the name of the file in front of it."""
    with pytest.raises(ExportError) as caught, open_export(path):
        pytest.fail("the file was accepted")
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


def contents(directory: Path) -> dict[str, bytes]:
    return {entry.name: entry.read_bytes() for entry in directory.iterdir() if entry.is_file()}


@contextmanager
def untouched(directory: Path) -> Iterator[None]:
    before = contents(directory)
    yield
    assert contents(directory) == before


def kernel_rows(path: Path) -> list[tuple[int, int]]:
    with open_export(path) as export, closing(export.connect()) as database:
        return database.execute("SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchall()


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo("a.sqlite"), b"x")
    return buffer.getvalue()


def tarred() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.sqlite"))
    return buffer.getvalue()


def arrow_bytes(write: Callable[[pa.Table, io.BytesIO], object]) -> bytes:
    buffer = io.BytesIO()
    write(pa.table({"start": [1]}), buffer)
    return buffer.getvalue()


def arrow_stream(table: pa.Table, buffer: io.BytesIO) -> None:
    with pa.ipc.new_stream(buffer, table.schema) as stream:
        stream.write_table(table)


def test_an_export_is_opened_with_the_names_of_its_tables_and_columns(tmp_path: Path) -> None:
    path = write_export(tmp_path / "a.sqlite")

    with open_export(path) as export:
        assert export.path == path
        assert export.database == path
        assert dict(export.tables) == {
            "StringIds": ("id", "value"),
            "CUPTI_ACTIVITY_KIND_KERNEL": ("start", "shortName"),
        }
        assert export.table_name("stringids") == "StringIds"
        with pytest.raises(KeyError):
            export.table_name("NVTX_EVENTS")


def test_views_and_virtual_tables_are_no_tables_of_an_export(tmp_path: Path) -> None:
    path = write_export(tmp_path / "a.sqlite")
    write_database(
        path,
        "CREATE VIEW kernels AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL",
        "PRAGMA writable_schema = ON",
        "INSERT INTO sqlite_master VALUES"
        " ('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING no_such_module(x)')",
    )

    with open_export(path) as export:
        assert set(export.tables) == {"StringIds", "CUPTI_ACTIVITY_KIND_KERNEL"}


def test_generated_columns_are_columns(tmp_path: Path) -> None:
    path = write_export(tmp_path / "a.sqlite")
    write_database(path, "CREATE TABLE more (a INTEGER, b INTEGER AS (a + 1), c INTEGER)")

    with open_export(path) as export:
        assert export.tables["more"] == ("a", "b", "c")


@pytest.mark.parametrize(
    "tables",
    [
        ("StringIds (id)", "NVTX_EVENTS (start)"),
        ("StringIds (id)", "GPU_METRICS (timestamp)"),
        ("StringIds (id)", "META_DATA_EXPORT (name, value)"),
        ("stringids (id)", "cupti_activity_kind_runtime (start)"),
        ("CUPTI_ACTIVITY_KIND_KERNEL (start, globalPid)",),
        ("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, globalPid)",),
        ("EXPORT_META_DATA (name, value)",),
    ],
)
def test_a_partial_export_is_accepted(tmp_path: Path, tables: tuple[str, ...]) -> None:
    path = write_database(tmp_path / "a.sqlite", *(f"CREATE TABLE {table}" for table in tables))

    with open_export(path) as export:
        assert len(export.tables) == len(tables)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (
            (),
            "tables, but not of an nsys export (no StringIds or CUPTI tables; it has: none)",
        ),
        (
            ("moz_places (url)", "StringIds (id)"),
            "tables, but not of an nsys export "
            "(no StringIds or CUPTI tables; it has: StringIds, moz_places)",
        ),
        (
            ("StringTable (_id_, value)", "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (_id_, name)"),
            "an nvprof database, which is not supported; record with nsys profile instead",
        ),
        (
            ("StringTable (_id_, value)", "CUPTI_ACTIVITY_KIND_KERNEL (_id_, start, name)"),
            "an nvprof database, which is not supported; record with nsys profile instead",
        ),
    ],
)
def test_a_database_of_something_else_is_refused(
    tmp_path: Path, tables: tuple[str, ...], message: str
) -> None:
    path = tmp_path / "a.sqlite"
    write_database(path, "PRAGMA user_version = 1", *(f"CREATE TABLE {table}" for table in tables))

    assert refusal(path).startswith(message)


NSYS_REP = b"NVIDIA Tegra Profiler Report\x00\x01\x02" + bytes(1000)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "a.qdstrm",
            b"U3w[END]NVIDIA Nsight Systems Stream\x00",
            "an unfinished nsys capture (.qdstrm); import it with the QdstrmImporter of the nsys "
            "that recorded it: QdstrmImporter --input-file DIR/a.qdstrm, then: "
            "nsys export --type sqlite --output DIR/a.sqlite DIR/a.nsys-rep",
        ),
        (
            "a.sqlite.gz",
            gzip.compress(b"x", mtime=0),
            "compressed with gzip; run: gzip -dc DIR/a.sqlite.gz > DIR/a.sqlite",
        ),
        (
            "a.sqlite",
            gzip.compress(b"x", mtime=0),
            "compressed with gzip; run: gzip -dc DIR/a.sqlite > DIR/a.sqlite.unpacked",
        ),
        (
            "a.sqlite.zst",
            b"\x28\xb5\x2f\xfd\x00",
            "compressed with zstd; run: zstd -d DIR/a.sqlite.zst -o DIR/a.sqlite",
        ),
        (
            "a.sqlite.xz",
            lzma.compress(b"x"),
            "compressed with xz; run: xz -dc DIR/a.sqlite.xz > DIR/a.sqlite",
        ),
        (
            "a.sqlite.bz2",
            bz2.compress(b"x"),
            "compressed with bzip2; run: bzip2 -dc DIR/a.sqlite.bz2 > DIR/a.sqlite",
        ),
        (
            "a.sqlite.lz4",
            b"\x04\x22\x4d\x18\x00",
            "compressed with lz4; run: lz4 -d DIR/a.sqlite.lz4 DIR/a.sqlite",
        ),
        ("a.zip", zipped(), "a zip archive; run: unzip DIR/a.zip"),
        ("a.tar", tarred(), "a tar archive; run: tar -xf DIR/a.tar"),
        (
            "a.arrow",
            arrow_bytes(lambda table, to: feather.write_feather(table, to, compression=None)),
            "an Arrow file, not an export; if it is one table of an nsys export, "
            "name its directory instead: DIR",
        ),
        (
            "a.arrow",
            arrow_bytes(arrow_stream),
            "tables, but not of an nsys export (no StringIds or CUPTI tables; it has: none); "
            "to make one: nsys export --type sqlite --output DIR/a.arrow DIR/a.nsys-rep",
        ),
        (
            "a.parquet",
            arrow_bytes(parquet.write_table),
            "a Parquet file, not an export; if it is one table of an nsys export, "
            "name its directory instead: DIR",
        ),
        ("a.h5", b"\x89HDF\r\n\x1a\n\0", "an HDF5 file, which is not supported; AGAIN"),
        (
            "a.duckdb",
            bytes(8) + b"DUCK" + bytes(90),
            "a DuckDB database, not an nsys export; AGAIN",
        ),
        ("a.json", b'\n{"data": [1]}\n', "JSON, which is not supported; AGAIN"),
        ("a.json", b'[\n  {"name": 1}]', "JSON, which is not supported; AGAIN"),
        ("a.csv", b"Start,Duration\n1,2\n", "text, not an SQLite database; AGAIN"),
        (
            "a.sqlite",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
            "a Git LFS pointer, not the file itself; run: git lfs pull --include DIR/a.sqlite",
        ),
        ("a.bin", bytes(range(256)), "not an SQLite database; AGAIN"),
        ("a.bin", b"SQLite format 2", "text, not an SQLite database; AGAIN"),
    ],
)
def test_a_file_of_another_kind_is_named_with_the_command_that_helps(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    again = "make one with: nsys export --type sqlite --output DIR/a.sqlite DIR/a.nsys-rep"

    expected = message.replace("AGAIN", again).replace("DIR", str(tmp_path))

    assert refusal(path) == expected


@pytest.mark.parametrize("name", ["a.nsys-rep", "a.qdrep", "a.sqlite", "a b.nsys-rep"])
def test_a_report_is_named_with_the_command_that_exports_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(NSYS_REP)
    without_nsys(monkeypatch)

    message = refusal(path)

    made = tmp_path / ("a.export.sqlite" if name == "a.sqlite" else f"{path.stem}.sqlite")
    command = shlex.join(["nsys", "export", "--type", "sqlite", "--output", str(made), str(path)])
    assert message.startswith("an nsys report, and no nsys to export it (nsys: not found on PATH; ")
    assert message.endswith(f"; where there is one, run: {command}")


def without_nsys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("TRACEATTR_NSYS", raising=False)


def test_the_remedy_works_for_a_name_that_looks_like_an_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    without_nsys(monkeypatch)
    path = Path("-o $(x).nsys-rep")
    path.write_bytes(NSYS_REP)

    command = refusal(path).rpartition("run: ")[2]

    assert shlex.split(command)[-2:] == ["./-o $(x).sqlite", "./-o $(x).nsys-rep"]


def test_a_missing_file_is_not_created(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"

    with untouched(tmp_path):
        assert refusal(path) == (
            "no such file; to make one: "
            f"nsys export --type sqlite --output {path} {tmp_path / 'a.nsys-rep'}"
        )
        assert refusal(path / "b.sqlite").startswith("no such file; ")
        assert refusal(tmp_path / "a.nsys-rep") == "no such file"
    assert list(tmp_path.iterdir()) == []


def test_the_command_for_an_empty_recording_does_not_overwrite_it(tmp_path: Path) -> None:
    path = tmp_path / "e.nsys-rep"
    path.touch()

    assert refusal(path) == "empty file (0 bytes); record again"


def test_the_reason_that_a_table_is_damaged_is_cut_short(tmp_path: Path) -> None:
    error = sqlite3.DatabaseError("page 12 is never used\n" * 100)

    message = str(sqlite_failure(tmp_path / "t.sqlite", "table x", error))

    assert "table x is damaged (page 12 is never used" in message
    assert "[...])" in message
    assert len(message) < 500


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    path.touch()

    assert refusal(path) == (
        "empty file (0 bytes); export again: nsys export --type sqlite --force-overwrite true "
        f"--output {path} {tmp_path / 'a.nsys-rep'}"
    )


def test_a_directory_of_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()

    assert refusal(tmp_path) == (
        "a directory, but not an export (expected the .sqlite, or the directory of .parquet or "
        ".arrow files, that nsys export makes)"
    )


def test_a_directory_of_traces_is_no_trace(tmp_path: Path) -> None:
    (tmp_path / "rank1.sqlite").touch()

    assert refusal(tmp_path) == (
        f"a directory with traces; name one of them, such as {tmp_path / 'rank1.sqlite'} "
        "(traceattr report takes them all)"
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this platform")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    os.mkfifo(path)

    assert refusal(path) == "not a regular file (expected a .sqlite file)"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read every file")
def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    path = write_export(tmp_path / "a.sqlite")
    path.chmod(0)

    assert refusal(path) == f"not readable by you; try: chmod u+r {path}"


@pytest.mark.parametrize("kept_bytes", [16, 99, 100, 4096, 8191])
def test_a_truncated_file_is_refused(tmp_path: Path, kept_bytes: int) -> None:
    path = write_export(tmp_path / "a.sqlite")
    path.write_bytes(path.read_bytes()[:kept_bytes])

    assert refusal(path).startswith(f"truncated ({kept_bytes} bytes, expected ")


def test_a_malformed_schema_is_refused(tmp_path: Path) -> None:
    path = write_export(tmp_path / "a.sqlite")
    write_database(
        path,
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = 'CREATE TABLE nonsense(' WHERE name = 'StringIds'",
    )

    assert refusal(path).startswith("the schema is damaged (malformed database schema (StringIds)")


def test_a_malformed_name_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = write_export(tmp_path / "a.sqlite")
    content = path.read_bytes().replace(b"CREATE TABLE StringIds", b"CREATE TABLF \xfftringIds")
    path.write_bytes(content)

    assert refusal(path).startswith("the schema is damaged (")


def test_a_damaged_first_page_is_refused(tmp_path: Path) -> None:
    path = write_export(tmp_path / "a.sqlite")
    content = bytearray(path.read_bytes())
    content[100:4096] = b"\xff" * 3996
    path.write_bytes(content)

    assert refusal(path).startswith("the schema is damaged (")


def test_a_file_being_written_is_refused(tmp_path: Path) -> None:
    path = write_export(tmp_path / "a.sqlite")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = MEMORY")
        writer.execute("BEGIN EXCLUSIVE")

        message = refusal(path)

    assert message == (
        "locked by another process; wait for the nsys export that writes it to end "
        "(on a file system without locks: copy the file to a local disk)"
    )


def killed_writer(path: Path, *statements: str) -> None:
    """Run statements in a process that dies without closing the database."""
    script = (
        "import os, sqlite3, sys\n"
        "database = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "for statement in sys.argv[2:]: database.execute(statement).fetchall()\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(path), *statements], check=True)


def test_a_half_written_file_is_refused_and_not_rolled_back(tmp_path: Path) -> None:
    path = write_export(tmp_path / "a.sqlite")
    killed_writer(
        path, "PRAGMA cache_size = 1", "PRAGMA cache_spill = 1", "BEGIN IMMEDIATE", *[FILL] * 2000
    )
    assert (tmp_path / "a.sqlite-journal").stat().st_size > 0

    with untouched(tmp_path):
        message = refusal(path)

    assert message.startswith(
        "half written (a.sqlite-journal lies beside it): wait for the nsys export that writes it "
        "to end; if none runs, export again: nsys export "
    )


def test_the_journal_of_a_finished_transaction_is_no_obstacle(tmp_path: Path) -> None:
    path = write_export(tmp_path / "a.sqlite")
    write_database(path, "PRAGMA journal_mode = PERSIST", FILL)
    assert (tmp_path / "a.sqlite-journal").stat().st_size > 0

    with untouched(tmp_path):
        assert kernel_rows(path) == [(1, 2), (3, 4)] * 2


def test_a_live_log_is_read_from_a_private_copy(tmp_path: Path) -> None:
    path = write_database(tmp_path / "a.sqlite", "PRAGMA journal_mode = WAL", *TABLES)
    killed_writer(path, "PRAGMA wal_autocheckpoint = 0", FILL)
    (tmp_path / "a.sqlite-shm").unlink()

    with untouched(tmp_path), open_export(path) as export:
        copy = export.database
        assert copy.parent != tmp_path
        with closing(export.connect()) as database:
            rows = database.execute("SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchall()

    assert rows == [(1, 2), (3, 4)]
    assert not copy.parent.exists()


def test_a_log_of_a_running_writer_is_read_from_a_private_copy(tmp_path: Path) -> None:
    path = write_database(tmp_path / "a.sqlite", "PRAGMA journal_mode = WAL", *TABLES)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute(FILL)

        with untouched(tmp_path):
            assert kernel_rows(path) == [(1, 2), (3, 4)]


@pytest.mark.parametrize("log", [None, b""])
def test_a_database_in_log_mode_without_a_log_is_read_in_place(
    tmp_path: Path, log: bytes | None
) -> None:
    path = write_database(tmp_path / "a.sqlite", "PRAGMA journal_mode = WAL", *TABLES, FILL)
    if log is not None:
        (tmp_path / "a.sqlite-wal").write_bytes(log)

    with untouched(tmp_path), open_export(path) as export:
        assert export.database == path
        with closing(export.connect()) as database:
            assert database.execute("SELECT count(*) FROM StringIds").fetchone() == (0,)


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_read_only_directory_is_no_obstacle(tmp_path: Path, mode: str) -> None:
    directory = tmp_path / "read-only"
    directory.mkdir()
    path = write_export(directory / "a.sqlite")
    write_database(path, f"PRAGMA journal_mode = {mode}")
    path.chmod(0o400)
    directory.chmod(0o500)

    try:
        with untouched(directory):
            assert kernel_rows(path) == [(1, 2), (3, 4)]
    finally:
        directory.chmod(0o700)


@pytest.mark.parametrize(
    "name",
    ["a b.sqlite", "a?mode=rwc.sqlite", "a#b.sqlite", "100%41.sqlite", 'it\'s "a".db', "ü→.sqlite"],
)
def test_any_name_can_be_opened(tmp_path: Path, name: str) -> None:
    path = write_export(tmp_path / name)

    with untouched(tmp_path):
        assert kernel_rows(path) == [(1, 2), (3, 4)]


def test_a_relative_name_with_a_leading_dash_can_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_export(tmp_path / "-a.sqlite")

    assert kernel_rows(Path("-a.sqlite")) == [(1, 2), (3, 4)]


def test_the_log_is_looked_for_beside_the_file_and_not_beside_a_link_to_it(tmp_path: Path) -> None:
    path = write_database(tmp_path / "a.sqlite", "PRAGMA journal_mode = WAL", *TABLES)
    killed_writer(path, "PRAGMA wal_autocheckpoint = 0", FILL)
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "b.sqlite"
    link.symlink_to(path)

    assert kernel_rows(link) == [(1, 2), (3, 4)]


def test_a_connection_cannot_write(tmp_path: Path) -> None:
    path = write_export(tmp_path / "a.sqlite")

    with (
        open_export(path) as export,
        closing(export.connect()) as database,
        pytest.raises(sqlite3.OperationalError, match="readonly"),
    ):
        database.execute("DELETE FROM StringIds")


def test_text_that_is_not_utf8_shows_its_odd_bytes(tmp_path: Path) -> None:
    path = write_export(tmp_path / "a.sqlite")
    write_database(path, "INSERT INTO StringIds VALUES (1, CAST(X'61FF62' AS TEXT))")

    with open_export(path) as export, closing(export.connect()) as database:
        assert database.execute("SELECT value FROM StringIds").fetchone() == ("a\\xffb",)


def test_a_file_that_changes_while_it_is_read_is_noticed(tmp_path: Path) -> None:
    path = write_export(tmp_path / "a.sqlite")

    with open_export(path) as export:
        export.check_unchanged()
        write_database(path, FILL)
        os.utime(path, ns=(0, 0))
        with pytest.raises(ExportError, match="changed while it was being read"):
            export.check_unchanged()
