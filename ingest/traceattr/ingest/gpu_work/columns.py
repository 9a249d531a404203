"""Integer columns of Arrow batches as numpy arrays, the lowest number of their type being NULL."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Integers = npt.NDArray[np.integer]


def null_of(dtype: np.dtype[np.integer]) -> int:
    """Return the number that stands for NULL in arrays of a type."""
    return int(np.iinfo(dtype).min)


def is_known(numbers: Integers) -> npt.NDArray[np.bool_]:
    """Return which numbers are not NULL."""
    known: npt.NDArray[np.bool_] = numbers != null_of(numbers.dtype)
    return known


def integers(rows: pa.RecordBatch, column: str) -> Integers:
    """Return a column, which may share the memory of the batch.

    In columns of `traceattr.ingest.held` no number is the lowest of its type, save in 64 bits.
    """
    array = rows.column(column)
    dtype = array.type.to_pandas_dtype()
    if array.null_count == len(array):
        return np.full(len(array), null_of(np.dtype(dtype)), dtype)
    validity, data = array.buffers()
    numbers = np.frombuffer(data, dtype)[array.offset : array.offset + len(array)]
    if not array.null_count:
        return numbers
    bits = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")
    is_valid = bits[array.offset : array.offset + len(array)].view(np.bool_)
    return np.where(is_valid, numbers, numbers.dtype.type(null_of(numbers.dtype)))


def converted(numbers: Integers, dtype: np.dtype[np.integer]) -> Integers:
    """Return the same in a type that holds all that are not NULL."""
    if numbers.dtype == dtype:
        return numbers
    return np.where(is_known(numbers), numbers.astype(dtype), dtype.type(null_of(dtype)))


def without(numbers: Integers, value: int) -> Integers:
    """Return the same with NULL for a value, such as the 0 that CUPTI writes for nothing."""
    return np.where(numbers == value, numbers.dtype.type(null_of(numbers.dtype)), numbers)


def widest(types: Iterable[np.dtype[np.integer]]) -> np.dtype[np.integer]:
    """Return the widest of some signed types."""
    return max(types, key=lambda dtype: dtype.itemsize)
