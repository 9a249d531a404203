"""What the export says about the recording, without the secrets beside it."""

import os
from dataclasses import astuple, dataclass

import duckdb

from traceattr.ingest.export import Export
from traceattr.ingest.small_tables import read_rows

NEWEST_KNOWN_SCHEMA = (3, 28)
"""Of nsys 2026.4, the newest documented export schema; newer ones are read by column."""

OLDEST_KNOWN_SCHEMA = (2, 7)
"""Of nsys 2021.5; older exports write 0 where later ones write NULL."""


@dataclass(frozen=True, slots=True)
class Capture:
    """The one row of the table ``capture``; see the comments there.

    Attributes:
        file: Name of the export, without its directories; bytes that are not UTF-8 are escaped.
        nsys_version: Version of Nsight Systems that exported it.
        schema_version: Version of the export schema.
        driver_version: NVIDIA driver.
        utc_epoch_ns: Wall clock of time 0.
        duration_ns: Length of the capture.
        time_shift_ns: Added to every time by the export.
        is_time_normalised: Whether times count from 1970.
        is_partial: Whether the export left out tables or times.
        graph_trace_option: What ``--cuda-graph-trace`` was.
        simulated: What the simulator says about itself.
    """

    file: str
    nsys_version: str | None
    schema_version: str | None
    driver_version: str | None
    utc_epoch_ns: int | None
    duration_ns: int | None
    time_shift_ns: int
    is_time_normalised: bool
    is_partial: bool
    graph_trace_option: str | None
    simulated: str | None


def read_capture(export: Export) -> Capture:
    """Return what the metadata tables of any era say."""
    # Renamed in 2023; an appended export repeats keys, and the last one counts.
    made = _pairs(export, "EXPORT_META_DATA") | _pairs(export, "META_DATA_EXPORT")
    return Capture(
        file=_readable(export.path.name),
        nsys_version=made.get("EXPORT_PRODUCT_VERSION"),
        schema_version=made.get("EXPORT_SCHEMA_VERSION"),
        driver_version=_driver_version(export),
        utc_epoch_ns=_first(export, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs"),
        duration_ns=_first(export, "ANALYSIS_DETAILS", "duration"),
        time_shift_ns=_shift_ns(made),
        is_time_normalised=_is_true(made.get("EXPORT_PARAM_TIME_NORMALIZE")),
        is_partial=any(
            made.get(key)
            for key in ("EXPORT_PARAM_TABLES_TO_EXPORT", "EXPORT_PARAM_TIMES_TO_EXPORT")
        ),
        graph_trace_option=_graph_trace_option(export),
        simulated=made.get("TRACEATTR_SIMULATED"),
    )


def store_capture(connection: duckdb.DuckDBPyConnection, capture: Capture) -> None:
    """Fill the table ``capture``."""
    connection.execute(
        "INSERT INTO capture VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", list(astuple(capture))
    )


def schema_of(version: str | None) -> tuple[int, int] | None:
    """Return major and minor of a schema version such as ``3.25.0``, None if it has none."""
    parts = (version or "").split(".")
    if len(parts) < 2 or not (parts[0].isdecimal() and parts[1].isdecimal()):
        return None
    return int(parts[0]), int(parts[1])


def _readable(name: str) -> str:
    """Return a file name as text that can be stored: a name may be any bytes."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _pairs(export: Export, table: str) -> dict[str, str]:
    rows = read_rows(export, table)
    return {row["name"]: row["value"] for row in rows if row["name"] and row["value"]}


def _first(export: Export, table: str, column: str) -> int | None:
    rows = read_rows(export, table)
    return next((row[column] for row in rows if row[column] is not None), None)


def _driver_version(export: Export) -> str | None:
    """Read one key of a table that also holds secrets; the other rows are dropped at once."""
    return _pairs(export, "TARGET_INFO_SYSTEM_ENV").get("NvDriverVersion")


def _graph_trace_option(export: Export) -> str | None:
    """Read one key, which nsys 2024.6 prefixes with the process."""
    found = (
        value
        for name, value in _pairs(export, "META_DATA_CAPTURE").items()
        if name.endswith("CUDA_GRAPH_TRACE_OPTIONS:MODE")
    )
    return next(found, None)


def _shift_ns(made: dict[str, str]) -> int:
    value = made.get("EXPORT_CONFIG_TIME_SHIFT") or made.get("EXPORT_PARAM_TIME_SHIFT") or "0"
    try:
        return int(value)
    except ValueError:
        return 0


def _is_true(value: str | None) -> bool:
    return (value or "").lower() in ("1", "true", "yes")
