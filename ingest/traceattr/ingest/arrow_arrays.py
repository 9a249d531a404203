"""Arrow arrays from their buffers.

Not through `pa.array`: whatever it is given, it first looks whether that is something of pandas,
and so loads pandas where that is installed, which takes 0.4 s.
"""

import mmap
import sys
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if sys.platform != "win32" else {}


def integer_array(numbers: NDArray[np.integer], valid: NDArray[np.bool_] | None = None) -> pa.Array:
    """An array of integers of the same type, which shares their memory.

    Args:
        numbers: The values; those that are NULL may be anything.
        valid: Which are not NULL; None when all are.
    """
    kind = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(kind, len(numbers), [_bitmap(valid), _buffer(numbers)])


def optional_integers(numbers: Iterable[int | None]) -> pa.Int64Array:
    """An array of integers of which None are NULL."""
    values = list(numbers)
    valid = np.array([value is not None for value in values], np.bool_)
    return integer_array(np.array([value or 0 for value in values], np.int64), valid)


def mapped_array(
    numbers: NDArray[np.int64], validity: pa.Buffer | None, kind: pa.DataType
) -> pa.Array:
    """A copy of integers in pages of its own, which go back to the system when it is dropped.

    What the C library frees among other arrays often stays with the process.

    Args:
        numbers: The values, at least one; those that are NULL may be anything.
        validity: Arrow's bitmap of those that are not NULL; None when all are.
        kind: An integer type that all of them fit.
    """
    length = len(numbers) * kind.bit_width // 8
    # By default the pages would be shared with child processes, and cost more to make.
    pages = mmap.mmap(-1, length, **_PRIVATE)
    np.frombuffer(pages, kind.to_pandas_dtype())[:] = numbers
    return pa.Array.from_buffers(kind, len(numbers), [validity, pa.py_buffer(pages)])


def binary_array(
    offsets: NDArray[np.int64], data: NDArray[np.uint8] | bytes, valid: NDArray[np.bool_]
) -> pa.BinaryArray:
    """An array of byte strings.

    Args:
        offsets: Where each string starts in `data`, then where the last one ends.
        data: The strings, one behind the other.
        valid: Which are not NULL; the others have no bytes.

    Raises:
        OverflowError: There are more bytes than one such array can hold.
    """
    if offsets[-1] >= 2**31:
        raise OverflowError(f"{offsets[-1]} bytes in one array")
    content = pa.py_buffer(data) if isinstance(data, bytes) else _buffer(data)
    buffers = [_bitmap(valid), _buffer(offsets.astype(np.int32)), content]
    return pa.Array.from_buffers(pa.binary(), len(valid), buffers)


def text_array(texts: Iterable[str | None]) -> pa.StringArray:
    """An array of texts of which None are NULL.

    Raises:
        OverflowError: They are longer than one such array can hold.
    """
    return bytes_array(None if text is None else text.encode() for text in texts).view(pa.string())


def bytes_array(strings: Iterable[bytes | None]) -> pa.BinaryArray:
    """An array of byte strings of which None are NULL.

    Raises:
        OverflowError: They are longer than one such array can hold.
    """
    values = list(strings)
    offsets = np.cumsum([0, *(len(value or b"") for value in values)], dtype=np.int64)
    valid = np.array([value is not None for value in values], np.bool_)
    return binary_array(offsets, b"".join(value or b"" for value in values), valid)


def replaced(array: pa.Array, places: NDArray[np.int64], values: pa.Array) -> pa.Array:
    """The array with other values in some places: one for each, or one for all."""
    order = np.arange(len(array))
    order[places] = np.arange(len(array), len(array) + len(values))
    return pa.concat_arrays([array, values]).take(integer_array(order))


def _bitmap(valid: NDArray[np.bool_] | None) -> pa.Buffer | None:
    return None if valid is None else _buffer(np.packbits(valid, bitorder="little"))


def _buffer(array: NDArray[np.generic]) -> pa.Buffer:
    return pa.py_buffer(np.ascontiguousarray(array))
