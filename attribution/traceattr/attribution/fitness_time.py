"""Whether a capture was made at the right time, for long enough, and slowed nothing down."""

from collections.abc import Iterator

from traceattr.attribution.analysis import Analysis
from traceattr.attribution.fitness_facts import Contents, percent, record
from traceattr.checks import Check, failed, passed, warned
from traceattr.ingest.export_format import shell_word
from traceattr.ingest.trace import Trace

ENOUGH_ROUNDS = 30
"""Rounds below which a 99th percentile is the slowest round and little else."""

INFLATION_LIMIT = 0.1
"""Share of gaps in graphs from which on tracing may have changed what is measured."""

_EARLY_LIMIT = 0.01
_NS_PER_S = 1_000_000_000


def check_time(trace: Trace, analysis: Analysis, contents: Contents) -> Iterator[Check]:
    """Yield the checks about when and how long was recorded."""
    yield _start_up(analysis, contents)
    yield _rounds(analysis)
    yield _inflation(trace, analysis)
    yield _clocks(contents)
    yield _wall_clock(trace)


def _start_up(analysis: Analysis, contents: Contents) -> Check:
    code = "start-up"
    if contents.instantiations:
        steady_ns = analysis.window.wall_ns
        text = (
            f"The capture began before CUDA graphs were instantiated"
            f" ({contents.instantiations:,} calls), so it holds start-up: the steady part is"
            f" {steady_ns / _NS_PER_S:.1f} s of {contents.span_ns / _NS_PER_S:.1f} s."
        )
        return warned(code, text, record(delay_s=300))
    if contents.unlinked_replays:
        return passed(
            code,
            f"Graphs were instantiated before the capture, as they should be;"
            f" {contents.unlinked_replays:,} replays were matched to their launches by order.",
        )
    return passed(code, "No CUDA graph was instantiated in the capture: it holds no start-up.")


def _rounds(analysis: Analysis) -> Check:
    code, rounds = "rounds", analysis.rounds
    if rounds.kind == "none" or rounds.wall is None:
        return warned(code, f"No rounds: {rounds.why or 'none is whole'}.", record())
    if rounds.sampled >= ENOUGH_ROUNDS:
        return passed(code, f"Rounds: {rounds.sampled:,}, enough for a 99th percentile.")
    needed_s = -(-2 * ENOUGH_ROUNDS * rounds.wall.median // _NS_PER_S)
    return warned(
        code,
        f"Rounds: {rounds.sampled:,}; a 99th percentile needs {ENOUGH_ROUNDS}.",
        record(duration_s=max(5, needed_s)),
    )


def _inflation(trace: Trace, analysis: Analysis) -> Check:
    """Say how much tracing can have slowed replays: per node, it lengthens the gaps in them."""
    code = "inflation"
    if analysis.trace.graph_trace not in ("node", "mixed"):
        return passed(code, "Graphs were not traced per node, which would slow them down.")
    gaps_ns = sum(time.idle.in_graph_ns or 0 for time in analysis.per_gpu)
    wall_ns = sum(time.wall_ns for time in analysis.per_gpu)
    text = (
        f"Gaps in graphs are {percent(gaps_ns, wall_ns)} of the time. Tracing per node lengthens"
        " them: they are an upper limit of what replays idle without it. By how much rounds are"
        " longer, a trace of whole graphs tells:"
        f" traceattr report {shell_word(trace.export.path)} --calibrate WHOLE.sqlite"
    )
    if gaps_ns <= INFLATION_LIMIT * wall_ns:
        return passed(code, text)
    return warned(
        code,
        text,
        record(graphs="graph"),
    )


def _clocks(contents: Contents) -> Check:
    code = "clocks"
    if not contents.launched:
        return warned(code, "No launch is known, so the clocks of host and GPU cannot be compared.")
    if not contents.early:
        return passed(code, "No operation begins before its launch: host and GPU clocks agree.")
    text = (
        f"{contents.early:,} of {contents.launched:,} operations begin before the call that"
        f" launched them, by up to {contents.early_ns:,} ns: host and GPU clocks do not agree, and"
        " neither do the causes of gaps."
    )
    is_much = contents.early > _EARLY_LIMIT * contents.launched
    return (failed if is_much else warned)(code, text, record())


def _wall_clock(trace: Trace) -> Check:
    code, capture = "wall-clock", trace.capture
    if capture.time_shift_ns:
        return warned(
            code,
            f"The export shifted every time by {capture.time_shift_ns:,} ns (--ts-shift); logs of"
            " the server are matched without it.",
            "nsys export --type sqlite REPORT.nsys-rep",
        )
    if capture.is_time_normalised or capture.utc_epoch_ns is not None:
        return passed(code, "When the recording was made is known: logs can be matched to it.")
    return warned(code, "When the recording was made is not known: logs cannot be matched to it.")
