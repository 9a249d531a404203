"""``traceattr profile --attach-server``: a server that runs already."""

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from traceattr.cli.output import check_output, print_text, say, write_output
from traceattr.errors import NsysError
from traceattr.interrupt import INTERRUPTED

if TYPE_CHECKING:
    from traceattr.ingest.nsys import Nsys
    from traceattr.recording.outcome import Files
    from traceattr.recording.server import Server

LONGEST_ANSWER_S = 30.0
USUAL_STEPS = 100
USUAL_MOST_S = 60.0


def record_attached(
    address: str,
    files: "Files",
    *,
    nsys: str | None,
    session: str | None,
    steps: int | None,
    duration: float | None,
    force: bool,
    dry_run: bool,
) -> Path | None:
    """Record a running server; return what it said of its deployment if there is an export.

    Raises:
        TraceattrError: The server or nsys does not do what it is asked.
    """
    from traceattr.recording.attach import Attached, find_session, record_server
    from traceattr.recording.server import KEY_VARIABLE, server_at

    server = server_at(address, os.environ.get(KEY_VARIABLE), LONGEST_ANSWER_S)
    found = _nsys(nsys)
    chosen = find_session(found, session) if found is not None else None
    attached = Attached(
        session=chosen,
        steps=None if steps == 0 else (steps or USUAL_STEPS),
        most_s=duration or USUAL_MOST_S,
        overwrite=force,
    )
    if dry_run:
        print_text(_script(server, attached.steps, chosen, files))
        return None
    deployment = files.deployment
    files.check_free(overwrite=force)
    check_output(deployment, force=force, inputs=())
    write_output(_deployment(server), deployment)
    before = files.stamps()
    try:
        said = record_server(server, attached, found, files)
    except KeyboardInterrupt:
        _say_left(files, is_recorded=files.stamps() != before)
        raise typer.Exit(INTERRUPTED) from None
    if chosen is None or found is None:
        say(
            f"note: no session of nsys on this machine; the nsys that runs {server.url} writes the"
            " report (nsys profile --capture-range=cudaProfilerApi ...), and then: traceattr report"
            f" REPORT.nsys-rep --deployment {shlex.quote(str(deployment))}"
        )
        return None
    _export(found, files, said)
    return deployment


def _say_left(files: "Files", *, is_recorded: bool) -> None:
    """Name what there is of a recording that was stopped."""
    if not is_recorded:
        say(f"stopped before anything was recorded; what the server is: {files.deployment}")
        return
    report, said = (shlex.quote(str(path)) for path in (files.all[0], files.deployment))
    say(f"Wrote {files.all[0]}")
    say(f"stopped; report on it: traceattr report {report} --deployment {said}")


def _nsys(named: str | None) -> "Nsys | None":
    """Return the local nsys; None where there is none, as beside a server in a container."""
    from traceattr.ingest.nsys import find_nsys

    try:
        return find_nsys(named, os.environ)
    except NsysError:
        if named is not None:
            raise
        return None


def _deployment(server: "Server") -> str:
    from traceattr.recording.deployment_file import deployment_text

    return deployment_text(server.info(), server.model_path(), server.url)


def _export(nsys: "Nsys", files: "Files", said: str) -> None:
    from traceattr.ingest.nsys_export import export_report

    report = files.all[0]
    if not report.exists():
        words = [line.strip() for line in said.splitlines() if line.strip(" \t:")]
        words = [line for line in words if not line.endswith(":")][:1]
        quoted = f' (nsys says: "{words[0]}")' if words else ""
        raise NsysError(
            f"{report}: nothing was recorded: cudaProfilerStart was not called in this session"
            f"{quoted}; is this the server that runs under nsys launch?"
        )
    say(f"Wrote {report}")
    export_report(nsys, report, files.export)
    say(f"Wrote {files.export}")


def _script(server: "Server", steps: int | None, session: str | None, files: "Files") -> str:
    number = "" if steps is None else f', "num_steps": {steps}'
    body = f'{{"activities": ["CUDA_PROFILER"]{number}}}'
    post = ("curl", "-X", "POST", f"{server.url}/start_profile")
    lines = [
        (*post, "-H", "Content-Type: application/json", "-d", body),
        *([("curl", "-X", "POST", f"{server.url}/stop_profile")] if steps is None else []),
    ]
    if session is not None:
        begin = ("nsys", "start", f"--session={session}", "--capture-range=cudaProfilerApi")
        lines = [
            (*begin, f"--output={files.base}"),
            *lines,
            ("nsys", "stop", f"--session={session}"),
        ]
    return "".join(f"{shlex.join(line)}\n" for line in lines)
