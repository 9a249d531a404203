"""Finding the positions of many integers among known ones."""

import numpy as np
import numpy.typing as npt

from traceattr.ingest.gpu_work.columns import Integers

Positions = npt.NDArray[np.int32]

MISSING = -1

_SPARSE = 8
"""A table may have this many places for each key ..."""

_SMALL = 2**20
"""... and this many however few keys there are."""


class Lookup:
    """From integers to their positions among distinct keys.

    Ids of an export are dense, so that a table answers at once; where they are not, bisection does.
    """

    def __init__(self, keys: Integers) -> None:
        """Take in distinct keys, shape (keys,)."""
        self._order = np.argsort(keys).astype(np.int32)
        self._keys = keys[self._order].astype(np.int64)
        self._first = int(self._keys[0]) if len(keys) else 0
        span = int(self._keys[-1]) - self._first + 1 if len(keys) else 0
        self._table: Positions | None = None
        if span <= max(_SMALL, _SPARSE * len(keys)):
            self._table = np.full(span + 1, MISSING, np.int32)  # the last place is for all others
            self._table[self._keys - self._first] = self._order

    def __len__(self) -> int:
        """Return how many keys there are."""
        return len(self._keys)

    def of(self, numbers: Integers) -> Positions:
        """Return the position of each number in the keys as given, `MISSING` for other numbers."""
        if self._table is None:
            at = np.minimum(np.searchsorted(self._keys, numbers), len(self._keys) - 1)
            return np.where(self._keys[at] == numbers, self._order[at], np.int32(MISSING))
        place = numbers.astype(np.int64)
        # Differences that overflow are far outside too.
        place -= self._first
        place[(place < 0) | (place >= len(self._table))] = len(self._table) - 1
        return self._table[place]
