"""Large exports: a short simulated trace, repeated in time, beside as much host work as real ones.

    python -m benchmarks.enlarge --kernels 8000000 OUT.sqlite

The server's rounds are those of the simulator.  For every 8 kernels there are 4 CUDA calls, 1 NVTX
range and 6 operating-system calls, most of them on threads beside the scheduler's.
"""

import shutil
import sqlite3
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from traces.simulate import Simulation, simulate

BASE_KERNELS = 100_000
KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
PER_KERNEL = {RUNTIME: 4 / 8, "NVTX_EVENTS": 1 / 8, "OSRT_API": 6 / 8}
_PAUSE_NS = 100_000
_OTHER_THREAD = 101


def enlarge(path: Path, kernels: int) -> None:
    """Write an export of about that many kernels to `path`, which must not exist."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base.sqlite"
        one_round = Simulation(rounds=1).operations_per_round
        rounds = max(3, round(min(kernels, BASE_KERNELS) / one_round))
        simulate(Simulation(rounds=rounds, nvtx=True, other_threads=True), base)
        with closing(sqlite3.connect(base)) as database:
            database.execute("PRAGMA synchronous = OFF")
            count = database.execute(f"SELECT count(*) FROM {KERNEL}").fetchone()[0]  # noqa: S608
            _add_host_work(database, count)
            _repeat(database, max(1, round(kernels / count)))
        shutil.move(base, path)


def _add_host_work(database: sqlite3.Connection, kernels: int) -> None:
    """Add calls of other threads, each as short as the gap to the next allows, in order of time."""
    begin, end = _span(database)
    for table, share in PER_KERNEL.items():
        columns = _columns(database, table)
        have = database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608
        missing = max(0, round(share * kernels) - have)
        step = (end - begin) // max(missing, 1)
        changed = {
            "start": f"{begin} + n * {step}",
            "end": f"{begin} + n * {step} + {step // 3}",
            "globalTid": f"globalTid - globalTid % 16777216 + {_OTHER_THREAD}",
            "correlationId": "NULL",
        }
        values = [changed.get(column, f'"{column}"') for column in columns]
        names = ", ".join(f'"{column}"' for column in columns)
        database.executescript(
            f"CREATE TEMP TABLE rows AS SELECT {names} FROM {table};"  # noqa: S608
            "WITH RECURSIVE number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number"
            f" WHERE n + 1 < {missing}),"
            f" pattern AS (SELECT * FROM {table} LIMIT 1)"
            f" INSERT INTO rows SELECT {', '.join(values)} FROM number, pattern"
            f" WHERE {missing} > 0;"
            f"DELETE FROM {table};"
            f"INSERT INTO {table} SELECT {names} FROM rows ORDER BY start;"
            "DROP TABLE rows;"
        )


def _repeat(database: sqlite3.Connection, times: int) -> None:
    begin, end = _span(database)
    period = end - begin + _PAUSE_NS
    for table in _timed_tables(database):
        columns = _columns(database, table)
        stride = _stride(database) if "correlationId" in columns else 0
        changed = {
            "start": f"start + copy.n * {period}",
            "end": f'"end" + copy.n * {period}',
            "correlationId": f"correlationId + copy.n * {stride}",
        }
        values = ", ".join(changed.get(column, f'"{column}"') for column in columns)
        names = ", ".join(f'"{column}"' for column in columns)
        database.executescript(
            f"CREATE TEMP TABLE rows AS SELECT {names} FROM {table};"  # noqa: S608
            "WITH RECURSIVE copy(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copy"
            f" LIMIT {times - 1})"
            f" INSERT INTO {table} SELECT {values} FROM copy CROSS JOIN rows WHERE {times} > 1;"
            "DROP TABLE rows;"
        )


def _span(database: sqlite3.Connection) -> tuple[int, int]:
    bounds = [
        database.execute(f'SELECT min(start), max("end") FROM {table}').fetchone()  # noqa: S608
        for table in _timed_tables(database)
    ]
    known = [bound for bound in bounds if None not in bound]
    return min(start for start, _ in known), max(end for _, end in known)


def _stride(database: sqlite3.Connection) -> int:
    query = f"SELECT max(correlationId) + 1 FROM {RUNTIME}"  # noqa: S608
    return int(database.execute(query).fetchone()[0])


def _timed_tables(database: sqlite3.Connection) -> Iterator[str]:
    query = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    for (table,) in database.execute(query).fetchall():
        if {"start", "end"} <= set(_columns(database, table)) and "GRAPH_" not in table[:14]:
            yield table


def _columns(database: sqlite3.Connection, table: str) -> Sequence[str]:
    query = "SELECT name FROM pragma_table_info(?)"
    return [name for (name,) in database.execute(query, (table,))]


def main() -> None:
    """Run the command line."""
    parser = ArgumentParser(prog="python -m benchmarks.enlarge", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--kernels", type=int, default=8_000_000)
    options = parser.parse_args()
    enlarge(options.out, options.kernels)


if __name__ == "__main__":
    main()
