"""The in-memory DuckDB database that holds one trace."""

import os
import secrets
import tempfile
from importlib.resources import files
from pathlib import Path

import duckdb

from traceattr.ingest.interruption import end_on_ctrl_c
from traceattr.ingest.machine import cores, memory_bytes

_LEAST_BYTES = 256 * 2**20
"""Memory below which joins of a trace do not get along."""


def read_sql(package: str, name: str) -> str:
    """Return the text of ``sql/NAME.sql`` shipped with ``package``."""
    return (files(package) / "sql" / f"{name}.sql").read_text(encoding="utf-8")


def open_database() -> duckdb.DuckDBPyConnection:
    """Return an empty in-memory database that reaches neither the network nor other files.

    Row order is given up for speed, so every query that needs an order states one.  What does not
    fit into its share of the memory goes to a private directory, which DuckDB makes when it needs
    it and removes when it is closed; by default that would lie where the user is.
    """
    spilled = Path(tempfile.gettempdir()) / f"traceattr-{os.getpid()}-{secrets.token_hex(4)}"
    connection = duckdb.connect(
        ":memory:",
        config={
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "enable_external_access": False,
            "memory_limit": f"{max(memory_bytes() // 2, _LEAST_BYTES)}B",
            "preserve_insertion_order": False,
            "temp_directory": str(spilled),
            "threads": cores(),
        },
    )
    return end_on_ctrl_c(connection)


def run_sql(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Run every statement of the ingest file ``sql/NAME.sql``."""
    connection.execute(read_sql("traceattr.ingest", name))


def lock(connection: duckdb.DuckDBPyConnection) -> None:
    """Let queries of other people see the tables of the trace and nothing else.

    Without this, a name that is no table would be looked up among the variables of our own code.
    """
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET lock_configuration = true")
