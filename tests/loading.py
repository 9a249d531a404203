"""Loading a trace that a test has written."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from traceattr.ingest.trace import Trace, open_trace

PID = 101
SECOND_PID = 202


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    """Return the result of a query over the tables of a trace."""
    with open_trace(path) as trace:
        return trace.connection.execute(query).fetchall()


@contextmanager
def loaded(path: Path) -> Iterator[Trace]:
    """Open a trace; the name reads better beside `rows`."""
    with open_trace(path) as trace:
        yield trace
