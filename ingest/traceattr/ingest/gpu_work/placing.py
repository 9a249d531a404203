"""From rows as the export has them to the operations of each GPU, in order of time.

Rows come table after table, with those of all processes mixed.  Batches are read twice: first for
owners, times and names, which tell where each row goes; then the other columns go there, and the
memory of each batch is given up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from traceattr.ingest.for_each import for_each
from traceattr.ingest.gpu_work.columns import (
    Integers,
    converted,
    integers,
    is_known,
    null_of,
    widest,
    without,
)
from traceattr.ingest.gpu_work.operations import GRAPH, KERNEL
from traceattr.ingest.gpu_work.order import in_order
from traceattr.ingest.held import Held
from traceattr.ingest.identity import Owner
from traceattr.ingest.names import NameKeys

Flags = npt.NDArray[np.bool_]

_Type = np.dtype[np.integer]

_INT8: _Type = np.dtype(np.int8)
_INT32: _Type = np.dtype(np.int32)
_INT64: _Type = np.dtype(np.int64)

_LEFT_OUT = -1
_LOW_HALF = 2**32 - 1

_STORED = {
    "context_id": "contextId",
    "stream_id": "streamId",
    "correlation_id": "correlationId",
    "graph_node_id": "graphNodeId",
    "bytes": "bytes",
    "copy_kind": "copyKind",
}
"""Where the export has what is taken as it is ..."""

_NOT_ZERO = ("correlation_id", "graph_node_id")
"""... and of what 0 stands for nothing."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Operations of one GPU in order of start, end, kind and name; see `Operations`."""

    kind: npt.NDArray[np.int8]
    start_ns: npt.NDArray[np.int64]
    end_ns: npt.NDArray[np.int64]
    name_id: npt.NDArray[np.int32]
    context_id: Integers
    stream_id: Integers
    correlation_id: Integers
    graph_id: Integers
    graph_node_id: Integers
    bytes: Integers
    copy_kind: Integers


@dataclass(frozen=True, slots=True)
class _Batch:
    """Some rows of one table.

    Attributes:
        kind: Position in `traceattr.ingest.gpu_work.operations.KINDS`.
        rows: The rows.
        gpu: Which GPU ran each, `_LEFT_OUT` where that or its time is not known.
        counts: How many each GPU ran.
    """

    kind: int
    rows: pa.RecordBatch
    gpu: npt.NDArray[np.int16]
    counts: npt.NDArray[np.int64]


def place(
    work: Sequence[Held], owners: Mapping[Owner, int], gpus: int, names: NameKeys
) -> tuple[Placed, ...]:
    """Return the operations of each GPU.

    Args:
        work: Rows of each kind, in the order of `KINDS`; given up.
        owners: Position of the GPU that each owner means.
        gpus: How many there are.
        names: Kernel names by their ids.
    """
    types = _types(work)
    found = [(kind, rows) for kind, held in enumerate(work) for rows in held.batches]
    batches = dict(enumerate(for_each(lambda one: _assign(*one, owners, gpus), found)))
    found.clear()
    for held in work:
        held.batches.clear()
    begins = np.cumsum(
        [np.zeros(gpus, np.int64), *(batch.counts for batch in batches.values())], axis=0
    )
    columns = [_allocate(int(count), types) for count in begins[-1]]

    def put_times(number: int) -> None:
        _put(batches[number], _times_and_names(batches[number], names), columns, begins[number])

    def put_rest(number: int) -> None:
        batch = batches.pop(number)
        _put(batch, _rest(batch, types), columns, begins[number], places)

    for_each(put_times, batches)
    places = for_each(_sort, columns)
    for_each(put_rest, batches)
    return tuple(Placed(**each) for each in columns)  # type: ignore[arg-type]


_Columns = dict[str, Integers]
_Places = npt.NDArray[np.int32]


def _types(work: Sequence[Held]) -> dict[str, _Type]:
    """Return the type of each column, which holds what any table has."""
    types = {name: _widest_of(work, (stored,)) for name, stored in _STORED.items()}
    # The upper half of a node that is not below zero.
    is_negative = any(_has_negative(held, "graphNodeId") for held in work)
    of_node = _INT64 if is_negative else _INT32
    graph_id = widest((of_node, _widest_of(work, ("graphId", "graphExecId"))))
    return types | {
        "kind": _INT8,
        "start_ns": _INT64,
        "end_ns": _INT64,
        "name_id": _INT32,
        "graph_id": graph_id,
    }


def _widest_of(work: Sequence[Held], stored: Sequence[str]) -> _Type:
    found = [
        held.schema.field(name).type
        for held in work
        for name in stored
        if name in held.schema.names
    ]
    return widest(np.dtype(kind.to_pandas_dtype()) for kind in found)


