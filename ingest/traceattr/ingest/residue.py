"""Whether any text of an export is left in the bytes of a copy, wherever in the file."""

import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt

from traceattr.ingest.export import Export, open_export, sqlite_failure
from traceattr.ingest.export_format import SQLITE_MAGIC
from traceattr.ingest.scrub import Hide
from traceattr.ingest.shareable_rows import kernel_names, public_rows, public_texts
from traceattr.ingest.small_tables import decode, read_rows
from traceattr.ingest.sources import SMALL_TABLES

SHORTEST_BYTES = 8
"""Shorter texts cannot be looked for: numbers look like them by chance."""

_SEPARATORS = re.compile(rb"[\x00-\x20=\"',;:(){}\[\]<>|&]+")
_SCHEMA = "SELECT sql FROM sqlite_master"
_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")


def all_texts(export: Export) -> set[bytes]:
    """Return every text and blob in the export, and the words that they consist of.

    Raises:
        ExportError: A table is damaged.
    """
    found: set[bytes] = set()
    with closing(export.connect()) as connection:
        connection.text_factory = bytes
        for table, columns in export.tables.items():
            try:
                for column in columns:
                    found.update(_texts(connection, table, column))
            except sqlite3.DatabaseError as error:
                raise sqlite_failure(export.path, f"table {table}", error) from error
    return {word for text in found for word in (text, *_SEPARATORS.split(text))}


def _texts(connection: sqlite3.Connection, table: str, column: str) -> Iterator[bytes]:
    table, column = ('"' + name.replace('"', '""') + '"' for name in (table, column))
    query = (
        f"SELECT DISTINCT {column} FROM {table}"  # noqa: S608 - names of the file, quoted
        f" WHERE typeof({column}) IN ('text', 'blob')"
    )
    for (value,) in connection.execute(query):
        yield value


def kept_texts(copy: Path, hide: Hide) -> frozenset[bytes]:
    """Return what a copy may hold: its schema, and the texts that `scrub` would copy again.

    Args:
        copy: The copy.
        hide: What hides kernel names; it hides none that it has hidden.
    """
    with open_export(copy) as export, closing(export.connect()) as connection:
        connection.text_factory = bytes
        found = {SQLITE_MAGIC, *(sql for (sql,) in connection.execute(_SCHEMA) if sql)}
        for query in public_texts(export):
            found.update(text for (text,) in connection.execute(query) if text)
        pairs = connection.execute(kernel_names(export)).fetchall()
        shown = hide(
            [(decode(full or short or b""), decode(short or b"")) for full, short in pairs]
        )
        for pair, hidden in zip(pairs, shown, strict=True):
            found.update(name for name in pair if name and hidden is None)
        for table in SMALL_TABLES:
            for row in read_rows(export, table):
                if [row] == list(public_rows(table, [row])):
                    found.update(value.encode() for value in row.values() if isinstance(value, str))
    return frozenset(found)


def free_pages(copy: Path) -> int:
    """Return the pages of a copy that hold nothing, or held something once."""
    with closing(sqlite3.connect(f"{copy.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        [(pages,)] = connection.execute("PRAGMA freelist_count")
    return int(pages)


def residue(data: bytes, texts: Iterable[bytes], kept: bytes) -> tuple[bytes, ...]:
    """Return the texts that occur in the data although they are not part of what it means to hold.

    Algorithm: texts are told apart by their first eight bytes; every eight bytes of the data, at
    whatever offset, are looked up among these, and hits compared in full.

    Args:
        data: The bytes of a file.
        texts: What to look for, in UTF-8; those shorter than `SHORTEST_BYTES` are passed over.
        kept: What the file means to hold, in UTF-8, one text after the other.
    """
    wanted = _by_first_bytes(text for text in texts if len(text) >= SHORTEST_BYTES)
    keys = np.array(sorted(wanted), np.uint64)
    found = {
        text
        for at, key in _places(np.frombuffer(data, np.uint8), keys)
        for form, text in wanted[key]
        if data.startswith(form, at)
    }
    return tuple(sorted(text for text in found if text not in kept))


def _by_first_bytes(texts: Iterable[bytes]) -> Mapping[int, list[tuple[bytes, bytes]]]:
    """Return each text in every encoding, with the text itself, by how it begins."""
    found: defaultdict[int, list[tuple[bytes, bytes]]] = defaultdict(list)
    for text in texts:
        decoded = text.decode("utf-8", "replace")
        forms = {text, *(decoded.encode(encoding, "replace") for encoding in _ENCODINGS)}
        for form in forms:
            if len(form) >= SHORTEST_BYTES:
                found[int.from_bytes(form[:8], "little")].append((form, text))
    return found


def _places(data: npt.NDArray[np.uint8], keys: npt.NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    """Yield each offset whose eight bytes are among the keys, and these bytes."""
    for offset in range(8):
        words = data[offset : offset + (len(data) - offset) // 8 * 8].view("<u8")
        for at in np.flatnonzero(np.isin(words, keys)).tolist():
            yield at * 8 + offset, int(words[at])
