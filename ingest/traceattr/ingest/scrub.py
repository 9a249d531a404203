"""A copy of an export with only what is read of it, written new, to be shared.

What is copied follows from `traceattr.ingest.sources`: the tables and columns that are read.  Texts
are copied only where they are known (`traceattr.ingest.scrub_text`) or are names of kernels and
calls; everything else of the file stays behind, its free pages too.
"""

import errno
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traceattr.errors import ExportError
from traceattr.ingest.export import Export, sqlite_failure
from traceattr.ingest.export_format import shell_word
from traceattr.ingest.identity import pid_of
from traceattr.ingest.remote.name import name_here
from traceattr.ingest.scrub_text import is_rank
from traceattr.ingest.shareable_rows import (
    KERNEL,
    KNOWN_RANGE,
    REFERENCES,
    offers,
    public_rows,
    quoted,
)
from traceattr.ingest.small_tables import decode, read_rows
from traceattr.ingest.sources import (
    API,
    CONTEXTS,
    GPU_WORK,
    LARGE_TABLES,
    NVTX,
    OS,
    SMALL_TABLES,
    STRINGS,
    Source,
)

Hide = Callable[[Sequence[tuple[str, str]]], Sequence[str | None]]
"""From kernel names, full and short, to what stands in their place; None keeps a name."""

_NOT_WRITTEN = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
)


@dataclass(frozen=True, slots=True)
class TableCopy:
    """What became of one table of the export.

    Attributes:
        name: Its name.
        rows: Rows in the export.
        kept_rows: Rows in the copy, 0 where it lacks the table.
        columns: Columns in the export.
        kept_columns: Columns in the copy.
    """

    name: str
    rows: int
    kept_rows: int
    columns: int
    kept_columns: int


@dataclass(frozen=True, slots=True)
class Window:
    """The time to copy, in ns on the clock of the export; work that touches it is kept whole."""

    start_ns: int
    end_ns: int


def scrub(export: Export, target: Path, window: Window | None, hide: Hide) -> tuple[TableCopy, ...]:
    """Write a copy of an export that can be shared.

    Args:
        export: The export; it is only read.
        target: The file to write, which does not exist.
        window: What to copy, None for all of it.
        hide: What stands in place of kernel names.

    Raises:
        ExportError: The export is damaged, or is no SQLite file.
        OSError: The copy cannot be written.
    """
    if export.files:
        report = shell_word(name_here(export.path).with_suffix(".nsys-rep"))
        raise ExportError(
            f"{export.path}: no SQLite export, of which alone copies are made; to make one:"
            f" nsys export --type sqlite {report}"
        )
    try:
        with closing(_open(export, target)) as connection:
            copier = _Copier(connection, export, window)
            copier.copy(hide)
            connection.execute("DETACH source")
            connection.execute("VACUUM")
            return copier.tables()
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in _NOT_WRITTEN:
            raise OSError(errno.EIO, str(error)) from error
        raise sqlite_failure(export.path, "a table", error) from error


def _open(export: Export, target: Path) -> sqlite3.Connection:
    """Open the empty copy with the export beside it, in the encoding of the export.

    SQLite attaches no database of another encoding.  Nothing is journalled: the copy is new.
    """
    with closing(export.connect()) as source:
        [(encoding,)] = source.execute("PRAGMA encoding").fetchall()
    connection = sqlite3.connect(target.absolute().as_uri(), uri=True, isolation_level=None)
    connection.execute(f"PRAGMA encoding = '{encoding}'")
    for setting in ("journal_mode = OFF", "synchronous = OFF", "temp_store = MEMORY"):
        connection.execute(f"PRAGMA {setting}")
    connection.execute("ATTACH ? AS source", [export.uri])
    connection.text_factory = bytes
    return connection


