"""From a loaded trace to the analysis that every report shows."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from types import MappingProxyType

import duckdb

from traceattr.attribution.account import Account, open_account
from traceattr.attribution.analysis import (
    Analysis,
    Diagnostic,
    Gpu,
    GraphTrace,
    KernelTime,
    RulesId,
    TraceFacts,
    Window,
)
from traceattr.attribution.collectives import communication
from traceattr.attribution.completeness import completeness_by_process
from traceattr.attribution.gap_analysis import gap_analysis
from traceattr.attribution.gpu_time import gpu_time, own_time
from traceattr.attribution.kinds import PieceKind
from traceattr.attribution.labels import KernelNames, classify_kernels
from traceattr.attribution.layers import find_layers
from traceattr.attribution.notices import Found, notices
from traceattr.attribution.per_round import sample_rounds
from traceattr.attribution.round_summary import summarise_rounds
from traceattr.attribution.steady import (
    Steady,
    find_steady,
    leader_of,
    main_kind,
    pause_length,
    window_of_rounds,
)
from traceattr.attribution.window import RoundsOption, WindowOption, choose_window
from traceattr.ingest.database import read_sql
from traceattr.ingest.identity import ProcessGpu, pid_of
from traceattr.ingest.trace import Trace
from traceattr.rules.rule_set import RuleSet


def analyze(
    trace: Trace,
    rules: RuleSet,
    *,
    window: WindowOption = (None, None),
    rounds: RoundsOption | None = None,
    graph_kinds: Mapping[int, PieceKind] = MappingProxyType({}),
) -> Analysis:
    """Return where each nanosecond of each GPU went.

    Args:
        trace: The loaded trace.
        rules: What decides categories.
        window: The part to look at, the steady part when both ends are None.
        rounds: The rounds to look at, instead of a window.
        graph_kinds: What graphs are for, by id, where the user knows better.

    Raises:
        OptionError: The window or the rounds lie outside what was recorded.
    """
    names = classify_kernels(trace.connection, rules)
    accounts = [
        open_account(trace.connection, gpu.gpu_id, names, graph_kinds) for gpu in trace.gpus
    ]
    steady = _steady(trace, accounts, window, rounds)
    chosen = steady.window
    facts = _facts(trace)
    opaque = _gpus_with_hidden_gaps(trace)
    completeness = completeness_by_process(trace.work, facts.diagnostics)
    owned = [
        own_time(
            account,
            chosen,
            sample_rounds(account, chosen, main_kind(account), steady.pause_ns),
            pause_ns=steady.pause_ns,
            hides_gaps=gpu.gpu_id in opaque,
            completeness=completeness.get(gpu.global_pid, "unknown"),
        )
        for account, gpu in zip(accounts, trace.gpus, strict=True)
    ]
    per_gpu = tuple(map(gpu_time, owned))
    gpus = tuple(map(_gpu, trace.gpus))
    ranks = communication(accounts, gpus, chosen)
    layers = tuple(find_layers(account, names, chosen) for account in accounts)
    summary = summarise_rounds(owned, steady)
    return Analysis(
        version=version("traceattr"),
        rules=RulesId(rules.name, rules.sha256),
        trace=facts,
        gpus=gpus,
        window=chosen,
        rounds=summary,
        per_gpu=per_gpu,
        gaps=gap_analysis(trace, owned),
        ranks=ranks,
        layers=layers,
        kernels=kernel_times(trace.connection, chosen, names),
        warnings=notices(trace, Found(facts, summary, per_gpu, ranks, layers)),
    )


def _steady(
    trace: Trace, accounts: Sequence[Account], window: WindowOption, rounds: RoundsOption | None
) -> Steady:
    if rounds is not None:
        return window_of_rounds(accounts, rounds)
    chosen = choose_window(trace.connection, window)
    if window == (None, None):
        return find_steady(accounts, chosen)
    return Steady(chosen, pause_length(leader_of(accounts)), ())


def kernel_times(
    connection: duckdb.DuckDBPyConnection, window: Window, names: KernelNames
) -> tuple[KernelTime, ...]:
    """Return every kernel name in the window, longest time per GPU first."""
    rows = connection.execute(
        read_sql("traceattr.attribution", "kernel_times"),
        {"start_ns": window.start_ns, "end_ns": window.end_ns},
    ).fetchall()
    return tuple(
        KernelTime(
            name=names.names[name_id],
            category=names.classifications[name_id].category,
            subcategory=names.classifications[name_id].subcategory,
            rule=names.classifications[name_id].rule,
            gpus=gpus,
            operations=operations,
            total_ns=total_ns,
            median_ns=median_ns,
        )
        for name_id, gpus, operations, total_ns, median_ns in rows
    )


def _facts(trace: Trace) -> TraceFacts:
    capture = trace.capture
    by_node, opaque = _replay_counts(trace.connection)
    return TraceFacts(
        file=capture.file,
        nsys_version=capture.nsys_version,
        schema_version=capture.schema_version,
        graph_trace=_graph_trace(trace, by_node=by_node),
        opaque_replays=opaque,
        unrecorded_graph_launches=sum(w.graph_launches_without_work for w in trace.work),
        duration_ns=capture.duration_ns,
        driver_version=capture.driver_version,
        simulated=capture.simulated,
        diagnostics=_diagnostics(trace.connection),
    )


def _replay_counts(connection: duckdb.DuckDBPyConnection) -> tuple[int, int]:
    """Return how many replays were traced per node, and how many as an envelope only."""
    rows = dict(
        connection.execute("SELECT traced, count(*) FROM replay GROUP BY traced").fetchall()
    )
    return rows.get("node", 0), rows.get("graph", 0)


def _graph_trace(trace: Trace, *, by_node: int) -> GraphTrace:
    """Say which kinds of rows graphs left, whether or not the same replay left both."""
    envelopes = trace.oddities.envelopes
    if by_node and envelopes:
        return "mixed"
    if by_node:
        return "node"
    return "graph" if envelopes else "none"


def _gpus_with_hidden_gaps(trace: Trace) -> frozenset[int]:
    """Return the GPUs on which graphs ran whose nodes are not in the trace."""
    rows = trace.connection.execute(
        "SELECT DISTINCT gpu_id FROM replay WHERE traced = 'graph'"
    ).fetchall()
    losing = {w.global_pid for w in trace.work if w.graph_launches_without_work}
    lost = (gpu.gpu_id for gpu in trace.gpus if gpu.global_pid in losing)
    return frozenset(gpu_id for (gpu_id,) in rows) | frozenset(lost)


def _diagnostics(connection: duckdb.DuckDBPyConnection) -> tuple[Diagnostic, ...]:
    rows = connection.execute(read_sql("traceattr.attribution", "diagnostics")).fetchall()
    return tuple(
        Diagnostic(severity, text, count, None if global_pid is None else pid_of(global_pid))
        for severity, text, count, global_pid in rows
    )


def _gpu(gpu: ProcessGpu) -> Gpu:
    return Gpu(
        gpu=gpu.gpu_id,
        pid=gpu.pid,
        process=gpu.process_name,
        device_id=gpu.device_id,
        rank=gpu.rank,
        rank_from=gpu.rank_from,
        name=gpu.name,
        name_from=gpu.name_from,
        sm_count=gpu.sm_count,
        memory_bandwidth_bytes_per_s=gpu.memory_bandwidth_bytes_per_s,
    )
