"""Whether tables are those of an nsys export, or another program's."""

from collections.abc import Collection, Mapping

from traceattr.errors import ExportError
from traceattr.ingest.export_format import export_first
from traceattr.ingest.remote.name import TracePath

_ACTIVITY_TABLES = frozenset(
    {
        "cupti_activity_kind_kernel",
        "cupti_activity_kind_memcpy",
        "cupti_activity_kind_memset",
        "cupti_activity_kind_graph_trace",
        "cupti_activity_kind_runtime",
        "nvtx_events",
        "gpu_metrics",
        "meta_data_export",
        "export_meta_data",
    }
)


def refuse_foreign(path: TracePath, tables: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse tables that are not those of an nsys export.

    Raises:
        ExportError: They are another program's.
    """
    columns = {
        table.lower(): {column.lower() for column in names} for table, names in tables.items()
    }
    cupti = {table for table in columns if table.startswith("cupti_activity_kind_")}
    if any("_id_" in columns[table] for table in cupti) and not _has_nsys_columns(columns, cupti):
        raise ExportError(
            f"{path}: an nvprof database, which is not supported; record with nsys profile instead"
        )
    if not columns.keys() & _ACTIVITY_TABLES and not cupti:
        raise ExportError(f"{path}: {_foreign(path, tables)}")
    metadata = columns.keys() & {"stringids", "meta_data_export", "export_meta_data"}
    if not metadata and not _has_nsys_columns(columns, cupti):
        raise ExportError(f"{path}: {_foreign(path, tables)}")


def _has_nsys_columns(columns: Mapping[str, set[str]], tables: Collection[str]) -> bool:
    """Whether a CUPTI table has the process key that only nsys adds."""
    return any(columns[table] & {"globalpid", "globaltid"} for table in tables)


def _foreign(path: TracePath, tables: Collection[str]) -> str:
    some = ", ".join(sorted(tables)[:3]) or "none"
    return (
        f"tables, but not of an nsys export (no StringIds or CUPTI tables; it has: {some})"
        f"; to make one: {export_first(path)}"
    )
