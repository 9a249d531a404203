"""Time and memory of reports on generated traces of several sizes, beside other programs.

    python -m benchmarks.performance [--kernels N ...] [--runs N] [--nsys-ai PROGRAM] [--write]

Each program runs in a process of its own, all of them in turns on the same file, and the least of
some runs counts: others use the machine too.  Processor time is what the ratios are of, because
that of a process alone is not slowed down by its neighbours.  `--write` puts the table and the plot
into docs/.
"""

import os
import platform
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from benchmarks.enlarge import enlarge
from benchmarks.performance_plot import plot

DOCS = Path(__file__).parent.parent / "docs"
BEGIN, END = "<!-- measured -->\n", "<!-- /measured -->\n"
OURS = "report, cold"
SLOW = ("nsys stats", "nsys-ai summary")
"""Programs that are run once on each trace ..."""
MOST_FOR_OTHERS = 10_000_000
"""... and on none of more kernels."""
_SCAN = (
    "import sqlite3, sys; c = sqlite3.connect(f'file:{sys.argv[1]}?immutable=1', uri=True);"
    " [c.execute(f'SELECT count(*), sum(start) FROM CUPTI_ACTIVITY_KIND_{t}').fetchall()"
    " for t in ('KERNEL', 'MEMCPY', 'MEMSET', 'RUNTIME')]"
)


@dataclass(frozen=True, slots=True)
class Run:
    """One process: wall time, processor time and peak memory."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class Measured:
    """The least of some runs of one program on a trace."""

    program: str
    kernels: int
    best: Run


def programs(nsys_ai: str | None, begin_s: float) -> Mapping[str, Sequence[str]]:
    """Return the command lines; the trace goes last, except where it is named."""
    ours = [sys.executable, "-m", "traceattr", "report"]
    window = f"{begin_s}:{begin_s + 1}"
    found: dict[str, Sequence[str]] = {
        OURS: [*ours, "--format", "json", "--no-cache"],
        "report, kept": [*ours, "--format", "json"],
        "report, 1 s window": [*ours, "--format", "json", "--no-cache", "--window", window],
        "raw scan by sqlite3": [sys.executable, "-c", _SCAN],
        "cat": ["cat"],
    }
    if shutil.which("nsys"):
        found["nsys stats"] = ["nsys", "stats", "--report", "gpukernsum"]
    if nsys_ai is not None:
        found["nsys-ai summary"] = [nsys_ai, "summary"]
    return found


def run(command: Sequence[str], path: Path) -> Run:
    """Run a program on a trace in a process of its own."""
    begin = time.perf_counter()
    process = subprocess.Popen([*command, str(path)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} {path} failed")
    cpu_s = usage.ru_utime + usage.ru_stime
    return Run(time.perf_counter() - begin, cpu_s, usage.ru_maxrss * 1024)


def measure(path: Path, runs: int, nsys_ai: str | None) -> Iterator[Measured]:
    """Yield what each program takes for a trace."""
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as database:
        query = "SELECT count(*), (min(start) + max(start)) / 2 FROM CUPTI_ACTIVITY_KIND_KERNEL"
        kernels, middle_ns = database.execute(query).fetchone()
    commands = programs(nsys_ai if kernels <= MOST_FOR_OTHERS else None, round(middle_ns / 1e9, 3))
    results: dict[str, list[Run]] = {name: [] for name in commands}
    # The first run of ours fills the page cache, and the second kind our own.
    run(commands[OURS], path)
    run(commands["report, kept"], path)
    for turn in range(runs):
        for name, command in commands.items():
            if turn == 0 or name not in SLOW:
                results[name].append(run(command, path))
    for name, found in results.items():
        yield Measured(name, kernels, min(found, key=lambda one: one.cpu_s))


def table(measured: Sequence[Measured]) -> str:
    """Return one row per size and program."""
    lines = [
        "| kernels | program | processor time | of our cold report | wall | peak memory |",
        "| ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for one in measured:
        ours = next(m for m in measured if m.program == OURS and m.kernels == one.kernels)
        ratio = one.best.cpu_s / ours.best.cpu_s
        lines.append(
            f"| {one.kernels:,} | {one.program} | {one.best.cpu_s:.2f} s | {ratio:.2f} x |"
            f" {one.best.wall_s:.2f} s | {one.best.peak_bytes / 1e6:,.0f} MB |"
        )
    return "\n".join(lines) + "\n"


def growth(measured: Sequence[Measured]) -> str:
    """Return processor time and memory of a cold report per million kernels."""
    ours = [one for one in measured if one.program == OURS]
    parts = [
        f"{one.best.cpu_s / one.kernels * 1e6:.2f} s and"
        f" {one.best.peak_bytes / one.kernels:,.0f} MB at {one.kernels / 1e6:.1f} million"
        for one in ours
    ]
    return f"A cold report per million kernels: {'; '.join(parts)}.\n"


def machine() -> str:
    """Return what was measured on what."""
    names = ("duckdb", "numpy", "pyarrow")
    used = ", ".join(f"{name} {version(name)}" for name in names)
    cores = len(os.sched_getaffinity(0))
    return (
        f"traceattr {version('traceattr')}, Python {platform.python_version()}, {used};"
        f" {platform.system()} {platform.machine()}, {cores} cores.\n"
    )


def write(measured: Sequence[Measured]) -> None:
    """Put the results into the page, and the plot beside it."""
    page = DOCS / "performance.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    results = "\n".join([machine(), table(measured), growth(measured)])
    page.write_text(f"{before}{BEGIN}\n{results}\n{END}{after}", encoding="utf-8")
    lines: dict[str, list[tuple[float, float]]] = {}
    for one in measured:
        lines.setdefault(one.program, []).append((one.kernels, one.best.cpu_s))
    (DOCS / "performance.svg").write_text(plot(lines), encoding="utf-8")


def main() -> None:
    """Run the command line."""
    parser = ArgumentParser(prog="python -m benchmarks.performance", description=__doc__)
    parser.add_argument("--kernels", type=float, nargs="+", default=[1e5, 1e6, 4e6, 8e6, 16e6])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--nsys-ai", help="program to compare with, in an environment of its own")
    parser.add_argument("--write", action="store_true", help="write docs/performance.*")
    parser.add_argument("--folder", type=Path, help="where traces are generated")
    options = parser.parse_args()
    measured: list[Measured] = []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        os.environ["TRACEATTR_CACHE_DIR"] = str(Path(folder) / "cache")
        for kernels in options.kernels:
            path = Path(folder) / f"{kernels:.0f}.sqlite"
            enlarge(path, int(kernels))
            measured += measure(path, options.runs, options.nsys_ai)
            path.unlink()
    print(machine(), table(measured), growth(measured), sep="\n", end="")
    if options.write:
        write(measured)


if __name__ == "__main__":
    main()
