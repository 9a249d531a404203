"""Traces that lie elsewhere are read like those here, and only the parts that are needed."""

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner, Result

from tests.recordings import recorded
from tests.remote_files import FileServer, in_memory, serving
from traceattr.cli import app
from traceattr.errors import ExportError
from traceattr.ingest import machine, nearby, trace
from traceattr.ingest.export import open_export
from traceattr.ingest.remote.name import RemoteFile, trace_path
from traceattr.ingest.scan import ColumnType, scan_table
from traces.description import Simulation

DEMO = Path(__file__).parent.parent / "traces" / "demo.sqlite"
NAME = "demo.sqlite"
READ = {
    "CUPTI_ACTIVITY_KIND_KERNEL": {"start": ColumnType.INTEGER, "gridX": ColumnType.INTEGER},
    "StringIds": {"id": ColumnType.INTEGER, "value": ColumnType.TEXT},
    "META_DATA_EXPORT": {"name": ColumnType.TEXT, "value": ColumnType.TEXT},
}
ASKED = "bytes=0-0"
"""The part of a file that is asked for to learn its state."""

SECRETS = ("geheim", "hunter2", "jo:")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("TRACEATTR_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def server() -> Iterator[FileServer]:
    with serving(demo=DEMO.read_bytes()) as server:
        yield server


@pytest.fixture
def memory() -> Iterator[Any]:
    with in_memory(demo=DEMO.read_bytes()) as files:
        yield files


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def printed(*arguments: str | Path) -> str:
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def content(path: Path | RemoteFile) -> list[pa.Table]:
    """Return what the reader has in some tables, large and small."""
    with open_export(path) as export:
        return [
            scan_table(export, table, columns).batches.read_all() for table, columns in READ.items()
        ]


def refused(path: RemoteFile) -> str:
    """Return what is wrong with a trace."""
    with pytest.raises(ExportError) as caught:
        content(path)
    return str(caught.value).removeprefix(f"{path}: ")


def kept(folder: Path) -> list[Path]:
    return sorted((folder / "remote").glob("*")) if (folder / "remote").exists() else []


def test_a_report_is_that_on_the_file_and_fetches_nothing_twice(server: FileServer) -> None:
    url = server.named(NAME)

    first = printed("report", url)
    ranges = [wanted for _, wanted in server.asked if wanted != ASKED]
    assert len(set(ranges)) == len(ranges)

    asked = len(server.asked)
    assert printed("report", url) == first == printed("report", DEMO)
    assert content(RemoteFile(url)) == content(DEMO)
    assert {wanted for _, wanted in server.asked[asked:]} == {ASKED}


def test_tables_that_a_command_does_not_read_are_not_fetched(tmp_path: Path) -> None:
    large = tmp_path / "large.sqlite"
    large.write_bytes(DEMO.read_bytes())
    with closing(sqlite3.connect(large)) as database, database:
        database.execute("CREATE TABLE NVTX_EVENTS (start INTEGER, text TEXT)")
        rows = [(number, "x" * 100) for number in range(60_000)]
        database.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?)", rows)

    with serving(large=large.read_bytes()) as server:
        content(RemoteFile(server.named("large.sqlite")))

        assert large.stat().st_size > 8 * DEMO.stat().st_size
        assert server.sent_bytes < 1.1 * DEMO.stat().st_size


def test_a_window_fetches_what_lies_around_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(nearby, "CONTEXT_NS", 50_000_000)
    monkeypatch.setattr(trace, "CONTEXT_NS", 50_000_000)
    monkeypatch.setattr(nearby, "LARGE_LEAVES", 8)
    monkeypatch.setattr(nearby, "_SAMPLES", 16)
    path, _ = recorded(Simulation(rounds=16))
    options = ("--window", "1.6:1.65", "--format", "json")

    with serving(trace=path.read_bytes()) as server:
        found = printed("report", server.named("trace.sqlite"), *options)

        assert '"window-only"' in found
        assert found == printed("report", path, *options)
        assert server.sent_bytes < path.stat().st_size / 2


