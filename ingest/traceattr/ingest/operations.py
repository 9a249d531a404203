"""What each GPU ran, as arrays in order of time."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import accumulate

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from traceattr.ingest.columns import Integers, is_known

KINDS = ("kernel", "memcpy", "memset", "graph")
"""Kinds of operation; arrays hold positions in it."""

KERNEL, GRAPH = KINDS.index("kernel"), KINDS.index("graph")


@dataclass(frozen=True, slots=True)
class Operations:
    """Operations of one GPU, in order of start, end, kind and name; arrays of shape (operations,).

    Integers are as narrow as their values allow.  NULL is the lowest number of their type, see
    `traceattr.ingest.columns`.

    Attributes:
        gpu_id: The GPU.
        kind: Position in `KINDS`.
        start_ns: Begins, int64.
        end_ns: Ends, int64; never before the begin.
        context_id: CUDA context.
        stream_id: CUDA stream.
        name_id: Kernel name, int32; -1 for other kinds.
        correlation_id: Launching call.
        launch_ns: Begin of that call, where it is in the trace.
        graph_id: CUDA graph.
        graph_node_id: Its node.
        replay_id: Launch of the graph, int32; -1 outside graphs.
        bytes: Bytes copied or set.
        copy_kind: CUpti copy kind.
    """

    gpu_id: int
    kind: npt.NDArray[np.int8]
    start_ns: npt.NDArray[np.int64]
    end_ns: npt.NDArray[np.int64]
    context_id: Integers
    stream_id: Integers
    name_id: npt.NDArray[np.int32]
    correlation_id: Integers
    launch_ns: npt.NDArray[np.int64]
    graph_id: Integers
    graph_node_id: Integers
    replay_id: npt.NDArray[np.int32]
    bytes: Integers
    copy_kind: Integers


_NEVER_NULL = ("start_ns", "end_ns")
_NONE_BELOW_ZERO = ("name_id", "replay_id")


def as_table(gpus: Sequence[Operations]) -> pa.Table:
    """Return all operations, numbered GPU after GPU, as a table that shares their memory."""
    begins = accumulate((len(one.kind) for one in gpus), initial=0)
    parts = [_table(one, first) for one, first in zip(gpus, begins, strict=False)]
    return pa.concat_tables(parts, promote_options="permissive")


def _table(one: Operations, first: int) -> pa.Table:
    names = [field.name for field in fields(Operations)][2:]
    columns = {name: _shared(name, getattr(one, name)) for name in names}
    count = len(one.kind)
    kind = pa.DictionaryArray.from_arrays(_array(one.kind, None), list(KINDS))
    op_id = _array(np.arange(first, first + count, dtype=np.uint32), None)
    gpu_id = _array(np.full(count, one.gpu_id, np.int16), None)
    return pa.table({"op_id": op_id, "gpu_id": gpu_id, "kind": kind, **columns})


def _shared(name: str, numbers: Integers) -> pa.Array:
    if name in _NEVER_NULL:
        return _array(numbers, None)
    if name in _NONE_BELOW_ZERO:
        return _array(numbers, numbers >= 0)
    return _array(numbers, is_known(numbers))


def _array(numbers: Integers, known: npt.NDArray[np.bool_] | None) -> pa.Array:
    bitmap = None if known is None else pa.py_buffer(np.packbits(known, bitorder="little"))
    kind = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(kind, len(numbers), [bitmap, pa.py_buffer(numbers)])
