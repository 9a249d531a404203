"""Where the figures of one category come from, as steps that can be checked by hand."""

from collections.abc import Iterator
from dataclasses import dataclass

from traceattr.errors import OptionError
from traceattr.roofline.calibration import (
    GRAPH_LAUNCH_NS,
    HOST_SOURCE,
    IN_GRAPH_GAP_NS,
    IN_GRAPH_GAP_SOURCE,
    KERNEL_COSTS,
    PEAK_FLOP_RATIO,
    SCHEDULER_NS,
    KernelKind,
    collective_fit,
)
from traceattr.roofline.durations import (
    Limit,
    bandwidth_ratio,
    floor_ns,
    least_ns,
    moving_ns,
)
from traceattr.roofline.hardware import GpuSpec
from traceattr.roofline.number_format import number_format
from traceattr.roofline.prediction import CategoryPrediction
from traceattr.roofline.roofline import Roofline
from traceattr.roofline.work import Term
from traceattr.rules.categories import IN_GRAPH_GAPS


@dataclass(frozen=True, slots=True)
class Step:
    """One term with its times.

    Attributes:
        term: The term.
        limits: What each limit of the hardware takes for it, in ns per round.
        rates: The rates behind ``limits``, in words.
        floor_ns: Launch floors or collective latency, per round.
        moving_ns: Expected time for moving and computing, per round.
        calibration: How the expected time is made, in words.
        calibration_source: Where its figures are from.
    """

    term: Term
    limits: tuple[tuple[Limit, float], ...]
    rates: str
    floor_ns: float
    moving_ns: float
    calibration: str
    calibration_source: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """One category in one phase.

    Attributes:
        entry: Its prediction.
        steps: A step for each term.
        notes: What explains a category without terms.
        sources: Where the numbers of the GPU are from, by name.
    """

    entry: CategoryPrediction
    steps: tuple[Step, ...]
    notes: tuple[str, ...]
    sources: tuple[tuple[str, str], ...]


def explain(roofline: Roofline, category: str) -> tuple[Explanation, ...]:
    """Return the explanation of a category in each phase that has it.

    Raises:
        OptionError: When the prediction has no such category.
    """
    entries = roofline.prediction.categories
    found = [entry for entry in entries if entry.category == category]
    if not found:
        known = ", ".join(dict.fromkeys(entry.category for entry in entries))
        raise OptionError(f"--explain {category}: not in this prediction (expected one of {known})")
    return tuple(_explanation(entry, roofline) for entry in found)


def _explanation(entry: CategoryPrediction, roofline: Roofline) -> Explanation:
    gpu = roofline.gpu
    notes = () if entry.terms else tuple(_host_notes(entry, roofline))
    sources = tuple(_sources(entry, gpu)) if entry.terms else ()
    return Explanation(entry, tuple(_step(term, gpu) for term in entry.terms), notes, sources)


def _step(term: Term, gpu: GpuSpec) -> Step:
    limits = least_ns([term], gpu)
    calibration, source = _calibration(term, gpu)
    return Step(
        term=term,
        limits=tuple((name, value) for name, value in limits.items() if value),
        rates=", ".join(_rates(term, gpu)),
        floor_ns=floor_ns(term, gpu),
        moving_ns=moving_ns(term, gpu),
        calibration=calibration,
        calibration_source=source,
    )


def _rates(term: Term, gpu: GpuSpec) -> Iterator[str]:
    if term.message is not None:
        rate = gpu.link_bandwidth_bytes_per_s / 1e9
        received = f"{term.count} x {term.message.received_bytes:,} B received"
        yield f"{received} at {rate:g} GB/s ({gpu.link})"
    if term.bytes:
        yield f"{term.total_bytes:,} B at {gpu.memory_bandwidth_bytes_per_s / 1e9:g} GB/s"
    if term.flop and term.number_format is not None:
        peak = gpu.peak_for(number_format(term.number_format).computes_in) / 1e12
        yield f"{term.total_flop:,} FLOP at {peak:g} TFLOP/s"


def _calibration(term: Term, gpu: GpuSpec) -> tuple[str, str]:
    """Return how the expected time is made, and from which source."""
    if term.message is not None:
        fit = collective_fit(gpu.link, gpu.architecture, term.message.ranks)
        is_given = term.floor_ns is not None
        alpha = (fit.alpha_ns if term.floor_ns is None else term.floor_ns) / 1e3
        beta, size = fit.bytes_per_s / 1e9, term.message.size_bytes
        source = f"alpha: alpha_us; beta: {fit.source}" if is_given else fit.source
        return f"{term.count} x ({alpha:g} us + {size:,} B / {beta:g} GB/s)", source
    cost = KERNEL_COSTS[term.kind]
    floor = cost.floor_ns if term.floor_ns is None else term.floor_ns
    text = f"{term.total_launches:,} x {floor / 1e3:g} us + the larger of bytes at"
    text += f" {bandwidth_ratio(term.kind, gpu):g} of bandwidth and FLOP at {PEAK_FLOP_RATIO:g}"
    source = cost.source
    if term.kind is KernelKind.GEMM:
        source += f"; {gpu.name}: {gpu.sources['bandwidth_efficiency']}"
    return f"{text} of peak", source


def _sources(entry: CategoryPrediction, gpu: GpuSpec) -> Iterator[tuple[str, str]]:
    names = ["memory_bandwidth_bytes_per_s"]
    if entry.flop:
        names.append("peak_flop_per_s")
    if any(term.message for term in entry.terms):
        names = ["link_bandwidth_bytes_per_s"]
    for name in names:
        yield name, gpu.sources[name]


def _host_notes(entry: CategoryPrediction, roofline: Roofline) -> Iterator[str]:
    """Yield what explains a kind of gap: a bound has none."""
    if entry.category == IN_GRAPH_GAPS:
        launches = sum(other.launches for other in roofline.prediction.categories)
        yield f"expected: {launches:,} kernels x {IN_GRAPH_GAP_NS / 1e3:g} us"
        yield f"source: {IN_GRAPH_GAP_SOURCE}"
        return
    graphs = (entry.expected_ns - SCHEDULER_NS) // GRAPH_LAUNCH_NS
    launch, scheduler = GRAPH_LAUNCH_NS / 1e3, SCHEDULER_NS / 1e3
    yield f"expected: {graphs} graph launches x {launch:g} us + {scheduler:g} us of scheduling"
    yield f"source: {HOST_SOURCE}"
