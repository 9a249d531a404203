"""Opening an nsys export: every unusable file is refused with one line, none is touched."""

import os
import shutil
import sqlite3
import stat
import tempfile
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import pyarrow as pa

from traceattr.errors import ExportError
from traceattr.ingest import export_format
from traceattr.ingest.foreign import refuse_foreign
from traceattr.ingest.remote.copy import RemoteCopy, open_copy
from traceattr.ingest.remote.name import RemoteFile, TracePath
from traceattr.ingest.remote.rows import fetch_schema, fetch_tops
from traceattr.ingest.remote.source import find_source
from traceattr.ingest.table_files import (
    STREAM_MAGIC,
    TableFile,
    tables_in_directory,
    tables_in_stream,
)

if TYPE_CHECKING:
    from traceattr.ingest.cache.kept import Kept

# https://www.sqlite.org/fileformat2.html section 1.3: offsets into the 100-byte header.
_HEADER_BYTES = 100
_WAL_FORMAT = 2
# Section 4.1: a write-ahead log of this size or less holds its own header and no page.
_WAL_HEADER_BYTES = 32
# How long a writer may hold the file before we say that it does.
_LOCK_WAIT_S = 1.0


@dataclass(frozen=True, slots=True)
class Export:
    """An nsys export that was found fit to read.

    Attributes:
        path: The file as the user named it; for messages.
        database: What is read: the file or directory itself without symbolic links, a private
            copy of it when a write-ahead log lies beside it, the export of a report in the cache,
            or the copy of a remote file, of which only parts may be there.
        tables: Name of each table, as spelt in the file, to its column names in file order.
        uri: How SQLite opens `database` without writing to it or beside it.
        stamp: Size in bytes and modification time in ns of `database` when it was opened.
        files: Where each table lies in an export that is not SQLite; empty when it is.
        copy: What fetches parts of a remote file; None when the file lies here.
        kept: Columns that were kept of it; None when they are not to be used.
    """

    path: TracePath
    database: Path
    tables: Mapping[str, tuple[str, ...]]
    uri: str
    stamp: tuple[int, int]
    files: Mapping[str, TableFile] = field(default_factory=dict)
    copy: RemoteCopy | None = None
    kept: "Kept | None" = None

    def connect(self) -> sqlite3.Connection:
        r"""Open a new read-only connection; all of a remote file is fetched before.

        Text that is not UTF-8 comes back with its odd bytes as `\xNN`. The connection may move
        between threads as long as one at a time uses it.
        """
        if self.copy is not None:
            self.copy.fetch_all()
        return _connect(self.uri)

    def connect_to_fetched(self) -> sqlite3.Connection:
        """Do the same, but read nothing of a remote file that was not fetched: it is zeros."""
        return _connect(self.uri)

    def fetch_soon(self, tables: Collection[str]) -> None:
        """Fetch at once where tables of a remote file begin; one by one each would be waited for.

        Raises:
            ExportError: They cannot be fetched.
        """
        if self.copy is None:
            return
        query = "SELECT name, rootpage FROM sqlite_master WHERE type = 'table'"
        with closing(self.connect_to_fetched()) as connection:
            roots = [root for name, root in connection.execute(query) if name in tables]
        fetch_tops(self.copy, roots)

    def table_name(self, name: str) -> str:
        """The name of a table as spelt in the file, whatever the case asked for.

        Raises:
            KeyError: The file has no such table.
        """
        return {spelt.lower(): spelt for spelt in self.tables}[name.lower()]

    def check_unchanged(self) -> None:
        """Make sure that what was read since `open_export` belongs together.

        Raises:
            ExportError: The file was written to since it was opened.
        """
        if self.copy is not None:
            return  # whatever was fetched was checked then
        if _stamp(self.database) != self.stamp:
            raise ExportError(
                f"{self.path}: changed while it was being read; "
                "wait for the nsys export that writes it to end, then run this again"
            )


LONGEST_REASON = 120
"""Characters of SQLite's own words in a message; its integrity check can fill pages."""


