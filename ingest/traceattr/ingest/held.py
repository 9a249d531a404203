"""The rows of one table in memory, as narrow as their values allow.

Most integers of an export are small: ids, streams, devices.  In 8 to 32 bits they take an eighth to
half of the memory, and everything after is faster.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from traceattr.ingest.arrow_arrays import mapped_array

_BATCH_ROWS = 2**16
"""Large enough that the pages of a column go back to the system one batch at a time."""

_MOST_BATCHES = 256
"""Batches after which they begin to grow."""

_WIDTHS = (pa.int8(), pa.int16(), pa.int32(), pa.int64())


@dataclass(frozen=True, slots=True)
class Held:
    """Rows of one table.

    Attributes:
        schema: Columns, each of the narrowest type that holds its values.
        batches: The rows; `drain` empties it.
    """

    schema: pa.Schema
    batches: list[pa.RecordBatch]

    @property
    def rows(self) -> int:
        """Return how many rows there are."""
        return sum(batch.num_rows for batch in self.batches)

    @property
    def table(self) -> pa.Table:
        """Return the rows as a table that shares their memory."""
        return pa.Table.from_batches(self.batches, self.schema)

    def drain(self) -> pa.RecordBatchReader:
        """Return the rows as a stream that gives up the memory of each batch once it is read."""
        return pa.RecordBatchReader.from_batches(self.schema, self._popped())

    def _popped(self) -> Iterator[pa.RecordBatch]:
        self.batches.reverse()
        while self.batches:
            yield self.batches.pop()


def hold(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Held:
    """Take in a stream of rows.

    Args:
        schema: Of the stream; integers are 64 bits wide.
        batches: The stream.
    """
    kept = []
    for batch in _large(batches):
        columns = [_narrowed(column) for column in batch.columns]
        kept.append(pa.RecordBatch.from_arrays(columns, schema.names))
    common = pa.schema([(name, _widest(kept, at)) for at, name in enumerate(schema.names)])
    return Held(common, [batch.cast(common) for batch in kept])


def _large(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in batches of at least `_BATCH_ROWS`, none of them empty.

    They grow with the table: a process may have some ten thousand stretches of pages.
    """
    waiting: list[pa.RecordBatch] = []
    rows, taken = 0, 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= max(_BATCH_ROWS, taken // _MOST_BATCHES):
            yield pa.concat_batches(waiting)
            taken += rows
            rows = 0
            waiting.clear()
    if rows:
        yield pa.concat_batches(waiting)


def _narrowed(column: pa.Array) -> pa.Array:
    """Return integers in pages of their own, of the narrowest type that holds them."""
    if column.type != pa.int64() or column.offset or not len(column):
        return column
    validity, data = column.buffers()
    numbers = np.frombuffer(data, np.int64, len(column))
    return mapped_array(numbers, validity, _type_of(int(numbers.min()), int(numbers.max())))


def _type_of(least: int, most: int) -> pa.DataType:
    """Return the narrowest type that holds two numbers, its own lowest not being either."""
    limits = ((kind, 2 ** (kind.bit_width - 1)) for kind in _WIDTHS)
    return next((kind for kind, limit in limits if -limit < least and most < limit), _WIDTHS[-1])


def _widest(batches: list[pa.RecordBatch], at: int) -> pa.DataType:
    """Return the type of a column that holds it in every batch, the narrowest without any."""
    types = (batch.column(at).type for batch in batches)
    return max(types, key=lambda kind: kind.bit_width, default=_WIDTHS[0])
