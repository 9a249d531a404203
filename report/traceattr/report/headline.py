"""What one sentence says where the time went, and what another says the trace cannot tell."""

from collections.abc import Callable

from traceattr.attribution.analysis import Analysis, GpuTime, Notice
from traceattr.attribution.groups import NO_WORK
from traceattr.report.breakdown import is_idle_upper_limit
from traceattr.report.figures import count, counted, duration, share, share_range
from traceattr.report.grouped import groups_of, has_envelopes, owned_ns
from traceattr.report.round_headline import round_headline
from traceattr.rules.categories import GRAPH, GROUPS, HOST_GAPS, IN_GRAPH_GAPS, UNCLASSIFIED

IDLE_UPPER_LIMIT = "Idle time is an upper limit, as launched work is missing from the trace."
"""What to say where `is_idle_upper_limit`."""

Part = Callable[[GpuTime], int]
"""A part of one GPU's wall time, in ns."""


def headline(analysis: Analysis) -> str:
    """Return the sentence with the number that matters, without a line break.

    That is the length of a round, or else what owns most of the window.

    Shares are means over the GPUs, with the range where it is wider than the rounding; the GPUs
    of one server work at the same time, so they are never added up.
    """
    if not any(time.categories for time in analysis.per_gpu):
        return f"No GPU operation in the {duration(analysis.window.wall_ns)} of the window."
    if analysis.rounds.wall is not None:
        return round_headline(analysis, analysis.rounds.wall)
    return _window_headline(analysis)


def _window_headline(analysis: Analysis) -> str:
    largest = max(GROUPS, key=lambda group: _total(analysis, _group(group)))
    no_kernel = _total(analysis, _no_kernel)
    idle = _total(analysis, _idle)
    if 2 * no_kernel > _total(analysis, _wall) and no_kernel > 2 * idle:
        return _copies_sentence(analysis)
    if idle > _total(analysis, _group(largest)):
        return _idle_sentence(analysis, largest)
    return _group_sentence(analysis, largest)


def graph_sentence(analysis: Analysis) -> str:
    """Return how CUDA graphs were traced, and what that makes unknowable."""
    trace = analysis.trace
    traced = traced_sentence(trace.graph_trace, trace.opaque_replays)
    if not trace.unrecorded_graph_launches:
        return traced
    launches = counted(trace.unrecorded_graph_launches, "CUDA graph launch", "CUDA graph launches")
    missing = (
        f"{launches} left no GPU work in this trace, so idle time is an upper limit; re-profile "
        f"with `{_PER_NODE}`, or for a shorter time if nsys dropped events."
    )
    return missing if trace.graph_trace == "none" else f"{traced} {missing}"


def traced_sentence(graph_trace: str, opaque_replays: int) -> str:
    """Return what a way of tracing graphs shows, and what it hides."""
    return _GRAPH_SENTENCES[graph_trace].format(replays=count(opaque_replays))


def notices_below(analysis: Analysis) -> tuple[Notice, ...]:
    """Return the notices that neither the first lines nor the sections say already.

    A process without CUDA is none: that is right for helpers, and a rank is missed by its title.
    """
    return tuple(notice for notice in analysis.warnings if notice.code not in _NO_WARNINGS)


def simulated_sentence(analysis: Analysis) -> str | None:
    """Return the warning that nothing here was measured, if so."""
    simulated = analysis.trace.simulated
    return None if simulated is None else simulated_text(simulated)


def simulated_text(simulated: str) -> str:
    """Return the same for what the simulator says about itself."""
    what = simulated.rstrip(".")
    by = what.removeprefix("simulated ")
    return f"SIMULATED{':' if by == what else ''} {by}; this is not a measurement."


_NO_WARNINGS = frozenset(
    {
        "graph-mode",
        "graph-work-missing",
        "layers-differ",
        "no-rounds",
        "processes-without-cuda",
        "simulated",
        "wait-unknown",
        "window-cut",
    }
)
_PER_NODE = "nsys profile --cuda-graph-trace=node"

_GRAPH_SENTENCES = {
    "node": (
        "CUDA graphs are traced per node: every kernel in a replay is known, but such tracing "
        "slows replays down, so in-graph gaps are upper limits."
    ),
    "graph": (
        "CUDA graphs are traced as a whole ({replays} replays): categories and gaps inside them "
        f"are unknown, and rows count what ran outside; re-profile with `{_PER_NODE}`."
    ),
    "mixed": (
        "Some CUDA graphs are traced per node and some as a whole ({replays} replays): categories "
        f"and gaps inside the latter are unknown; re-profile with `{_PER_NODE}`."
    ),
    "none": (
        "No CUDA graph in this trace: all work was launched kernel by kernel, so no gap is "
        "in a graph."
    ),
}
"""Line 2 of a report for each way of tracing graphs."""


def _group_sentence(analysis: Analysis, group: str) -> str:
    subject = {
        GRAPH: "CUDA graphs traced as a whole cover",
        UNCLASSIFIED: "Kernels that no rule matches own",
    }.get(group, f"{group} owns")
    owns = f"{subject} {_of_window(analysis, _group(group))}; {_idle_words(analysis)}."
    return f"{owns[0].upper()}{owns[1:]}"


def _idle_words(analysis: Analysis) -> str:
    idle = _mean(analysis, _idle)
    if is_idle_upper_limit(analysis):
        return f"at most {idle} is idle"
    if any(map(has_envelopes, analysis.per_gpu)):
        return f"{idle} is idle outside graphs"
    return f"{idle} is idle"


def _idle_sentence(analysis: Analysis, largest: str) -> str:
    gaps = [g for g in (HOST_GAPS, IN_GRAPH_GAPS, NO_WORK) if _total(analysis, _group(g))]
    parts = [f"{_mean(analysis, _group(gap))} {gap}" for gap in gaps]
    split = f": {', '.join(parts)}" if len(gaps) > 1 else f", all of it {gaps[0]}"
    runs = f"{largest} owns {_mean(analysis, _group(largest))}"
    subject = "No recorded work" if is_idle_upper_limit(analysis) else "Nothing runs"
    return f"{subject} for {_of_window(analysis, _idle)}{split}; {runs}."


def _copies_sentence(analysis: Analysis) -> str:
    copies, idle = _mean(analysis, _only_copies), _mean(analysis, _idle)
    where = _of_window(analysis, _no_kernel)
    return f"For {where} no kernel runs: copies cover {copies}, idle {idle}."


def _of_window(analysis: Analysis, part: Part) -> str:
    """Return the mean share of a part, of what it is a share, and how far the GPUs differ."""
    gpus = counted(len(analysis.per_gpu), "GPU")
    mean = _mean(analysis, part)
    spread = share_range([(part(time), time.wall_ns) for time in analysis.per_gpu])
    differ = "" if spread == mean else f" ({spread})"
    return f"{mean} of {duration(analysis.window.wall_ns)} on {gpus}{differ}"


def _mean(analysis: Analysis, part: Part) -> str:
    return share(_total(analysis, part), _total(analysis, _wall))


def _total(analysis: Analysis, part: Part) -> int:
    return sum(map(part, analysis.per_gpu))


def _group(name: str) -> Part:
    return lambda time: next(owned_ns(g) for g in groups_of(time) if g.name == name)


def _wall(time: GpuTime) -> int:
    return time.wall_ns


def _idle(time: GpuTime) -> int:
    return time.idle.total_ns


def _no_kernel(time: GpuTime) -> int:
    return time.wall_ns - time.kernel_ns


def _only_copies(time: GpuTime) -> int:
    return time.busy_ns - time.kernel_ns
