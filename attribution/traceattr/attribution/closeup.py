"""Every operation, pass and gap of every GPU in a short part of a trace, such as one round."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from traceattr.attribution.account import Account
from traceattr.attribution.analysis import Window
from traceattr.attribution.gap_analysis import ToldGaps, gap_list, told_gaps
from traceattr.attribution.gap_figures import Gap
from traceattr.attribution.gpu_time import OwnedTime
from traceattr.attribution.intervals import Times
from traceattr.attribution.labels import KernelNames
from traceattr.attribution.per_round import RoundSample
from traceattr.attribution.piece_kinds import PieceKind
from traceattr.attribution.spread import lower_median
from traceattr.attribution.steady import leader_of, main_kind
from traceattr.attribution.survey import Survey
from traceattr.attribution.timeline import Ids
from traceattr.ingest.for_each import for_each
from traceattr.ingest.gpu_work.columns import is_known
from traceattr.ingest.gpu_work.operations import GRAPH as GRAPH_KIND
from traceattr.ingest.gpu_work.operations import KERNEL, KINDS
from traceattr.ingest.gpu_work.operations import Operations as GpuOperations
from traceattr.ingest.trace import Trace
from traceattr.rules.categories import GRAPH, MEMORY

MOST_OPERATIONS = 40_000
"""Operations of a close-up on all GPUs; what has more is cut short."""

NAMELESS = (
    ("work of a CUDA graph that was traced as a whole", GRAPH),
    ("memory set", MEMORY),
    ("copy", MEMORY),
    ("copy to the device", MEMORY),
    ("copy to the host", MEMORY),
    ("copy on the device", MEMORY),
    ("copy between devices", MEMORY),
)
"""What operations without a kernel name are called, and its category."""

_COPY = 2
_COPY_KINDS = {1: 3, 2: 4, 8: 5, 10: 6}
"""Positions in `NAMELESS` by CUpti_ActivityMemcpyKind."""


@dataclass(frozen=True, slots=True)
class OperationName:
    """What some operations of a close-up have in common.

    Attributes:
        name: Whole name of a kernel, or what a copy or a graph is called.
        category: Its category.
        rule: Name of the rule that decided it, None where none did.
    """

    name: str
    category: str
    rule: str | None


@dataclass(frozen=True, slots=True)
class Operations:
    """Operations in order of start; arrays of shape (operations,).

    Attributes:
        start_ns: Begins, which may be before the close-up.
        end_ns: Ends, which may be after it.
        name: Position in `Closeups.names`.
        stream_id: Streams, -1 where they were not recorded.
    """

    start_ns: Times
    end_ns: Times
    name: Ids
    stream_id: Ids


@dataclass(frozen=True, slots=True)
class ForwardPass:
    """A graph replay, or a pass that was launched kernel by kernel.

    Attributes:
        kind: What it is for, such as ``verify``.
        start_ns: Begin of its first operation.
        end_ns: End of its last operation.
        graph_id: Graph that was replayed, None for a pass without one.
        is_envelope: Whether what ran in it was not recorded.
    """

    kind: str
    start_ns: int
    end_ns: int
    graph_id: int | None
    is_envelope: bool


@dataclass(frozen=True, slots=True)
class GpuCloseup:
    """One GPU in a close-up.

    Attributes:
        gpu: Number of the GPU.
        operations: What ran.
        passes: Forward passes, in order of start.
        gaps: Idle time in order of time; gaps inside graphs as a whole are not known.
    """

    gpu: int
    operations: Operations
    passes: tuple[ForwardPass, ...]
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class Closeup:
    """A short part of a trace.

    Attributes:
        title: What it is, such as ``median round``.
        round: Its number as ``--rounds`` counts, None for what is no round.
        start_ns: Begin on the clock of the trace.
        end_ns: End; that of a round is the begin of the next.
        whole_ns: What it would last had it not been cut short.
        per_gpu: What each GPU did meanwhile, in the order of the trace.
    """

    title: str
    round: int | None
    start_ns: int
    end_ns: int
    whole_ns: int
    per_gpu: tuple[GpuCloseup, ...]


@dataclass(frozen=True, slots=True)
class Closeups:
    """Some close-ups of one trace.

    Attributes:
        names: What ran in any of them.
        parts: The close-ups.
    """

    names: tuple[OperationName, ...]
    parts: tuple[Closeup, ...]


def closeups(trace: Trace, found: Survey) -> Closeups:
    """Return the median round and the slowest, or what is in the middle without rounds."""
    planned = list(_planned(found))

    def look(owned: OwnedTime) -> list[GpuCloseup]:
        ran = trace.gpu_work.gpus[owned.account.timeline.gpu_id]
        with trace.cursor() as cursor:
            told = told_gaps(cursor, owned)
        return [_gpu_closeup(ran, owned, told, one) for one in planned]

    per_gpu = for_each(look, found.owned)
    parts = [
        replace(part, per_gpu=gpus)
        for part, gpus in zip(planned, zip(*per_gpu, strict=True), strict=True)
    ]
    return _with_names_once(parts, found.names)


def _planned(found: Survey) -> Iterator[Closeup]:
    """Yield close-ups, so far without GPUs; rounds are those of the first GPU."""
    sample = found.owned[0].sample
    if not len(sample):
        yield _middle(found.owned, found.steady.window)
        return
    length_ns = sample.end_ns - sample.start_ns
    median_ns = lower_median(length_ns)
    median, slowest = int(np.argmax(length_ns == median_ns)), int(np.argmax(length_ns))
    title = "median round" if len(sample) > 1 else "round"
    yield _cut_short(found, title, sample, median)
    if length_ns[slowest] > median_ns:
        yield _cut_short(found, "slowest round", sample, slowest)


def _cut_short(found: Survey, title: str, sample: RoundSample, at: int) -> Closeup:
    """Return a round, or its begin if it has too many operations."""
    start_ns, end_ns = int(sample.start_ns[at]), int(sample.end_ns[at])
    starts = _starts(found.owned, start_ns, end_ns)
    cut_ns = end_ns if len(starts) <= MOST_OPERATIONS else int(starts[MOST_OPERATIONS])
    return Closeup(title, _number(found, start_ns), start_ns, cut_ns, end_ns - start_ns, ())


def _number(found: Survey, start_ns: int) -> int | None:
    """Return the number of a round of the first GPU, None where another GPU's are counted."""
    first = found.accounts[0]
    if leader_of(found.accounts) is not first:
        return None
    is_main = np.array([kind == main_kind(first) for kind in first.rounds.kind])
    return int(np.count_nonzero(is_main & (first.rounds.start_ns < start_ns)))


