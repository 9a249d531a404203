"""Which plot ``--plot`` writes: the roofline, or where alternatives were asked for, their bars."""

from traceattr.report.bar_chart_svg import bars_svg
from traceattr.report.comparison import Comparison
from traceattr.report.projection_text import projections_chart
from traceattr.report.roofline_plot import measured_plot, predicted_plot
from traceattr.report.roofline_svg import roofline_svg
from traceattr.report.svg import svg_file
from traceattr.report.what_if_text import what_if_chart
from traceattr.roofline.roofline import Roofline
from traceattr.roofline.what_if import WhatIf


def comparison_plot(comparison: Comparison) -> str:
    """Return the plot of a trace beside its prediction, as a file."""
    if comparison.projections:
        return svg_file(bars_svg(projections_chart(comparison)))
    return svg_file(roofline_svg(measured_plot(comparison)))


def prediction_plot(roofline: Roofline) -> str:
    """Return the plot of a prediction, as a file."""
    return svg_file(roofline_svg(predicted_plot(roofline)))


def what_if_plot(what_if: WhatIf) -> str:
    """Return the plot of a prediction and its alternatives, as a file."""
    return svg_file(bars_svg(what_if_chart(what_if)))