def sqlite_failure(path: TracePath, part: str, error: Exception) -> ExportError:
    """What to tell the user when SQLite could not read a part of the file, such as "table x"."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR):
        return ExportError(f"{path}: cannot be read ({error})")
    if code == sqlite3.SQLITE_BUSY:
        return ExportError(
            f"{path}: locked by another process; wait for the nsys export that writes it to end "
            "(on a file system without locks: copy the file to a local disk)"
        )
    reason = textwrap.shorten(str(error), LONGEST_REASON)
    return ExportError(f"{path}: {part} is damaged ({reason}); {export_format.export_again(path)}")


@contextmanager
def open_export(
    path: TracePath,
    *,
    progress: Callable[[str], None] = lambda _: None,
    kept: "Kept | None" = None,
) -> Iterator[Export]:
    """Check that something is an nsys export that can be read, and open it.

    SQLite files are read, directories of Parquet or Arrow tables, Arrow streams, and reports, which
    the local nsys exports into the user's cache directory.  Of a remote SQLite file, what is
    looked at is fetched.

    Nothing is ever written to the file or into its directory. A file with a live write-ahead log
    is copied, together with that log, into a private directory that is removed on exit.

    Args:
        path: The file or directory as the user named it, or the name of a remote file.
        progress: Told in a few words what is done next.
        kept: What was kept of it, opened before.

    Raises:
        ExportError: The file cannot be used; the message says why and what to do.
        NsysError: The local nsys cannot export the report.
    """
    with ExitStack() as cleanup:
        try:
            export = _opened(path, cleanup, progress)
        except pa.ArrowException as error:
            raise sqlite_failure(path, "a table", error) from error
        except OSError as error:
            raise ExportError(f"{path}: cannot be read ({error.strerror or error})") from error
        refuse_foreign(path, export.tables)
        # Tables that are no SQLite are columns already.
        yield export if export.files else replace(export, kept=kept)


def _opened(path: TracePath, cleanup: ExitStack, progress: Callable[[str], None]) -> Export:
    if isinstance(path, RemoteFile):
        return _of_remote(path, cleanup, progress)
    if path.is_dir():
        return _of_tables(path, tables_in_directory(path))
    head = _head(path)
    if head.startswith(STREAM_MAGIC):
        return _of_tables(path, tables_in_stream(path))
    if head.startswith(export_format.REPORT_MAGIC):
        from traceattr.ingest.cache.exports import cached_export

        progress("exporting with nsys")
        return _of_database(path, cached_export(path), cleanup)
    return _of_database(path, path, cleanup)


def _of_tables(path: Path, files: Mapping[str, TableFile]) -> Export:
    database = Path(os.path.realpath(path))
    tables = {name: file.columns for name, file in files.items()}
    return Export(path, database, MappingProxyType(tables), "", _stamp(database), files)


def _of_database(path: Path, file: Path, cleanup: ExitStack) -> Export:
    """Open an SQLite file; `path` is what messages call it."""
    database = Path(os.path.realpath(file))
    head = _head(database)
    if not head.startswith(export_format.SQLITE_MAGIC):
        raise ExportError(f"{path}: {export_format.wrong_format(path, head)}")
    header = head[:_HEADER_BYTES]
    _refuse_hot_journal(path, database)
    if _size(_sibling(database, "-wal")) > _WAL_HEADER_BYTES:
        private = tempfile.TemporaryDirectory(prefix="traceattr-")
        copy = Path(cleanup.enter_context(private)) / "export.sqlite"
        database = _copy_with_log(path, database, copy)
    else:
        _refuse_truncated(path, header, _size(database))
    uri = _uri(database, header)
    stamp = _stamp(database)
    return Export(path, database, _tables(path, uri), uri, stamp)


def _of_remote(path: RemoteFile, cleanup: ExitStack, progress: Callable[[str], None]) -> Export:
    """Open an SQLite file of which parts are fetched; whether a log lies beside it is unknown."""
    copy = cleanup.enter_context(open_copy(find_source(path), progress))
    head = copy.head(export_format.HEAD_BYTES)
    _refuse_empty(path, head)
    if not head.startswith(export_format.SQLITE_MAGIC):
        raise ExportError(f"{path}: {export_format.wrong_remote_format(path, head)}")
    _refuse_truncated(path, head[:_HEADER_BYTES], copy.size_bytes)
    fetch_schema(copy)
    uri = f"{copy.path.as_uri()}?mode=ro&immutable=1"
    return Export(path, copy.path, _tables(path, uri), uri, (copy.size_bytes, 0), copy=copy)


def _head(path: Path) -> bytes:
    """The first bytes of a file; what has none is refused."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ExportError(f"{path}: not a regular file (expected a .sqlite file)")
        with path.open("rb") as file:
            head = file.read(export_format.HEAD_BYTES)
    except (FileNotFoundError, NotADirectoryError) as error:
        is_export = path.suffix not in (".nsys-rep", ".qdrep", ".qdstrm")
        remedy = f"; to make one: {export_format.export_first(path)}" if is_export else ""
        raise ExportError(f"{path}: no such file{remedy}") from error
    except PermissionError as error:
        word = export_format.shell_word(path)
        raise ExportError(f"{path}: not readable by you; try: chmod u+r {word}") from error
    _refuse_empty(path, head)
    return head


def _refuse_empty(path: TracePath, head: bytes) -> None:
    if not head:
        is_recording = path.name.endswith((".nsys-rep", ".qdstrm"))
        remedy = "record again" if is_recording else export_format.export_again(path)
        raise ExportError(f"{path}: empty file (0 bytes); {remedy}")


