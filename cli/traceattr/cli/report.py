"""``traceattr report``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from traceattr.cli.calibrate import Calibrated
from traceattr.cli.fleet import expand, load_fleet
from traceattr.cli.load import choose
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
    use_color,
    width,
    write_output,
)
from traceattr.cli.report_one import Wanted, report_one
from traceattr.cli.roofline_options import Served, SweepOption, WhatIfOption
from traceattr.cli.server_files import MetricsOption, ServerLogOption
from traceattr.errors import OptionError
from traceattr.report.render import DocumentFormat, ReportFormat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from traceattr.attribution.fleet_figures import Fleet
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
    paths = expand(traces)
    inputs = (*paths, rules, *served.files, server_log, metrics, calibrated.calibrate)
    check_output(output, force=force, inputs=inputs)
    check_page(format_, output)
    check_plot(plot, output, force=force, inputs=inputs)
    wanted = Wanted(
        format=format_,
        changes=_changes(what_if or (), sweep or ()),
        choice=choose(window=window, rounds=rounds, graph_kinds=graph_kind),
        rules=rules,
        said=served.known(),
        gpu_file=served.gpu_file,
        server_log=server_log,
        metrics=metrics,
        calibrated=calibrated,
        plot=plot,
        output=output,
        no_cache=no_cache,
    )
    if plot is not None and not wanted.is_compared:
        raise OptionError(f"--plot {plot}: draws the roofline (give --model, --batch, --context)")
    if len(paths) > 1 or dask is not None:
        _check_fits_several(wanted)
        fleet = load_fleet(paths, rules, wanted.choice, no_cache=no_cache, dask=dask)
        text = _fleet_text(fleet, ReportFormat(format_), rules, output)
    else:
        [trace] = paths
        text = report_one(trace, wanted)
    write_output(text, output)


def _check_fits_several(wanted: Wanted) -> None:
    """Refuse what is only known of one trace.

    Raises:
        OptionError: It was asked for.
    """
    if wanted.is_compared:
        raise OptionError("--model and what goes with it: compare one trace, not several")
    if wanted.format is DocumentFormat.HTML:
        raise OptionError("--format html: shows one trace, not several")
    if wanted.server_log or wanted.metrics or wanted.calibrated != Calibrated():
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
