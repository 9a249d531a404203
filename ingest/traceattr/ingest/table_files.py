"""Exports of one Parquet or Arrow file per table, and of all tables in one Arrow file."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO

import pyarrow as pa

from traceattr.errors import ExportError
from traceattr.ingest.export_format import export_again

_SUFFIXES = (".parquet", ".arrow")
"""Of the files in directories that ``nsys export --type parquetdir`` and ``arrowdir`` make."""

STREAM_MAGIC = b"\xff\xff\xff\xff"
"""How an Arrow stream begins, and so what ``nsys export --type arrow`` makes."""

_FILE_MAGIC = b"ARROW1"
_BATCH_ROWS = 65536
_TABLE_NAME = b"table_name"


@dataclass(frozen=True, slots=True)
class TableFile:
    """Where one table lies.

    Attributes:
        path: The file.
        offset: Where in it the table begins.
        columns: Its columns in order.
    """

    path: Path
    offset: int
    columns: tuple[str, ...]


def tables_in_directory(path: Path) -> Mapping[str, TableFile]:
    """Return the tables in a directory of files that are named after them.

    Raises:
        ExportError: There are none, or what an interrupted export leaves.
        pa.ArrowException: A file is damaged.
        OSError: A file cannot be read.
    """
    entries = sorted(path.iterdir())
    for suffix in _SUFFIXES:
        found = [entry for entry in entries if entry.suffix == suffix]
        if found:
            _refuse_incomplete(path, {entry.stem for entry in found}, suffix)
            return MappingProxyType(
                {entry.stem: TableFile(entry, 0, _columns(entry)) for entry in found}
            )
    traces = [entry.name for entry in entries if entry.suffix == ".sqlite"]
    if traces:
        raise ExportError(
            f"{path}: a directory with traces; name one of them, such as {path / traces[0]}"
            " (traceattr report takes them all)"
        )
    raise ExportError(
        f"{path}: a directory, but not an export (expected the .sqlite, or the directory of"
        " .parquet or .arrow files, that nsys export makes)"
    )


def _refuse_incomplete(path: Path, tables: Collection[str], suffix: str) -> None:
    """Refuse what an interrupted export leaves; it looks like an export of less."""
    needed = "StringIds", "META_DATA_EXPORT"
    missing = [f"{name}{suffix}" for name in needed if name not in tables]
    if missing:
        raise ExportError(
            f"{path}: incomplete: it has no {' and no '.join(missing)}; {export_again(path)}"
        )


def tables_in_stream(path: Path) -> Mapping[str, TableFile]:
    """Return the tables in a file of Arrow streams, one behind the other.

    Raises:
        pa.ArrowException: The file is damaged.
        OSError: The file cannot be read.
    """
    tables: dict[str, TableFile] = {}
    size_bytes = path.stat().st_size
    with path.open("rb") as file:
        while (offset := file.tell()) < size_bytes:
            reader = pa.ipc.open_stream(file)
            name = (reader.schema.metadata or {}).get(_TABLE_NAME, b"").decode()
            tables[name] = TableFile(path, offset, tuple(reader.schema.names))
            for _ in reader:
                pass
    return MappingProxyType(tables)


def read_batches(table: TableFile, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Yield columns of a table, in the types that the file gives them.

    Raises:
        pa.ArrowException: The file is damaged.
        OSError: The file cannot be read.
    """
    if table.path.suffix == ".parquet":
        from pyarrow.parquet import ParquetFile

        with ParquetFile(table.path) as file:
            yield from file.iter_batches(_BATCH_ROWS, columns=columns)
        return
    with _arrow(table) as batches:
        for batch in batches:
            yield batch.select(columns)


def _columns(path: Path) -> tuple[str, ...]:
    if path.suffix == ".parquet":
        from pyarrow.parquet import read_schema

        return tuple(read_schema(path).names)
    with path.open("rb") as file:
        return tuple(_reader(file).schema.names)


@contextmanager
def _arrow(table: TableFile) -> Iterator[Iterator[pa.RecordBatch]]:
    # Read and not mapped: a file that shrinks under a mapping ends the program.
    with table.path.open("rb") as file:
        file.seek(table.offset)
        reader = _reader(file)
        if isinstance(reader, pa.RecordBatchFileReader):
            yield (reader.get_batch(at) for at in range(reader.num_record_batches))
        else:
            yield iter(reader)


def _reader(file: IO[bytes]) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    """Return what reads the file: nsys writes streams, other tools the format with a footer."""
    begin = file.tell()
    is_file = file.read(len(_FILE_MAGIC)) == _FILE_MAGIC
    file.seek(begin)
    return pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)
