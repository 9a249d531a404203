"""Text for the ids that rows carry; no other string of the export is copied."""

from collections.abc import Iterable, Sequence

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from traceattr.ingest.arrow_arrays import optional_integers, text_array
from traceattr.ingest.export import Export
from traceattr.ingest.gpu_work.columns import Integers
from traceattr.ingest.gpu_work.lookup import Lookup
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
    connection.register("_needed", pa.table({"id": optional_integers(needed)}))
    stage(connection, export, STRINGS)
    rows = connection.execute("SELECT id, value FROM _string WHERE value IS NOT NULL").fetchall()
    connection.execute("DROP TABLE _string")
    connection.unregister("_needed")
    return {key: decode(value) for key, value in rows}


class NameKeys:
    """From the ids that a kernel's demangled and short name have in the export to its number."""

    def __init__(self, rows: Sequence[tuple[int | None, int | None, int]]) -> None:
        """Take in ids, each of which may be missing, and the number of the name they make."""
        self._demangled = Lookup(_distinct(demangled for demangled, _, _ in rows))
        self._short = Lookup(_distinct(short for _, short, _ in rows))
        self._name_id = np.array([name_id for *_, name_id in rows], np.int32)
        pairs = [[-1 if key is None else key for key in row[:2]] for row in rows]
        demangled, short = np.array(pairs, np.int64).reshape(-1, 2).T
        self._pairs = Lookup(self._pair(demangled, short))

    def of(self, demangled: Integers, short: Integers) -> npt.NDArray[np.int32]:
        """Return the numbers of kernels' names, those of the rows given at first."""
        return self._name_id[self._pairs.of(self._pair(demangled, short))]

    def _pair(self, demangled: Integers, short: Integers) -> npt.NDArray[np.int64]:
        """Return one number for both; ids that are missing are not among the known ones."""
        place = self._demangled.of(demangled).astype(np.int64)
        return (place + 1) * (len(self._short) + 1) + self._short.of(short) + 1


def _distinct(ids: Iterable[int | None]) -> npt.NDArray[np.int64]:
    return np.array(sorted({key for key in ids if key is not None}), np.int64)


def name_kernels(connection: duckdb.DuckDBPyConnection, export: Export) -> NameKeys:
    """Fill ``kernel_name`` and the internal key from string ids to it, which is returned too."""
    pairs = connection.execute(
        "SELECT DISTINCT demangled_id, short_id FROM _op WHERE kind = 'kernel'"
    ).fetchall()
    text = referenced_strings(connection, export, (key for pair in pairs for key in pair))
    named = [(_kernel_text(pair, text), text.get(pair[1]) or None, pair) for pair in pairs]
    numbers = {key: at for at, key in enumerate(sorted({(n, s or "") for n, s, _ in named}))}
    name_ids = [numbers[n, s or ""] for n, s, _ in named]
    run_over(
        connection,
        "_name_key",
        pa.table(
            {
                "name_id": optional_integers(name_ids),
                "name": text_array([n for n, _, _ in named]),
                "short_name": text_array([s for _, s, _ in named]),
                "demangled_id": optional_integers([pair[0] for *_, pair in named]),
                "short_id": optional_integers([pair[1] for *_, pair in named]),
            }
        ),
    )
    return NameKeys([(*pair, name_id) for pair, name_id in zip(pairs, name_ids, strict=True)])


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
                "id": optional_integers(text.keys()),
                "name": text_array(text.values()),
            }
        ),
    )


def _kernel_text(pair: tuple[int | None, int | None], text: dict[int, str]) -> str:
    """Return the longest name there is; partial exports have ids without strings."""
    for key in pair:
        if key is not None and text.get(key):
            return text[key]
    return f"kernel#{next((key for key in pair if key is not None), 'unnamed')}"
