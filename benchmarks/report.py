"""Time and memory of a whole ``traceattr report`` beside a raw scan of the same tables.

    python -m benchmarks.report [--kernels N] [--runs N] [TRACE]

Without a trace it simulates one.  The scan is ``SELECT count(*), sum(start)`` over the tables of
GPU work and CUDA calls by sqlite3, the least that a reader of the file through libsqlite3 does.
Quote the ratio: absolute times are those of one machine.
"""

import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from traces.simulate import Simulation, simulate

TABLES = (
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
)


@dataclass(frozen=True, slots=True)
class Run:
    """One process: wall time and peak memory."""

    wall_s: float
    peak_bytes: int


def report(path: Path) -> Run:
    """Run the command in a process of its own."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "traceattr", "report", str(path), "--format", "json"],
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"traceattr report {path} failed")
    return Run(time.perf_counter() - begin, usage.ru_maxrss * 1024)


def scan_s(path: Path) -> float:
    """Return the seconds sqlite3 needs to look at one column of every row."""
    begin = time.perf_counter()
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
        have = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        for table in TABLES:
            if table in have:
                query = f"SELECT count(*), sum(start) FROM {table}"  # noqa: S608 (a constant)
                connection.execute(query).fetchall()
    return time.perf_counter() - begin


def measure(path: Path, runs: int) -> None:
    """Print medians; scan and report alternate, so that both see the same machine."""
    pairs = [(scan_s(path), report(path)) for _ in range(runs)]
    scan = statistics.median(scan for scan, _ in pairs)
    wall = statistics.median(run.wall_s for _, run in pairs)
    peak = max(run.peak_bytes for _, run in pairs)
    print(f"{path.name}: {path.stat().st_size / 1e6:.0f} MB, {runs} runs")
    print(f"  raw scan by sqlite3   {scan:6.2f} s")
    print(f"  traceattr report      {wall:6.2f} s, {wall / scan:.0f} x the scan")
    print(f"  peak memory           {peak / 1e6:6.0f} MB")


def main() -> None:
    """Run the command line."""
    parser = ArgumentParser(prog="python -m benchmarks.report", description=__doc__)
    parser.add_argument("trace", nargs="?", type=Path)
    parser.add_argument("--kernels", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    if options.trace:
        measure(options.trace, options.runs)
        return
    with tempfile.TemporaryDirectory() as folder:
        for kernels in options.kernels:
            one_round = Simulation(rounds=1).operations_per_round
            path = Path(folder) / f"{kernels}.sqlite"
            simulate(Simulation(rounds=round(kernels / one_round)), path)
            measure(path, options.runs)
            path.unlink()


if __name__ == "__main__":
    main()
