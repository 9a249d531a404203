"""The report on one trace: what was asked for, what was found, and the text that says it."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from traceattr.cli.calibrate import Calibrated, inflation_of
from traceattr.cli.load import load_analysis, load_analysis_with_rows, load_closeups
from traceattr.cli.output import link_to, use_color, width, write_output
from traceattr.cli.server_files import said_by_server, token_cost
from traceattr.errors import DeploymentError, HardwareError, ModelError
from traceattr.report.render import DocumentFormat, ReportFormat, render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from traceattr.attribution.analysis import Analysis
    from traceattr.attribution.choice import Choice
    from traceattr.attribution.closeup import Closeups
    from traceattr.ingest.remote.name import TracePath
    from traceattr.report.comparison import Comparison
    from traceattr.report.inflation import Inflation
    from traceattr.report.token_cost import TokenCost
    from traceattr.roofline.deployment import Deployment
    from traceattr.roofline.what_if import Change


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for.

    Attributes:
        format: What is printed.
        choice: Which part of the trace, and what its graphs are for.
        rules: Rules that go before the shipped ones.
        said: What the user says of the deployment.
        gpu_file: GPUs that the user describes.
        changes: Alternatives to compare with.
        server_log: Log of the server.
        metrics: What it says of its load.
        calibrated: How long rounds take without tracing.
        plot: Where the drawing of the roofline goes.
        output: Where the report goes.
        no_cache: Whether to keep nothing.
    """

    format: DocumentFormat
    choice: "Choice"
    rules: Path | None
    said: "Deployment"
    gpu_file: Path | None
    changes: "tuple[Change, ...]"
    server_log: Path | None
    metrics: Path | None
    calibrated: Calibrated
    plot: Path | None
    output: Path | None
    no_cache: bool

    @property
    def is_compared(self) -> bool:
        """Whether a prediction stands beside the trace."""
        from traceattr.roofline.deployment import Deployment

        has_model = replace(self.said, accept_length=None) != Deployment()
        return has_model or self.gpu_file is not None or bool(self.changes)


@dataclass(frozen=True, slots=True)
class _Findings:
    """What the report on one trace shows."""

    analysis: "Analysis"
    closeups: "Closeups | None"
    comparison: "Comparison | None"
    cost: "TokenCost | None"
    inflation: "Inflation | None"


def report_one(trace: "TracePath", wanted: Wanted) -> str:
    """Return the report on a trace; the drawing that it links to is written.

    Raises:
        TraceattrError: Something that was asked for cannot be had of it.
    """
    found = _findings(trace, wanted)
    if wanted.plot is not None and found.comparison is not None:
        from traceattr.report.plot_file import comparison_plot

        write_output(comparison_plot(found.comparison), wanted.plot)
    return _text(found, wanted)


def _findings(trace: "TracePath", wanted: Wanted) -> _Findings:
    from traceattr.report.inflation import with_inflation
    from traceattr.report.token_cost import without_single_gaps
    from traceattr.roofline.deployment import merge

    analysis, closeups = _analysed(trace, wanted)
    server, from_server = said_by_server(trace, analysis, wanted.server_log, wanted.metrics)
    said = merge(wanted.said, from_server)
    comparison, why_not = None, None
    if wanted.is_compared:
        comparison = _compared(analysis, said, wanted.gpu_file, wanted.changes)
    elif from_server.model is not None:
        comparison, why_not = _compared_if_known(analysis, said)
    cost = token_cost(analysis, said, server, why_not)
    inflation = inflation_of(
        trace,
        wanted.rules,
        wanted.choice,
        analysis,
        wanted.calibrated,
        cost,
        no_cache=wanted.no_cache,
    )
    if inflation is not None:
        analysis = with_inflation(analysis, inflation)
        cost = without_single_gaps(cost) if cost and inflation.refuses_gaps else cost
    return _Findings(analysis, closeups, comparison, cost, inflation)


def _analysed(trace: "TracePath", wanted: Wanted) -> "tuple[Analysis, Closeups | None]":
    if wanted.format is DocumentFormat.HTML:
        return load_closeups(trace, wanted.rules, wanted.choice, no_cache=wanted.no_cache)
    with_rows = wanted.is_compared or wanted.server_log
    load = load_analysis_with_rows if with_rows else load_analysis
    return load(trace, wanted.rules, wanted.choice, no_cache=wanted.no_cache), None


def _text(found: _Findings, wanted: Wanted) -> str:
    if found.closeups is not None:
        from traceattr.report.html import render_html

        return render_html(
            found.analysis, found.closeups, found.comparison, found.cost, found.inflation
        )
    return render(
        found.analysis,
        ReportFormat(wanted.format),
        width=width(wanted.output),
        color=use_color(wanted.output),
        comparison=found.comparison,
        plot_link=link_to(wanted.plot, wanted.output),
        token_cost=found.cost,
        inflation=found.inflation,
    )


def _compared(
    analysis: "Analysis", said: "Deployment", gpu_file: Path | None, changes: "Sequence[Change]"
) -> "Comparison":
    from traceattr.report.compared import compared
    from traceattr.roofline.hardware import load_gpus

    return compared(analysis, said, load_gpus(gpu_file), changes)


def _compared_if_known(
    analysis: "Analysis", said: "Deployment"
) -> "tuple[Comparison | None, str | None]":
    """Return the comparison with what a server's log says, or why there is none."""
    try:
        return _compared(analysis, said, None, ()), None
    except (DeploymentError, HardwareError, ModelError) as error:
        return None, f"no roofline beside it: {error}"
