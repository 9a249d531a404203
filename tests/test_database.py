"""The database that holds a trace stays inside its share of the machine."""

import tempfile
from pathlib import Path

import pytest

from traceattr.ingest import database
from traceattr.ingest.database import open_database


def test_what_does_not_fit_into_memory_goes_to_a_directory_that_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "memory_bytes", lambda: 0)
    monkeypatch.setattr(database, "_LEAST_BYTES", 32 * 2**20)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with open_database() as connection:
        assert list(tmp_path.iterdir()) == []
        connection.execute(
            "CREATE TABLE number AS SELECT range AS n, hash(range) AS h FROM range(3000000)"
        )
        assert connection.execute("SELECT sum(n) FROM number").fetchall() == [(4499998500000,)]
        [spilled] = tmp_path.iterdir()
        assert spilled.name.startswith("traceattr-")
    assert list(tmp_path.iterdir()) == []


def test_half_of_the_memory_and_every_core_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "memory_bytes", lambda: 4 * 2**30)
    monkeypatch.setattr(database, "cores", lambda: 3)
    with open_database() as connection:
        query = "SELECT current_setting('memory_limit'), current_setting('threads')"
        assert connection.execute(query).fetchall() == [("2.0 GiB", 3)]
