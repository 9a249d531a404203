"""``traceattr diff``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from traceattr.cli.baseline import DirectoryOption, baselines_directory
from traceattr.cli.load import choose, load_stored_or_trace
from traceattr.cli.option_groups import with_option_groups
from traceattr.cli.options import (
    ForceOption,
    OutputOption,
    RoundsOption,
    RulesOption,
    TypedTrace,
    named_file,
    one_of,
)
from traceattr.cli.output import check_output, check_page, use_color, width, write_output
from traceattr.cli.roofline_options import Served
from traceattr.errors import OptionError
from traceattr.ingest.remote.name import TracePath, trace_path
from traceattr.report.diff.formats import DiffFormat

if TYPE_CHECKING:
    from traceattr.attribution.analysis import Analysis
    from traceattr.report.comparison import Comparison
    from traceattr.report.diff.gates import Judgement
    from traceattr.roofline.deployment import Deployment


@with_option_groups
def diff(
    traces: Annotated[
        list[TypedTrace],
        typer.Argument(
            parser=trace_path,
            metavar="[BASE] HEAD",
            help="The trace before and the trace after: exports as for `traceattr report`, or files"
            " that `traceattr baseline save` wrote. BASE is left out with --against.",
            show_default=False,
        ),
    ],
    *,
    against: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Compare with this baseline.", show_default=False),
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GATE",
            help="Exit with 1 when a part of the round became longer by more than this and by more"
            " than noise: 'weight_gemm>2%', 'draft/weight_gemm>2%', 'round>1%',"
            " 'seam:verify->draft_extend>20us', 'graph_launches>0'. Exit with 2 when that cannot be"
            " told. Repeat it for more gates.",
            show_default=False,
        ),
    ] = None,
    advisory: Annotated[
        bool, typer.Option("--advisory", help="Say what gates find, but exit with 0.")
    ] = False,
    format_: Annotated[
        DiffFormat, typer.Option("--format", parser=one_of(DiffFormat), help="What to print.")
    ] = (DiffFormat.TERMINAL),
    rounds: RoundsOption = "",
    rules: RulesOption = None,
    served: Served,
    directory: DirectoryOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Say what changed in a round from one trace to another, and what is noise.

    Example: traceattr diff before.sqlite after.sqlite --fail-on 'round>1%'

    Example: traceattr diff --against main after.sqlite --format markdown -o diff.md
    """
    from traceattr.report.diff.diff import compare_analyses
    from traceattr.report.diff.gates import judge, parse_gates
    from traceattr.report.diff.render import DiffReport, render_diff

    check_page(format_, output)
    base, head = _sides(traces, against, baselines_directory(directory))
    check_output(output, force=force, inputs=(base, head, rules, *served.files))
    gates = parse_gates(fail_on or ())
    choice = choose(window="", rounds=rounds, graph_kinds=None)
    said = served.known()
    found = compare_analyses(
        load_stored_or_trace(base, rules, choice), load_stored_or_trace(head, rules, choice)
    )
    comparison = _compared(found.head, said, served.gpu_file)
    judgements = judge(gates, found)
    report = DiffReport(found, judgements, advisory, comparison)
    text = render_diff(report, format_, width=width(output), color=use_color(output))
    write_output(text, output)
    _exit(judgements, advisory=advisory)


def _sides(
    traces: Sequence[TracePath], against: str | None, directory: Path
) -> tuple[TracePath, TracePath]:
    """Return the files to compare.

    Raises:
        OptionError: There are more or fewer than two of them.
        StoredAnalysisError: There is no such baseline.
    """
    from traceattr.cli.baseline_store import existing

    found = [named_file(trace) or trace for trace in traces]
    if against is not None:
        found.insert(0, existing(directory, against))
    if len(found) != 2:
        expected = "HEAD alone beside --against" if against else "BASE and HEAD, or --against NAME"
        raise OptionError(f"diff: {len(traces)} traces given (expected {expected})")
    return found[0], found[1]


def _compared(head: "Analysis", said: "Deployment", gpu_file: Path | None) -> "Comparison | None":
    """Return the second trace beside its roofline, None when nothing was said of the model."""
    from traceattr.report.compared import compared
    from traceattr.roofline.deployment import Deployment
    from traceattr.roofline.hardware import load_gpus

    if said == Deployment() and gpu_file is None:
        return None
    return compared(head, said, load_gpus(gpu_file))


def _exit(judgements: "Sequence[Judgement]", *, advisory: bool) -> None:
    """End with 1 for a gate that failed, else with 2 for one that could not be judged."""
    from traceattr.report.diff.gates import Outcome

    for outcome, code in ((Outcome.FAILED, 1), (Outcome.NOT_JUDGED, 2)):
        found = [one for one in judgements if one.outcome is outcome]
        for one in found:
            typer.echo(f"{outcome}: --fail-on {one.gate.text!r}: {one.why}", err=True)
        if found and not advisory:
            raise typer.Exit(code)
