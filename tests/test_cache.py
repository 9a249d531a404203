"""An analysis is kept, found again when nothing changed, and never believed when it is damaged."""

import errno
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from traceattr.attribution.cache import Cache, cache_key
from traceattr.attribution.choice import STEADY_ROUNDS, Choice
from traceattr.attribution.stored import load_analysis
from traceattr.cli import app
from traceattr.ingest.cache.files import ANALYSES, CacheFiles
from traceattr.rules.rule_set import load_rules

DEMO = Path(__file__).parent.parent / "traces" / "demo.sqlite"

OLD, USED, NEW = (letter * 64 for letter in "abc")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("TRACEATTR_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return Path(shutil.copy(DEMO, tmp_path / "trace.sqlite"))


def run(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.stderr
    return result


def json_of(trace: Path, *arguments: str) -> str:
    return run("report", trace, "--format", "json", *arguments).stdout


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*")) if folder.exists() else []


def stored_in(entry: Path) -> bytes:
    content = entry.read_bytes()
    return content[content.index(b"{") :]


def test_a_kept_report_is_the_same_to_the_byte_and_starts_neither_duckdb_nor_numpy(
    folder: Path, trace: Path
) -> None:
    first = json_of(trace)
    program = (
        "import sys; from traceattr.cli import app\n"
        "app(['report', sys.argv[1], '--format', 'json'], standalone_mode=False)\n"
        "sys.stderr.write(' '.join({'duckdb', 'fsspec', 'numpy', 'pyarrow'} & set(sys.modules)))"
    )
    again = subprocess.run(
        [sys.executable, "-c", program, str(trace)], capture_output=True, text=True, check=True
    )
    assert again.stdout == first == json_of(trace, "--no-cache")
    assert again.stderr == ""
    assert len(entries(folder)) == 1


def test_without_the_cache_nothing_is_kept(folder: Path, trace: Path) -> None:
    json_of(trace, "--no-cache")
    assert entries(folder) == []


def test_a_trace_rewritten_with_the_same_size_and_time_is_read_again(
    folder: Path, trace: Path
) -> None:
    before, status = json_of(trace), trace.stat()
    with closing(sqlite3.connect(trace)) as database, database:
        database.execute('UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET "end" = "end" - 1')
    os.utime(trace, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert trace.stat().st_size == status.st_size
    assert json_of(trace) != before
    assert json_of(trace) == json_of(trace, "--no-cache")


def test_what_an_analysis_depends_on_has_an_entry_of_its_own(trace: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[[rule]]\nname = "mine"\ncategory = "norm"\npattern = "^x$"\nmatches = ["x"]\n')
    shipped = load_rules()
    other = Path(shutil.copy(trace, tmp_path / "other.sqlite"))
    keys = [
        cache_key(trace, shipped, STEADY_ROUNDS, "plain"),
        cache_key(trace, shipped, STEADY_ROUNDS, "with rows"),
        cache_key(trace, load_rules(own), STEADY_ROUNDS, "plain"),
        cache_key(trace, shipped, Choice(window=(None, 1)), "plain"),
        cache_key(trace, shipped, Choice(rounds=(None, 1)), "plain"),
        cache_key(other, shipped, STEADY_ROUNDS, "plain"),
    ]
    assert None not in keys
    assert len(set(keys)) == len(keys)
    assert cache_key(trace, shipped, STEADY_ROUNDS, "plain") == keys[0]


def test_what_cannot_be_known_has_no_entry(trace: Path, tmp_path: Path) -> None:
    trace.with_name("trace.sqlite-journal").write_bytes(b"\1")
    for path in (trace, tmp_path, tmp_path / "missing", Path("/dev/null")):
        assert cache_key(path, load_rules(), STEADY_ROUNDS, "plain") is None


def test_a_damaged_entry_is_as_good_as_none(folder: Path, trace: Path) -> None:
    first = json_of(trace)
    [entry] = entries(folder)
    whole = entry.read_bytes()
    one_byte = whole[:-200] + b"1" + whole[-199:]
    for damage in (b"", b"traceattr cache 1\n", b"\0" * 1000, one_byte):
        entry.write_bytes(damage)
        assert json_of(trace) == first
        assert entry.read_bytes() == whole


STEPS = ("write", "fsync", "replace", "evict")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
@pytest.mark.parametrize("step", STEPS)
def test_a_run_killed_while_it_keeps_an_analysis_leaves_all_of_it_or_nothing(
    folder: Path, trace: Path, step: str
) -> None:
    first = json_of(trace)
    [entry] = entries(folder)
    whole, stored = entry.read_bytes(), stored_in(entry)
    entry.unlink()
    program = (
        "import os, signal, sys; from pathlib import Path\n"
        "from traceattr.attribution import cache, stored\n"
        "from traceattr.ingest.cache.files import ANALYSES, CacheFiles\n"
        "def die(*_, **__): os.kill(os.getpid(), signal.SIGKILL)\n"
        "step, target, key = sys.argv[1:]\n"
        "if step == 'write': cache._with_checksum = die\n"
        "if step == 'fsync': os.fsync = die\n"
        "if step == 'replace': Path.replace = die\n"
        "if step == 'evict': CacheFiles._evict = die\n"
        "analysis = stored.load_analysis(sys.stdin.buffer.read())\n"
        "cache.Cache(CacheFiles(Path(target), ANALYSES, 10**9)).keep(key, analysis)"
    )
    killed = subprocess.run(
        [sys.executable, "-c", program, step, str(folder), entry.stem], input=stored
    )
    assert killed.returncode == -signal.SIGKILL
    assert entry.exists() == (step == "evict")
    assert json_of(trace) == first
    assert entry.read_bytes() == whole


def test_a_full_disk_costs_one_line(
    folder: Path, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    result = run("report", trace, "--format", "json")
    assert result.stdout == json_of(trace, "--no-cache")
    assert result.stderr == (
        f"note: not kept for the next time: {folder}: cannot be written (No space left on device)\n"
    )
    assert entries(folder) == []


def test_a_cache_that_is_a_file_costs_one_line(folder: Path, trace: Path) -> None:
    folder.write_text("mine")
    result = run("report", trace, "--format", "json")
    assert result.stderr.startswith("note: not kept for the next time: ")
    assert len(result.stderr.splitlines()) == 1
    assert folder.read_text() == "mine"


@pytest.fixture
def filled(folder: Path, trace: Path) -> tuple[Path, int]:
    json_of(trace)
    [entry] = entries(folder)
    return entry, entry.stat().st_size


def test_what_was_not_used_for_longest_goes_first(filled: tuple[Path, int], folder: Path) -> None:
    entry, size = filled
    old = folder / f"{OLD}.analysis"
    shutil.copy(entry, old)
    os.utime(old, (1, 1))
    used = folder / f"{USED}.analysis"
    shutil.copy(entry, used)
    os.utime(used, (2, 2))
    analysis = load_analysis(stored_in(entry))
    cache = Cache(CacheFiles(folder, ANALYSES, limit_bytes=3 * size))
    assert cache.find(OLD) == analysis
    cache.keep(NEW, analysis)
    assert {path.stem for path in entries(folder)} == {entry.stem, OLD, NEW}


def test_what_killed_runs_left_is_removed(filled: tuple[Path, int], folder: Path) -> None:
    entry, _ = filled
    left = folder / ".unfinished-abc"
    left.write_bytes(b"x")
    os.utime(left, (1, 1))
    recent = folder / ".unfinished-def"
    recent.write_bytes(b"x")
    Cache(CacheFiles(folder, ANALYSES, 10**9)).keep(NEW, load_analysis(stored_in(entry)))
    assert not left.exists()
    assert recent.exists()


def test_the_cache_says_what_it_holds_and_is_cleared_of_no_more(
    filled: tuple[Path, int], folder: Path
) -> None:
    entry, size = filled
    others = folder / "notes.analysis"
    others.write_text("mine")
    exports = folder / "exports"
    exports.mkdir()
    export, other_export = exports / f"{'0a' * 16}.sqlite", exports / "mine.sqlite"
    export.write_bytes(b"x" * 200_000)
    other_export.write_bytes(b"x")
    assert run("cache", "info").stdout == (
        f"directory  {folder}\nanalyses   1: {size / 1e6:.1f} MB of at most 268 MB\n"
        "columns    0: 0.0 MB of at most 2,147 MB\n"
        "exports    1: 0.2 MB, for 30 days each\n"
        "remote     0: 0.0 MB of at most 4,295 MB\n"
    )
    assert run("cache", "clear").stdout == (
        f"Removed 1 analysis ({size / 1e6:.1f} MB), columns of 0 tables (0.0 MB), 1 export (0.2 MB)"
        " and 0 remote traces (0.0 MB).\n"
    )
    assert list(exports.iterdir()) == [other_export]
    other_export.unlink()
    exports.rmdir()
    assert entries(folder) == [others]
    assert not entry.exists()


def test_a_limit_that_is_no_number_is_an_error(
    folder: Path, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACEATTR_CACHE_LIMIT_MB", "lots")
    result = CliRunner().invoke(app, ["report", str(trace)])
    assert result.exit_code == 2
    assert result.stderr == (
        "error: TRACEATTR_CACHE_LIMIT_MB=lots: not a whole number of megabytes\n"
    )
