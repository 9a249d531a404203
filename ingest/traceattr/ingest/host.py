"""What the host did besides CUDA calls: NVTX ranges and OS calls, loaded only when asked for."""

from collections.abc import Mapping
from typing import Any

import duckdb
import pyarrow as pa

from traceattr.ingest.arrow_arrays import bytes_array, optional_integers, text_array
from traceattr.ingest.database import run_sql
from traceattr.ingest.names import name_by_id, referenced_strings
from traceattr.ingest.small_tables import decode
from traceattr.ingest.sources import NVTX, OS
from traceattr.ingest.stage import run_over, stage
from traceattr.ingest.trace import Trace


def load_host_ranges(trace: Trace) -> None:
    """Make the public view ``host_range``; empty when no NVTX was recorded.

    Raises:
        ExportError: The table is damaged.
    """
    connection = trace.connection
    stage(connection, trace.export, NVTX)
    run_sql(connection, "_nvtx_open")
    _decode_texts(connection)
    ids = connection.execute("SELECT DISTINCT text_id FROM _nvtx").fetchall()
    names = referenced_strings(connection, trace.export, (key for (key,) in ids))
    run_over(connection, "_nvtx_name", _two_columns("id", optional_integers(names), names))
    run_sql(connection, "host_range")


def load_os_calls(trace: Trace) -> None:
    """Make the public view ``os_call``; empty when OS calls were not traced.

    Raises:
        ExportError: The table is damaged.
    """
    stage(trace.connection, trace.export, OS)
    name_by_id(trace.connection, trace.export, used_in="_os", statement="_os_name")
    run_sql(trace.connection, "os_call")


def _decode_texts(connection: duckdb.DuckDBPyConnection) -> None:
    """Give each distinct stored text once as characters; nsys stores bytes that need not be."""
    rows = connection.execute("SELECT DISTINCT text FROM _nvtx WHERE text IS NOT NULL").fetchall()
    texts = {value: decode(value) for (value,) in rows}
    run_over(connection, "_nvtx_text", _two_columns("value", bytes_array(texts), texts))


def _two_columns(key: str, keys: pa.Array, texts: Mapping[Any, str]) -> pa.Table:
    return pa.table({key: keys, "name": text_array(texts.values())})
