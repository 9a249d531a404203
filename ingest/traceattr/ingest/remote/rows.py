"""Fetching what libsqlite3 will look at, before it does: in a hole it would find zeros.

Of a row that means its leaf page and the overflow pages in which it goes on; the interior pages
above it are there already, as nobody finds a leaf without them.  Section numbers are those of
https://www.sqlite.org/fileformat2.html.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from traceattr.ingest.remote.copy import Integers, RemoteCopy

_HEADER_BYTES = 100
_INTERIOR_TABLE, _LEAF_TABLE = 5, 13
# SQLite's own limit (BTCURSOR_MAX_DEPTH in btreeInt.h).
_MAX_DEPTH = 20


@dataclass(frozen=True, slots=True)
class _Page:
    """A page of a b-tree; `usable` are the bytes of it that are in use, `header` where it begins.

    Whatever is wrong with it is for SQLite to say: positions outside it read as nothing.
    """

    data: bytes
    usable: int
    header: int

    def children(self) -> Iterator[int]:
        """Return the pages below an interior page (section 1.6)."""
        if self._number(self.header, 1) == _INTERIOR_TABLE:
            yield from (self._number(cell, 4) for cell in self._cells(12))
            yield self._number(self.header + 8, 4)

    def chains(self) -> Iterator["_Chain"]:
        """Return where the records of a leaf page go on."""
        if self._number(self.header, 1) != _LEAF_TABLE:
            return
        for cell in self._cells(8):
            payload, at = self._varint(cell)
            if payload > self.usable - 35:
                _, at = self._varint(at)
                least = (self.usable - 12) * 32 // 255 - 23
                local = least + (payload - least) % (self.usable - 4)
                local = local if local <= self.usable - 35 else least
                pages = -(-(payload - local) // (self.usable - 4))
                yield _Chain(self._number(at + local, 4), pages)

    def _cells(self, header_bytes: int) -> Iterator[int]:
        count = self._number(self.header + 3, 2)
        first = self.header + header_bytes
        yield from (self._number(first + 2 * cell, 2) for cell in range(count))

    def _number(self, at: int, width: int) -> int:
        return int.from_bytes(self.data[at : at + width], "big")

    def _varint(self, at: int) -> tuple[int, int]:
        value = 0
        for byte in self.data[at : at + 8]:
            at += 1
            value = value << 7 | byte & 0x7F
            if byte < 0x80:
                return value, at
        return value << 8 | self._number(at, 1), at + 1


@dataclass(frozen=True, slots=True)
class _Chain:
    """Overflow pages, of which each begins with the number of the next (section 1.6)."""

    first: int
    pages: int


@dataclass(frozen=True, slots=True)
class _Pages:
    copy: RemoteCopy
    page_bytes: int
    usable_bytes: int

    def read(self, numbers: Iterable[int]) -> list[_Page]:
        """Fetch pages of a b-tree and all overflow pages of theirs."""
        found = [
            _Page(data, self.usable_bytes, _HEADER_BYTES if number == 1 else 0)
            for number, data in self._fetched(numbers)
        ]
        self._fetch_chains([chain for page in found for chain in page.chains()])
        return found

    def _fetch_chains(self, chains: list[_Chain]) -> None:
        # Nearly always the pages of a chain follow each other: fetch those at once, then look.
        self._fetched(chain.first + at for chain in chains for at in range(chain.pages))
        while chains:
            pages = dict(self._fetched(chain.first for chain in chains))
            chains = [
                _Chain(int.from_bytes(pages[chain.first][:4], "big"), chain.pages - 1)
                for chain in chains
                if chain.first in pages and chain.pages > 1
            ]

    def _fetched(self, numbers: Iterable[int]) -> list[tuple[int, bytes]]:
        """Return pages with their numbers; those outside the file are left out."""
        most = self.copy.size_bytes // self.page_bytes
        inside = [number for number in numbers if 1 <= number <= most]
        if not inside:
            return []
        self.copy.fetch_pages(np.array(inside, np.int64), self.page_bytes)
        with self.copy.path.open("rb") as file:
            found = []
            for number in inside:
                file.seek((number - 1) * self.page_bytes)
                found.append((number, file.read(self.page_bytes)))
        return found


def fetch_schema(copy: RemoteCopy) -> None:
    """Fetch the table of tables, whose root is page 1 (section 2.6).

    Raises:
        ExportError: It cannot be fetched.
    """
    _fetch_trees(copy, [1], _MAX_DEPTH)


def fetch_tops(copy: RemoteCopy, roots: Sequence[int]) -> None:
    """Fetch the upper two levels of b-trees, which is all of small ones.

    Raises:
        ExportError: They cannot be fetched.
    """
    _fetch_trees(copy, roots, 2)


def _fetch_trees(copy: RemoteCopy, roots: Sequence[int], depth: int) -> None:
    pages, level = _pages(copy), roots
    for _ in range(depth):
        level = [child for page in pages.read(level) for child in page.children()]


def fetch_rows(copy: RemoteCopy, leaves: Integers) -> None:
    """Fetch all that the rows in some leaf pages consist of.

    Raises:
        ExportError: It cannot be fetched.
    """
    _pages(copy).read(leaves.tolist())


def _pages(copy: RemoteCopy) -> _Pages:
    header = copy.head(_HEADER_BYTES)
    page_bytes = int.from_bytes(header[16:18], "big")
    page_bytes = 65536 if page_bytes == 1 else max(page_bytes, 512)
    return _Pages(copy, page_bytes, page_bytes - header[20])
