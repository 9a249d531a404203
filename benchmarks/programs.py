"""The programs that are measured, and what one run of them takes."""

import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

COLD, KEPT = "report, cold", "report, kept"
NSYS, NSYS_SUM, NSYS_AI = "nsys stats", "nsys stats, kernel sum", "nsys-ai summary"
OTHERS = (NSYS, NSYS_SUM, NSYS_AI)
"""Programs that are not ours, are slow, and may fail on a large trace."""

REPORT = (sys.executable, "-m", "traceattr", "report", "--format", "json")
_LIMIT_S = 600
_SCAN = (
    "import sqlite3, sys; c = sqlite3.connect(f'file:{sys.argv[1]}?immutable=1', uri=True);"
    " [c.execute(f'SELECT count(*), sum(start) FROM CUPTI_ACTIVITY_KIND_{t}').fetchall()"
    " for t in ('KERNEL', 'MEMCPY', 'MEMSET', 'RUNTIME')]"
)


@dataclass(frozen=True, slots=True)
class Run:
    """What a program takes: wall time, processor time and peak memory of its largest process."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


class ProgramError(Exception):
    """A program that did not end well."""


def run(command: Sequence[str], *, cores: int | None = None) -> Run:
    """Run a program in a process of its own, on some of the cores.

    Raises:
        ProgramError: It did not end well.
    """
    helper = str(Path(__file__).with_name("one_process.py"))
    measured = [sys.executable, "-I", "-S", "-E", helper, str(_LIMIT_S), str(cores or 10**6)]
    done = subprocess.run(
        [*measured, *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False
    )
    if done.returncode:
        raise ProgramError(f"{' '.join(command)} failed")
    wall_s, cpu_s, peak_bytes = done.stdout.split()
    return Run(float(wall_s), float(cpu_s), int(peak_bytes))


def programs(nsys: str | None, nsys_ai: str | None, begin_s: float) -> Mapping[str, Sequence[str]]:
    """Return the command lines, to which the trace is added.

    Args:
        nsys: Program to compare with.
        nsys_ai: The same.
        begin_s: Where a window of one second begins.
    """
    window = f"{begin_s}:{begin_s + 1}"
    found: dict[str, Sequence[str]] = {
        COLD: [*REPORT, "--no-cache"],
        KEPT: REPORT,
        "report, 1 s window": [*REPORT, "--no-cache", "--window", window],
        "reading alone": [sys.executable, "-m", "benchmarks.read_all"],
        "raw scan by sqlite3": [sys.executable, "-c", _SCAN],
        "cat": ["cat"],
    }
    if nsys is not None:
        found[NSYS] = [nsys, "stats"]
        found[NSYS_SUM] = [nsys, "stats", "--report", _kernel_sum(nsys)]
    if nsys_ai is not None:
        found[NSYS_AI] = [nsys_ai, "summary"]
    return found


def find_nsys(given: str | None) -> str | None:
    """Return the nsys to compare with, None where there is none that has reports."""
    nsys = shutil.which(given or "nsys")
    if given is not None and nsys is None:
        raise SystemExit(f"--nsys {given}: no such program")
    if nsys is None or not _kernel_sum(nsys):
        print(f"{NSYS}: left out, no nsys with reports of kernels is installed", file=sys.stderr)
        return None
    return nsys


def _kernel_sum(nsys: str) -> str:
    """Return what an nsys calls its sum of kernels; empty when it has none."""
    known = _said([nsys, "stats", "--help-reports"])
    names = ("cuda_gpu_kern_sum", "gpukernsum")  # since 2023, and before
    return next((name for name in names if f" {name}" in known), "")


def versions(nsys: str | None, nsys_ai: str | None) -> str:
    """Return which versions of other programs were compared with, for people."""
    said = []
    if nsys is not None:
        number = _said([nsys, "--version"]).removeprefix("NVIDIA Nsight Systems version ")
        said.append(f"nsys {number}")
    if nsys_ai is not None:
        asked = "from importlib.metadata import version as v; print(v('nsys-ai'), v('duckdb'))"
        own = _said([str(Path(nsys_ai).with_name("python")), "-c", asked]).split()
        said.append("nsys-ai {} with duckdb {}".format(*own) if len(own) == 2 else "nsys-ai")
    return ", ".join(said)


def _said(command: Sequence[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        return ""
