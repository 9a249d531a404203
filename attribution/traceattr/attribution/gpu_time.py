"""Where the time of one GPU went."""

import duckdb
import numpy as np
import numpy.typing as npt

from traceattr.attribution.analysis import CategoryTime, GpuTime, Window
from traceattr.attribution.idle import split_idle
from traceattr.attribution.labels import LABELS, PRECEDENCE, KernelNames
from traceattr.attribution.partition import Operations, Partition, partition
from traceattr.ingest.database import read_sql


def gpu_time(
    connection: duckdb.DuckDBPyConnection,
    gpu_id: int,
    window: Window,
    names: KernelNames,
    *,
    hides_gaps: bool,
) -> GpuTime:
    """Return the partition of the window on one GPU; categories and idle sum to its length.

    Args:
        connection: Holds the trace.
        gpu_id: Number of the GPU.
        window: What to partition.
        names: The kernel names, classified.
        hides_gaps: Whether graphs ran on this GPU whose nodes were not recorded.
    """
    operations, labels = _operations(connection, gpu_id, window, names)
    parts = partition(operations, window.start_ns, window.end_ns)
    return GpuTime(
        gpu=gpu_id,
        wall_ns=window.wall_ns,
        busy_ns=parts.busy.total_ns,
        kernel_ns=parts.kernel_ns,
        categories=_category_times(labels, parts),
        idle=split_idle(connection, gpu_id, parts.idle, hides_gaps=hides_gaps),
    )


def _operations(
    connection: duckdb.DuckDBPyConnection, gpu_id: int, window: Window, names: KernelNames
) -> tuple[Operations, npt.NDArray[np.int8]]:
    """Fetch the operations in order of start; equal starts are ordered by what they are."""
    found = connection.execute(
        read_sql("traceattr.attribution", "window_operations"),
        {"gpu_id": gpu_id, "start_ns": window.start_ns, "end_ns": window.end_ns},
    ).fetchnumpy()
    labels = names.label_operations(found["kind"], found["name_id"])
    order = _order(found["start_ns"], found["end_ns"], labels)
    labels = labels[order]
    return (
        Operations(found["start_ns"][order], found["end_ns"][order], PRECEDENCE[labels]),
        labels,
    )


def _order(
    start_ns: npt.NDArray[np.int64], end_ns: npt.NDArray[np.int64], labels: npt.NDArray[np.int8]
) -> npt.NDArray[np.int64]:
    """Return the order by start, then end, then label, so that row order changes nothing.

    Rows come almost sorted, which a stable sort of one key makes use of; equal starts are rare.
    """
    order = np.argsort(start_ns, kind="stable")
    if (np.diff(start_ns[order]) == 0).any():
        return np.lexsort((labels, end_ns, start_ns))
    return order


def _category_times(labels: npt.NDArray[np.int8], parts: Partition) -> tuple[CategoryTime, ...]:
    """Sum per label.  Weights go through float64, exact below 2**53 ns (104 days)."""
    size = len(LABELS)
    counts = np.bincount(labels, minlength=size)
    exclusive = np.bincount(labels, weights=parts.exclusive_ns, minlength=size)
    duration = np.bincount(labels, weights=parts.inside_ns, minlength=size)
    return tuple(
        CategoryTime(
            LABELS[at].category,
            LABELS[at].subcategory,
            exclusive_ns=int(exclusive[at]),
            sum_ns=int(duration[at]),
            operations=int(counts[at]),
        )
        for at in np.flatnonzero(counts)
    )
