"""Time reading a kernel table: the page reader, the fallback, kept columns, a scan by SQLite.

Run it from the repository root: `python -m benchmarks.read [ROWS]`.
"""

import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from traceattr.ingest.cache.folder import cache_folder
from traceattr.ingest.cache.kept import open_kept
from traceattr.ingest.export import Export, open_export
from traceattr.ingest.scan import ColumnType, scan_kept, scan_table
from traceattr.ingest.selection import select
from traceattr.ingest.sqlite.rows import read_rows

RUNS = 5
KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
# The columns of nsys 2024.6, each as an SQL expression of the row number n: launches that look like
# those of decode steps on eight processes, most of them in CUDA graphs.
COLUMNS = {
    "start": "1000000000 + n * 3500 + n % 911",
    "end": "1000002000 + n * 3500 + n % 9000",
    "deviceId": "n % 8",
    "contextId": "1",
    "greenContextId": "0",
    "streamId": "7 + n % 3",
    "correlationId": "n / 1200",
    "globalPid": "(290000 + n % 8) << 24",
    "demangledName": "400 + n % 1098",
    "shortName": "30 + n % 250",
    "mangledName": "NULL",
    "launchType": "1",
    "cacheConfig": "1",
    "registersPerThread": "32 + n % 200",
    "gridX": "1 + n % 4096",
    "gridY": "1",
    "gridZ": "1",
    "blockX": "128 + n % 2 * 128",
    "blockY": "1",
    "blockZ": "1",
    "staticSharedMemory": "0",
    "dynamicSharedMemory": "n % 100000",
    "localMemoryPerThread": "0",
    "localMemoryTotal": "393216000",
    "gridId": "n",
    "sharedMemoryExecuted": "102400",
    "graphNodeId": "CASE WHEN n % 4 THEN (17 << 32) + n % 1200 END",
    "sharedMemoryLimitConfig": "0",
}
UNWANTED = {
    "greenContextId",
    "mangledName",
    "launchType",
    "cacheConfig",
    "staticSharedMemory",
    "dynamicSharedMemory",
    "localMemoryPerThread",
    "localMemoryTotal",
    "gridZ",
    "gridId",
    "sharedMemoryExecuted",
    "sharedMemoryLimitConfig",
}
WANTED = {name: ColumnType.INTEGER for name in COLUMNS if name not in UNWANTED}


def write_export(path: Path, rows: int) -> None:
    """Write an export with one table of kernels, laid out as nsys does."""
    declared = ", ".join(f'"{name}" INTEGER' for name in COLUMNS)
    numbers = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number LIMIT ?)"
    kernels = f"SELECT {', '.join(COLUMNS.values())} FROM number"  # noqa: S608
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
        database.execute(f"CREATE TABLE {KERNEL} ({declared})")
        database.execute(f"{numbers} INSERT INTO {KERNEL} {kernels}", (rows,))


def read_fast(export: Export, workers: int) -> int:
    """Read the wanted columns the way the ingest does."""
    scan = scan_table(export, KERNEL, WANTED, workers=workers)
    rows: int = sum(batch.num_rows for batch in scan.batches)
    assert scan.declined is None, scan.declined
    return rows


def read_slowly(export: Export) -> int:
    """Read the wanted columns the way odd tables are read."""
    with closing(export.connect()) as connection:
        pieces = read_rows(connection, select(export, KERNEL, WANTED))
        return sum(piece.rows.num_rows for piece in pieces)


def read_and_keep(path: Path) -> int:
    """Read the wanted columns and keep them, as for a trace that was read before."""
    for found in sorted(cache_folder().glob("*.parquet")):
        found.unlink()
    with open_export(path, kept=open_kept(path)) as export:
        scan = scan_table(export, KERNEL, WANTED, kept=export.kept)
        return sum(batch.num_rows for batch in scan.batches)


def read_kept(path: Path) -> int:
    """Read the wanted columns where they were kept."""
    with open_export(path, kept=open_kept(path)) as export:
        scan = scan_kept(export, KERNEL, WANTED)
        assert scan is not None
        return sum(batch.num_rows for batch in scan.batches)


def scan_raw(export: Export) -> int:
    """Let SQLite look at one column of every row: the least it can do."""
    with closing(export.connect()) as connection:
        query = f"SELECT count(*), sum(start) FROM {KERNEL}"  # noqa: S608
        rows: int = connection.execute(query).fetchone()[0]
        return rows


def median_s(job: Callable[[], int], rows: int, runs: int) -> float:
    """Median wall time of some runs, after one that warms the page cache."""
    seconds = []
    for _ in range(runs + 1):
        began = time.perf_counter()
        assert job() == rows
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds[1:])


def main() -> None:
    """Write an export to a temporary directory and print a table of times."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "kernels.sqlite"
        os.environ["TRACEATTR_CACHE_DIR"] = str(Path(directory) / "cache")
        write_export(path, rows)
        print(f"{rows} kernels, {path.stat().st_size / 1e6:.0f} MB, {len(WANTED)} columns wanted")
        with open_export(path) as export:
            raw_s = median_s(lambda: scan_raw(export), rows, RUNS)
            times_s = {
                "page reader, 2 threads": median_s(lambda: read_fast(export, 2), rows, RUNS),
                "page reader, 1 thread": median_s(lambda: read_fast(export, 1), rows, RUNS),
                "stdlib fallback": median_s(lambda: read_slowly(export), rows, 1),
                "page reader that keeps": median_s(lambda: read_and_keep(path), rows, RUNS),
                "kept columns": median_s(lambda: read_kept(path), rows, RUNS),
            }
    print(f"{'SELECT count(*), sum(start)':28}{raw_s:8.3f} s")
    for name, seconds in times_s.items():
        print(f"{name:28}{seconds:8.3f} s {seconds / raw_s:6.1f} times that scan")


if __name__ == "__main__":
    main()
