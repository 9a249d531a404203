"""Tables of a few rows, as Python values."""

from typing import Any

from traceattr.ingest.export import Export
from traceattr.ingest.scan import scan_small_table
from traceattr.ingest.sources import SMALL_TABLES


def decode(value: bytes) -> str:
    """Return stored text; nsys promises no encoding, so bad bytes become U+FFFD."""
    return value.decode("utf-8", errors="replace")


def read_rows(export: Export, table: str) -> list[dict[str, Any]]:
    """Return the rows of one of `SMALL_TABLES` as dictionaries.

    A table or column that the export lacks gives no row or None: exports leave out what was not
    recorded.  Integers are int, text is str.
    """
    if table not in export.tables:
        return []
    rows: list[dict[str, Any]] = (
        scan_small_table(export, table, SMALL_TABLES[table]).batches.read_all().to_pylist()
    )
    return [
        {key: decode(value) if isinstance(value, bytes) else value for key, value in row.items()}
        for row in rows
    ]
