"""``traceattr profile``."""

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from traceattr.cli.load import choose, load_analysis
from traceattr.cli.options import FormatOption, RulesOption, named_file, one_of
from traceattr.cli.output import print_text, say, use_color, width, write_output
from traceattr.cli.progress import progress
from traceattr.errors import NsysError, OptionError
from traceattr.recording.plan import GraphTrace, Plan, Recording, plan_recording
from traceattr.report.render import ReportFormat, render

if TYPE_CHECKING:
    from traceattr.ingest.nsys import Nsys
    from traceattr.recording.outcome import Files
    from traceattr.recording.run import Ended

COMMAND_FAILED = 1
"""Exit code when the report is there, but the command failed while it was recorded."""

NsysOption = Annotated[
    str | None,
    typer.Option(
        "--nsys",
        metavar="PATH",
        help="The nsys to use.",
        show_default="TRACEATTR_NSYS, or nsys on PATH",
    ),
]


def profile(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- COMMAND...",
            help="What to run and record, such as python -m sglang.launch_server ...",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            callback=named_file,
            metavar="NAME",
            help="Write NAME.nsys-rep and NAME.sqlite.",
        ),
    ] = Path("profile"),
    delay: Annotated[
        float | None,
        typer.Option(metavar="S", min=0, help="Begin to record after this many seconds."),
    ] = None,
    duration: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            min=0.001,
            help="Record this many seconds, then end the command.",
            show_default="until the command ends",
        ),
    ] = None,
    on_demand: Annotated[
        bool,
        typer.Option(
            "--on-demand",
            help="Record from cudaProfilerStart to cudaProfilerStop, which SGLang's"
            " /start_profile with CUDA_PROFILER calls; then end the command.",
        ),
    ] = False,
    keep_running: Annotated[
        bool,
        typer.Option("--keep-running", help="Leave the command running after the recording."),
    ] = False,
    graphs: Annotated[
        GraphTrace,
        typer.Option(
            parser=one_of(GraphTrace),
            help="Record each node of CUDA graphs, or only whole replays, which slows the server"
            " less.",
        ),
    ] = GraphTrace.NODE,
    trace: Annotated[
        str,
        typer.Option(metavar="LIST", help="APIs to record; osrt adds operating-system calls."),
    ] = "cuda,nvtx",
    nsys_option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OPTION",
            help="One more option for nsys profile, such as --gpu-metrics-devices=0. Repeatable.",
            show_default=False,
        ),
    ] = None,
    nsys: NsysOption = None,
    format_: FormatOption = ReportFormat.TERMINAL,
    rules: RulesOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite the files of an earlier recording.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be run, and run nothing.")
    ] = False,
) -> None:
    """Record a command with nsys so that it can be attributed, and report on it.

    Example: traceattr profile --delay 120 --duration 5 -- python -m sglang.launch_server ...
    """
    from traceattr.recording.outcome import Files

    if not command:
        raise OptionError("nothing to record (expected: traceattr profile [options] -- COMMAND...)")
    files = Files(_base(output))
    recording = Recording(
        base=files.base,
        traced=trace,
        graphs=graphs,
        delay_s=delay,
        duration_s=duration,
        on_demand=on_demand,
        keep_running=keep_running,
        overwrite=force,
        more=tuple(nsys_option or ()),
    )
    found = _found(nsys, needed=not dry_run)
    plan = plan_recording(recording, tuple(command), found)
    _say_left_out(plan, found)
    if dry_run:
        print_text(_script(plan, files))
        return
    files.check_free(overwrite=force)
    ended = _record(recording, plan, found, files)
    analysis = load_analysis(files.export, rules, choose(window="", rounds="", graph_kinds=None))
    write_output(render(analysis, format_, width=width(None), color=use_color(None)), None)
    _say_failed(ended, recording)


def _base(output: Path) -> Path:
    """Return the name without a suffix that we give it ourselves."""
    known = output.suffix in (".nsys-rep", ".sqlite")
    return output.with_suffix("") if known else output


def _found(named: str | None, *, needed: bool) -> "Nsys":
    """Return the nsys to use; without one, a dry run still shows what to run elsewhere."""
    from traceattr.ingest.nsys import Nsys, find_nsys

    try:
        return find_nsys(named, os.environ)
    except NsysError as error:
        if needed:
            raise
        say(f"note: {error}")
        return Nsys(named or "nsys")


def _say_left_out(plan: Plan, nsys: "Nsys") -> None:
    for option in plan.left_out:
        say(f"note: nsys {nsys.version} does not know {option}; it is left out")


def _script(plan: Plan, files: "Files") -> str:
    report = files.all[0]
    lines = (
        plan.arguments,
        (plan.arguments[0], "export", "--type=sqlite", f"--output={files.export}", str(report)),
        ("traceattr", "report", str(files.export)),
    )
    return "".join(f"{shlex.join(line)}\n" for line in lines)


def _record(recording: Recording, plan: Plan, nsys: "Nsys", files: "Files") -> "Ended":
    """Run nsys, and export what it recorded.

    Raises:
        NsysError: There is no report, or it cannot be exported.
        KeyboardInterrupt: It was stopped; what there is is kept and named.
    """
    from traceattr.ingest.nsys_export import export_report
    from traceattr.recording.outcome import find_report
    from traceattr.recording.run import run_nsys

    before = files.stamps()
    ended = run_nsys(plan.arguments, echo=_echo, keep_running=recording.keep_running)
    report = find_report(files, before, ended, recording)
    say(f"Wrote {report}")
    if ended.signal is not None:
        say(f"stopped; report on it: traceattr report {shlex.quote(str(report))}")
        raise typer.Exit(128 + ended.signal)
    with progress(report.name) as step:
        step("exporting")
        export_report(nsys, report, files.export)
    say(f"Wrote {files.export}")
    return ended


def _say_failed(ended: "Ended", recording: Recording) -> None:
    from traceattr.recording.outcome import failed

    if failed(ended, recording):
        say(f"the command ended with exit code {ended.code} while it was recorded")
        raise typer.Exit(COMMAND_FAILED)


def _echo(said: bytes) -> None:
    sys.stderr.buffer.write(said)
    sys.stderr.flush()
