"""Queries end when Ctrl-C comes.

While DuckDB computes, Python cannot run its handler of signals; a thread of its own can be told.
"""

import os
import signal
import threading
from contextlib import suppress
from functools import cache
from weakref import WeakSet

import duckdb

_connections: WeakSet[duckdb.DuckDBPyConnection] = WeakSet()


def end_on_ctrl_c(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Return a connection whose queries Ctrl-C ends, if it is made in the main thread or later."""
    _connections.add(connection)
    if threading.current_thread() is threading.main_thread():
        _watch()
    return connection


@cache
def _watch() -> None:
    """Let Python write the number of each signal into a pipe that a thread reads."""
    told, telling = os.pipe()
    os.set_blocking(telling, False)
    signal.set_wakeup_fd(telling, warn_on_full_buffer=False)
    threading.Thread(target=_interrupt_when_told, args=(told,), daemon=True).start()


def _interrupt_when_told(told: int) -> None:
    while number := os.read(told, 1):
        if number[0] == signal.SIGINT:
            for connection in list(_connections):
                with suppress(duckdb.Error):  # it may be closed
                    connection.interrupt()