@dataclass(frozen=True, slots=True)
class _Copier:
    connection: sqlite3.Connection
    export: Export
    window: Window | None

    def copy(self, hide: Hide) -> None:
        """Copy every table that is read."""
        self.connection.execute("BEGIN")
        for source in GPU_WORK:
            self._copy(source, self._touches_window())
        self._remember_launches()
        self._copy(API, self._is_launch_or(self._touches_window()))
        self._copy_ranges()
        self._copy(OS, f"({self._touches_window()}) AND {self._is_of_launching_thread()}")
        self._hide_kernels(hide)
        self._copy_strings()
        for table in SMALL_TABLES:
            self._copy_small(table)
        self.connection.execute("COMMIT")

    @property
    def has_strings(self) -> bool:
        """Return whether the export says what ids of strings mean."""
        return offers(self.export, STRINGS.table, ("id", "value"))

    def tables(self) -> tuple[TableCopy, ...]:
        """Return what became of each table."""
        with closing(self.export.connect()) as source:
            return tuple(
                TableCopy(
                    name,
                    rows=_count(source, name),
                    kept_rows=_count(self.connection, name) if self._has(name) else 0,
                    columns=len(columns),
                    kept_columns=len(self._columns(name)) if self._has(name) else 0,
                )
                for name, columns in self.export.tables.items()
            )

    def _has(self, table: str) -> bool:
        query = "SELECT 1 FROM sqlite_master WHERE name = ?"
        return bool(self.connection.execute(query, [table]).fetchall())

    def _columns(self, table: str) -> list[Any]:
        return self.connection.execute(f"PRAGMA table_info({quoted(table)})").fetchall()

    def _copy(self, source: Source, condition: str, **instead: str) -> None:
        """Copy the rows of a large table that meet a condition.

        Args:
            source: The table.
            condition: In SQL.
            instead: Expressions in SQL that stand in place of columns.
        """
        columns = self._create(source.table, LARGE_TABLES[source.table])
        if not columns:
            return
        values = ", ".join(instead.get(c, _integer(c)) for c in columns)
        names = ", ".join(map(quoted, columns))
        table = quoted(source.table)
        self.connection.execute(
            f"INSERT INTO main.{table} ({names}) SELECT {values}"
            f" FROM source.{table} NOT INDEXED WHERE {condition}"
        )

    def _create(self, table: str, wanted: Iterable[str]) -> list[str]:
        """Make a table with those of the wanted columns that the export has; return them."""
        present = {name.lower() for name in self.export.tables.get(table, ())}
        columns = [name for name in wanted if name.lower() in present]
        if columns:
            types = SMALL_TABLES.get(table) or LARGE_TABLES[table]
            fields = ", ".join(f"{quoted(name)} {types[name].value}" for name in columns)
            self.connection.execute(f"CREATE TABLE main.{quoted(table)} ({fields})")
        return columns

    def _touches_window(self) -> str:
        if self.window is None:
            return "TRUE"
        return f'"start" <= {self.window.end_ns:d} AND "end" >= {self.window.start_ns:d}'

    def _remember_launches(self) -> None:
        """Note the correlations of the work that was copied."""
        self.connection.execute(
            "CREATE TEMP TABLE kept_work (correlation, process, PRIMARY KEY (correlation, process))"
            " WITHOUT ROWID"
        )
        for source in GPU_WORK:
            if offers(self.export, source.table, ("correlationId", "globalPid")):
                self.connection.execute(
                    f"INSERT OR IGNORE INTO kept_work SELECT correlationId, globalPid"
                    f" FROM main.{quoted(source.table)}"
                    " WHERE correlationId IS NOT NULL AND globalPid IS NOT NULL"
                )

    def _is_launch_or(self, condition: str) -> str:
        if self.window is None:
            return condition
        return (
            f"({condition}) OR EXISTS (SELECT 1 FROM kept_work WHERE correlation = correlationId"
            " AND process = globalTid & ~16777215)"
        )

    def _is_of_launching_thread(self) -> str:
        """Gaps are told by the threads that launch; what others do is not looked at."""
        if not offers(self.export, API.table, ("globalTid",)):
            return "FALSE"
        return f"globalTid IN (SELECT globalTid FROM main.{quoted(API.table)})"

    def _copy_ranges(self) -> None:
        """Copy the NVTX ranges of SGLang's scheduler; one left open ends with the recording."""
        if not offers(self.export, NVTX.table, ("start", "end", "eventType")):
            return
        own, no_own, registered = "FALSE", "TRUE", "FALSE"
        if offers(self.export, NVTX.table, ("text",)):
            own, no_own = KNOWN_RANGE.format(text="text"), "text IS NULL"
        if offers(self.export, NVTX.table, ("textId",)) and self.has_strings:
            known = KNOWN_RANGE.format(text="value")
            registered = f"textId IN (SELECT id FROM source.StringIds WHERE {known})"
        latest = 'SELECT max(max("start", coalesce("end", "start"))) FROM source.NVTX_EVENTS'
        self._copy(
            NVTX,
            f"eventType IN (34, 59, 60, 70, 71) AND ({own} OR ({no_own} AND {registered}))"
            f" AND ({self._touches_window()})",
            text="text",
            textId=f"CASE WHEN {no_own} THEN textId END",
            end=f'CASE eventType WHEN 34 THEN "end" ELSE coalesce("end", ({latest})) END',
        )

    def _hide_kernels(self, hide: Hide) -> None:
        """Give kernels whose names are private the id of what stands in their place."""
        self.connection.execute("CREATE TEMP TABLE hidden (full, short, id, name)")
        has_names = offers(self.export, KERNEL.table, ("demangledName", "shortName"))
        if not has_names or not self.has_strings:
            return
        table = quoted(KERNEL.table)
        pairs = self.connection.execute(
            f"SELECT DISTINCT demangledName, shortName FROM main.{table}"
        ).fetchall()
        text = self._strings({key for pair in pairs for key in pair if isinstance(key, int)})
        shown = hide([(text.get(full) or text.get(s, ""), text.get(s, "")) for full, s in pairs])
        numbers = self._new_strings({name for name in shown if name is not None})
        self.connection.executemany(
            "INSERT INTO hidden VALUES (?, ?, ?, ?)",
            [
                (*pair, numbers[name], name)
                for pair, name in zip(pairs, shown, strict=True)
                if name is not None
            ],
        )
        chosen = "FROM hidden WHERE full IS demangledName AND short IS shortName"
        self.connection.execute(
            f"UPDATE main.{table} SET (demangledName, shortName) = (SELECT id, id {chosen})"
            f" WHERE EXISTS (SELECT 1 {chosen})"
        )

    def _new_strings(self, names: set[str]) -> dict[str, int]:
        """Return ids for new strings, beyond all that rows name, also those without a string."""
        last = 0
        for table, column in REFERENCES:
            if offers(self.export, table, (column,)):
                [(largest,)] = self.connection.execute(
                    f"SELECT max({column}) FROM source.{quoted(table)}"
                    f" WHERE typeof({column}) = 'integer'"
                )
                last = max(last, largest or 0)
        return {name: last + at for at, name in enumerate(sorted(names), 1)}

    def _strings(self, ids: set[int]) -> dict[int, str]:
        self.connection.execute("CREATE TEMP TABLE asked (id INTEGER PRIMARY KEY)")
        self.connection.executemany("INSERT INTO asked VALUES (?)", [(key,) for key in ids])
        rows = self.connection.execute(
            "SELECT id, value FROM source.StringIds WHERE id IN (SELECT id FROM asked)"
        ).fetchall()
        self.connection.execute("DROP TABLE asked")
        return {key: decode(value) for key, value in rows if isinstance(value, bytes)}

    def _copy_strings(self) -> None:
        """Copy the strings that rows of the copy name."""
        self.connection.execute("CREATE TEMP TABLE needed (id INTEGER PRIMARY KEY)")
        for table, column in REFERENCES[1:]:
            if self._has(table) and offers(self.export, table, (column,)):
                self.connection.execute(
                    f"INSERT OR IGNORE INTO needed SELECT DISTINCT {column} FROM"
                    f" main.{quoted(table)} WHERE typeof({column}) = 'integer'"
                )
        self._copy(STRINGS, "id IN (SELECT id FROM needed)", value="CAST(value AS TEXT)")
        if self.has_strings:
            self.connection.execute(
                "INSERT INTO main.StringIds SELECT DISTINCT id, CAST(name AS TEXT) FROM hidden"
            )

    def _copy_small(self, table: str) -> None:
        """Copy a table of a few rows, its texts as far as they are known."""
        columns = self._create(table, SMALL_TABLES[table])
        rows = list(public_rows(table, read_rows(self.export, table)))
        if table == "PROCESSES":
            rows = self._of_interest(rows)
        if rows:
            places = ", ".join("?" * len(columns))
            self.connection.executemany(
                f"INSERT INTO main.{quoted(table)} VALUES ({places})",
                [tuple(row[name] for name in columns) for row in rows],
            )

    def _of_interest(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the processes that did CUDA work or may be ranks; strangers stay behind."""
        known: set[int] = set()
        for source in (*GPU_WORK, API):
            column = "globalPid" if "globalPid" in source.columns else "globalTid"
            if offers(self.export, source.table, (column,)):
                table = quoted(source.table)
                query = f"SELECT DISTINCT {column} & ~16777215 FROM main.{table}"
                known |= {key for (key,) in self.connection.execute(query)}
        pids = {row["processId"] for table in CONTEXTS for row in read_rows(self.export, table)}
        return [
            row
            for row in rows
            if row["globalPid"] in known
            or is_rank(row["name"])
            or (row["globalPid"] and pid_of(row["globalPid"]) in pids)
        ]


def _count(connection: sqlite3.Connection, table: str) -> int:
    [(count,)] = connection.execute(f"SELECT count(*) FROM {quoted(table)}")
    return int(count)


def _integer(column: str) -> str:
    """Return an expression for a column of numbers, in which a text stays a text that says nothing.

    It counts as unreadable in the copy as it does in the export.
    """
    name = quoted(column)
    return (
        f"CASE WHEN typeof({name}) = 'blob' OR"
        f" (typeof({name}) = 'text' AND ltrim({name}, '-') GLOB '*[^0-9]*')"
        f" THEN 'x' ELSE {name} END"
    )
