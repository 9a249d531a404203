"""``traceattr gaps``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from traceattr.cli.options import (
    ForceOption,
    GraphKindOption,
    OutputOption,
    RoundsOption,
    RulesOption,
    TraceArgument,
    WindowOption,
)
from traceattr.cli.output import check_output, use_color, width, write_output
from traceattr.cli.progress import progress
from traceattr.errors import OptionError
from traceattr.report.gap_view import GapView
from traceattr.report.render import ReportFormat

if TYPE_CHECKING:
    from traceattr.attribution.gap_analysis import GapChoice
    from traceattr.attribution.gap_report import GapReport


def gaps(
    trace: TraceArgument,
    by: Annotated[
        GapView,
        typer.Option(
            help="What to list: seams between forward passes, category pairs inside graphs, what"
            " the host was doing, or the longest gaps one by one."
        ),
    ] = GapView.SEAM,
    top: Annotated[
        int, typer.Option(metavar="N", min=0, help="How many single gaps, or pairs, of each GPU.")
    ] = 20,
    min_us: Annotated[
        float, typer.Option(metavar="U", min=0, help="Leave out gaps shorter than this, in us.")
    ] = 0,
    format_: Annotated[ReportFormat, typer.Option("--format", help="What to print.")] = (
        ReportFormat.TERMINAL
    ),
    window: WindowOption = "",
    rounds: RoundsOption = "",
    graph_kind: GraphKindOption = None,
    rules: RulesOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Name the idle gaps by what they join, and say what the host was doing in them.

    Example: traceattr gaps trace.sqlite --by gap --min-us 50
    """
    from traceattr.attribution.gap_analysis import GapChoice
    from traceattr.report.gaps import render_gaps

    check_output(output, force=force)
    report = load_gaps(
        trace,
        rules=rules,
        window=window,
        rounds=rounds,
        graph_kinds=graph_kind or (),
        choice=GapChoice(top=top, min_ns=round(min_us * 1000)),
    )
    text = render_gaps(report, by, format_, width=width(output), color=use_color(output))
    write_output(text, output)


def load_gaps(
    trace: Path,
    *,
    rules: Path | None,
    window: str,
    rounds: str,
    graph_kinds: Sequence[str],
    choice: "GapChoice",
) -> "GapReport":
    """Read a trace with what the host did; imports wait until here so that ``--help`` does not.

    Raises:
        TraceattrError: The trace, the rules or an option cannot be used.
    """
    from traceattr.attribution.gap_report import report_gaps
    from traceattr.attribution.kinds import parse_graph_kinds
    from traceattr.attribution.window import parse_rounds, parse_window
    from traceattr.ingest.host import load_host_ranges, load_os_calls
    from traceattr.ingest.trace import open_trace
    from traceattr.rules.rule_set import load_rules

    if window and rounds:
        raise OptionError("--window and --rounds: only one of them can be used")
    ends = parse_window(window) if window else (None, None)
    numbers = parse_rounds(rounds) if rounds else None
    kinds = parse_graph_kinds(graph_kinds)
    rule_set = load_rules(rules)
    with progress(trace.name) as step, open_trace(trace, progress=step) as loaded:
        step("reading what the host did")
        load_os_calls(loaded)
        load_host_ranges(loaded)
        step("analysing")
        return report_gaps(
            loaded, rule_set, window=ends, rounds=numbers, graph_kinds=kinds, choice=choice
        )