def _middle(owned: Sequence[OwnedTime], window: Window) -> Closeup:
    """Return the window, or what is around its middle if it has too many operations."""
    starts = _starts(owned, window.start_ns, window.end_ns)
    if len(starts) <= MOST_OPERATIONS:
        return Closeup("whole window", None, window.start_ns, window.end_ns, window.wall_ns, ())
    first = (len(starts) - MOST_OPERATIONS) // 2
    ends = int(starts[first]), int(starts[first + MOST_OPERATIONS])
    return Closeup("middle of the window", None, *ends, window.wall_ns, ())


def _starts(owned: Sequence[OwnedTime], start_ns: int, end_ns: int) -> Times:
    """Return when operations of any GPU begin in an interval, in order."""
    starts = np.concatenate([one.account.timeline.start_ns for one in owned])
    return np.sort(starts[(starts >= start_ns) & (starts < end_ns)])


def _gpu_closeup(ran: GpuOperations, owned: OwnedTime, told: ToldGaps, part: Closeup) -> GpuCloseup:
    start_ns, end_ns = part.start_ns, part.end_ns
    gaps = told.gaps
    at = np.flatnonzero((gaps.end_ns > start_ns) & (gaps.start_ns < end_ns))
    return GpuCloseup(
        gpu=owned.account.timeline.gpu_id,
        operations=_operations(ran, owned.account, start_ns, end_ns),
        passes=tuple(_passes(owned, start_ns, end_ns)),
        gaps=tuple(gap_list(gaps, told.story, at)),
    )


def _operations(ran: GpuOperations, account: Account, start_ns: int, end_ns: int) -> Operations:
    """Return what overlaps an interval; names are numbered as `_names` has them."""
    at = np.flatnonzero((ran.end_ns > start_ns) & (ran.start_ns < end_ns))
    name_id, stream_id = ran.name_id[at].astype(np.int64), ran.stream_id[at]
    nameless = len(account.names.names) + _nameless(ran.kind[at], ran.copy_kind[at])
    return Operations(
        start_ns=ran.start_ns[at],
        end_ns=ran.end_ns[at],
        name=np.where(ran.kind[at] == KERNEL, name_id, nameless),
        stream_id=np.where(is_known(stream_id), stream_id.astype(np.int64), -1),
    )


def _nameless(kind: npt.NDArray[np.integer], copy_kind: npt.NDArray[np.integer]) -> Ids:
    """Return the position in `NAMELESS` of operations that are no kernels."""
    found = np.full(len(kind), _COPY)
    for code, position in _COPY_KINDS.items():
        found[copy_kind == code] = position
    found[kind == KINDS.index("memset")] = 1
    found[kind == GRAPH_KIND] = 0
    return found


def _passes(owned: OwnedTime, start_ns: int, end_ns: int) -> Iterator[ForwardPass]:
    """Yield the passes that overlap an interval, but not eager work of which nothing is known."""
    pieces, replays = owned.account.pieces, owned.account.timeline.replays
    for at in np.flatnonzero((pieces.end_ns > start_ns) & (pieces.start_ns < end_ns)).tolist():
        kind, replay = owned.account.kinds.of_piece[at], int(pieces.replay[at])
        if kind is PieceKind.OTHER and replay < 0:
            continue
        graph_id = int(replays.graph_id[replay]) if replay >= 0 else -1
        yield ForwardPass(
            kind=str(kind),
            start_ns=int(pieces.start_ns[at]),
            end_ns=int(pieces.end_ns[at]),
            graph_id=None if graph_id < 0 else graph_id,
            is_envelope=replay >= 0 and bool(replays.is_envelope[replay]),
        )


def _with_names_once(parts: Sequence[Closeup], names: KernelNames) -> Closeups:
    """Return close-ups whose numbers stand for the few names that occur."""
    every = [gpu.operations.name for part in parts for gpu in part.per_gpu]
    used = np.unique(np.concatenate(every))
    known = _names(names)
    return Closeups(
        names=tuple(known[at] for at in used.tolist()),
        parts=tuple(
            replace(part, per_gpu=tuple(_renumbered(gpu, used) for gpu in part.per_gpu))
            for part in parts
        ),
    )


def _names(names: KernelNames) -> list[OperationName]:
    """Return every kernel name of the trace, and after them what has none."""
    kernels = zip(names.names, names.classifications, strict=True)
    return [
        *(OperationName(name, found.category, found.rule) for name, found in kernels),
        *(OperationName(name, category, None) for name, category in NAMELESS),
    ]


def _renumbered(gpu: GpuCloseup, used: Ids) -> GpuCloseup:
    operations = gpu.operations
    return replace(gpu, operations=replace(operations, name=np.searchsorted(used, operations.name)))
