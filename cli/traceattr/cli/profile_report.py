"""The report after a recording."""

import shlex
from pathlib import Path

from traceattr.cli.calibrate import Calibrated, inflation_of
from traceattr.cli.load import choose, load_analysis_with_rows
from traceattr.cli.output import say, use_color, width, write_output
from traceattr.errors import DeploymentError, HardwareError, ModelError
from traceattr.report.render import ReportFormat, render


def print_report(
    export: Path,
    rules: Path | None,
    format_: ReportFormat,
    *,
    whole: Path | None = None,
    deployment: Path | None = None,
) -> None:
    """Print the report on what was recorded.

    Args:
        export: The export.
        rules: Rules that go before the shipped ones.
        format_: How it looks.
        whole: The export of the same load with whole graphs.
        deployment: What the server says of itself.
    """
    from traceattr.report.compared import compared
    from traceattr.report.inflation import with_inflation
    from traceattr.roofline.deployment import deployment_from_file
    from traceattr.roofline.hardware import load_gpus

    choice = choose(window="", rounds="", graph_kinds=None)
    analysis = load_analysis_with_rows(export, rules, choice)
    calibrated = Calibrated(calibrate=whole)
    inflation = inflation_of(export, rules, choice, analysis, calibrated, None, no_cache=False)
    if inflation is not None:
        analysis = with_inflation(analysis, inflation)
    comparison = None
    if deployment is not None:
        try:
            comparison = compared(analysis, deployment_from_file(deployment), load_gpus(None))
        except (DeploymentError, HardwareError, ModelError) as error:
            again = f"traceattr report {shlex.quote(str(export))} --deployment"
            say(f"note: no roofline: {error}; then: {again} {shlex.quote(str(deployment))} ...")
    text = render(
        analysis,
        format_,
        width=width(None),
        color=use_color(None),
        comparison=comparison,
        inflation=inflation,
    )
    write_output(text, None)
