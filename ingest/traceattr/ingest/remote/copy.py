"""A local copy of a remote file with holes, which are filled when somebody looks there.

Why a file and not blocks in memory: it is what SQLite's own library can open, what numpy reads at
any offset, and what the next command finds again.  A block is believed when its checksum is right,
so that nothing has to be flushed and a process may be killed at any instant.
"""

import os
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from traceattr.errors import ExportError
from traceattr.ingest.remote.source import Range, Source
from traceattr.ingest.remote.store import Place, kept_place, place_in

Integers = NDArray[np.int64]

BLOCK_BYTES = 16 * 1024
"""Four pages of the usual size: what else comes with a page that was asked for costs little."""

_REQUEST_BYTES = 4 * 2**20
_BATCH_BYTES = 64 * 2**20
"""What is in memory at a time."""

_LONG_BYTES = 2**20
"""What takes so long that the user is told."""

_HOLE, _CLAIMED, _HERE = range(3)
_MB = 10**6


class RemoteCopy:
    """A file with holes and what is known of its blocks.

    Attributes:
        path: The file; what was not fetched reads as zeros.
        size_bytes: Its size, which is that of the remote file.
    """

    def __init__(self, source: Source, place: Place, progress: Callable[[str], None]) -> None:
        """Open or begin a copy; `open_copy` does."""
        self._source = source
        self._place = place
        self._progress = progress
        self._lock = threading.Lock()
        self.path = place.data
        with _room_for(source, place):
            self._size(source.size_bytes or 0)

    def _size(self, size_bytes: int) -> None:
        """Make both files of the right size; blocks of files of another size are forgotten."""
        self.size_bytes = size_bytes
        count = -(-size_bytes // BLOCK_BYTES)
        self._place.data.touch(mode=0o600)
        if self._place.data.stat().st_size != size_bytes:
            os.truncate(self._place.data, size_bytes)
            self._place.checksums.write_bytes(b"")
        stored = np.frombuffer(self._place.checksums.read_bytes()[: count * 4], "<u4")
        self._checksums = np.zeros(count, "<u4")
        self._checksums[: len(stored)] = stored
        self._states = np.where(self._checksums != 0, _CLAIMED, _HOLE).astype(np.uint8)

    def head(self, count: int) -> bytes:
        """Return the first bytes."""
        count = min(count, self.size_bytes)
        if count:
            self._fetch(np.arange(-(-count // BLOCK_BYTES)))
        with self.path.open("rb") as file:
            return file.read(count)

    def fetch_pages(self, numbers: Integers, page_bytes: int) -> None:
        """Make sure that pages are there; they are counted from 1.

        Raises:
            ExportError: They cannot be fetched.
        """
        first = (numbers - 1) * page_bytes // BLOCK_BYTES
        spanned = np.arange(max(1, page_bytes // BLOCK_BYTES))
        self._fetch(np.unique(first[:, None] + spanned))

    def fetch_all(self) -> None:
        """Make sure that all of the file is there.

        Raises:
            ExportError: It cannot be fetched.
        """
        self._fetch(np.arange(len(self._states)))

    def download(self) -> None:
        """Take the file as a whole, as the server knows no parts of it."""
        if self.size_bytes and self._is_complete():
            return
        self._progress("fetching all of it, as its server does not send parts of files")
        with _room_for(self._source, self._place):
            os.truncate(self.path, 0)
            self._source.download(self.path)
            self._size(self.path.stat().st_size)
            with self.path.open("rb") as file:
                for block in range(len(self._states)):
                    self._note(block, file.read(BLOCK_BYTES))
            self._place.checksums.write_bytes(self._checksums.tobytes())

    def _is_complete(self) -> bool:
        self._check_claimed(np.arange(len(self._states)))
        return bool((self._states == _HERE).all())

    def _fetch(self, blocks: Integers) -> None:
        if bool((self._states[blocks] == _HERE).all()):
            return
        with self._lock, _room_for(self._source, self._place):
            self._check_claimed(blocks)
            holes = blocks[self._states[blocks] == _HOLE]
            self._fill(_requests(holes, self.size_bytes))

    def _check_claimed(self, blocks: Integers) -> None:
        """Look whether blocks that were fetched by another process are what they were then."""
        claimed = blocks[self._states[blocks] == _CLAIMED]
        with self.path.open("rb") as file:
            for block in claimed.tolist():
                file.seek(block * BLOCK_BYTES)
                is_right = _checksum(file.read(BLOCK_BYTES)) == self._checksums[block]
                self._states[block] = _HERE if is_right else _HOLE

    def _fill(self, requests: Sequence[Range]) -> None:
        total = sum(stop - start for start, stop in requests)
        done = 0
        for batch in _batches(requests):
            if total > _LONG_BYTES:
                self._progress(f"fetching {total / _MB:.0f} MB, {done / _MB:.0f} are here")
            parts = self._source.read(batch)
            with self.path.open("r+b") as file:
                for (start, _), part in zip(batch, parts, strict=True):
                    file.seek(start)
                    file.write(part)
            for (start, _), part in zip(batch, parts, strict=True):
                for at in range(0, len(part), BLOCK_BYTES):
                    self._note((start + at) // BLOCK_BYTES, part[at : at + BLOCK_BYTES])
            self._place.checksums.write_bytes(self._checksums.tobytes())
            done += sum(map(len, parts))

    def _note(self, block: int, data: bytes) -> None:
        self._checksums[block] = _checksum(data)
        self._states[block] = _HERE


@contextmanager
def open_copy(source: Source, progress: Callable[[str], None]) -> Iterator[RemoteCopy]:
    """Open the copy of a file: the one that is kept, or one that is removed at the end.

    Args:
        source: The file.
        progress: Told what is fetched.

    Raises:
        ExportError: It cannot be read, or there is no room for it.
    """
    key = source.key() if source.file.is_kept else None
    with ExitStack() as opened:
        place = None if key is None else opened.enter_context(kept_place(key))
        if place is None:
            private = tempfile.TemporaryDirectory(prefix="traceattr-")
            place = place_in(Path(opened.enter_context(private)), "copy")
            place.checksums.touch()
        copy = RemoteCopy(source, place, progress)
        if not source.has_parts:
            copy.download()
        yield copy


def _checksum(data: bytes) -> int:
    """Return a checksum that is not 0, which stands for a hole."""
    return zlib.crc32(data) or 1


def _requests(blocks: Integers, size_bytes: int) -> list[Range]:
    """Return what to ask for: neighbouring blocks together, but none too large."""
    if not len(blocks):
        return []
    runs = np.split(blocks, np.flatnonzero(np.diff(blocks) != 1) + 1)
    most = _REQUEST_BYTES // BLOCK_BYTES
    pieces = (run[at : at + most] for run in runs for at in range(0, len(run), most))
    return [
        (int(piece[0]) * BLOCK_BYTES, min((int(piece[-1]) + 1) * BLOCK_BYTES, size_bytes))
        for piece in pieces
    ]


def _batches(requests: Sequence[Range]) -> Iterator[list[Range]]:
    """Return requests in groups that fit into memory."""
    batch: list[Range] = []
    size_bytes = 0
    for start, stop in requests:
        if size_bytes + stop - start > _BATCH_BYTES:
            yield batch
            batch, size_bytes = [], 0
        batch.append((start, stop))
        size_bytes += stop - start
    if batch:
        yield batch


@contextmanager
def _room_for(source: Source, place: Place) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ExportError(
            f"{source.file}: cannot be kept in {place.data.parent} ({error.strerror}); make room"
            " there, or set TRACEATTR_CACHE_DIR and TMPDIR to other directories"
        ) from error
