"""What an nsys export of each era can hold: its tables, their columns and their fixed rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

from sqlite_utils import Database
from sqlite_utils.db import Column

ERAS: tuple[str, ...] = ("2.7", "3.0", "3.16", "3.25", "3.28")
SCHEMA_DIR = Path(__file__).parent / "schema"

Value: TypeAlias = int | float | str | bytes | None
Row: TypeAlias = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class TableShape:
    """One table: how it is created, its columns, and what a column holds when nobody says."""

    create_sql: str
    columns: tuple[str, ...]
    defaults: Row
    rows: tuple[Row, ...]


@cache
def tables_of(era: str) -> Mapping[str, TableShape]:
    """Return the tables of `era`; rows are the enum labels and the version metadata."""
    if era not in ERAS:
        raise ValueError(f"{era}: no such schema era (expected one of {', '.join(ERAS)})")
    scratch = Database(memory=True)
    scratch.executescript((SCHEMA_DIR / f"{era}.sql").read_text(encoding="utf-8"))
    shapes = {
        table.name: TableShape(
            create_sql=table.schema,
            columns=tuple(column.name for column in table.columns),
            defaults=tuple(_default(column, table.pks) for column in table.columns),
            rows=tuple(tuple(row.values()) for row in table.rows),
        )
        for table in scratch.tables
    }
    scratch.close()
    return shapes


@cache
def columns_of_any_era(table: str) -> frozenset[str]:
    """Return every column that `table` has in some era."""
    return frozenset(
        column
        for era in ERAS
        if table in tables_of(era)
        for column in tables_of(era)[table].columns
    )


def _default(column: Column, primary_keys: list[str]) -> Value:
    """Return what nsys would write: NULL where it may, else nothing of the right type."""
    if not column.notnull or primary_keys == [column.name]:  # SQLite numbers a lone key itself
        return None
    if column.name == "tensorSizeMinusOneElements":
        return "[]"
    return "" if column.type == "TEXT" else 0
