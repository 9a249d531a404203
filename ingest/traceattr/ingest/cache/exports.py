"""Exports of reports that were given instead of them, in the user's cache directory."""

import hashlib
import json
import os
import re
import time
from contextlib import suppress
from pathlib import Path

from traceattr.errors import ExportError, NsysError
from traceattr.ingest.cache.folder import cache_folder
from traceattr.ingest.export_format import export_command
from traceattr.ingest.nsys import Nsys, find_nsys
from traceattr.ingest.nsys_export import export_report

_SAMPLE_BYTES = 2**20
"""Of the begin and of the end of a report that are looked at; its end holds ids of the run."""

KEPT_DAYS = 30
"""Days after which an export that nobody read is removed."""

_NAME = re.compile(r"[0-9a-f]{32}\.sqlite")


def cached_export(report: Path) -> Path:
    """Return the SQLite export of a report, which the local nsys makes the first time.

    It lies in the user's cache directory, which others cannot look into, and is made anew when
    the report changes. Exports that were not read for 30 days are removed.

    Raises:
        ExportError: There is no nsys.
        NsysError: nsys cannot export it, or the cache cannot be written.
    """
    folder = _folder()
    export = folder / f"{_key(report)}.sqlite"
    if not export.exists():
        nsys = _nsys_for(report)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise NsysError(
                f"{folder}: cannot be made ({error.strerror}); set TRACEATTR_CACHE_DIR to a"
                f" directory that can be written, or run: {export_command(report)}"
            ) from error
        export_report(nsys, report, export)
        _remove_unread()
    with suppress(OSError):
        # The time of change is left alone: readers take it for the sign of a writer.
        os.utime(export, ns=(time.time_ns(), export.stat().st_mtime_ns))
    return export


def kept_exports() -> list[Path]:
    """Return the exports that lie in the user's cache directory, and no other file there."""
    try:
        paths = sorted(_folder().iterdir())
    except OSError:
        return []
    return [path for path in paths if _NAME.fullmatch(path.name)]


def _folder() -> Path:
    return cache_folder() / "exports"


def _nsys_for(report: Path) -> Nsys:
    try:
        return find_nsys(None, os.environ)
    except NsysError as error:
        raise ExportError(
            f"{report}: an nsys report, and no nsys to export it ({error}); where there is one,"
            f" run: {export_command(report)}"
        ) from error


def _key(report: Path) -> str:
    """Return a name that differs when the report does, by all that can be known without nsys."""
    status = report.stat()
    identity = [os.path.realpath(report), status.st_size, status.st_mtime_ns, _fingerprint(report)]
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:32]


def _fingerprint(report: Path) -> str:
    with report.open("rb") as file:
        first = file.read(_SAMPLE_BYTES)
        file.seek(-min(_SAMPLE_BYTES, report.stat().st_size), os.SEEK_END)
        return hashlib.sha256(first + file.read()).hexdigest()


def _remove_unread() -> None:
    oldest_s = time.time() - KEPT_DAYS * 86400
    for export in kept_exports():
        with suppress(OSError):
            if export.stat().st_atime < oldest_s:
                export.unlink()
