"""``traceattr baseline``: keep analyses under names, to compare later traces with."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from traceattr.cli.load import choose, load_analysis_with_rows
from traceattr.cli.options import (
    ForceOption,
    FormatOption,
    GraphKindOption,
    OutputOption,
    RoundsOption,
    RulesOption,
    TraceArgument,
    WindowOption,
    named_file,
)
from traceattr.cli.output import check_output, print_text, use_color, width, write_output
from traceattr.errors import StoredAnalysisError
from traceattr.report.render import ReportFormat

if TYPE_CHECKING:
    from traceattr.cli.baseline_store import Saved

ENVIRONMENT = "TRACEATTR_BASELINES"

app = typer.Typer(
    no_args_is_help=True, help="Keep analyses under names, for `traceattr diff --against NAME`."
)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the baseline.")]

DirectoryOption = Annotated[
    Path | None,
    typer.Option(
        "--baselines",
        callback=named_file,
        metavar="DIR",
        help=f"Where baselines are kept; {ENVIRONMENT} says it too.",
        show_default="the user's data directory",
    ),
]


def baselines_directory(given: Path | None) -> Path:
    """Return where baselines are: as given, as the environment says, or the user's own place."""
    from traceattr.cli.baseline_store import default_directory

    if given is not None:
        return given
    said = os.environ.get(ENVIRONMENT)
    return Path(said) if said else default_directory()


@app.command("save")
def save_baseline(
    name: NameArgument,
    trace: TraceArgument,
    window: WindowOption = "",
    rounds: RoundsOption = "",
    graph_kind: GraphKindOption = None,
    rules: RulesOption = None,
    directory: DirectoryOption = None,
    force: ForceOption = False,
) -> None:
    """Analyse a trace and keep the result: a small JSON file, not the trace.

    Example: traceattr baseline save main trace.sqlite --force
    """
    from traceattr.cli.baseline_store import save, writable

    path = writable(baselines_directory(directory), name, force=force)
    choice = choose(window=window, rounds=rounds, graph_kinds=graph_kind)
    save(path, load_analysis_with_rows(trace, rules, choice))
    typer.echo(f"Wrote {path}", err=True)


@app.command("list")
def list_baselines(directory: DirectoryOption = None) -> None:
    """List the baselines with what they are of."""
    from traceattr.cli.baseline_store import all_saved

    place = baselines_directory(directory)
    lines = [_line(saved) for saved in all_saved(place)]
    print_text("".join(f"{line}\n" for line in lines or [f"no baseline in {place}"]))


@app.command("show")
def show_baseline(
    name: NameArgument,
    format_: FormatOption = ReportFormat.TERMINAL,
    directory: DirectoryOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Print the report of a baseline, as `traceattr report` printed it for its trace.

    Example: traceattr baseline show main --format markdown
    """
    from traceattr.cli.baseline_store import existing, load_file
    from traceattr.report.render import render

    path = existing(baselines_directory(directory), name)
    check_output(output, force=force, inputs=(path,))
    analysis = load_file(path)
    text = render(analysis, format_, width=width(output), color=use_color(output))
    write_output(text, output)


@app.command("remove")
def remove_baseline(name: NameArgument, directory: DirectoryOption = None) -> None:
    """Delete a baseline."""
    from traceattr.cli.baseline_store import remove

    typer.echo(f"Removed {remove(baselines_directory(directory), name)}", err=True)


def _line(saved: "Saved") -> str:
    """Return what a baseline is of, on one line."""
    from traceattr.report.escape import visible
    from traceattr.report.figures import counted, duration
    from traceattr.report.provenance import models_text

    analysis = saved.analysis
    if isinstance(analysis, StoredAnalysisError):
        return visible(f"{saved.name}: {analysis}")
    rounds = analysis.rounds
    length = f", {duration(rounds.wall.median)} each" if rounds.wall else ""
    counted_rounds = counted(rounds.sampled, f"{rounds.kind} round")
    facts = (
        f"{saved.saved:%Y-%m-%d %H:%M} UTC",
        analysis.trace.file,
        models_text(analysis),
        "no rounds" if rounds.kind == "none" else f"{counted_rounds}{length}",
    )
    return visible(f"{saved.name}: {'; '.join(facts)}")
