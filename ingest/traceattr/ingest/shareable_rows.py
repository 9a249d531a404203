"""What a copy to be shared may hold: rows of small tables, names and ranges."""

from collections.abc import Iterable, Iterator
from typing import Any

from traceattr.ingest.export import Export
from traceattr.ingest.scrub_text import (
    REMOVED,
    public_message,
    public_time,
    public_title,
    public_uuid,
    public_value,
)
from traceattr.ingest.sources import API, GPU_WORK, NVTX, OS, STRINGS

KERNEL = GPU_WORK[0]

REFERENCES = (
    (STRINGS.table, "id"),
    (KERNEL.table, "demangledName"),
    (KERNEL.table, "shortName"),
    (API.table, "nameId"),
    (OS.table, "nameId"),
    (NVTX.table, "textId"),
)
"""Where ids of strings stand, the strings themselves first."""

# Ranges of SGLang's scheduler are named after its functions; other texts may say anything.
KNOWN_RANGE = (
    "{text} GLOB 'scheduler.[a-z]*' AND {text} NOT GLOB '*[^a-z_.]*' AND length({text}) <= 60"
)


def public_rows(table: str, rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield rows without what may name people, machines or files."""
    for row in rows:
        match table:
            case "PROCESSES":
                yield {**row, "name": public_title(row["name"] or "")}
            case "DIAGNOSTIC_EVENT":
                text = public_message(row["text"] or "")
                if text != REMOVED or row["severity"] in (2, 3):
                    yield {**row, "text": text}
            case "TARGET_INFO_SESSION_START_TIME":
                times = {name: public_time(row[name]) for name in ("utcTime", "localTime")}
                yield row | times
            case _ if "value" in row:
                known = public_value(row["name"] or "", row["value"] or "")
                if known:
                    yield {"name": known[0], "value": known[1]}
            case _ if "uuid" in row:
                yield {**row, "uuid": public_uuid(row["uuid"]), "busLocation": None}
            case _:
                yield row


def public_texts(copy: Export) -> Iterator[str]:
    """Yield queries for the texts that a copy may hold, those of kernels and small tables aside."""
    for table, column in ((API.table, "nameId"), (OS.table, "nameId"), (NVTX.table, "textId")):
        if offers(copy, table, (column,)) and offers(copy, STRINGS.table, ("id", "value")):
            known = KNOWN_RANGE.format(text="value") if table == NVTX.table else "TRUE"
            yield (
                f"SELECT value FROM StringIds WHERE {known}"
                f" AND id IN (SELECT {column} FROM {quoted(table)})"
            )
    if offers(copy, NVTX.table, ("text",)):
        known = KNOWN_RANGE.format(text="text")
        yield f"SELECT DISTINCT text FROM {quoted(NVTX.table)} WHERE {known}"


def kernel_names(export: Export) -> str:
    """Return a query for the full and short names of kernels."""
    table = quoted(KERNEL.table)
    if not offers(export, KERNEL.table, ("demangledName", "shortName")) or not offers(
        export, STRINGS.table, ("id", "value")
    ):
        return "SELECT NULL, NULL WHERE FALSE"
    return (
        "SELECT long.value, short.value FROM"
        f" (SELECT DISTINCT demangledName, shortName FROM {table}) AS named"
        " LEFT JOIN StringIds AS long ON long.id = demangledName"
        " LEFT JOIN StringIds AS short ON short.id = shortName"
    )


def offers(export: Export, table: str, columns: Iterable[str]) -> bool:
    """Return whether an export has a table with these columns."""
    present = {name.lower() for name in export.tables.get(table, ())}
    return all(name.lower() in present for name in columns)


def quoted(name: str) -> str:
    """Return a name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'
