"""``traceattr report``."""

from typing import Annotated

import typer

from traceattr.cli.load import choose, load_analysis
from traceattr.cli.options import (
    ForceOption,
    GraphKindOption,
    OutputOption,
    RoundsOption,
    RulesOption,
    TraceArgument,
    WindowOption,
    one_of,
)
from traceattr.cli.output import check_output, use_color, width, write_output
from traceattr.report.render import ReportFormat, render


def report(
    trace: TraceArgument,
    format_: Annotated[
        ReportFormat, typer.Option("--format", parser=one_of(ReportFormat), help="What to print.")
    ] = (ReportFormat.TERMINAL),
    window: WindowOption = "",
    rounds: RoundsOption = "",
    graph_kind: GraphKindOption = None,
    rules: RulesOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Print where each GPU's time went.

    Example: traceattr report trace.sqlite --format markdown -o report.md
    """
    check_output(output, force=force, inputs=(trace, rules))
    choice = choose(window=window, rounds=rounds, graph_kinds=graph_kind)
    analysis = load_analysis(trace, rules, choice)
    text = render(analysis, format_, width=width(output), color=use_color(output))
    write_output(text, output)
