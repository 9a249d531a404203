"""Read a trace into memory without analysing it: GPU work, CUDA calls and NVTX ranges.

python -m benchmarks.read_all TRACE
"""

import sys
from pathlib import Path

from traceattr.ingest.export import open_export
from traceattr.ingest.machine import cores
from traceattr.ingest.scan import scan_table
from traceattr.ingest.sources import API, GPU_WORK, NVTX


def main() -> None:
    """Run the command line."""
    with open_export(Path(sys.argv[1])) as export:
        tables = [
            scan_table(export, source.table, source.columns, workers=cores()).batches.read_all()
            for source in (*GPU_WORK, API, NVTX)
            if source.table in export.tables
        ]
    print(sum(table.num_rows for table in tables), "rows")


if __name__ == "__main__":
    main()