def _refuse_truncated(path: TracePath, header: bytes, size_bytes: int) -> None:
    page_bytes = int.from_bytes(header[16:18], "big")
    page_bytes = 65536 if page_bytes == 1 else page_bytes
    # Section 1.3.7: the page count is valid when the change counters at 24 and 92 agree.
    counted = header[24:28] == header[92:96]
    pages = int.from_bytes(header[28:32], "big") if counted else 1
    if len(header) < _HEADER_BYTES or pages * page_bytes > size_bytes:
        raise ExportError(
            f"{path}: truncated ({size_bytes} bytes, expected {pages * page_bytes}): "
            "a copy still running or a full disk; copy it again, or "
            f"{export_format.export_again(path)}"
        )


def _refuse_hot_journal(path: Path, database: Path) -> None:
    """Refuse a database whose last transaction is half written.

    Only a rollback would repair it, and that changes the user's file. Section 3: a journal whose
    header is zeroed belongs to a transaction that is over.
    """
    journal = _sibling(database, "-journal")
    if not _size(journal):
        return
    with journal.open("rb") as file:
        hot = file.read(1) != b"\0"
    if hot:
        raise ExportError(
            f"{path}: half written ({journal.name} lies beside it): wait for the nsys export that "
            f"writes it to end; if none runs, {export_format.export_again(path)}"
        )


def _copy_with_log(path: Path, database: Path, copy: Path) -> Path:
    """Copy a database and its write-ahead log, and fold the log into the copy.

    Reading the log in place would create or change the `-shm` file beside the user's database.
    """
    log = _sibling(database, "-wal")
    before = _stamp(database), _stamp(log)
    try:
        shutil.copyfile(database, copy)
        shutil.copyfile(log, _sibling(copy, "-wal"))
    except OSError as error:
        raise ExportError(
            f"{path}: has a write-ahead log and could not be copied to {copy.parent} "
            f"({error.strerror}); make room there or set TMPDIR to another directory"
        ) from error
    if (_stamp(database), _stamp(log)) != before:
        raise ExportError(f"{path}: being written by another process; wait for it to end")
    try:
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE").fetchall()
    except sqlite3.Error as error:
        raise sqlite_failure(path, "the write-ahead log", error) from error
    return copy


def _tables(path: TracePath, uri: str) -> Mapping[str, tuple[str, ...]]:
    """Names of all tables that have rows of their own, with their columns."""
    try:
        with closing(_connect(uri)) as connection:
            rows = connection.execute(_TABLES_SQL).fetchall()
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        # SQLite's message quotes a malformed name, which need not be UTF-8 either.
        raise sqlite_failure(path, "the schema", error) from error
    tables: dict[str, tuple[str, ...]] = {}
    for table, column in rows:
        tables[table] = (*tables.get(table, ()), column)
    return MappingProxyType(tables)


# Virtual tables have no root page, and their module may be missing; hidden = 1 marks columns that
# only exist in those.
_TABLES_SQL = """
SELECT
    sqlite_master.name,
    columns.name
FROM sqlite_master
CROSS JOIN pragma_table_xinfo(sqlite_master.name) AS columns
WHERE sqlite_master.type = 'table'
    AND sqlite_master.rootpage > 0
    AND columns.hidden <> 1
ORDER BY
    sqlite_master.rowid,
    columns.cid
"""


def _uri(database: Path, header: bytes) -> str:
    """How SQLite opens the database without leaving anything beside it.

    In write-ahead mode even a read-only connection creates a `-shm` file; `immutable=1` does not,
    and is safe because there is no log with content. Otherwise the usual shared lock is better: it
    notices a writer.
    """
    log_mode = _WAL_FORMAT in header[18:20] or _sibling(database, "-wal").exists()
    return database.as_uri() + ("?mode=ro&immutable=1" if log_mode else "?mode=ro")


def _connect(uri: str) -> sqlite3.Connection:
    # Arrow and DuckDB pull rows from whichever thread is free, one at a time.
    connection = sqlite3.connect(
        uri, uri=True, timeout=_LOCK_WAIT_S, isolation_level=None, check_same_thread=False
    )
    connection.text_factory = _decode
    return connection


def _decode(text: bytes) -> str:
    return text.decode(errors="backslashreplace")


def _sibling(database: Path, suffix: str) -> Path:
    return database.with_name(database.name + suffix)


def _size(path: Path) -> int:
    """Size in bytes; 0 when there is no such file."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _stamp(path: Path) -> tuple[int, int]:
    files = list(path.iterdir()) if path.is_dir() else [path]
    status = [file.stat() for file in files]
    return sum(each.st_size for each in status), max(each.st_mtime_ns for each in status)
