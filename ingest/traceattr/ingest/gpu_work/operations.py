"""What each GPU ran, as arrays in order of time."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import accumulate

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from traceattr.ingest.arrow_arrays import integer_array, text_array
from traceattr.ingest.gpu_work.columns import Integers, is_known

KINDS = ("kernel", "memcpy", "memset", "graph")
"""Kinds of operation; arrays hold positions in it."""

KERNEL, GRAPH = KINDS.index("kernel"), KINDS.index("graph")


@dataclass(frozen=True, slots=True)
class Details:
    """What no report needs of some operations; arrays of shape (operations,).

    Attributes:
        context_id: CUDA context.
        graph_id: CUDA graph.
        graph_node_id: Its node.
        bytes: Bytes copied or set.
    """

    context_id: Integers
    graph_id: Integers
    graph_node_id: Integers
    bytes: Integers


@dataclass(frozen=True, slots=True)
class Operations:
    """Operations of one GPU, in order of start, end, kind and name; arrays of shape (operations,).

    Integers are as narrow as their values allow.  NULL is the lowest number of their type, see
    `traceattr.ingest.gpu_work.columns`.

    Attributes:
        gpu_id: The GPU.
        kind: Position in `KINDS`.
        start_ns: Begins, int64.
        end_ns: Ends, int64; never before the begin.
        stream_id: CUDA stream.
        name_id: Kernel name, int32; -1 for other kinds.
        correlation_id: Launching call.
        launch_ns: Begin of that call, where it is in the trace.
        replay_id: Launch of a graph, int32; -1 outside graphs.
        copy_kind: CUpti copy kind.
        details: The rest of the columns of ``gpu_op``; None where they were not asked for.
    """

    gpu_id: int
    kind: npt.NDArray[np.int8]
    start_ns: npt.NDArray[np.int64]
    end_ns: npt.NDArray[np.int64]
    stream_id: Integers
    name_id: npt.NDArray[np.int32]
    correlation_id: Integers
    launch_ns: npt.NDArray[np.int64]
    replay_id: npt.NDArray[np.int32]
    copy_kind: Integers
    details: Details | None


_NEVER_NULL = ("start_ns", "end_ns")
_NONE_BELOW_ZERO = ("name_id", "replay_id")


def as_table(gpus: Sequence[Operations]) -> pa.Table:
    """Return all operations, GPU after GPU, as a table that shares their memory.

    With details they are numbered.
    """
    begins = accumulate((len(one.kind) for one in gpus), initial=0)
    parts = [_table(one, first) for one, first in zip(gpus, begins, strict=False)]
    return pa.concat_tables(parts, promote_options="permissive")


def _table(one: Operations, first: int) -> pa.Table:
    count = len(one.kind)
    columns = {
        "gpu_id": integer_array(np.full(count, one.gpu_id, np.min_scalar_type(-1 - one.gpu_id))),
        "kind": pa.DictionaryArray.from_arrays(integer_array(one.kind), text_array(KINDS)),
    }
    columns |= {name: _shared(name, getattr(one, name)) for name in _COLUMNS}
    if one.details is not None:
        columns |= {name: _shared(name, getattr(one.details, name)) for name in _DETAILS}
        columns["op_id"] = integer_array(np.arange(first, first + count, dtype=np.uint32))
    return pa.table(columns)


_COLUMNS = tuple(field.name for field in fields(Operations))[2:-1]
_DETAILS = tuple(field.name for field in fields(Details))


def _shared(name: str, numbers: Integers) -> pa.Array:
    if name in _NEVER_NULL:
        return integer_array(numbers)
    if name in _NONE_BELOW_ZERO:
        return integer_array(numbers, numbers >= 0)
    return integer_array(numbers, is_known(numbers))
