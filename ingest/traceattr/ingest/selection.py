"""Which columns of which table are wanted, in which Arrow types."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import pyarrow as pa

from traceattr.ingest.export import Export

_ROWID_NAMES = ("rowid", "_rowid_", "oid")


class ColumnType(StrEnum):
    """How a column is read, whatever type the table declares for it.

    `INTEGER` becomes `pa.int64()`; unsigned 64-bit values are wrapped, as nsys itself writes them.
    `TEXT` becomes `pa.binary()`: the bytes as stored, with no promise that they are UTF-8.
    """

    INTEGER = "INTEGER"
    TEXT = "TEXT"

    @property
    def arrow(self) -> pa.DataType:
        """The Arrow type of such a column; it is always nullable."""
        return pa.int64() if self is ColumnType.INTEGER else pa.binary()


@dataclass(frozen=True, slots=True)
class Selection:
    """Columns asked for from one table.

    Attributes:
        table: The table's name as spelt in the file.
        names: The columns in the order asked for; also the names they come back under.
        types: Their types.
        stored: Their names as spelt in the file; None for those the table lacks.
        rowid: A name of the row number that no column of the table hides; None when all are hidden.
    """

    table: str
    names: tuple[str, ...]
    types: tuple[ColumnType, ...]
    stored: tuple[str | None, ...]
    rowid: str | None

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of every batch."""
        return pa.schema(
            [(name, kind.arrow) for name, kind in zip(self.names, self.types, strict=True)]
        )

    def column(self, place: int) -> "Selection":
        """One column of these alone."""
        at = slice(place, place + 1)
        return replace(self, names=self.names[at], types=self.types[at], stored=self.stored[at])

    @property
    def sql(self) -> str:
        """The query for all rows, in the order in which the table's b-tree holds them.

        `NOT INDEXED` keeps SQLite from walking a covering index instead, which has another order.
        Names cannot be bound; they come from the file's own schema and are quoted.
        """
        columns = ", ".join("NULL" if name is None else _quoted(name) for name in self.stored)
        return f"SELECT {columns} FROM {_quoted(self.table)} NOT INDEXED"  # noqa: S608


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive rows of a table, and how reading them went.

    Attributes:
        rows: The rows.
        unreadable: Values that had no meaning in the type asked for and became NULL.
        declined: Why the fast reader left these rows to libsqlite3; None when it did not.
    """

    rows: pa.RecordBatch
    unreadable: int = 0
    declined: str | None = None


def select(export: Export, table: str, columns: Mapping[str, ColumnType]) -> Selection:
    """Find the columns asked for in the table; names compare case-insensitively.

    Raises:
        KeyError: The file has no such table.
    """
    spelt = export.table_name(table)
    present = {name.lower(): name for name in export.tables[spelt]}
    return Selection(
        table=spelt,
        names=tuple(columns),
        types=tuple(columns.values()),
        stored=tuple(present.get(name.lower()) for name in columns),
        rowid=next((name for name in _ROWID_NAMES if name not in present), None),
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
