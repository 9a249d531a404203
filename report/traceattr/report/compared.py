"""From an analysis and what was said of its deployment to the comparison with the roofline."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from traceattr.attribution.analysis import Analysis
from traceattr.report.comparison import Comparison, compare
from traceattr.report.comparison_inputs import (
    batch_from_trace,
    contradictions,
    deployment_from_trace,
    measured_latency,
    with_trace,
)
from traceattr.report.projection import project
from traceattr.roofline.deployment import Deployment, merge
from traceattr.roofline.hardware import GpuSpec
from traceattr.roofline.roofline import build_roofline
from traceattr.roofline.what_if import Change, build_what_if


def compared(
    analysis: Analysis,
    said: Deployment,
    gpus: Sequence[GpuSpec],
    changes: Iterable[Change] = (),
) -> Comparison:
    """Return the rounds of a trace beside their roofline and alternatives to it.

    Args:
        analysis: What was measured.
        said: What flags and files say of the deployment; the trace says the rest.
        gpus: The known GPUs.
        changes: Alternatives.

    Raises:
        TraceattrError: When an input that matters is unknown, or one makes no sense.
    """
    shown = deployment_from_trace(analysis, gpus)
    shown = merge(shown, batch_from_trace(analysis, merge(said, shown)))
    known = with_trace(said, shown, analysis)
    roofline = build_roofline(known, gpus, version=analysis.version)
    if known.alpha_us is None:
        known = merge(known, measured_latency(analysis, roofline))
        roofline = build_roofline(known, gpus, version=analysis.version)
    comparison = compare(analysis, roofline, contradictions(said, shown, gpus))
    alternatives = build_what_if(known, gpus, roofline, changes).alternatives
    return replace(comparison, projections=project(comparison, analysis, alternatives))