def _has_negative(held: Held, column: str) -> bool:
    if column not in held.schema.names:
        return False
    found = (integers(rows, column) for rows in held.batches)
    return any(bool((numbers < 0).any(where=is_known(numbers))) for numbers in found)


def _assign(kind: int, rows: pa.RecordBatch, owners: Mapping[Owner, int], gpus: int) -> _Batch:
    pid = without(integers(rows, "globalPid"), 0)
    device, context = integers(rows, "deviceId"), integers(rows, "contextId")
    gpu = np.full(rows.num_rows, _LEFT_OUT, np.int16)
    for owner, number in owners.items():
        mine = _is(pid, owner.global_pid) & _is(device, owner.device_id)
        gpu[mine & _is(context, owner.context_id)] = number
    gpu[~_has_times(kind, rows)] = _LEFT_OUT
    counts = np.bincount(gpu + 1, minlength=gpus + 1)[1:]
    return _Batch(kind, rows, gpu, counts)


def _is(numbers: Integers, value: int | None) -> Flags:
    return np.asarray(numbers == (null_of(numbers.dtype) if value is None else value), np.bool_)


def _has_times(kind: int, rows: pa.RecordBatch) -> Flags:
    """CUPTI writes 0 for the times of a replay that it could not collect."""
    end = integers(rows, "end")
    known = is_known(integers(rows, "start")) & is_known(end)
    return known & (end != 0) if kind == GRAPH else known


def _allocate(count: int, types: Mapping[str, _Type]) -> _Columns:
    return {name: np.empty(count, dtype) for name, dtype in types.items()}


def _put(
    batch: _Batch,
    values: Mapping[str, Integers],
    columns: Sequence[_Columns],
    begins: npt.NDArray[np.int64],
    places: Sequence[_Places | None] | None = None,
) -> None:
    """Copy the rows of a batch to where they belong on each GPU."""
    for number, (count, begin) in enumerate(zip(batch.counts, begins, strict=True)):
        if not count:
            continue
        chosen = slice(None) if count == len(batch.gpu) else np.flatnonzero(batch.gpu == number)
        target: slice | _Places = slice(begin, begin + count)
        place = places[number] if places is not None else None
        if place is not None:
            target = place[target]
        for name, of_rows in values.items():
            columns[number][name][target] = of_rows[chosen]


def _times_and_names(batch: _Batch, names: NameKeys) -> _Columns:
    rows = batch.rows
    start, end = integers(rows, "start"), integers(rows, "end")
    name_id = np.full(rows.num_rows, -1, np.int32)
    if batch.kind == KERNEL:
        name_id = names.of(integers(rows, "demangledName"), integers(rows, "shortName"))
    return {
        "kind": np.full(rows.num_rows, batch.kind, np.int8),
        "start_ns": start,
        "end_ns": np.maximum(start, end),
        "name_id": name_id,
    }


def _sort(columns: _Columns) -> _Places | None:
    """Sort what is there already; return where each row goes, None for where it is."""
    keys = [columns[name] for name in ("start_ns", "end_ns", "kind", "name_id")]
    order, columns["start_ns"] = in_order(*keys)
    keys.clear()
    if (order[1:] > order[:-1]).all():
        return None
    for name in ("end_ns", "kind", "name_id"):
        columns[name] = columns[name][order]
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places


def _rest(batch: _Batch, types: Mapping[str, _Type]) -> _Columns:
    columns = {name: _or_nothing(batch, stored) for name, stored in _STORED.items()}
    columns |= {name: without(columns[name], 0) for name in _NOT_ZERO}
    columns["graph_id"] = _graphs(batch)
    return {name: converted(numbers, types[name]) for name, numbers in columns.items()}


def _or_nothing(batch: _Batch, column: str) -> Integers:
    """Return a column that some tables do not have."""
    if column in batch.rows.schema.names:
        return integers(batch.rows, column)
    return np.full(batch.rows.num_rows, null_of(_INT8), np.int8)


def _graphs(batch: _Batch) -> Integers:
    """Return the graph of each row.

    Before schema 3.24 there is no graphId column: the high half of graphNodeId is the graph.
    """
    stored = converted(without(_or_nothing(batch, "graphId"), 0), _INT64)
    if batch.kind == GRAPH:
        other = converted(without(integers(batch.rows, "graphExecId"), 0), _INT64)
    else:
        node = converted(_or_nothing(batch, "graphNodeId"), _INT64)
        other = without(np.where(is_known(node), graph_of(node), 0), 0)
    return np.where(is_known(stored), stored, other)


def graph_of(node: Integers) -> Integers:
    """Return the graph of each node: the high half of its number."""
    return (node >> 32) & _LOW_HALF
