"""Write rows into the tables of an era, as nsys lays a file out.

UTF-8, pages of 4096 bytes, no indexes, and no table that stays empty.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlite_utils import Database

from traces.eras import Row, TableShape, Value, columns_of_any_era, tables_of

FLUSH_ROWS = 20_000


class TableWriter:
    """Rows on their way into the tables of one era."""

    def __init__(self, path: Path, era: str = "3.25", *, lazy: bool = True) -> None:
        """Start an export of `era`; `lazy` leaves out the tables that stay empty, as nsys does."""
        if path.exists():
            raise FileExistsError(f"{path}: exists (an export is written to a new file)")
        self.era = era
        self._shapes = tables_of(era)
        self._lazy = lazy
        self._db = Database(path)
        self._db.conn.isolation_level = None
        for pragma in ("encoding = 'UTF-8'", "page_size = 4096", "synchronous = OFF"):
            self._db.conn.execute(f"PRAGMA {pragma}")
        self._db.conn.execute("BEGIN")
        self._created: set[str] = set()
        self._pending: dict[str, list[Row]] = {}
        self._strings: dict[str | bytes, int] = {}
        self._metadata: dict[str, str] = {}
        self._write_fixed_rows()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._db.close()

    def close(self) -> None:
        """Write what is pending and finish the file."""
        table = self._metadata_table()
        self._pending[table] = [*self._metadata.items(), *self._pending.get(table, [])]
        for name in list(self._pending):
            self._flush(name)
        if not self._lazy:
            for name in self._shapes:
                self._create(name)
        self._db.conn.execute("COMMIT")
        self._db.close()

    def has(self, table: str) -> bool:
        """Say whether this era knows `table`."""
        return table in self._shapes

    def row(self, table: str, **values: Value) -> None:
        """Add one row; columns that only other eras have are left out."""
        shape = self._shape(table, values)
        given = zip(shape.columns, shape.defaults, strict=True)
        self._append(table, tuple(values.get(column, default) for column, default in given))

    def rows(
        self,
        table: str,
        columns: Sequence[str],
        rows: Iterable[Row],
        same: Mapping[str, Value] | None = None,
    ) -> None:
        """Add many rows that fill `columns`; `same` holds values which all of them share."""
        shape = self._shape(table, (*columns, *(same or ())))
        fixed = dict(zip(shape.columns, shape.defaults, strict=True)) | dict(same or {})
        place = {column: columns.index(column) for column in shape.columns if column in columns}
        tail = tuple(fixed[column] for column in shape.columns)
        index = [place.get(column, len(columns) + at) for at, column in enumerate(shape.columns)]
        pick = itemgetter(*index)  # a tuple: no table has only one column
        for row in rows:
            self._append(table, pick((*row, *tail)))

    def string(self, text: str | bytes) -> int:
        """Return the `StringIds` id of `text`; bytes are stored as text without a check."""
        known = self._strings.get(text)
        if known is None:
            known = self._strings[text] = len(self._strings) + 1
            self._append("StringIds", (known, text))
        return known

    def metadata(self, name: str, value: str) -> None:
        """Set a row of the export metadata."""
        self._metadata[name] = value

    def _shape(self, table: str, columns: Iterable[str]) -> TableShape:
        unknown = set(columns) - columns_of_any_era(table)
        if unknown:
            raise KeyError(f"{table} has no column {', '.join(sorted(unknown))} in any era")
        return self._shapes[table]

    def _write_fixed_rows(self) -> None:
        metadata = self._metadata_table()
        for name, shape in self._shapes.items():
            if name == metadata:
                self._metadata = {str(key): str(value) for key, value in shape.rows}
            elif shape.rows:
                self._pending[name] = list(shape.rows)

    def _metadata_table(self) -> str:
        return "META_DATA_EXPORT" if self.has("META_DATA_EXPORT") else "EXPORT_META_DATA"

    def _append(self, table: str, row: Row) -> None:
        pending = self._pending.setdefault(table, [])
        pending.append(row)
        if len(pending) >= FLUSH_ROWS:
            self._flush(table)

    def _create(self, table: str) -> None:
        if table not in self._created:
            self._db.conn.execute(self._shapes[table].create_sql)
            self._created.add(table)

    def _flush(self, table: str) -> None:
        rows, self._pending[table] = self._pending.get(table, []), []
        if not rows:
            return
        self._create(table)
        # StringIds.value is TEXT whatever bytes it holds: nsys does not check them either.
        marks = ["CAST(? AS TEXT)" if table == "StringIds" else "?"] * len(rows[0])
        # Names of tables cannot be bound; this one is a key of the era's own schema.
        statement = f'INSERT INTO "{table}" VALUES ({", ".join(marks)})'  # noqa: S608
        self._db.conn.executemany(statement, rows)
