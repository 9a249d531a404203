"""Text for the ids that rows carry; no other string of the export is copied."""

from collections.abc import Iterable

import duckdb
import pyarrow as pa

from traceattr.ingest.export import Export
from traceattr.ingest.small_tables import decode
from traceattr.ingest.sources import STRINGS
from traceattr.ingest.stage import run_over, stage


def referenced_strings(
    connection: duckdb.DuckDBPyConnection, export: Export, ids: Iterable[int | None]
) -> dict[int, str]:
    """Return the text of each of `ids` that the export has.

    Raises:
        ExportError: The table of strings is damaged.
    """
    needed = sorted({key for key in ids if key is not None})
    connection.register("_needed", pa.table({"id": pa.array(needed, pa.int64())}))
    stage(connection, export, STRINGS)
    rows = connection.execute("SELECT id, value FROM _string WHERE value IS NOT NULL").fetchall()
    connection.execute("DROP TABLE _string")
    connection.unregister("_needed")
    return {key: decode(value) for key, value in rows}


def name_kernels(connection: duckdb.DuckDBPyConnection, export: Export) -> None:
    """Fill ``kernel_name`` and the internal key from string ids to it."""
    pairs = connection.execute(
        "SELECT DISTINCT demangled_id, short_id FROM _op WHERE kind = 'kernel'"
    ).fetchall()
    text = referenced_strings(connection, export, (key for pair in pairs for key in pair))
    named = [(_kernel_text(pair, text), text.get(pair[1]) or None, pair) for pair in pairs]
    numbers = {key: at for at, key in enumerate(sorted({(n, s or "") for n, s, _ in named}))}
    run_over(
        connection,
        "_name_key",
        pa.table(
            {
                "name_id": pa.array([numbers[n, s or ""] for n, s, _ in named], pa.int32()),
                "name": pa.array([n for n, _, _ in named], pa.string()),
                "short_name": pa.array([s for _, s, _ in named], pa.string()),
                "demangled_id": pa.array([pair[0] for *_, pair in named], pa.int64()),
                "short_id": pa.array([pair[1] for *_, pair in named], pa.int64()),
            }
        ),
    )


def name_by_id(
    connection: duckdb.DuckDBPyConnection, export: Export, *, used_in: str, statement: str
) -> None:
    """Run `statement` over (id, name) of the strings that column ``name_id`` of a table names."""
    ids = connection.table(used_in).project("name_id").distinct().fetchall()
    text = referenced_strings(connection, export, (key for (key,) in ids))
    run_over(
        connection,
        statement,
        pa.table(
            {
                "id": pa.array(text.keys(), pa.int64()),
                "name": pa.array(text.values(), pa.string()),
            }
        ),
    )


def _kernel_text(pair: tuple[int | None, int | None], text: dict[int, str]) -> str:
    """Return the longest name there is; partial exports have ids without strings."""
    for key in pair:
        if key is not None and text.get(key):
            return text[key]
    return f"kernel#{next((key for key in pair if key is not None), 'unnamed')}"
