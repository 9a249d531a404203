"""``traceattr gaps``."""

from typing import Annotated

import typer

from traceattr.cli.load import choose, load_gaps
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
    finite,
    one_of,
)
from traceattr.cli.output import check_output, use_color, width, write_output
from traceattr.report.gap_view import GapView
from traceattr.report.render import ReportFormat


def gaps(
    trace: TraceArgument,
    by: Annotated[
        GapView,
        typer.Option(
            parser=one_of(GapView),
            help="What to list: seams between forward passes, category pairs inside graphs, what"
            " the host was doing, or the longest gaps one by one.",
        ),
    ] = GapView.SEAM,
    top: Annotated[
        int, typer.Option(metavar="N", min=0, help="How many single gaps, or pairs, of each GPU.")
    ] = 20,
    min_us: Annotated[
        float,
        typer.Option(
            callback=finite, metavar="U", min=0, help="Leave out gaps shorter than this, in us."
        ),
    ] = 0,
    format_: FormatOption = ReportFormat.TERMINAL,
    window: WindowOption = "",
    rounds: RoundsOption = "",
    graph_kind: GraphKindOption = None,
    rules: RulesOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
    no_cache: NoCacheOption = False,
) -> None:
    """Name the idle gaps by what they join, and say what the host was doing in them.

    Example: traceattr gaps trace.sqlite --by gap --min-us 50
    """
    from traceattr.attribution.gap_analysis import GapChoice
    from traceattr.report.gaps import render_gaps

    check_output(output, force=force, inputs=(trace, rules))
    choice = choose(window=window, rounds=rounds, graph_kinds=graph_kind)
    wanted = GapChoice(top=top, min_ns=round(min_us * 1000))
    report = load_gaps(trace, rules, choice, wanted, no_cache=no_cache)
    text = render_gaps(report, by, format_, width=width(output), color=use_color(output))
    write_output(text, output)