COMMANDS = [
    ("gaps",),
    ("sql", "SELECT count(*) FROM os_call"),
    ("doctor", "--format", "json"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_every_command_takes_a_url(memory: Any, command: tuple[str, ...]) -> None:
    name, *options = command
    there = run(name, "memory://run/demo.sqlite", *options)
    here = run(name, DEMO, *options)
    assert there.exit_code == here.exit_code < 2
    assert there.stdout.replace("memory://run/demo.sqlite", str(DEMO)) == here.stdout


def test_two_urls_are_compared_and_put_together(
    memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "cores", lambda: 1)  # this memory is of this process
    url, missing = "memory://run/demo.sqlite", "memory://other/demo.sqlite"

    assert "cannot be told: fewer than 10 rounds" in printed("diff", url, url)
    found = json.loads(printed("report", url, missing, "--format", "json"))
    assert [rank["file"] for rank in found["runs"][0]["ranks"]] == [url, url]
    assert found["failed"] == [{"file": missing, "reason": f"{missing}: no such file"}]


def test_a_copy_without_secrets_is_made_of_all_of_it(memory: Any, tmp_path: Path) -> None:
    copy, other = tmp_path / "copy.sqlite", tmp_path / "other.sqlite"
    for trace_, out in (("memory://run/demo.sqlite", copy), (DEMO, other)):
        assert run("scrub", trace_, out).exit_code == 0
    assert copy.read_bytes() == other.read_bytes()


def test_a_server_that_sends_no_parts_is_asked_for_all_once(server: FileServer) -> None:
    server.has_ranges = False
    assert content(RemoteFile(server.named(NAME))) == content(DEMO)
    assert server.sent_bytes >= DEMO.stat().st_size
    asked = len(server.asked)

    assert content(RemoteFile(server.named(NAME))) == content(DEMO)

    assert [wanted for _, wanted in server.asked[asked:]] == [ASKED]


def test_a_server_that_names_no_state_is_asked_each_time(server: FileServer, folder: Path) -> None:
    server.has_identity = False
    content(RemoteFile(server.named(NAME)))
    first = server.sent_bytes
    content(RemoteFile(server.named(NAME)))
    assert server.sent_bytes == 2 * first
    assert kept(folder) == []


def test_without_the_cache_nothing_is_kept(server: FileServer, folder: Path) -> None:
    printed("report", server.named(NAME), "--no-cache")
    assert kept(folder) == []


def test_a_changed_file_is_fetched_anew(server: FileServer) -> None:
    content(RemoteFile(server.named(NAME)))
    before, server.changed = server.sent_bytes, range(1, 10**9)
    content(RemoteFile(server.named(NAME)))
    assert server.sent_bytes == 2 * before


@pytest.mark.parametrize("first", [3, 8, 14])
def test_a_file_that_changes_meanwhile_is_an_error(server: FileServer, first: int) -> None:
    server.changed = range(first, 10**9)
    why = refused(RemoteFile(server.named(NAME)))
    assert why == "changed while it was being read; run this again"


def test_a_connection_that_breaks_off_is_tried_again(server: FileServer) -> None:
    server.broken = range(6, 8)
    assert content(RemoteFile(server.named(NAME))) == content(DEMO)


@pytest.mark.parametrize("has_ranges", [True, False])
def test_a_connection_that_always_breaks_off_is_an_error(
    server: FileServer, has_ranges: bool
) -> None:
    server.has_ranges = has_ranges
    server.broken = range(2, 10**9)
    assert re.match("cannot be read ", refused(RemoteFile(server.named(NAME))))


def test_secrets_in_a_url_are_used_and_neither_shown_nor_stored(
    server: FileServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "cores", lambda: 1)
    url = server.named(f"{NAME}?X-Amz-Signature=geheim").replace("//", "//jo:hunter2@")
    results = [
        run("report", url, "--format", "json"),
        run("report", url, url.replace("demo", "missing")),
        run("gaps", url, url),
        run("sql", url.replace("demo", "missing"), "SELECT 1"),
    ]
    assert server.authorizations == {"Basic am86aHVudGVyMg=="}
    assert any("geheim" in path for path, _ in server.asked)
    shown = "".join(result.stdout + result.stderr for result in results)
    stored = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    for secret in SECRETS:
        assert secret not in shown + repr(trace_path(url))
        assert secret.encode() not in stored


def test_a_new_signature_is_the_same_file(server: FileServer) -> None:
    for signature in ("one", "two"):
        content(RemoteFile(server.named(f"{NAME}?version=1&X-Amz-Signature={signature}")))
    sent = server.sent_bytes
    content(RemoteFile(server.named(f"{NAME}?version=2&X-Amz-Signature=two")))
    assert server.sent_bytes > 1.9 * sent
    assert sent < 1.1 * DEMO.stat().st_size


def test_a_spoiled_block_of_a_kept_copy_is_fetched_again(server: FileServer, folder: Path) -> None:
    content(RemoteFile(server.named(NAME)))
    [checksums, data] = kept(folder)
    whole = data.read_bytes()
    data.write_bytes(whole[:100_000] + bytes(50_000) + whole[150_000:])
    sent = server.sent_bytes

    assert content(RemoteFile(server.named(NAME))) == content(DEMO)

    assert data.read_bytes()[:300_000] == whole[:300_000]
    assert 40_000 < server.sent_bytes - sent < 150_000
    assert checksums.stat().st_mode & 0o077 == 0


def test_a_copy_in_use_is_left_alone(server: FileServer, folder: Path) -> None:
    with open_export(RemoteFile(server.named(NAME))) as export:
        sent = server.sent_bytes
        content(RemoteFile(server.named(NAME)))
        assert server.sent_bytes > sent + 100_000
        assert printed("cache", "clear").startswith("Removed 0 analyses")
        with closing(export.connect()) as connection:
            connection.execute("SELECT * FROM META_DATA_EXPORT").fetchall()
    assert len(kept(folder)) == 2


def test_copies_are_shown_cleared_and_kept_within_the_limit(
    server: FileServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.files["/other.sqlite"] = server.files["/demo.sqlite"]
    content(RemoteFile(server.named(NAME)))
    assert re.search(r"remote     1: 0\.[78] MB of at most 4,295 MB\n", printed("cache", "info"))
    first = kept(folder)

    monkeypatch.setenv("TRACEATTR_CACHE_LIMIT_MB", "1")
    content(RemoteFile(server.named("other.sqlite")))
    assert len(kept(folder)) == 2
    assert kept(folder) != first

    assert re.search(r"and 1 remote trace \(0\.[78] MB\)\.\n", printed("cache", "clear"))
    assert kept(folder) == []


def test_where_nothing_can_be_kept_a_private_copy_is_made(server: FileServer, folder: Path) -> None:
    folder.write_text("a file where a directory should be")
    assert content(RemoteFile(server.named(NAME))) == content(DEMO)


@pytest.mark.parametrize("page_bytes", [512, 4096, 65536])
def test_rows_that_only_sqlite_can_read_are_fetched_with_all_their_pages(
    memory: Any, tmp_path: Path, page_bytes: int
) -> None:
    path = tmp_path / "odd.sqlite"
    columns = ", ".join(f"column_{number} TEXT DEFAULT 'a long default'" for number in range(80))
    rows = 200 + 500_000 // page_bytes
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(f"PRAGMA page_size = {page_bytes}")
        database.execute("BEGIN")
        database.execute(
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, globalPid INTEGER)"
        )
        database.execute(f"CREATE TABLE wide (number, {columns})")
        database.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
        database.execute("CREATE TABLE unread (value BLOB)")
        for number in range(rows):
            length = number * 7919 % (9 * page_bytes // 8) if number % 20 else 50_000
            text = chr(97 + number % 26) * length
            database.execute("INSERT INTO StringIds VALUES (?, ?)", (number, text))
            database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, 1)", (number,))
        database.execute("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN deviceId DEFAULT 7")
        database.execute("INSERT INTO unread VALUES (zeroblob(3000000))")
        database.execute("COMMIT")
    memory.pipe_file("/run/odd.sqlite", path.read_bytes())
    wanted = {
        "StringIds": {"id": ColumnType.INTEGER, "value": ColumnType.TEXT},
        "CUPTI_ACTIVITY_KIND_KERNEL": dict.fromkeys(("start", "deviceId"), ColumnType.INTEGER),
    }

    with open_export(path) as here, open_export(RemoteFile("memory://run/odd.sqlite")) as there:
        assert there.tables == here.tables
        for table, columns_ in wanted.items():
            scans = [scan_table(export, table, columns_) for export in (here, there)]
            assert scans[0].batches.read_all() == scans[1].batches.read_all()
            assert scans[0].declined == scans[1].declined
        assert there.database.stat().st_blocks * 512 < path.stat().st_size - 1_000_000
