"""Whether a capture is fit for attribution, check by check, and what to record differently."""

from collections.abc import Iterator

import duckdb

from traceattr.attribution.analysis import Analysis
from traceattr.attribution.completeness import LOST_EVENTS
from traceattr.attribution.fitness_facts import Contents, busy_ns, category_ns, percent, record
from traceattr.attribution.fitness_names import check_names
from traceattr.attribution.fitness_time import check_time
from traceattr.checks import Check, failed, passed, warned
from traceattr.ingest.capture import (
    NEWEST_KNOWN_SCHEMA,
    OLDEST_KNOWN_SCHEMA,
    Capture,
    read_capture,
    schema_of,
)
from traceattr.ingest.database import read_sql
from traceattr.ingest.diagnostics import NoGpuWorkError
from traceattr.ingest.export import Export
from traceattr.ingest.export_format import shell_word
from traceattr.ingest.trace import Trace
from traceattr.rules.categories import COMMUNICATION, GRAPH
from traceattr.rules.rule_set import RuleSet

_WRONG_ORDER = "Wrong event order"


def check_trace(
    trace: Trace, analysis: Analysis, rules: RuleSet, expected: frozenset[str] | None
) -> tuple[Check, ...]:
    """Return every check of a trace; its OS calls and NVTX ranges must be loaded.

    Args:
        trace: The trace.
        analysis: What was found in it.
        rules: The rules that classified its kernels.
        expected: Categories that the model runs in every round, None when it is not known.
    """
    [row] = trace.connection.execute(read_sql("traceattr.attribution", "fitness")).fetchall()
    contents = Contents(*row)
    return (
        _cuda_events(analysis),
        _graphs(trace, analysis),
        _ranks(trace, analysis),
        _dropped(trace, analysis),
        *check_time(trace, analysis, contents),
        *_host_story(contents),
        check_schema(trace.capture),
        *_rows(trace),
        _hardware(trace),
        *check_names(trace, analysis, rules, expected),
    )


def check_without_work(
    connection: duckdb.DuckDBPyConnection, export: Export, error: NoGpuWorkError
) -> tuple[Check, ...]:
    """Return what can be checked of an export that has nothing on any GPU."""
    said = connection.execute(
        "SELECT DISTINCT text FROM diagnostic WHERE severity IN (2, 3) ORDER BY text"
    ).fetchall()
    found = failed(
        "cuda-events", f"No CUDA events: {error.why}.", record(), tuple(text for (text,) in said)
    )
    return found, check_schema(read_capture(export))


def _cuda_events(analysis: Analysis) -> Check:
    operations = sum(row.operations for time in analysis.per_gpu for row in time.categories)
    return passed("cuda-events", f"The window holds {operations:,} GPU operations.")


def _graphs(trace: Trace, analysis: Analysis) -> Check:
    code, facts = "graph-mode", analysis.trace
    launches = sum(work.graph_launches for work in trace.work)
    if facts.unrecorded_graph_launches > 0.01 * launches:
        return failed(
            code,
            f"{facts.unrecorded_graph_launches:,} of {launches:,} CUDA graph launches left no GPU"
            " work: what they ran looks idle.",
            record(),
        )
    if facts.opaque_replays:
        hidden_ns, whole_ns = category_ns(analysis, {GRAPH}), busy_ns(analysis)
        text = (
            f"{facts.opaque_replays:,} graph replays were traced as a whole: the kernels in them,"
            f" {percent(hidden_ns, whole_ns)} of busy time, are unknown."
        )
        return (failed if hidden_ns * 2 > whole_ns else warned)(code, text, record())
    if facts.graph_trace == "none":
        return passed(code, "No CUDA graph was launched: every kernel is known.")
    return passed(code, "CUDA graphs are traced per node: every kernel in them is known.")


def _ranks(trace: Trace, analysis: Analysis) -> Check:
    code = "ranks"
    remedy = record()
    if trace.silent_ranks:
        names = ", ".join(trace.silent_ranks)
        return failed(code, f"Ranks without any GPU work in the trace: {names}.", remedy)
    titled = (gpu.rank for gpu in analysis.gpus if gpu.rank_from == "process title")
    known = {rank for rank in titled if rank is not None}
    missing = set(range(max(known, default=-1) + 1)) - known
    if missing:
        names = ", ".join(map(str, sorted(missing)))
        return failed(code, f"Ranks that other ranks imply are not in the trace: {names}.", remedy)
    if len(analysis.gpus) == 1 and category_ns(analysis, {COMMUNICATION}):
        return warned(
            code,
            "Collectives run, but only one GPU is in the trace: other ranks were not recorded, or"
            " are in files of their own.",
            remedy,
        )
    return passed(code, f"No rank that the trace names is missing; GPUs: {len(analysis.gpus)}.")


