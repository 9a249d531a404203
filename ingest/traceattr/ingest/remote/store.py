"""Where fetched parts of remote files are kept, and for how long: in the user's cache directory.

A copy is two files: the data, which has holes where nothing was fetched, and a checksum of each
block.  Whoever uses one holds a lock on the checksums; others then do without.
"""

import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from traceattr.ingest.cache.folder import cache_folder, cache_limit_bytes

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # Windows
    flock = None  # type: ignore[assignment]

LIMIT_BYTES = 4 * 2**30
"""What all copies may take together, holes left out."""

_NAME = re.compile(r"[0-9a-f]{64}\.checksums")
_BLOCK_BYTES = 512
"""What `st_blocks` counts in (POSIX leaves it open; Linux and macOS have this)."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a copy lies.

    Attributes:
        data: The file with holes.
        checksums: That with one checksum for each block.
    """

    data: Path
    checksums: Path

    @property
    def bytes(self) -> int:
        """What it takes on the disk."""
        return sum(_bytes_on_disk(path) for path in (self.data, self.checksums))


def place_in(folder: Path, name: str) -> Place:
    """Return where a copy lies in a folder."""
    return Place(folder / f"{name}.data", folder / f"{name}.checksums")


@contextmanager
def kept_place(key: str) -> Iterator[Place | None]:
    """Lend the place of one file to this process alone; afterwards make room for the next.

    None where another process has it, or nothing can be written.
    """
    folder = _folder()
    place = place_in(folder, key)
    with suppress(OSError):
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    try:
        with _locked(place, os.O_CREAT) as is_ours:
            yield place if is_ours else None
            if is_ours:
                with suppress(OSError):
                    os.utime(place.checksums)
    finally:
        _evict()


def kept_copies() -> list[Place]:
    """Return the copies that are kept, that which was not used for longest first."""
    found = []
    with suppress(OSError):
        for path in _folder().iterdir():
            if _NAME.fullmatch(path.name):
                with suppress(OSError):
                    found.append((path.stat().st_mtime_ns, place_in(path.parent, path.stem)))
    return [place for _, place in sorted(found, key=lambda each: (each[0], each[1].data))]


def remove_copy(place: Place) -> bool:
    """Remove a copy unless it is in use, and say whether it was.

    Raises:
        OSError: It cannot be removed.
    """
    with _locked(place, 0) as is_ours:
        if is_ours:
            place.data.unlink(missing_ok=True)
            place.checksums.unlink(missing_ok=True)
        return is_ours


def _folder() -> Path:
    return cache_folder() / "remote"


def _evict() -> None:
    """Remove what was not used for longest until the rest is within the limit."""
    copies = kept_copies()
    excess = sum(place.bytes for place in copies) - cache_limit_bytes(LIMIT_BYTES)
    for place in copies:
        if excess <= 0:
            return
        with suppress(OSError):
            size = place.bytes
            if remove_copy(place):
                excess -= size


@contextmanager
def _locked(place: Place, flags: int) -> Iterator[bool]:
    """Hold the lock of a copy, if nobody else does."""
    try:
        handle = os.open(place.checksums, os.O_RDWR | flags, 0o600)
    except OSError:
        yield False
        return
    with closing(os.fdopen(handle, "rb")) as file:
        yield _lock(file.fileno()) and _is_still(file.fileno(), place.checksums)


def _lock(handle: int) -> bool:
    if flock is None:
        return False
    try:
        flock(handle, LOCK_EX | LOCK_NB)
    except OSError:
        return False
    return True


def _is_still(handle: int, path: Path) -> bool:
    """Return whether nobody removed the file between its opening and its locking."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except OSError:
        return False


def _bytes_on_disk(path: Path) -> int:
    try:
        status = path.stat()
    except OSError:
        return 0
    return getattr(status, "st_blocks", 0) * _BLOCK_BYTES or status.st_size
