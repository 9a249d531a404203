"""Pages and table b-trees of an SQLite database file, as numpy arrays.

Section numbers are those of https://www.sqlite.org/fileformat2.html.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from traceattr.ingest.remote.copy import RemoteCopy

Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]

# Zeroes behind the last page of a block: wider than any fixed-width read that starts in a page
# (two varints of 9 bytes, then a record header of up to 127).
PADDING_BYTES = 256
_HEADER_BYTES = 100
# Section 1.3.4.
_LEAST_USABLE_BYTES = 480
_INTERIOR_TABLE, _LEAF_TABLE = 5, 13
_INDEX_PAGES = (2, 10)
# SQLite's own limit (BTCURSOR_MAX_DEPTH in btreeInt.h).
_MAX_DEPTH = 20
_WALK_PAGES = 512
_INT64_MAX = 2**63 - 1


class Declined(Exception):  # noqa: N818 (it is an answer, not a mistake)
    """The file holds something that only libsqlite3 reads right; the text says what."""


class Malformed(Declined):
    """A page or record breaks a rule of the file format; the file is probably damaged."""


class Damaged(Exception):  # noqa: N818 (named after the state of the file)
    """The file contradicts itself in a way that libsqlite3 does not notice."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some pages of one table, one after the other.

    Attributes:
        data: The pages, then at least `PADDING_BYTES` that belong to none.
        pages: How many pages.
        page_bytes: The size of each.
        usable_bytes: How much of each holds cells; what encrypts or checks pages reserves the rest.
    """

    data: Bytes
    pages: int
    page_bytes: int
    usable_bytes: int

    @property
    def headers(self) -> Bytes:
        """The pages as rows of a matrix."""
        return self.data[: self.pages * self.page_bytes].reshape(self.pages, self.page_bytes)

    @property
    def cell_counts(self) -> Integers:
        """Cells in each page (section 1.6, offset 3 of the page header)."""
        return big_endian(self.headers[:, 3:5])


@dataclass(frozen=True, slots=True)
class PageFile:
    """An open database file.

    Attributes:
        descriptor: Of the file, open for reading.
        page_bytes: Size of a page, 512 to 65536.
        usable_bytes: How much of it holds data.
        pages: Pages in the file.
        copy: What fetches pages that are not there yet; None when all are.
    """

    descriptor: int
    page_bytes: int
    usable_bytes: int
    pages: int
    copy: RemoteCopy | None = None

    def fetch(self, numbers: Integers) -> None:
        """Fetch pages that are read soon, all at once; of a malformed b-tree some are nowhere."""
        if self.copy is not None:
            there = numbers[(numbers >= 1) & (numbers <= self.pages)]
            self.copy.fetch_pages(there, self.page_bytes)

    def read(self, numbers: Integers) -> Block:
        """Read pages by number, counted from 1, in the order given.

        Raises:
            Declined: A number is outside the file, or the file got shorter.
        """
        low, high = int(numbers.min()), int(numbers.max())
        if low < 1 or high > self.pages:
            raise Malformed("page number outside the file")
        self.fetch(numbers)
        span = high - low + 1
        if span == len(numbers) and bool((np.diff(numbers) == 1).all()):
            data = self._read_at(low, span)
        elif span <= 4 * len(numbers):
            # Tables that grew together alternate: one long read beats many short ones.
            rows = self._read_at(low, span)[: span * self.page_bytes].reshape(span, -1)
            data = _padded(rows[numbers - low].reshape(-1))
        else:
            data = _padded(self._read_runs(numbers))
        return Block(data, len(numbers), self.page_bytes, self.usable_bytes)

    def _read_runs(self, numbers: Integers) -> Bytes:
        runs = np.split(numbers, np.flatnonzero(np.diff(numbers) != 1) + 1)
        parts = [self._read_at(int(run[0]), len(run)) for run in runs]
        sizes = [len(run) * self.page_bytes for run in runs]
        return np.concatenate([part[:size] for part, size in zip(parts, sizes, strict=True)])

    def _read_at(self, number: int, count: int) -> Bytes:
        wanted_bytes = count * self.page_bytes
        offset = (number - 1) * self.page_bytes
        data = os.pread(self.descriptor, wanted_bytes + PADDING_BYTES, offset)
        if len(data) < wanted_bytes:
            raise Declined("the file got shorter while it was read")
        array = np.frombuffer(data, np.uint8)
        return array if len(data) == wanted_bytes + PADDING_BYTES else _padded(array)


@dataclass(frozen=True, slots=True)
class Leaves:
    """The leaf pages of a table, in row order.

    Attributes:
        numbers: Page numbers, counted from 1.
        highest: For each, the highest row number that may be in it; ascending. The last is the
            highest there is.
    """

    numbers: Integers
    highest: Integers

    def rowid_span(self, first: int, stop: int) -> tuple[int, int]:
        """Lowest and highest row number that leaves `first` to `stop - 1` may hold."""
        low = int(self.highest[first - 1]) + 1 if first else -_INT64_MAX - 1
        return low, int(self.highest[stop - 1])


@contextmanager
def open_pages(path: Path, copy: RemoteCopy | None = None) -> Iterator[PageFile]:
    """Open a database file for reading pages.

    Args:
        path: The file.
        copy: What fetches its pages when it is the copy of a remote file.

    Raises:
        Declined: The file, or the platform, is not the plain case.
    """
    if not hasattr(os, "pread"):
        raise Declined("this platform cannot read at an offset")
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield _page_file(descriptor, copy)
    finally:
        os.close(descriptor)


def _page_file(descriptor: int, copy: RemoteCopy | None) -> PageFile:
    header = os.pread(descriptor, _HEADER_BYTES, 0)
    if len(header) < _HEADER_BYTES:
        raise Declined("no complete header")
    page_bytes = int.from_bytes(header[16:18], "big")
    page_bytes = 65536 if page_bytes == 1 else page_bytes
    if page_bytes < 512 or page_bytes & (page_bytes - 1):
        raise Declined(f"pages of {page_bytes} bytes")
    usable_bytes = page_bytes - header[20]
    if usable_bytes < _LEAST_USABLE_BYTES:
        raise Malformed(f"{header[20]} reserved bytes in pages of {page_bytes}")
    if int.from_bytes(header[56:60], "big") > 1:
        raise Declined("text in UTF-16")
    pages = os.fstat(descriptor).st_size // page_bytes
    return PageFile(descriptor, page_bytes, usable_bytes, pages, copy)


def leaves_of(file: PageFile, root: int) -> Leaves:
    """Walk the interior pages of a table b-tree (section 1.6).

    Args:
        file: The open database.
        root: Page number of the table's root.

    Raises:
        Declined: It is no table b-tree, or a malformed one.
    """
    numbers = np.array([root], np.int64)
    highest = np.array([_INT64_MAX], np.int64)
    for _ in range(_MAX_DEPTH):
        kind = int(file.read(numbers[:1]).data[0])
        if kind == _LEAF_TABLE:
            if len(np.unique(numbers)) < len(numbers):
                raise Malformed("a page that occurs twice in a b-tree")
            return Leaves(numbers, highest)
        if kind in _INDEX_PAGES:
            raise Declined("a table WITHOUT ROWID")
        numbers, highest = _children(file, numbers, highest)
        if len(numbers) > file.pages or bool((highest[1:] <= highest[:-1]).any()):
            raise Malformed("malformed b-tree")
    raise Malformed("b-tree deeper than SQLite allows")


def _children(file: PageFile, numbers: Integers, highest: Integers) -> tuple[Integers, Integers]:
    """The next level of a b-tree: page numbers, and the highest row number under each."""
    parts = [
        _children_of_block(
            file.read(numbers[at : at + _WALK_PAGES]), highest[at : at + _WALK_PAGES]
        )
        for at in range(0, len(numbers), _WALK_PAGES)
    ]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _children_of_block(block: Block, highest: Integers) -> tuple[Integers, Integers]:
    if not bool((block.headers[:, 0] == _INTERIOR_TABLE).all()):
        raise Malformed("malformed b-tree")
    cells = cell_offsets(block, header_bytes=12, cell_bytes=5)
    ends = np.cumsum(block.cell_counts + 1) - 1
    inner = np.ones(len(cells) + block.pages, bool)
    inner[ends] = False
    numbers = np.empty(len(inner), np.int64)
    keys = np.empty(len(inner), np.int64)
    numbers[inner] = big_endian(block.data[cells[:, None] + np.arange(4)])
    keys[inner], _ = varint(block.data, cells + 4)
    # The right-most child stands in the page header and has no key of its own.
    numbers[ends] = big_endian(block.headers[:, 8:12])
    keys[ends] = highest
    return numbers, keys


def cell_offsets(block: Block, header_bytes: int, cell_bytes: int) -> Integers:
    """Where each cell starts in `block.data`, page by page in key order.

    Args:
        block: Pages of one type.
        header_bytes: Size of their page header: 8 in leaves, 12 in interior pages.
        cell_bytes: The least a cell can take.

    Raises:
        Declined: A cell pointer lies outside the cell area of its page.
    """
    counts = block.cell_counts
    most = int(counts.max())
    floor = header_bytes + 2 * counts
    if int(floor.max()) > block.usable_bytes:
        raise Malformed("malformed page")
    area = block.headers[:, header_bytes : header_bytes + 2 * most]
    pointers = big_endian(area.reshape(block.pages, most, 2))
    used = np.arange(most) < counts[:, None]
    wrong = (pointers < floor[:, None]) | (pointers > block.usable_bytes - cell_bytes)
    if bool((wrong & used).any()):
        raise Malformed("malformed page")
    pointers += (np.arange(block.pages, dtype=np.int64) * block.page_bytes)[:, None]
    return pointers[used]


def big_endian(data: Bytes) -> Integers:
    """Unsigned big-endian integers whose bytes lie along the last axis (at most 7)."""
    value = data[..., 0].astype(np.int64)
    for at in range(1, data.shape[-1]):
        value = (value << 8) | data[..., at]
    return value


def varint(data: Bytes, at: Integers) -> tuple[Integers, Integers]:
    """Variable-length integers (section 1.6): 7 bits a byte, the ninth byte has 8.

    Args:
        data: Bytes; no position may be within 9 of their end.
        at: Where each integer starts.

    Returns:
        The values, and where each integer ends.
    """
    byte = data[at]
    more = byte > 0x7F
    value = (byte & 0x7F).astype(np.int64)
    end = at + 1
    for length in range(2, 10):
        if not more.any():
            break
        byte = data[end]
        longer = (value << 8) | byte if length == 9 else (value << 7) | (byte & 0x7F)
        value = np.where(more, longer, value)
        end += more
        more &= byte > 0x7F
    return value, end


def words(data: Bytes) -> Integers:
    """The little-endian 8-byte words that start at each byte."""
    return as_strided(data[:8].view("<i8"), (len(data) - 7,), (1,), writeable=False)


def _padded(data: Bytes) -> Bytes:
    return np.concatenate([data, np.zeros(PADDING_BYTES, np.uint8)])
