"""The forward passes of one GPU in order: graph replays, and passes launched kernel by kernel.

A pass that was not captured in a graph begins with its embedding, or with its first model kernel
where none is seen, and ends with its last model kernel or sampling; a replay ends it too.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from traceattr.attribution import roles
from traceattr.attribution.intervals import Times
from traceattr.attribution.labels import KernelNames
from traceattr.attribution.roles import Flags
from traceattr.attribution.timeline import Ids, Places, Timeline


@dataclass(frozen=True, slots=True)
class Pieces:
    """Pieces in order of start; arrays of shape (pieces,).

    Attributes:
        start_ns: Begin of the first operation.
        end_ns: End of the last operation.
        replay: Position in `Timeline.replays`, -1 for an eager pass.
        layers: Attention and linear-attention layers run, 0 where they are hidden.
        passes: Forward passes of a model it holds, at least 1.
        is_prefill: Whether it holds kernels that only a prefill runs.
        of_operation: Piece of each operation, -1 outside; shape (operations,).
    """

    start_ns: Times
    end_ns: Times
    replay: Ids
    layers: Ids
    passes: Ids
    is_prefill: Flags
    of_operation: Places

    @property
    def depth(self) -> npt.NDArray[np.float64]:
        """Return the layers of the model that each piece runs."""
        return np.divide(self.layers, self.passes)


class _Mark(IntEnum):
    """What an operation tells about where passes begin and end."""

    NOTHING = 0
    EMBEDDING = 1
    WORK = 2
    CORE = 3
    SAMPLING = 4
    REPLAY = 5


def find_pieces(timeline: Timeline, names: KernelNames) -> Pieces:
    """Return the replays and the eager passes of one GPU."""
    replays = timeline.replays
    eager = _eager_passes(timeline, names)
    unordered = np.where(eager >= 0, eager + len(replays.start_ns), timeline.replay)
    start_ns, end_ns = _bounds(timeline, unordered)
    order = np.lexsort((end_ns, start_ns))
    # What is in no piece stays at -1.
    rank = np.append(np.argsort(order), -1).astype(np.int32)
    of_operation = rank[unordered]
    count = len(order)
    return Pieces(
        start_ns=start_ns[order],
        end_ns=end_ns[order],
        replay=np.where(order < len(replays.start_ns), order, -1),
        layers=_most_of_one_name(timeline, roles.attention_core(names), of_operation, count)
        + _most_of_one_name(timeline, roles.recurrent_core(names), of_operation, count),
        passes=np.maximum(
            _most_of_one_name(timeline, roles.embedding(names), of_operation, count), 1
        ),
        is_prefill=_most_of_one_name(timeline, roles.prefill_only(names), of_operation, count) > 0,
        of_operation=of_operation,
    )


def named(flags: Flags, timeline: Timeline) -> Flags:
    """Return, for each operation, whether its kernel name is one of those flagged."""
    return np.append(flags, False)[timeline.name_id]


def _marks(timeline: Timeline, names: KernelNames) -> npt.NDArray[np.int8]:
    marks = np.zeros(len(timeline.start_ns), np.int8)
    cores = roles.attention_core(names) | roles.recurrent_core(names)
    marks[named(roles.model_work(names), timeline)] = _Mark.WORK
    marks[named(cores, timeline)] = _Mark.CORE
    marks[named(roles.sampling(names), timeline)] = _Mark.SAMPLING
    marks[named(roles.embedding(names), timeline)] = _Mark.EMBEDDING
    marks[timeline.replay >= 0] = _Mark.REPLAY
    return marks


def _eager_passes(timeline: Timeline, names: KernelNames) -> Places:
    """Return the eager pass of each operation, dense from 0, or -1."""
    marks = _marks(timeline, names)
    is_replay = marks == _Mark.REPLAY
    goes_on = np.append(False, is_replay[1:] & is_replay[:-1])  # and tells nothing new
    at = np.flatnonzero((marks != _Mark.NOTHING) & ~goes_on)
    mark = marks[at]
    before = np.append(_Mark.NOTHING, mark[:-1])
    begins = (mark != before) & ((mark == _Mark.EMBEDDING) | (mark == _Mark.REPLAY))
    segment = np.cumsum(begins)  # 0 is what comes before the first embedding or replay
    count = int(segment[-1]) + 1 if len(segment) else 1
    is_core = mark == _Mark.CORE
    segment += _begins_early(mark, segment, np.append(_Mark.NOTHING, mark[begins]))
    has_core = np.bincount(segment[is_core], minlength=count) > 0
    is_part = (mark == _Mark.EMBEDDING) | (mark == _Mark.WORK) | is_core
    first = _extreme(np.minimum, segment[is_part], at[is_part], count, len(marks))
    is_end = is_part | (mark == _Mark.SAMPLING)
    last = _extreme(np.maximum, segment[is_end], at[is_end], count, -1)
    passes = np.full(len(marks), -1, np.int32)
    for number, one in enumerate(np.flatnonzero(has_core).tolist()):
        passes[first[one] : last[one] + 1] = number
    passes[is_replay] = -1
    return passes


def _begins_early(
    mark: npt.NDArray[np.int8], segment: Ids, begin: npt.NDArray[np.int8]
) -> npt.NDArray[np.bool_]:
    """Return which marks are of the pass after the embedding that follows them.

    A pass is over when it has sampled.  A draft that projects the target's hidden states before it
    looks up its embeddings begins with that.

    Args:
        mark: The marks, in order of time.
        segment: Segment of each, which an embedding or a replay begins.
        begin: What begins each segment.
    """
    positions = np.arange(len(mark))
    is_core, is_sampling = mark == _Mark.CORE, mark == _Mark.SAMPLING
    last_core = _extreme(np.maximum, segment[is_core], positions[is_core], len(begin), -1)
    sampled = _extreme(np.maximum, segment[is_sampling], positions[is_sampling], len(begin), -1)
    is_over = (sampled > last_core) & (last_core >= 0)
    goes_on = np.append(begin[1:] == _Mark.EMBEDDING, False)
    is_after = (positions > sampled[segment]) & (mark == _Mark.WORK)
    return np.asarray((is_over & goes_on)[segment] & is_after, np.bool_)


def _extreme(of: np.ufunc, segment: Ids, at: Ids, count: int, nothing: int) -> Ids:
    """Return the first or last position in each segment, and `nothing` where there is none."""
    result = np.full(count, nothing)
    of.at(result, segment, at)
    return result


def _bounds(timeline: Timeline, piece: Places) -> tuple[Times, Times]:
    """Return begin and end of each piece; replays know theirs."""
    count = int(piece.max(initial=-1)) + 1
    replays = timeline.replays
    start_ns = np.full(max(count, len(replays.start_ns)), np.iinfo(np.int64).max)
    end_ns = np.full(len(start_ns), np.iinfo(np.int64).min)
    inside = piece >= len(replays.start_ns)
    np.minimum.at(start_ns, piece[inside], timeline.start_ns[inside])
    np.maximum.at(end_ns, piece[inside], timeline.end_ns[inside])
    start_ns[: len(replays.start_ns)] = replays.start_ns
    end_ns[: len(replays.end_ns)] = replays.end_ns
    return start_ns, end_ns


def _most_of_one_name(timeline: Timeline, flags: Flags, piece: Places, count: int) -> Ids:
    """Return how often the most frequent of some names runs in each piece.

    Of the kernels that make up one layer's attention each runs once per layer, so the most
    frequent one counts the layers.
    """
    chosen = named(flags, timeline) & (piece >= 0)
    keys, times = np.unique(
        piece[chosen].astype(np.int64) * len(flags) + timeline.name_id[chosen], return_counts=True
    )
    most = np.zeros(count, np.int64)
    np.maximum.at(most, keys // max(len(flags), 1), times)
    return most
