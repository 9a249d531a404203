"""``traceattr profile``."""

import os
import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from traceattr.cli.attach import record_attached
from traceattr.cli.options import FormatOption, RulesOption, finite, named_file, one_of
from traceattr.cli.output import print_text, say
from traceattr.cli.profile_report import print_report
from traceattr.cli.progress import progress
from traceattr.errors import NsysError, OptionError
from traceattr.recording.plan import GraphTrace, Plan, Recording, plan_recording
from traceattr.report.render import ReportFormat

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
        typer.Option(
            callback=finite, metavar="S", min=0, help="Begin to record after this many seconds."
        ),
    ] = None,
    duration: Annotated[
        float | None,
        typer.Option(
            callback=finite,
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
    both_modes: Annotated[
        bool,
        typer.Option(
            "--both-modes",
            help="Run the command twice: whole graphs into NAME-graph first, then each node; the"
            " report says how much longer the second makes rounds.",
        ),
    ] = False,
    attach_server: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Record this running server instead of a command; it runs under nsys launch.",
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Steps to record of a running server; 0: until --duration is over.",
            show_default="100",
        ),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Session of nsys to record in.", show_default="the only one"
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

    Example: traceattr profile --attach-server http://localhost:30000 --steps 100
    """
    from traceattr.recording.outcome import Files

    files = Files(_base(output))
    if attach_server is not None:
        _refuse_beside_a_server(command, delay, on_demand=on_demand, both_modes=both_modes)
        deployment = record_attached(
            attach_server,
            files,
            nsys=nsys,
            session=session,
            steps=steps,
            duration=duration,
            force=force,
            dry_run=dry_run,
        )
        if deployment is not None:
            print_report(files.export, rules, format_, deployment=deployment)
        return
    if not command:
        raise OptionError("nothing to record (expected: traceattr profile [options] -- COMMAND...)")
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
    recordings = _in_both_modes(recording) if both_modes else (recording,)
    runs = [
        _Run(Files(each.base), each, plan_recording(each, tuple(command), found))
        for each in recordings
    ]
    _say_left_out(runs[-1].plan, found)
    if dry_run:
        print_text("".join(map(_script, runs)))
        return
    for run in runs:
        run.files.check_free(overwrite=force)
    ends = [_record(run, found) for run in runs]
    whole = runs[0].files.export if both_modes else None
    print_report(files.export, rules, format_, whole=whole)
    for ended in ends:
        _say_failed(ended, recording)


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of nsys: what is recorded how, and into which files."""

    files: "Files"
    recording: Recording
    plan: Plan


def _refuse_beside_a_server(
    command: list[str] | None, delay: float | None, *, on_demand: bool, both_modes: bool
) -> None:
    if command or both_modes or delay is not None or on_demand:
        raise OptionError(
            "--attach-server: records a server that runs already; it goes with -o, --steps,"
            " --duration, --session, --nsys, --force and --dry-run"
        )


def _in_both_modes(recording: Recording) -> tuple[Recording, Recording]:
    """Return a recording of whole graphs, into files of its own, and one of their nodes."""
    whole = recording.base.with_name(f"{recording.base.name}-graph")
    return (
        replace(recording, base=whole, graphs=GraphTrace.GRAPH),
        replace(recording, graphs=GraphTrace.NODE),
    )


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


def _script(run: _Run) -> str:
    arguments, files = run.plan.arguments, run.files
    report = files.all[0]
    lines = (
        arguments,
        (arguments[0], "export", "--type=sqlite", f"--output={files.export}", str(report)),
        ("traceattr", "report", str(files.export)),
    )
    return "".join(f"{shlex.join(line)}\n" for line in lines)


def _record(run: _Run, nsys: "Nsys") -> "Ended":
    """Run nsys, and export what it recorded.

    Raises:
        NsysError: There is no report, or it cannot be exported.
        KeyboardInterrupt: It was stopped; what there is is kept and named.
    """
    from traceattr.ingest.nsys_export import export_report
    from traceattr.recording.outcome import find_report
    from traceattr.recording.run import run_nsys

    files, recording = run.files, run.recording
    before = files.stamps()
    ended = run_nsys(run.plan.arguments, echo=_echo, keep_running=recording.keep_running)
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
