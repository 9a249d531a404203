"""The points and roofs of a roofline plot: computed, nothing drawn.

A point is a category in a phase.  Its arithmetic intensity is that of the prediction; its three
heights, measured, expected and bound, are the same operations over three times, so they stand
above each other.  Categories that do no tensor operations, such as norms and collectives, have no
place in such a plot.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from string import ascii_uppercase

from traceattr.report.comparison import Comparison
from traceattr.roofline.hardware import GpuSpec
from traceattr.roofline.number_format import number_format
from traceattr.roofline.prediction import CategoryPrediction
from traceattr.roofline.roofline import Roofline

_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class ComputeRoof:
    """A dense peak that the deployment computes against.

    Attributes:
        number_format: Key of `GpuSpec.peak_flop_per_s`.
        flop_per_s: The peak.
    """

    number_format: str
    flop_per_s: float


@dataclass(frozen=True, slots=True)
class PlotPoint:
    """One category in one phase.

    Attributes:
        mark: A letter for the category, small in draft passes.
        phase: Phase of a round.
        category: Its name.
        flop_per_byte: Arithmetic intensity, the place on the x-axis.
        measured_flop_per_s: None in a prediction.
        expected_flop_per_s: Rate at the expected time.
        bound_flop_per_s: Rate at the bound.
    """

    mark: str
    phase: str
    category: str
    flop_per_byte: float
    measured_flop_per_s: float | None
    expected_flop_per_s: float
    bound_flop_per_s: float

    @property
    def shown_flop_per_s(self) -> float:
        """What stands for the category: measured, or expected where nothing was measured."""
        return self.measured_flop_per_s or self.expected_flop_per_s


@dataclass(frozen=True, slots=True)
class RooflinePlot:
    """What a roofline plot shows of one GPU.

    Attributes:
        gpu: Name of the GPU.
        bytes_per_s: Its datasheet bandwidth, the sloping roof.
        roofs: The flat roofs, lowest first: one for each format that any category computes in.
        points: In table order.
        is_measured: Whether points have been measured.
        left_out: Categories without a point, as they do no tensor operations.
        reason: Why nothing was measured though there is a trace; None otherwise.
    """

    gpu: str
    bytes_per_s: int
    roofs: tuple[ComputeRoof, ...]
    points: tuple[PlotPoint, ...]
    is_measured: bool
    left_out: tuple[str, ...]
    reason: str | None


def predicted_plot(roofline: Roofline, reason: str | None = None) -> RooflinePlot:
    """Return the plot of a prediction alone."""
    entries = [(entry, None) for entry in roofline.prediction.categories]
    return _plot(roofline, entries, is_measured=False, reason=reason)


def measured_plot(comparison: Comparison) -> RooflinePlot:
    """Return the plot of a trace beside its prediction.

    Without times of categories it is that of the prediction, with the reason; a category that
    the trace does not have is no point.
    """
    entries = [
        (entry.prediction, entry.measured_ns)
        for entry in comparison.categories
        if entry.prediction is not None and entry.measured_ns
    ]
    if not any(prediction.flop for prediction, _ in entries):
        reason = comparison.reason or "no category with tensor FLOP was seen in the trace"
        return predicted_plot(comparison.roofline, reason)
    return _plot(comparison.roofline, entries, is_measured=True, reason=None)


def _plot(
    roofline: Roofline,
    entries: Iterable[tuple[CategoryPrediction, int | None]],
    *,
    is_measured: bool,
    reason: str | None,
) -> RooflinePlot:
    known = list(entries)
    drawn = [(entry, measured_ns) for entry, measured_ns in known if entry.bytes and entry.flop]
    marks = dict(zip(dict.fromkeys(e.category for e, _ in drawn), ascii_uppercase, strict=False))
    rest = dict.fromkeys(e.category for e, _ in known if e.phase != "host" and not e.flop)
    return RooflinePlot(
        gpu=roofline.gpu.name,
        bytes_per_s=roofline.gpu.memory_bandwidth_bytes_per_s,
        roofs=tuple(_roofs((entry for entry, _ in drawn), roofline.gpu)),
        points=tuple(_point(entry, ns, marks[entry.category]) for entry, ns in drawn),
        is_measured=is_measured,
        left_out=tuple(name for name in rest if name not in marks),
        reason=reason,
    )


def _point(entry: CategoryPrediction, measured_ns: int | None, mark: str) -> PlotPoint:
    # Times are whole ns, of which a tiny model takes less than one.
    expected_ns, bound_ns = max(entry.expected_ns, 1), max(entry.bound_ns, 1)
    return PlotPoint(
        mark=mark.lower() if entry.phase == "draft" else mark,
        phase=entry.phase,
        category=entry.category,
        flop_per_byte=entry.flop / entry.bytes,
        measured_flop_per_s=entry.flop / measured_ns * _NS if measured_ns else None,
        expected_flop_per_s=entry.flop / expected_ns * _NS,
        bound_flop_per_s=entry.flop / bound_ns * _NS,
    )


def _roofs(entries: Iterable[CategoryPrediction], gpu: GpuSpec) -> Iterator[ComputeRoof]:
    """Yield the peak of each format that operations are done in."""
    formats = {
        gpu.format_for(number_format(term.number_format).computes_in)
        for entry in entries
        for term in entry.terms
        if term.number_format is not None and term.flop
    }
    for name in sorted(formats, key=lambda name: (gpu.peak_flop_per_s[name], name)):
        yield ComputeRoof(name, gpu.peak_flop_per_s[name])
