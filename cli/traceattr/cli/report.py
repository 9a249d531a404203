"""``traceattr report``."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from traceattr.cli.calibrate import Calibrated, inflation_of
from traceattr.cli.fleet import expand, load_fleet
from traceattr.cli.load import (
    choose,
    load_analysis,
    load_analysis_with_rows,
    load_closeups,
)
from traceattr.cli.option_groups import with_option_groups
from traceattr.cli.options import (
    DaskOption,
    ForceOption,
    GraphKindOption,
    NoCacheOption,
    OutputOption,
    PlotOption,
    RoundsOption,
    RulesOption,
    TracesArgument,
    WindowOption,
    one_of,
)
from traceattr.cli.output import (
    check_output,
    check_page,
    check_plot,
    link_to,
    use_color,
    width,
    write_output,
)
from traceattr.cli.roofline_options import Served, SweepOption, WhatIfOption
from traceattr.cli.server_files import (
    MetricsOption,
    ServerLogOption,
    said_by_server,
    token_cost,
)
from traceattr.errors import DeploymentError, HardwareError, ModelError, OptionError
from traceattr.report.render import DocumentFormat, ReportFormat, render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from traceattr.attribution.analysis import Analysis
    from traceattr.attribution.fleet_figures import Fleet
    from traceattr.report.comparison import Comparison
    from traceattr.roofline.deployment import Deployment
    from traceattr.roofline.what_if import Change


@with_option_groups
def report(
    traces: TracesArgument,
    *,
    format_: Annotated[
        DocumentFormat,
        typer.Option("--format", parser=one_of(DocumentFormat), help="What to print."),
    ] = (DocumentFormat.TERMINAL),
    window: WindowOption = "",
    rounds: RoundsOption = "",
    graph_kind: GraphKindOption = None,
    rules: RulesOption = None,
    served: Served,
    server_log: ServerLogOption = None,
    metrics: MetricsOption = None,
    calibrated: Calibrated,
    what_if: WhatIfOption = None,
    sweep: SweepOption = None,
    plot: PlotOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
    no_cache: NoCacheOption = False,
    dask: DaskOption = None,
) -> None:
    """Print where each GPU's time went; with --model, beside what the hardware allows.

    Example: traceattr report trace.sqlite --format html -o report.html

    Example: traceattr report rank0.sqlite rank1.sqlite

    Example: traceattr report trace.sqlite --model Qwen3.6-27B --batch 1 --context 500

    Example: traceattr report trace.sqlite --server-log server.log

    Example: traceattr report ... --what-if gpu=H100_SXM --what-if 'remove_seam=draft->verify'
    """
    from traceattr.report.inflation import with_inflation
    from traceattr.report.token_cost import without_single_gaps
    from traceattr.roofline.deployment import Deployment, merge

    paths = expand(traces)
    inputs = (*paths, rules, *served.files, server_log, metrics, calibrated.calibrate)
    check_output(output, force=force, inputs=inputs)
    check_page(format_, output)
    check_plot(plot, output, force=force, inputs=inputs)
    changes = _changes(what_if or (), sweep or ())
    choice = choose(window=window, rounds=rounds, graph_kinds=graph_kind)
    said = served.known()
    with_roofline = replace(said, accept_length=None) != Deployment()
    is_compared = with_roofline or served.gpu_file is not None or bool(changes)
    if plot is not None and not is_compared:
        raise OptionError(f"--plot {plot}: draws the roofline (give --model, --batch, --context)")
    if len(paths) > 1 or dask is not None:
        has_more = server_log is not None or metrics is not None or calibrated != Calibrated()
        _check_fits_several(format_, is_compared=is_compared, has_more=has_more)
        fleet = load_fleet(paths, rules, choice, no_cache=no_cache, dask=dask)
        write_output(_fleet_text(fleet, ReportFormat(format_), rules, output), output)
        return
    [trace] = paths
    if format_ is DocumentFormat.HTML:
        analysis, closeups = load_closeups(trace, rules, choice, no_cache=no_cache)
    else:
        load = load_analysis_with_rows if is_compared or server_log else load_analysis
        analysis, closeups = load(trace, rules, choice, no_cache=no_cache), None
    server, from_server = said_by_server(trace, analysis, server_log, metrics)
    said = merge(said, from_server)
    comparison, why_not = None, None
    if is_compared:
        comparison = _compared(analysis, said, served.gpu_file, changes)
    elif from_server.model is not None:
        comparison, why_not = _compared_if_known(analysis, said)
    cost = token_cost(analysis, said, server, why_not)
    inflation = inflation_of(trace, rules, choice, analysis, calibrated, cost, no_cache=no_cache)
    if inflation is not None:
        analysis = with_inflation(analysis, inflation)
        cost = without_single_gaps(cost) if cost and inflation.refuses_gaps else cost
    if plot is not None and comparison is not None:
        from traceattr.report.plot_file import comparison_plot

        write_output(comparison_plot(comparison), plot)
    if closeups is None:
        text = render(
            analysis,
            ReportFormat(format_),
            width=width(output),
            color=use_color(output),
            comparison=comparison,
            plot_link=link_to(plot, output),
            token_cost=cost,
            inflation=inflation,
        )
    else:
        from traceattr.report.html import render_html

        text = render_html(analysis, closeups, comparison, cost, inflation)
    write_output(text, output)


def _check_fits_several(format_: DocumentFormat, *, is_compared: bool, has_more: bool) -> None:
    """Refuse what is only known of one trace.

    Args:
        format_: What is printed.
        is_compared: Whether a prediction stands beside the trace.
        has_more: Whether a server's own words or another recording do.

    Raises:
        OptionError: It was asked for.
    """
    if is_compared:
        raise OptionError("--model and what goes with it: compare one trace, not several")
    if format_ is DocumentFormat.HTML:
        raise OptionError("--format html: shows one trace, not several")
    if has_more:
        raise OptionError("--server-log, --metrics, --calibrate: are about one trace")


def _fleet_text(
    fleet: "Fleet", format_: ReportFormat, rules: Path | None, output: Path | None
) -> str:
    from traceattr.report.fleet_render import render_fleet
    from traceattr.rules.rule_set import load_rules

    return render_fleet(
        fleet,
        format_,
        width=width(output),
        color=use_color(output),
        rules_sha256=load_rules(rules).sha256,
    )


def _changes(what_ifs: "Sequence[str]", sweeps: "Sequence[str]") -> "tuple[Change, ...]":
    if not what_ifs and not sweeps:
        return ()
    from traceattr.roofline.deployment import KEYS
    from traceattr.roofline.what_if import TRACE_KEYS, read_changes

    return read_changes(what_ifs, sweeps, (*KEYS, *TRACE_KEYS))


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
