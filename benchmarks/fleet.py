"""A report on the traces of many ranks: what several workers are worth."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.enlarge import BASE_KERNELS, enlarge
from benchmarks.programs import REPORT, Run, run

TRACES = 32
ONE, FEW, MORE, DASK = "one trace", "fleet, 1 core", "fleet, 2 cores", "fleet, 2 Dask workers"


@dataclass(frozen=True, slots=True)
class FleetMeasured:
    """What a report on some traces takes."""

    how: str
    traces: int
    run: Run


def measure_fleet(folder: Path, kernels: int = BASE_KERNELS) -> Iterator[FleetMeasured]:
    """Yield what a cold report takes, on one of the traces and on all of them."""
    traces = write_fleet(folder, kernels)
    command = [*REPORT, "--no-cache"]
    one = [*command, str(traces[0])]
    run(one)  # so that programs are in the page cache
    yield FleetMeasured(ONE, 1, run(one, cores=1))
    all_of_them = [*command, str(folder)]
    for how, cores in ((FEW, 1), (MORE, 2)):
        yield FleetMeasured(how, len(traces), run(all_of_them, cores=cores))
    yield FleetMeasured(DASK, len(traces), run([*all_of_them, "--dask", "local"], cores=2))


def write_fleet(folder: Path, kernels: int) -> list[Path]:
    """Write one trace for every two ranks of a server; all begin at the same time."""
    folder.mkdir()
    first = folder / "node00.sqlite"
    enlarge(first, kernels)
    traces = [first]
    for node in range(1, TRACES):
        path = Path(shutil.copyfile(first, folder / f"node{node:02}.sqlite"))
        with closing(sqlite3.connect(path)) as database, database:
            for rank in (1, 0):
                old, new = f"_TP{rank}", f"_TP{2 * node + rank}"
                database.execute("UPDATE PROCESSES SET name = replace(name, ?, ?)", (old, new))
        traces.append(path)
    return traces
