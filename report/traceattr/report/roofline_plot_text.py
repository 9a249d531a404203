"""What a roofline plot says in words, and how far its axes reach, for every format."""

from collections.abc import Iterator

from traceattr.report.log_axis import LogAxis
from traceattr.report.roofline_plot import ComputeRoof, PlotPoint, RooflinePlot

TERA = 1e12

X_TITLE = "FLOP/B"
Y_TITLE = "TFLOP/s"

_ROOM = 1.6
"""Factor between the outermost mark and the end of an axis."""

_ROOM_FOR_NAMES = 10
"""The same where the flat roofs are named."""


def plot_title(plot: RooflinePlot) -> str:
    """Return what stands above the plot."""
    what = "measured" if plot.is_measured else "expected"
    return f"Roofline plot ({what}, {plot.gpu})"


def x_axis(plot: RooflinePlot) -> LogAxis:
    """Return the axis of arithmetic intensity, in FLOP per byte; every ridge is on it."""
    ridges = [roof.flop_per_s / plot.bytes_per_s for roof in plot.roofs]
    values = [*(point.flop_per_byte for point in plot.points), *ridges]
    return LogAxis(min(values) / _ROOM, max(values) * _ROOM_FOR_NAMES)


def y_axis(plot: RooflinePlot) -> LogAxis:
    """Return the axis of achieved rates, in FLOP per second."""
    rates = [rate for point in plot.points for rate in rates_of(point)]
    return LogAxis(min(rates) / _ROOM, max(*rates, *(r.flop_per_s for r in plot.roofs)) * _ROOM)


def rates_of(point: PlotPoint) -> Iterator[float]:
    """Yield the heights of a point."""
    yield point.shown_flop_per_s
    yield point.expected_flop_per_s
    yield point.bound_flop_per_s


def memory_roof_text(plot: RooflinePlot) -> str:
    """Return what the sloping roof is."""
    return f"{plot.bytes_per_s / 1e9:,.0f} GB/s"


def roof_text(roof: ComputeRoof) -> str:
    """Return what a flat roof is."""
    return f"{roof.number_format} {_rate(roof.flop_per_s)}"


def point_name(point: PlotPoint) -> str:
    """Return the category, and the draft's with its phase."""
    return f"draft {point.category}" if point.phase == "draft" else point.category


def point_text(point: PlotPoint) -> str:
    """Return the figures of a point in a line."""
    figures = [f"{point.flop_per_byte:,.3g} FLOP/B"]
    if point.measured_flop_per_s is not None:
        figures.append(f"measured {_rate(point.measured_flop_per_s)}")
    figures.append(f"expected {_rate(point.expected_flop_per_s)}")
    figures.append(f"bound {_rate(point.bound_flop_per_s)} {Y_TITLE}")
    return f"{point_name(point)}: {', '.join(figures)}"


def plot_notes(plot: RooflinePlot) -> Iterator[str]:
    """Yield what the reader must know of the plot."""
    if plot.reason is not None:
        yield f"Nothing measured is shown: {plot.reason}."
    if plot.left_out:
        yield f"Without tensor FLOP, so not in the plot: {', '.join(plot.left_out)}."


def _rate(flop_per_s: float) -> str:
    value = flop_per_s / TERA
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
