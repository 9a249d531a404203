"""Columns are kept for whoever comes back, and are those of the export, or are not believed."""

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from tests.recordings import recorded
from traceattr.cli import app
from traceattr.ingest.cache import column_file, kept
from traceattr.ingest.cache.column_file import ColumnWriter, Odd, open_columns
from traceattr.ingest.cache.files import COLUMNS, CacheFiles
from traceattr.ingest.cache.kept import Kept, KeptRows, open_kept
from traceattr.ingest.export import open_export
from traceattr.ingest.nearby import Near
from traceattr.ingest.scan import scan_table
from traceattr.ingest.selection import Piece, Selection, select
from traceattr.ingest.sources import API, GPU_WORK, GRIDS, NVTX, OS
from traceattr.ingest.stage import Staged, read, scan_source
from traces.description import Simulation

DEMO = Path(__file__).parent.parent / "traces" / "demo.sqlite"
KERNELS = GPU_WORK[0]
SOURCES = (*GPU_WORK, GRIDS, API, NVTX, OS)

Tables = list[tuple[pa.Table, Staged]]


@pytest.fixture(autouse=True)
def small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "GROUP_ROWS", 300)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("TRACEATTR_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return Path(shutil.copy(DEMO, tmp_path / "trace.sqlite"))


@pytest.fixture
def filled(trace: Path, folder: Path) -> Path:
    """The columns of the kernels of `trace`."""
    list(while_read(trace))
    [path] = columns_in(folder)
    return path


def run(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.stderr
    return result


def columns_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.parquet"))


def tables_of(trace: Path, found: Kept | None, near: Near | None = None) -> Tables:
    """Read all large tables as a command does."""
    with open_export(trace, kept=found) as export:
        present = [source for source in SOURCES if source.table in export.tables]
        scans = [(scan_source(export, source, near)) for source in present]
        tables = [scan.batches.read_all() for scan in scans]
    staged = [Staged(scan.unreadable, scan.declined) for scan in scans]
    return list(zip(tables, staged, strict=True))


def kernels_of(trace: Path, near: Near | None = None) -> pa.Table:
    with open_export(trace, kept=open_kept(trace)) as export:
        return read(export, KERNELS, near)[0].table


def refuse(*_: object, **__: object) -> NoReturn:
    raise AssertionError("read from the export")


ODD = """
UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET streamId = 'x' WHERE rowid % 1000 = 7;
UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = -9223372036854775808 WHERE rowid = 9;
UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET correlationId = NULL, returnValue = 1.5;
ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN graphId;
"""


def odd(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(ODD)


def without_rowid(path: Path) -> None:
    """Let the kernels be read the slow way."""
    with closing(sqlite3.connect(path)) as database, database:
        table = KERNELS.table
        names = [name for _, name, *_ in database.execute(f"PRAGMA table_info({table})")]
        columns = ", ".join(f'"{name}"' for name in names)
        database.executescript(
            f"ALTER TABLE {table} RENAME TO old;"  # noqa: S608
            f"CREATE TABLE {table} (number INTEGER PRIMARY KEY, {columns}) WITHOUT ROWID;"
            f"INSERT INTO {table} SELECT rowid, {columns} FROM old; DROP TABLE old;"
        )


ERAS = {
    "2.7": Simulation(rounds=2, era="2.7", same_device_id=True, plain_titles=True),
    "NVTX": Simulation(rounds=4, nvtx=True),
    "whole graphs": Simulation(rounds=2, mode="graph"),
}


@pytest.mark.parametrize("simulation", ERAS.values(), ids=ERAS.keys())
def test_kept_columns_are_those_of_the_export_in_every_era(
    folder: Path, simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = recorded(simulation)
    monkeypatch.setattr(kept, "GROUP_ROWS", 3)
    from_export = tables_of(path, None)
    assert tables_of(path, open_kept(path)) == from_export
    assert tables_of(path, open_kept(path)) == from_export
    assert len(columns_in(folder)) >= 3
    assert tables_of(path, open_kept(path)) == from_export


@pytest.mark.parametrize("change", [odd, without_rowid])
def test_what_was_odd_about_rows_is_kept_with_them(
    trace: Path, change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    change(trace)
    from_export = tables_of(trace, None)
    assert any(staged != Staged() for _, staged in from_export)
    for _ in range(2):
        tables_of(trace, open_kept(trace))
    monkeypatch.setattr("traceattr.ingest.scan._pieces", refuse)
    with open_export(trace, kept=open_kept(trace)) as export:
        scan = scan_source(export, KERNELS, None)
        assert (scan.batches.read_all(), Staged(scan.unreadable, scan.declined)) == from_export[0]


def test_commands_print_the_same_from_kept_columns(trace: Path, folder: Path) -> None:
    odd(trace)
    commands = (
        ("report", trace, "--format", "json"),
        ("sql", trace, "SELECT * FROM api_call ORDER BY ALL", "--format", "csv"),
    )
    expected = [run(*command, "--no-cache").stdout for command in commands]
    assert not folder.exists()
    for _ in range(2):
        assert [run(*command).stdout for command in commands] == expected
        for analysis in folder.glob("*.analysis"):
            analysis.unlink()
    assert len(columns_in(folder)) == 2


def test_columns_are_kept_when_a_trace_is_read_again(
    trace: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = kernels_of(trace)
    [mark] = folder.iterdir()
    assert (mark.suffix, mark.stat().st_size) == (".read", 0)
    kernels_of(trace)
    [path] = columns_in(folder)
    assert path.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr("traceattr.ingest.scan._pieces", refuse)
    assert kernels_of(trace) == first


def test_what_is_read_the_slow_way_is_kept_at_once(trace: Path, folder: Path) -> None:
    without_rowid(trace)
    kernels_of(trace)
    assert len(columns_in(folder)) == 1


def test_small_tables_leave_nothing(
    trace: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "GROUP_ROWS", 10_000)
    for _ in range(2):
        tables_of(trace, open_kept(trace))
    assert not folder.exists()


def test_texts_are_not_kept_that_only_stand_beside_those_of_rows(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "GROUP_ROWS", 1)
    path, _ = recorded(ERAS["NVTX"])
    for _ in range(2):
        run("sql", path, "SELECT count(*) FROM gpu_op, host_range")
    assert len(columns_in(folder)) > 2
    names = {name for path in columns_in(folder) for name in pq.read_schema(path).names}
    assert not names & {"value", "name"}


def test_columns_of_a_trace_that_was_rewritten_are_not_read(filled: Path, trace: Path) -> None:
    status = trace.stat()
    before = open_kept(trace)
    with closing(sqlite3.connect(trace)) as database, database:
        database.execute('UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET "end" = "end" - 1')
    os.utime(trace, ns=(status.st_atime_ns, status.st_mtime_ns))
    from_export = tables_of(trace, None)[0]
    for found in (before, open_kept(trace)):
        assert tables_of(trace, found)[0] == from_export
    assert filled.exists()


def test_columns_are_kept_with_what_stands_in_a_log_beside_the_trace(
    trace: Path, folder: Path
) -> None:
    first = kernels_of(trace)
    with closing(sqlite3.connect(trace)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        for _ in range(2):
            with database:
                database.execute('UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET "end" = "end" + 1')
            from_export = tables_of(trace, None)[0][0]
            found = [tables_of(trace, open_kept(trace))[0][0] for _ in range(3)]
            assert found == [from_export] * 3
        assert len(columns_in(folder)) == 2 * 3  # kernels, their grids, and calls
    assert kernels_of(trace)["end"][0].as_py() == first["end"][0].as_py() + 2


def wanted_of(trace: Path) -> Selection:
    with open_export(trace) as export:
        return select(export, KERNELS.table, KERNELS.columns)


def pieces_of(trace: Path) -> list[Piece]:
    with open_export(trace) as export:
        batches = scan_table(export, KERNELS.table, KERNELS.columns).batches.read_all()
    return [Piece(rows) for rows in batches.to_batches(max_chunksize=1000)]


def while_read(trace: Path) -> Iterator[Piece]:
    """Begin to read kernels for the second time."""
    found = open_kept(trace)
    assert found is not None
    list(found.while_read(wanted_of(trace), iter(pieces_of(trace))))
    again = open_kept(trace)
    assert again is not None
    return again.while_read(wanted_of(trace), iter(pieces_of(trace)))


def test_rows_of_a_trace_that_changes_meanwhile_are_not_kept(trace: Path, folder: Path) -> None:
    reading = while_read(trace)
    next(reading)
    os.utime(trace, ns=(1, 1))
    assert len(list(reading)) == len(pieces_of(trace)) - 1
    assert columns_in(folder) == []


def test_two_processes_may_keep_the_same_columns_at_once(trace: Path, folder: Path) -> None:
    expected = kernels_of(trace)
    one, other = while_read(trace), while_read(trace)
    assert [a.rows == b.rows for a, b in zip(one, other, strict=True)]
    [path] = folder.glob("*.parquet")
    assert len(list(folder.iterdir())) == 2
    assert kernels_of(trace) == expected
    assert path.exists()


def test_a_file_is_not_believed_that_differs_in_one_byte_or_is_too_short(
    filled: Path, trace: Path, folder: Path
) -> None:
    whole, wanted = filled.read_bytes(), wanted_of(trace)
    damaged = [whole[:size] for size in (0, 7, len(whole) // 2, len(whole) - 1)]
    damaged += [
        whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :]
        for at in range(0, len(whole), len(whole) // 150)
    ]
    for content in damaged:
        filled.write_bytes(content)
        found = open_kept(trace)
        assert found is not None
        assert found.find(wanted, None) is None
        assert not filled.exists()
    kernels_of(trace)
    assert len(columns_in(folder)) == 1


KILLED = """
import os, signal, sys
from pathlib import Path
from traceattr.ingest.cache import column_file, files, kept
from traceattr.ingest.export import open_export
from traceattr.ingest.sources import GPU_WORK
from traceattr.ingest.stage import read

trace, left = Path(sys.argv[1]), 0
kept.GROUP_ROWS = 1

def deadly(function):
    def call(*arguments, **options):
        global left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)
    return call

def rows(found):
    with open_export(trace, kept=found) as export:
        return read(export, GPU_WORK[0])[0].table

def run():
    column_file._Sink.write = deadly(column_file._Sink.write)
    os.fsync, Path.replace = deadly(os.fsync), deadly(Path.replace)
    files.CacheFiles._evict = deadly(files.CacheFiles._evict)
    assert rows(kept.open_kept(trace)) == rows(None)
    for path in kept.open_kept(trace).files.folder.glob("*.parquet"):
        path.unlink()

at, status = 0, signal.SIGKILL
while status == signal.SIGKILL:
    at += 6
    child = os.fork()
    if not child:
        left = at
        run()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
print(at, status)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_run_killed_at_any_instant_leaves_all_columns_or_nothing(
    trace: Path, folder: Path
) -> None:
    expected = kernels_of(trace)
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(trace)], capture_output=True, text=True, check=True
    )
    kills, status = map(int, done.stdout.split())
    assert (status, done.stderr) == (0, "")
    assert kills > 40
    assert kernels_of(trace) == expected
    assert len(columns_in(folder)) == 1


def full(*_: object) -> NoReturn:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(("where", "what"), [(os, "fsync"), (column_file._Sink, "write")])
def test_a_full_disk_costs_one_line(
    trace: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, where: object, what: str
) -> None:
    expected = run("report", trace, "--format", "json").stdout
    for analysis in folder.glob("*.analysis"):
        analysis.unlink()
    monkeypatch.setattr(where, what, full)
    result = run("report", trace, "--format", "json")
    assert result.stdout == expected
    assert result.stderr == (
        f"note: not kept for the next time: {folder}: cannot be written (No space left on device)\n"
    )
    assert columns_in(folder) == list(folder.glob(".unfinished-*")) == []


def test_a_folder_that_cannot_be_written_costs_one_line(trace: Path, folder: Path) -> None:
    folder.write_text("mine")
    query = ("sql", trace, "SELECT count(*) FROM gpu_op")
    for command in (("report", trace), query):
        lines = run(*command).stderr.splitlines()
        assert [line.partition(str(folder))[0] for line in lines] == [
            "note: not kept for the next time: "
        ]
    assert run(*query, "--no-cache").stderr == ""
    assert folder.read_text() == "mine"


def test_columns_that_were_not_used_for_longest_go_first(filled: Path, folder: Path) -> None:
    size = filled.stat().st_size
    old, used = (folder / f"{letter * 64}.{'0' * 16}.parquet" for letter in "ab")
    analysis = folder / f"{'c' * 64}.analysis"
    for at, path in enumerate((old, analysis, used)):
        shutil.copy(filled, path)
        os.utime(path, (at, at))
    forgotten = folder / f"{'d' * 64}.read"
    forgotten.touch()
    os.utime(forgotten, (1, 1))
    files = CacheFiles(folder, COLUMNS, limit_bytes=3 * size)
    with files.unfinished() as file:
        file.write(b"x" * size)
        files.finish(file, f"{'e' * 64}.{'0' * 16}.parquet")
    left = {path.name[0] for path in columns_in(folder)}
    assert left == {filled.name[0], "b", "e"}
    assert (old.exists(), analysis.exists(), forgotten.exists()) == (False, True, False)


def test_columns_are_not_kept_that_are_more_than_may_be_kept(
    filled: Path, trace: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.unlink()
    monkeypatch.setenv("TRACEATTR_CACHE_LIMIT_MB", "0")
    kernels_of(trace)
    assert columns_in(folder) == []


def test_the_cache_says_what_columns_it_holds(filled: Path, folder: Path) -> None:
    size = f"{filled.stat().st_size / 1e6:.1f} MB"
    assert f"columns    1: {size} of at most 2,147 MB\n" in run("cache", "info").stdout
    assert f", columns of 1 table ({size}), " in run("cache", "clear").stdout
    assert list(folder.iterdir()) == []


def test_of_kept_columns_only_what_is_near_is_read(
    filled: Path, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = kernels_of(trace)["start"].to_pylist()
    read_rows: list[int] = []

    def pieces(self: KeptRows, schema: pa.Schema) -> Iterator[Piece]:
        for piece in of(self, schema):
            read_rows.append(piece.rows.num_rows)
            yield piece

    of = KeptRows.pieces
    monkeypatch.setattr(KeptRows, "pieces", pieces)
    for near in (Near(starts[1000], starts[1100]), Near(0, 1), Near(starts[0], starts[-1])):
        read_rows.clear()
        found = kernels_of(trace, near)
        with open_export(trace) as export:
            assert found == read(export, KERNELS, near)[0].table
        assert sum(read_rows) <= max(2000, found.num_rows)


ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | st.integers(0, 3),
        st.none() | st.binary(max_size=5),
    ),
    min_size=1,
)
SCHEMA = pa.schema([("start", pa.int64()), ("end", pa.int64()), ("text", pa.binary())])


@settings(max_examples=30)
@given(ROWS, st.integers(1, 5))
def test_columns_come_back_as_they_were(rows: list[tuple[object, ...]], most: int) -> None:
    columns = dict(zip(SCHEMA.names, zip(*rows, strict=True), strict=True))
    table = pa.table(columns, schema=SCHEMA)
    with TemporaryDirectory() as there:
        path = Path(there) / "x.parquet"
        with path.open("wb") as file:
            writer = ColumnWriter(file, SCHEMA)
            for batch in table.to_batches(max_chunksize=most):
                writer.add([batch])
            digest = writer.finish(Odd(1, 2, "odd"))
        found = open_columns(path, digest)
        assert found is not None
        groups = found.groups(None)
        assert found.is_sound(groups)
        assert pa.Table.from_batches(found.rows(groups), SCHEMA) == table
        assert found.odd == Odd(1, 2, "odd")
        assert open_columns(path, "0" * 16) is None
