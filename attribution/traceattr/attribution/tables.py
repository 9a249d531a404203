"""What the analysis found, as documented tables beside those of the trace."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.metadata import version

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from traceattr.attribution.choice import Choice
from traceattr.attribution.gap_analysis import KIND_NAMES, ToldGaps, told_gaps
from traceattr.attribution.gap_figures import Cause
from traceattr.attribution.gpu_time import OwnedTime, touches
from traceattr.attribution.groups import NO_WORK, group_of
from traceattr.attribution.labels import LABELS, KernelNames
from traceattr.attribution.phases import PHASES, phase_of_pass
from traceattr.attribution.seams import GapKind
from traceattr.attribution.steady import main_kind
from traceattr.attribution.survey import Survey, survey
from traceattr.attribution.timeline import Ids
from traceattr.ingest.database import read_sql
from traceattr.ingest.trace import Trace
from traceattr.rules.categories import HOST_GAPS, IN_GRAPH_GAPS
from traceattr.rules.rule_set import RuleSet

ANALYSIS_TABLES = frozenset(
    {"analysis", "gap", "kernel_category", "operation", "pass", "round", "segment"}
)
"""What `add_tables` makes."""

_NO_KEY = -1
_IDLE_GROUPS = {
    GapKind.SEAM: HOST_GAPS,
    GapKind.IN_GRAPH: IN_GRAPH_GAPS,
    GapKind.NO_WORK: NO_WORK,
}


@dataclass(frozen=True, slots=True)
class _NumberedGpu:
    """One GPU and the numbers that its rows begin with.

    Attributes:
        owned: Who owns the window.
        told: The gaps.
        first_round: Number of its first round.
        first_pass: Number of its first pass.
        first_operation: Number of its first operation.
    """

    owned: OwnedTime
    told: ToldGaps
    first_round: int
    first_pass: int
    first_operation: int


def add_tables(trace: Trace, rules: RuleSet, choice: Choice) -> Survey:
    """Make the tables of the analysis in the database of a trace.

    OS calls are used when they were loaded (see `traceattr.ingest.host`).

    Raises:
        OptionError: The window or the rounds lie outside what was recorded.
    """
    found = survey(trace, rules, choice)
    connection, window = trace.connection, found.steady.window
    facts = (window.start_ns, window.end_ns, window.why, rules.name, rules.sha256)
    connection.execute(read_sql("traceattr.attribution", "analysis"))
    connection.execute(
        "INSERT INTO analysis VALUES (?, ?, ?, ?, ?, ?)", [*facts, version("traceattr")]
    )
    _make(connection, "kernel_category", [_kernel_categories(found.names)])
    gpus = list(_numbered(connection, found.owned))
    _make(connection, "round", [_rounds(gpu, found.steady.pause_ns) for gpu in gpus])
    _make(connection, "operation", [_operations(gpu) for gpu in gpus])
    _make(connection, "pass", [_passes(gpu) for gpu in gpus])
    _make(connection, "gap", [_gaps(gpu) for gpu in gpus])
    _make(connection, "segment", [_segments(gpu) for gpu in gpus])
    return found


def _numbered(
    connection: duckdb.DuckDBPyConnection, owned: Sequence[OwnedTime]
) -> Iterator[_NumberedGpu]:
    rounds = passes = operations = 0
    for one in owned:
        account = one.account
        yield _NumberedGpu(one, told_gaps(connection, one), rounds, passes, operations)
        rounds += len(account.rounds.kind)
        passes += len(account.pieces.start_ns)
        operations += len(account.timeline.start_ns)


def _make(
    connection: duckdb.DuckDBPyConnection, name: str, parts: Sequence[Mapping[str, pa.Array]]
) -> None:
    """Run the SQL file that makes a table from the view ``batch``."""
    connection.register("batch", pa.concat_tables([pa.table(dict(part)) for part in parts]))
    try:
        connection.execute(read_sql("traceattr.attribution", name))
    finally:
        connection.unregister("batch")


def _kernel_categories(names: KernelNames) -> dict[str, pa.Array]:
    found = names.classifications
    return {
        "name_id": pa.array(range(len(found)), pa.int32()),
        "category": pa.array([each.category for each in found], pa.string()),
        "subcategory": pa.array([each.subcategory for each in found], pa.string()),
        "rule": pa.array([each.rule for each in found], pa.string()),
    }


def _rounds(gpu: _NumberedGpu, pause_ns: int | None) -> dict[str, pa.Array]:
    owned, first = gpu.owned, gpu.first_round
    rounds, kind = owned.account.rounds, main_kind(owned.account)
    count = len(rounds.kind)
    is_main = np.array([each == kind for each in rounds.kind], np.bool_)
    next_ns = np.append(rounds.start_ns[1:], np.iinfo(np.int64).max)[:count]
    is_followed = (next_ns - rounds.end_ns <= (pause_ns or 0)) & (np.arange(count) < count - 1)
    return {
        "round_id": pa.array(np.arange(first, first + count), pa.int32()),
        "gpu_id": _gpu_id(owned, count),
        "number": _or_null(np.cumsum(is_main) - 1, is_main),
        "kind": pa.array([each.value for each in rounds.kind], pa.string()),
        "start_ns": pa.array(rounds.start_ns),
        "end_ns": pa.array(rounds.end_ns),
        "wall_ns": _or_null(next_ns - rounds.start_ns, is_followed),
        "is_sampled": pa.array(is_main & np.isin(rounds.start_ns, owned.sample.start_ns)),
    }


def _passes(gpu: _NumberedGpu) -> dict[str, pa.Array]:
    account, first = gpu.owned.account, gpu.first_pass
    pieces, kinds = account.pieces, account.kinds.of_piece
    count = len(kinds)
    replay_id = np.append(account.timeline.replays.replay_id, _NO_KEY)[pieces.replay]
    launch = np.append(gpu.told.launches.replays.correlation, _NO_KEY)[pieces.replay]
    return {
        "pass_id": pa.array(np.arange(first, first + count), pa.int32()),
        "gpu_id": _gpu_id(gpu.owned, count),
        "round_id": _key(account.rounds.of_piece, gpu.first_round),
        "replay_id": _key(replay_id, 0),
        "correlation_id": _key(launch, 0),
        "kind": pa.array([kind.value for kind in kinds], pa.string()),
        "phase": pa.array([phase_of_pass(account, kind) for kind in kinds], pa.string()),
        "start_ns": pa.array(pieces.start_ns),
        "end_ns": pa.array(pieces.end_ns),
        "layers": _or_null(pieces.layers, pieces.layers > 0),
        "forward_passes": pa.array(pieces.passes),
    }


def _operations(gpu: _NumberedGpu) -> dict[str, pa.Array]:
    owned, account, at = gpu.owned, gpu.owned.account, np.flatnonzero(touches(gpu.owned))
    return {
        "operation_id": pa.array(at + gpu.first_operation),
        "round_id": _key(account.rounds.of(at), gpu.first_round),
        "pass_id": _key(account.pieces.of_operation[at], gpu.first_pass),
        **_labels(owned.key[at], None),
        "inside_ns": pa.array(account.inside(owned.window)[at]),
        "exclusive_ns": pa.array(owned.parts.exclusive_ns[at]),
    }


def _segments(gpu: _NumberedGpu) -> dict[str, pa.Array]:
    owned, gaps = gpu.owned, gpu.told.gaps
    found = owned.account.segments(owned.window)
    count = len(found.start_ns)
    is_idle = found.operation < 0
    gap = np.searchsorted(gaps.start_ns, found.start_ns)
    kind = np.append(gaps.kind, np.int8(-1))[np.where(is_idle, gap, -1)]
    return {
        "gpu_id": _gpu_id(owned, count),
        "start_ns": pa.array(found.start_ns),
        "end_ns": pa.array(found.end_ns),
        **_labels(np.append(owned.key, _NO_KEY)[found.operation], kind),
        "operation_id": _key(found.operation, gpu.first_operation),
    }


def _gaps(gpu: _NumberedGpu) -> dict[str, pa.Array]:
    owned, gaps = gpu.owned, gpu.told.gaps
    thread, parts_ns = gpu.told.story.of_every_gap()
    count = len(gaps.key)
    both = gaps.key * len(GapKind) + gaps.kind
    _, first, which = np.unique(both, return_index=True, return_inverse=True)
    names = [gaps.name(at) for at in first.tolist()]
    kinds = [KIND_NAMES[GapKind(kind)] for kind in gaps.kind[first].tolist()]
    return {
        "gpu_id": _gpu_id(owned, count),
        "start_ns": pa.array(gaps.start_ns),
        "end_ns": pa.array(gaps.end_ns),
        "kind": _words(which, kinds),
        "joins": _words(which, names),
        "global_tid": _key(thread, 0),
        **{part.name: pa.array(parts_ns[:, at]) for at, part in enumerate(fields(Cause))},
    }


def _labels(key: Ids, gap_kind: npt.NDArray[np.int8] | None) -> dict[str, pa.Array]:
    """Return category, subcategory, phase and group of label-and-phase keys; -1 is idle time."""
    labels = [LABELS[label] for label in range(len(LABELS)) for _ in PHASES]
    phases = [*(phase for _ in LABELS for phase in PHASES)]
    groups = [group_of(label.category, phase) for label, phase in zip(labels, phases, strict=True)]
    idle = {kind: len(labels) + at for at, kind in enumerate(_IDLE_GROUPS)}
    group = key if gap_kind is None else np.where(key < 0, _positions(idle, gap_kind), key)
    return {
        "category": _words(key, [label.category for label in labels]),
        "subcategory": _words(key, [label.subcategory for label in labels]),
        "phase": _words(key, list(phases)),
        "report_group": _words(group, [*groups, *_IDLE_GROUPS.values()]),
    }


def _positions(of: Mapping[GapKind, int], kind: npt.NDArray[np.int8]) -> Ids:
    table = np.array([of[each] for each in sorted(of)])
    positions: Ids = table[kind]
    return positions


def _words(at: Ids, words: Sequence[str | None]) -> pa.Array:
    """Return the word at each position, NULL for negative ones."""
    return pa.array(words, pa.string()).take(_key(at, 0))


def _gpu_id(owned: OwnedTime, count: int) -> pa.Array:
    return pa.array(np.full(count, owned.account.timeline.gpu_id, np.int32))


def _key(numbers: npt.NDArray[np.integer], first: int) -> pa.Array:
    """Return keys that begin at `first`, NULL where there is none."""
    return _or_null(numbers + first, numbers >= 0)


def _or_null(values: npt.NDArray[np.integer], is_known: npt.NDArray[np.bool_]) -> pa.Array:
    return pa.array(values, pa.int64(), mask=~is_known)
