"""Ctrl-C while DuckDB computes."""

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys, threading
from traceattr.ingest.database import open_database

connection = open_database()
connection.execute("SET threads = 1")
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
getattr(connection.execute(sys.argv[1]), sys.argv[2])()
"""

LONG = "SELECT sum(a.i * b.i % 7) FROM range(200000) AS a(i), range(200000) AS b(i)"
"""Takes minutes in one piece, in which Python is not asked for signals."""


@pytest.mark.parametrize("how", ["fetchone", "fetchall", "fetchnumpy"])
def test_a_long_query_ends_at_once(how: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, LONG, how],
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )

    assert result.returncode != 0
    assert "nterrupt" in result.stderr  # KeyboardInterrupt, or in words of DuckDB