def _dropped(trace: Trace, analysis: Analysis) -> Check:
    code = "dropped-events"
    lost = [
        each.text
        for each in analysis.trace.diagnostics
        if each.text.startswith((*LOST_EVENTS, _WRONG_ORDER))
    ]
    remedy = record(duration_s=2)
    if lost:
        return failed(code, "nsys says that it lost events.", remedy, tuple(lost))
    incomplete = [t.gpu for t in analysis.per_gpu if t.idle.completeness == "incomplete"]
    if incomplete:
        return warned(
            code,
            f"{_unmatched(trace)}: the capture was cut or events were dropped, so idle time is an"
            " upper limit.",
            remedy,
        )
    if any(time.idle.completeness == "unknown" for time in analysis.per_gpu):
        return warned(
            code, "The trace holds no launches, so what is missing cannot be told.", record()
        )
    return passed(code, "What was launched was recorded.")


def _unmatched(trace: Trace) -> str:
    """Return how many kernels lack their launch, and launches of graphs their work."""
    orphans = sum(work.kernels_without_launch for work in trace.work)
    fruitless = sum(work.graph_launches_without_work for work in trace.work)
    parts = (
        (orphans, sum(work.kernels for work in trace.work), "kernels have no launching call"),
        (fruitless, sum(work.graph_launches for work in trace.work), "graph launches left no work"),
    )
    return " and ".join(f"{count:,} of {whole:,} {what}" for count, whole, what in parts if count)


def _host_story(contents: Contents) -> Iterator[Check]:
    if contents.os_calls:
        yield passed("os-calls", f"{contents.os_calls:,} operating-system calls are recorded.")
    else:
        yield warned(
            "os-calls",
            "OS calls were not recorded: a host that waits looks like one that computes.",
            record(traced="cuda,nvtx,osrt"),
        )
    if contents.host_ranges:
        yield passed("nvtx", f"{contents.host_ranges:,} NVTX ranges are recorded.")
    else:
        yield warned(
            "nvtx",
            "No NVTX ranges: gaps cannot be named after what SGLang's scheduler was doing.",
            f"SGLANG_ENABLE_NVTX_SCHEDULER=1 {record()}",
        )


def check_schema(capture: Capture) -> Check:
    """Return whether the export is of a kind that is known."""
    code, found = "schema", schema_of(capture.schema_version)
    name = f"schema {capture.schema_version} of nsys {capture.nsys_version or 'unknown'}"
    if found is None:
        return warned(code, "The export does not say its schema version; it was read by column.")
    if found > NEWEST_KNOWN_SCHEMA:
        newest = ".".join(map(str, NEWEST_KNOWN_SCHEMA))
        return warned(
            code,
            f"The export, {name}, is newer than the newest known schema, {newest}; it was read by"
            " column.",
            "python -m pip install --upgrade traceattr",
        )
    if found < OLDEST_KNOWN_SCHEMA:
        return warned(code, f"The export, {name}, writes 0 for what is missing.")
    if capture.is_partial:
        return warned(
            code,
            "The export left out tables or times (--tables, --times).",
            "nsys export --type sqlite REPORT.nsys-rep",
        )
    return passed(code, f"The export is of a known kind: {name}.")


def _rows(trace: Trace) -> Iterator[Check]:
    odd = trace.oddities
    again = "nsys export --type sqlite --force-overwrite true REPORT.nsys-rep"
    if odd.damaged:
        tables = ", ".join(odd.damaged)
        yield failed("rows", f"Tables are damaged and were left out: {tables}.", again)
        return
    counts = {
        "without times": odd.without_times,
        "ending before they begin": odd.ending_before_start,
        "without a process or device": odd.without_owner,
        "values that are no numbers": odd.unreadable,
    }
    found = tuple(f"{count:,} {what}" for what, count in counts.items() if count)
    if found:
        yield warned("rows", "Some rows could not be taken as they are.", again, found)
    else:
        yield passed("rows", "Every row of GPU work could be read.")


def _hardware(trace: Trace) -> Check:
    code = "gpu-model"
    if any(gpu.name is None for gpu in trace.gpus):
        file = shell_word(trace.export.path)
        return warned(
            code,
            "The trace does not say which GPU this is (usual in containers); predictions need it.",
            f"traceattr report {file} --model MODEL --gpu GPU",
        )
    names = ", ".join(sorted({gpu.name for gpu in trace.gpus if gpu.name}))
    return passed(code, f"The GPUs are known: {names}.")
