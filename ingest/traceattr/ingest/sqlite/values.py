"""Decoding the values of one column of many SQLite records at once, by their serial types.

Section numbers are those of https://www.sqlite.org/fileformat2.html.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from traceattr.ingest.arrow_arrays import binary_array, integer_array, replaced
from traceattr.ingest.selection import ColumnType
from traceattr.ingest.sqlite.btree import Bytes, Declined, Integers, Malformed, words
from traceattr.ingest.sqlite.rows import to_arrow

NULL = 0
# Section 2.1, serial types: NULL, integers of 1, 2, 3, 4, 6 and 8 bytes, REAL, the constants 0 and
# 1, two that never occur in a file, then blobs (even) and texts (odd).
_REAL, _ZERO, _ONE, _FIRST_BLOB = 7, 8, 9, 12
_TABLED_TYPES = 128
_WIDTH_BYTES = np.array(
    [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0] + [(kind - 12) // 2 for kind in range(12, 128)], np.uint8
)
# An integer of n bytes is read as the 8 bytes that start with it, then shifted down.
_SHIFT_BITS = np.array([63, 56, 48, 40, 32, 16, 0] + [63] * 9, np.int64)
_INT64_END, _UINT64_END = 2.0**63, 2.0**64

SerialTypes = NDArray[np.unsignedinteger] | Integers


@dataclass(frozen=True, slots=True)
class Values:
    """One column of some rows.

    Attributes:
        data: The bytes of the block that the rows lie in.
        at: Where each value starts.
        types: Serial type of each.
        low: The lowest of these.
        high: The highest.
        stop: Where the record of each value ends.
    """

    data: Bytes
    at: Integers
    types: SerialTypes
    low: int
    high: int
    stop: Integers

    def of(self, rows: NDArray[np.bool_]) -> "Values":
        """Those of some rows, at least one."""
        types = self.types[rows]
        low, high = int(types.min()), int(types.max())
        return Values(self.data, self.at[rows], types, low, high, self.stop[rows])

    def without(self, rows: NDArray[np.bool_]) -> "Values":
        """The same with those of some rows, at least one, NULL."""
        types = np.where(rows, NULL, self.types)
        return replace(self, types=types, low=NULL, high=int(types.max()))


def integers(values: Values, name: str) -> tuple[pa.Array, int]:
    """Read values as integers.

    Args:
        values: The values.
        name: The column, for messages.

    Returns:
        An array of them, and how many mean no integer and so became NULL.

    Raises:
        Declined: Only libsqlite3 knows what a value is.
    """
    types, low, high = values.types, values.low, values.high
    if high > _ONE or (low <= _REAL <= high and bool((types == _REAL).any())):
        return _odd_integers(values, name)
    if low == high and low in (NULL, _ZERO, _ONE):
        if low == NULL:
            return pa.nulls(len(types), pa.int64()), 0
        return integer_array(np.full(len(types), low - _ZERO, np.int64)), 0
    numbers = _words(values)
    numbers >>= _SHIFT_BITS[low] if low == high else _SHIFT_BITS[types]
    if low == NULL or high >= _ZERO:
        constant = (types == NULL) | (types >= _ZERO)
        np.copyto(numbers, types == _ONE, where=constant)
    return integer_array(numbers, types != NULL if low == NULL else None), 0


def texts(values: Values, name: str, *, is_real: bool) -> pa.Array:
    """Read values as texts: the bytes as stored, numbers as SQLite writes them.

    Args:
        values: The values.
        name: The column, for messages.
        is_real: Integers mean REALs.

    Raises:
        Declined: Only libsqlite3 knows what a value is.
        Malformed: A value goes on behind the end of its record.
    """
    types = values.types
    stored = types >= _FIRST_BLOB
    if not bool((stored | (types == NULL)).all()):
        return _odd_texts(values, name, is_real)
    lengths = np.where(stored, widths(types), 0).astype(np.int64)
    if bool((values.at + lengths > values.stop).any()):
        raise Malformed("malformed record")
    offsets = np.zeros(len(types) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    source = np.repeat(values.at - offsets[:-1], lengths)
    source += np.arange(len(source))
    # A block is a few MiB at most, so that its texts fit 32-bit offsets.
    return binary_array(offsets, values.data[source], stored)


def widths(types: SerialTypes) -> Integers | Bytes:
    """Bytes that values of these serial types take."""
    if types.dtype == np.uint8 or int(types.max()) < _TABLED_TYPES:
        return _WIDTH_BYTES[types]
    small = _WIDTH_BYTES[np.minimum(types, _FIRST_BLOB)]
    return np.where(types < _FIRST_BLOB, small, (types - _FIRST_BLOB) >> 1)


def _odd_integers(values: Values, name: str) -> tuple[pa.Array, int]:
    """Read integers among which are REALs, texts or blobs."""
    reals, stored = values.types == _REAL, values.types >= _FIRST_BLOB
    _decline_reserved(values.types, name)
    array, unreadable = integers(values.without(reals | stored), name)
    if bool(reals.any()):
        whole, lost = _whole_numbers(_reals(values.of(reals)))
        array, unreadable = replaced(array, np.flatnonzero(reals), whole), unreadable + lost
    if bool(stored.any()):
        digits = texts(values.of(stored), name, is_real=False).to_pylist()
        whole, lost = to_arrow(digits, ColumnType.INTEGER)
        array, unreadable = replaced(array, np.flatnonzero(stored), whole), unreadable + lost
    return array, unreadable


def _odd_texts(values: Values, name: str, is_real: bool) -> pa.Array:
    """Read texts among which are numbers."""
    _decline_reserved(values.types, name)
    found = (values.types != NULL) & (values.types < _FIRST_BLOB)
    array = texts(values.without(found), name, is_real=is_real)
    spelt = _spelt_numbers(values.of(found), name, is_real)
    return replaced(array, np.flatnonzero(found), to_arrow(spelt, ColumnType.TEXT)[0])


def _spelt_numbers(values: Values, name: str, is_real: bool) -> list[int | float | None]:
    """What libsqlite3 gives for numbers: it reads a REAL that is no number as NULL."""
    reals = values.types == _REAL
    whole, _ = integers(values.without(reals), name)
    numbers: list[int | float | None] = whole.to_pylist()
    if is_real:
        numbers = [None if number is None else float(number) for number in numbers]
    for at, real in zip(
        np.flatnonzero(reals).tolist(), _reals(values)[reals].tolist(), strict=True
    ):
        numbers[at] = None if math.isnan(real) else real
    return numbers


def _decline_reserved(types: SerialTypes, name: str) -> None:
    if bool(((types > _ONE) & (types < _FIRST_BLOB)).any()):
        raise Declined(f"values in column {name} of a type that SQLite reserves")


def _reals(values: Values) -> NDArray[np.float64]:
    return _words(values).view(np.float64)


def _whole_numbers(reals: NDArray[np.float64]) -> tuple[pa.Array, int]:
    """As `to_arrow` of each: 64 bits of those that are whole, unsigned ones wrapped.

    SQLite reads a REAL that is no number as NULL.
    """
    fits = (reals >= -_INT64_END) & (reals < _UINT64_END) & (np.floor(reals) == reals)
    numbers = np.where(fits, reals, 0)
    # What is subtracted, and the difference, are multiples of 2**11: nothing is rounded.
    numbers -= np.where(numbers >= _INT64_END, _UINT64_END, 0)
    unreadable = int(np.count_nonzero(~fits & ~np.isnan(reals)))
    return integer_array(numbers.astype(np.int64), fits), unreadable


def _words(values: Values) -> Integers:
    """The big-endian 8-byte word that starts where each value does."""
    return words(values.data)[values.at].byteswap(inplace=True)
