"""Which file an export is and what it holds, as far as a look at a few pages can tell.

Reading all of a large export would take as long as the report.  The time of the last change, which
no program can set back, and the file's own change counter tell a rewritten file; the sampled pages
are for file systems that keep no such time.
"""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from traceattr.ingest.remote.name import RemoteFile, TracePath

_SAMPLES = 64
_SAMPLE_BYTES = 4096

_SOURCES = frozenset({".py", ".sql", ".toml", ".json"})


def fingerprint(path: TracePath) -> str | None:
    """Return what changes whenever the export does, None where that cannot be known.

    What is wrong with a file is for the reader to say.

    Raises:
        ExportError: A remote file cannot be asked for.
    """
    if isinstance(path, RemoteFile):
        from traceattr.ingest.remote.source import find_source

        return find_source(path).key()
    with suppress(OSError, ValueError):
        real = Path(os.path.realpath(path))
        if not stat.S_ISREG(real.stat().st_mode) or _exists(real, "-journal"):
            return None
        digest = hashlib.sha256()
        for part in _parts(real):
            digest.update(part)
        return digest.hexdigest()
    return None


def code_of(folders: Iterable[str]) -> str:
    """Return what changes whenever a file of a program does.

    The code decides, not only its version: whoever changes a line of it sees the effect.
    """
    digest = hashlib.sha256()
    for root in sorted({os.path.realpath(path) for path in folders}):
        for folder, inside, names in os.walk(root):
            inside[:] = sorted(name for name in inside if name != "__pycache__")
            for name in sorted(names):
                if Path(name).suffix in _SOURCES:
                    status = (Path(folder) / name).stat()
                    digest.update(f"{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _parts(path: Path) -> Iterator[bytes]:
    yield os.fsencode(path)
    if _exists(path, "-wal"):
        log = path.with_name(f"{path.name}-wal")
        yield repr(_identity(log.stat())).encode()
    with path.open("rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        yield repr(_identity(status)).encode()
        # The header of a database, with its change counter, lies in the first sample.
        last = max(0, status.st_size - _SAMPLE_BYTES)
        for offset in sorted({last * at // (_SAMPLES - 1) for at in range(_SAMPLES)}):
            file.seek(offset)
            yield file.read(_SAMPLE_BYTES)


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def _exists(path: Path, suffix: str) -> bool:
    return path.with_name(f"{path.name}{suffix}").exists()
