"""Time and memory of reports on generated traces of several sizes, beside other programs.

    python -m benchmarks.performance [--kernels N ...] [--runs N] [--nsys PROGRAM]
        [--nsys-ai PROGRAM] [--keep FILE] [--write]

Each program runs in a process of its own, all of them in turns on the same file, and the least of
some runs counts: others use the machine too.  `--write` puts tables and plots into docs/.  With
`--keep` a run that was interrupted goes on where it was.
"""

import os
import shutil
import sqlite3
import sys
import tempfile
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from benchmarks.enlarge import enlarge
from benchmarks.fleet import FleetMeasured, measure_fleet
from benchmarks.performance_page import Measured, Results, text, write
from benchmarks.programs import (
    KEPT,
    OTHERS,
    ProgramError,
    Run,
    find_nsys,
    programs,
    run,
    versions,
)

MOST_FOR_OTHERS = 10_000_000
"""Kernels beyond which only our programs run; the others run once on each trace."""
LONG_S = 30
"""What a program may take in all its runs on a trace before it is not run again."""


def measure(path: Path, runs: int, nsys: str | None, nsys_ai: str | None) -> Iterator[Measured]:
    """Yield what each program takes for a trace."""
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as database:
        query = "SELECT count(*), (min(start) + max(start)) / 2 FROM CUPTI_ACTIVITY_KIND_KERNEL"
        kernels, middle_ns = database.execute(query).fetchone()
    if kernels > MOST_FOR_OTHERS:
        nsys = nsys_ai = None
    commands = programs(nsys, nsys_ai, round(middle_ns / 1e9, 3))
    run([*commands[KEPT], str(path)])  # fills the page cache, and our own
    for name, found in _in_turns(commands, path, runs).items():
        if found:
            yield Measured(name, kernels, _least(found))


def _in_turns(commands: Mapping[str, Sequence[str]], path: Path, runs: int) -> dict[str, list[Run]]:
    results: dict[str, list[Run]] = {name: [] for name in commands}
    for turn in range(runs):
        for name, command in commands.items():
            took_s = sum(one.wall_s for one in results[name])
            if turn and (name in OTHERS or took_s > LONG_S):
                continue
            try:
                results[name].append(run([*command, str(path)]))
            except ProgramError as error:
                if name not in OTHERS:
                    raise
                print(error, file=sys.stderr)
    return results


def _least(runs: Sequence[Run]) -> Run:
    """Return the least of each figure; they need not be of the same run."""
    return Run(
        min(one.wall_s for one in runs),
        min(one.cpu_s for one in runs),
        min(one.peak_bytes for one in runs),
    )


@dataclass(slots=True)
class Kept:
    """What was measured so far: programs by size, and the fleet."""

    sizes: dict[str, list[Measured]] = field(default_factory=dict)
    fleet: list[FleetMeasured] = field(default_factory=list)


def complete(kept: Kept, options: Namespace, folder: Path, nsys: str | None) -> Iterator[None]:
    """Measure what is not there yet, and yield after each part; one that fails is left out."""
    for kernels in options.kernels:
        if f"{kernels:.0f}" in kept.sizes:
            continue
        place = folder / f"{kernels:.0f}"
        place.mkdir()
        path = place / "trace.sqlite"
        print(f"{kernels:,.0f} kernels", file=sys.stderr)
        enlarge(path, int(kernels))
        with _failure_said():
            kept.sizes[f"{kernels:.0f}"] = list(measure(path, options.runs, nsys, options.nsys_ai))
        shutil.rmtree(place)  # with what other programs left beside the trace
        yield
    if not kept.fleet:
        print("fleet", file=sys.stderr)
        with _failure_said():
            kept.fleet = list(measure_fleet(folder / "fleet"))
        yield


@contextmanager
def _failure_said() -> Iterator[None]:
    try:
        yield
    except ProgramError as error:
        print(error, file=sys.stderr)


def main() -> None:
    """Run the command line."""
    options = arguments()
    nsys = find_nsys(options.nsys)
    kept = Kept()
    if options.keep is not None and options.keep.exists():
        kept = msgspec.json.decode(options.keep.read_bytes(), type=Kept)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        os.environ["TRACEATTR_CACHE_DIR"] = str(Path(folder) / "cache")
        for _ in complete(kept, options, Path(folder), nsys):
            if options.keep is not None:
                options.keep.write_bytes(msgspec.json.encode(kept))
    sizes = [kept.sizes.get(f"{kernels:.0f}", ()) for kernels in options.kernels]
    measured = [one for size in sizes for one in size]
    results = Results(measured, kept.fleet, versions(nsys, options.nsys_ai))
    print(text(results), end="")
    if options.write:
        write(results)


def arguments() -> Namespace:
    """Return what the command line says."""
    parser = ArgumentParser(
        prog="python -m benchmarks.performance",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--kernels", type=float, nargs="+", default=[1e5, 1e6, 4e6, 8e6, 16e6])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--nsys", help="nsys to compare with, by default the one in PATH")
    parser.add_argument("--nsys-ai", help="program to compare with, in an environment of its own")
    parser.add_argument("--keep", type=Path, help="file to keep results in and to go on from")
    parser.add_argument("--write", action="store_true", help="write docs/performance*")
    parser.add_argument("--folder", type=Path, help="where traces are generated; takes 5 GB")
    return parser.parse_args()


if __name__ == "__main__":
    main()
