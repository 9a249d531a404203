"""Recording a server that runs under ``nsys launch`` already."""

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

from traceattr.errors import NsysError
from traceattr.ingest.nsys import Nsys
from traceattr.recording.outcome import Files, Stamps
from traceattr.recording.server import Server

POLL_S = 0.2
_QUIET_POLLS = 3
"""How often, and how many times a report must be found unchanged to be whole."""


@dataclass(frozen=True, slots=True)
class Attached:
    """How a running server is recorded.

    Attributes:
        session: Of nsys; None when another nsys records, which starts with cudaProfilerStart.
        steps: Rounds that are recorded; None for as long as `most_s`.
        most_s: Seconds after which the recording ends in any case.
        overwrite: Whether nsys may replace an earlier report.
    """

    session: str | None
    steps: int | None
    most_s: float
    overwrite: bool = False


def find_session(nsys: Nsys, named: str | None) -> str | None:
    """Return the session of nsys to record in: the one named, or the only one.

    Raises:
        NsysError: There are several, or none of that name.
    """
    names = _sessions(nsys)
    if named is not None:
        if named not in names:
            raise NsysError(f"nsys has no session {named} (there are: {_listed(names)})")
        return named
    if len(names) > 1:
        raise NsysError(
            f"nsys has several sessions: {_listed(names)}; name one with --session NAME"
        )
    return names[0] if names else None


def record_server(
    server: Server,
    attached: Attached,
    nsys: Nsys | None,
    files: Files,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Record some rounds of a running server, and return what nsys said at the end.

    However it ends, neither the server nor nsys is left recording.

    Raises:
        ServerError: The server does not do what it is asked.
        NsysError: nsys does not.
    """
    if attached.session is not None and nsys is not None:
        try:
            _call(nsys, *_start_arguments(attached, files))
        except KeyboardInterrupt:
            _stop(nsys, attached)
            raise
    before, is_profiling = files.stamps(), False
    try:
        server.start_profile(attached.steps)
        is_profiling = True
        _wait(attached, files, before, sleep)
        if attached.steps is None:
            is_profiling = False
            server.stop_profile()
    finally:
        said = _stop(nsys, attached)
        if is_profiling and attached.session is not None and not files.all[0].exists():
            server.stop_profile()
    return said


def _start_arguments(attached: Attached, files: Files) -> list[str]:
    return [
        "start",
        f"--session={attached.session}",
        "--sample=none",
        "--cpuctxsw=none",
        "--capture-range=cudaProfilerApi",
        "--capture-range-end=stop",
        *(["--force-overwrite=true"] if attached.overwrite else []),
        f"--output={str(files.base).replace('%', '%%')}",
    ]


def _wait(attached: Attached, files: Files, before: Stamps, sleep: Callable[[float], None]) -> None:
    """Wait until nsys has written the report of all steps, or the time is over."""
    waited_s, last, quiet = 0.0, before, 0
    while waited_s < attached.most_s:
        if attached.session is None and attached.steps is not None:
            return
        sleep(POLL_S)
        waited_s += POLL_S
        now = files.stamps()
        quiet = quiet + 1 if now == last != before else 0
        if attached.session is not None and quiet == _QUIET_POLLS:
            return
        last = now


def _stop(nsys: Nsys | None, attached: Attached) -> str:
    """End the collection, if one runs; nsys says so when none does, which is no mistake."""
    if attached.session is None or nsys is None:
        return ""
    done = _run(nsys, "stop", f"--session={attached.session}")
    return done.stdout.decode("utf-8", errors="replace")


def _sessions(nsys: Nsys) -> list[str]:
    lines = _call(nsys, "sessions", "list").splitlines()
    rows = [line.split() for line in lines if line.strip()[:1].isdigit()]
    return [row[-1] for row in rows]


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"


def _call(nsys: Nsys, *arguments: str) -> str:
    done = _run(nsys, *arguments)
    said = done.stdout.decode("utf-8", errors="replace")
    if done.returncode:
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        reason = lines[0] if lines else f"exit code {done.returncode}"
        raise NsysError(f"nsys {arguments[0]}: {reason}")
    return said


def _run(nsys: Nsys, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    try:
        return subprocess.run(
            [nsys.command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    except OSError as error:
        raise NsysError(f"{nsys.command}: cannot be run ({error.strerror})") from error
