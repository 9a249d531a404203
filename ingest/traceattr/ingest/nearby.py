"""Which part of a large table holds the rows around a window, without reading the rest.

nsys writes rows almost in order of time.  How far from it, and how long rows last, is measured on
pages sampled over the whole table; where they show no order, all of it is read.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from traceattr.ingest.export import Export
from traceattr.ingest.selection import ColumnType, select
from traceattr.ingest.sqlite.btree import Declined
from traceattr.ingest.sqlite.pages import find_pages, sample_leaves

CONTEXT_NS = 1_000_000_000
"""What is read on both sides of a window: rounds and graphs are judged by their neighbours."""

LARGE_LEAVES = 20_000
"""Pages from which on a table is worth sampling: some 80 MB."""

_SAMPLES = 256
_WORTH_IT = 0.5
"""Share of a table that must remain unread."""

_TIMES = {"start": ColumnType.INTEGER, "end": ColumnType.INTEGER}


@dataclass(frozen=True, slots=True)
class Near:
    """What is read of a trace: rows that run between two instants."""

    start_ns: int
    end_ns: int

    def of(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows that do; those without times do not."""
        begins, ends = rows.column("start"), rows.column("end")
        inside = pc.and_(pc.less_equal(begins, self.end_ns), pc.greater_equal(ends, self.start_ns))
        return rows.filter(inside)


def around(window: tuple[int, int]) -> Near:
    """Return a window with its context."""
    return Near(window[0] - CONTEXT_NS, window[1] + CONTEXT_NS)


def is_worth_it(export: Export, table: str, near: Near) -> bool:
    """Return whether most of a table lies elsewhere."""
    if export.files or table not in export.tables:
        return False
    return leaves_near(export, table, near) is not None


def sampled_owners(export: Export, table: str) -> set[tuple[int | None, int]]:
    """Return process and device of the rows on some pages of a table that is worth sampling."""
    columns = dict.fromkeys(("globalPid", "deviceId"), ColumnType.INTEGER)
    pages = find_pages(export, select(export, table, columns))
    samples = pa.Table.from_batches(sample_leaves(pages, _evenly(len(pages.leaves.numbers))))
    found = samples.group_by(["globalPid", "deviceId"]).aggregate([]).to_pylist()
    return {(row["globalPid"] or None, row["deviceId"]) for row in found}


def leaves_near(export: Export, table: str, near: Near) -> range | None:
    """Return the leaf pages that hold the rows, None when all pages have to be read."""
    try:
        pages = find_pages(export, select(export, table, _TIMES))
        count = len(pages.leaves.numbers)
        if count < LARGE_LEAVES:
            return None
        at = _evenly(count)
        samples = sample_leaves(pages, at)
    except Declined:
        return None
    if any(batch.column(0).null_count or batch.column(1).null_count for batch in samples):
        return None
    found = _between(at, samples, near, count)
    return found if len(found) <= (1 - _WORTH_IT) * count else None


def _evenly(count: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, count - 1, _SAMPLES).astype(np.int64))


def _between(at: NDArray[np.int64], samples: list[pa.RecordBatch], near: Near, count: int) -> range:
    """Return from which leaf on rows may run in the interval, and up to which.

    Rows before a sampled page begin at most as late as the latest of all pages before it and the
    disorder seen anywhere; twice that, and twice the longest row, is the margin.
    """
    starts = [batch.column(0).to_numpy() for batch in samples]
    ends = [batch.column(1).to_numpy() for batch in samples]
    latest = np.maximum.accumulate([int(start.max()) for start in starts])
    earliest = np.minimum.accumulate([int(start.min()) for start in starts][::-1])[::-1]
    disorder_ns = max(0, int((latest[:-1] - earliest[1:]).max(initial=0)))
    longest_ns = max(int((end - start).max()) for start, end in zip(starts, ends, strict=True))
    margin_ns = 2 * (disorder_ns + max(0, longest_ns))
    before = np.flatnonzero(latest < near.start_ns - margin_ns)
    after = np.flatnonzero(earliest > near.end_ns + margin_ns)
    first = int(at[before[-1]]) if len(before) else 0
    return range(first, max(first + 1, int(at[after[0]])) if len(after) else count)
