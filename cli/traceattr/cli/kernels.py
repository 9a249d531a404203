"""``traceattr kernels``."""

from dataclasses import replace
from typing import Annotated

import typer

from traceattr.cli.load import choose, load_analysis
from traceattr.cli.options import (
    ForceOption,
    FormatOption,
    GraphKindOption,
    NoCacheOption,
    OutputOption,
    RoundsOption,
    RulesOption,
    TraceArgument,
    WindowOption,
)
from traceattr.cli.output import check_output, use_color, width, write_output
from traceattr.report.render import ReportFormat
from traceattr.rules.categories import UNCLASSIFIED


def kernels(
    trace: TraceArgument,
    unclassified: Annotated[
        bool, typer.Option("--unclassified", help="Only kernels that no rule matches.")
    ] = False,
    format_: FormatOption = ReportFormat.TERMINAL,
    window: WindowOption = "",
    rounds: RoundsOption = "",
    graph_kind: GraphKindOption = None,
    rules: RulesOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
    no_cache: NoCacheOption = False,
) -> None:
    """List the kernels with their category, the rule that decided it, count and time.

    Example: traceattr kernels trace.sqlite --unclassified
    """
    from traceattr.report.kernels import render_kernels

    check_output(output, force=force, inputs=(trace, rules))
    choice = choose(window=window, rounds=rounds, graph_kinds=graph_kind)
    analysis = load_analysis(trace, rules, choice, no_cache=no_cache)
    if unclassified:
        kept = tuple(k for k in analysis.kernels if k.category == UNCLASSIFIED)
        analysis = replace(analysis, kernels=kept)
    text = render_kernels(analysis, format_, width=width(output), color=use_color(output))
    write_output(text, output)
