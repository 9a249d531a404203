"""From what and with what a report was made, as pairs of a label and a text."""

from collections import Counter

from traceattr.attribution.analysis import Analysis, Diagnostic, Gpu, RulesId, TraceFacts, Window
from traceattr.report.figures import count, duration, rate
from traceattr.report.names import LIMIT, cut

_UNKNOWN = "not in this trace"
_HASH_CHARACTERS = 12
_SEVERITIES = {2: "warning", 3: "error"}


def provenance(analysis: Analysis) -> tuple[tuple[str, str], ...]:
    """Return what somebody needs to judge or repeat the numbers."""
    trace = analysis.trace
    length = "" if trace.duration_ns is None else f", {duration(trace.duration_ns)} long"
    return (
        ("trace", f"{trace.file}{length}"),
        ("GPUs", models_text(analysis)),
        *((f"GPU {gpu.gpu}", identity_text(gpu)) for gpu in analysis.gpus),
        ("window", window_text(analysis.window)),
        ("CUDA graphs", _graphs_text(trace)),
        ("driver", trace.driver_version or _UNKNOWN),
        ("nsys", _nsys_text(analysis)),
        ("rules", rules_text(analysis.rules)),
        ("traceattr", analysis.version),
    )


def provenance_line(analysis: Analysis) -> str:
    """Return the same in one line, without what is the same for every reader."""
    trace = analysis.trace
    facts = (
        trace.file,
        models_text(analysis),
        f"driver {trace.driver_version or 'unknown'}",
        f"nsys {_nsys_text(analysis)}",
        f"CUDA graphs {_graphs_text(trace)}",
        f"window {window_text(analysis.window)}",
        f"rules {rules_text(analysis.rules)}",
        f"traceattr {analysis.version}",
    )
    return "; ".join(facts)


def _nsys_text(analysis: Analysis) -> str:
    trace = analysis.trace
    return f"{trace.nsys_version or 'unknown'}, schema {trace.schema_version or 'unknown'}"


def rules_text(rules: RulesId) -> str:
    """Return which rules decided the categories."""
    return f"{rules.name} (sha256 {rules.sha256[:_HASH_CHARACTERS]})"


_GRAPHS = {
    "node": "traced per node",
    "graph": "traced as a whole",
    "mixed": "traced per node and as a whole",
    "none": "none in this trace",
}


def _graphs_text(trace: TraceFacts) -> str:
    if trace.graph_trace == "none" and trace.unrecorded_graph_launches:
        return "launched, but not traced"
    return _GRAPHS[trace.graph_trace]


def models_text(analysis: Analysis) -> str:
    """Return how many GPUs of which model there are."""
    models = Counter(map(_model, analysis.gpus))
    texts = (f"{number} x {model}" if number > 1 else model for model, number in models.items())
    return ", ".join(texts) or "none"


def _model(gpu: Gpu) -> str:
    facts = [gpu.name or "unknown model"]
    if gpu.sm_count is not None:
        facts.append(f"{gpu.sm_count} SMs")
    if gpu.memory_bandwidth_bytes_per_s is not None:
        facts.append(rate(gpu.memory_bandwidth_bytes_per_s))
    detail = f" ({', '.join(facts[1:])})" if facts[1:] else ""
    return f"{facts[0]}{' assumed' if gpu.name_from == 'assumed' else ''}{detail}"


def identity_text(gpu: Gpu) -> str:
    """Return whose GPU this is: two processes may both call theirs device 0."""
    rank = f"rank {gpu.rank} by {gpu.rank_from}, " if gpu.rank is not None else ""
    pid = f", pid {gpu.pid}" if gpu.pid is not None else ""
    process = f" {cut(gpu.process, LIMIT)}" if gpu.process else ""
    return f"{rank}device {gpu.device_id}{pid}{process}"


def window_text(window: Window) -> str:
    """Return where the window is on the trace's clock, and why it is there."""
    return f"{span_text(window)}: {window.why}"


def span_text(window: Window) -> str:
    """Return where the window is on the trace's clock, exact to the nanosecond."""
    begin, end = _seconds(window.start_ns), _seconds(window.end_ns)
    return f"{begin} s to {end} s ({duration(window.wall_ns)})"


def diagnostic_text(diagnostic: Diagnostic) -> str:
    """Return one message of nsys with how often it was recorded."""
    severity = _SEVERITIES.get(diagnostic.severity, f"severity {diagnostic.severity}")
    times = f", {count(diagnostic.count)} times" if diagnostic.count != 1 else ""
    about = f", process {diagnostic.pid}" if diagnostic.pid is not None else ""
    return f"{severity}{times}{about}: {diagnostic.text}"


def _seconds(time_ns: int) -> str:
    sign = "-" if time_ns < 0 else ""
    return f"{sign}{abs(time_ns) // 10**9}.{abs(time_ns) % 10**9:09}"
