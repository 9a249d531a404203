"""``traceattr rounds``."""

from typing import Annotated

import typer

from traceattr.cli.load import choose, load_rounds
from traceattr.cli.options import (
    ForceOption,
    FormatOption,
    GraphKindOption,
    NoCacheOption,
    OutputOption,
    RulesOption,
    TraceArgument,
)
from traceattr.cli.output import check_output, use_color, width, write_output
from traceattr.report.render import ReportFormat


def rounds(
    trace: TraceArgument,
    slowest: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Only the N slowest, the slowest first."),
    ] = None,
    format_: FormatOption = ReportFormat.TERMINAL,
    graph_kind: GraphKindOption = None,
    rules: RulesOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
    no_cache: NoCacheOption = False,
) -> None:
    """List the rounds with begin, length and kind, to choose --rounds of other commands from.

    Example: traceattr rounds trace.sqlite --slowest 10
    """
    from traceattr.report.rounds import render_rounds

    check_output(output, force=force, inputs=(trace, rules))
    choice = choose(window="", rounds="", graph_kinds=graph_kind)
    found = load_rounds(trace, rules, choice, no_cache=no_cache)
    text = render_rounds(
        found, format_, width=width(output), color=use_color(output), slowest=slowest
    )
    write_output(text, output)
