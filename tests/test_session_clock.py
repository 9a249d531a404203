"""What a wall clock showed during a capture."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.loading import PID
from traceattr.ingest.session_clock import SessionClock, read_session_clock
from traces.export_writer import ExportWriter


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "trace.sqlite"
    with ExportWriter(path) as writer:
        writer.kernel("gemm", 1_000, 2_000, pid=PID)
    change(
        path,
        "DROP TABLE IF EXISTS TARGET_INFO_SESSION_START_TIME",
        "CREATE TABLE TARGET_INFO_SESSION_START_TIME"
        " (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT)",
    )
    return path


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def begin(path: Path, utc: str, local: str) -> None:
    values = f"1776781226500000000, '{utc}', '{local}'"
    change(path, f"INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES ({values})")  # noqa: S608


@pytest.mark.parametrize(
    ("local", "offset_s"),
    [
        ("2026-04-21T22:20:26", 8 * 3600),
        ("2026-04-21T07:20:26", -7 * 3600),
        ("2026-04-21T14:20:26", 0),
        ("2026-04-21T16:20:26+02:00", 2 * 3600),
        ("noon", 0),
    ],
)
def test_local_time_is_that_of_the_machine(export: Path, local: str, offset_s: int) -> None:
    begin(export, "2026-04-21T14:20:26", local)

    clock = read_session_clock(export)

    assert clock == SessionClock(1776781226500000000, offset_s)
    assert clock.local_s(1_500_000_000) == 1776781228 + offset_s


def test_times_that_count_from_1970_need_no_begin(export: Path) -> None:
    change(
        export,
        "CREATE TABLE IF NOT EXISTS META_DATA_EXPORT (name TEXT, value TEXT)",
        "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PARAM_TIME_NORMALIZE', 'true')",
    )

    clock = read_session_clock(export)

    assert clock is not None
    assert clock.local_s(1776781226500000000) == 1776781226.5


def test_an_export_that_does_not_say_when_it_began_has_no_clock(export: Path) -> None:
    assert read_session_clock(export) is None
