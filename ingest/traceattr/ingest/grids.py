"""How wide the grids of kernels in graphs are, read only when asked for."""

from dataclasses import dataclass

from traceattr.ingest.database import read_sql
from traceattr.ingest.sources import GRIDS
from traceattr.ingest.stage import stage
from traceattr.ingest.trace import Trace


@dataclass(frozen=True, slots=True)
class GraphGrid:
    """Kernels of one name and width in one graph.

    Attributes:
        gpu_id: GPU, as in the table ``gpu``.
        graph_id: CUDA graph, unique within its process.
        name_id: Kernel, as in the table ``kernel_name``.
        width: Blocks of the grid along x.
        kernels: How many ran in the whole trace.
    """

    gpu_id: int
    graph_id: int
    name_id: int
    width: int
    kernels: int


def graph_grids(trace: Trace) -> tuple[GraphGrid, ...]:
    """Return the grids of every kernel in a graph; none where the trace does not say them.

    Raises:
        ExportError: The table of kernels is damaged.
    """
    connection = trace.connection
    stage(connection, trace.export, GRIDS)
    rows = connection.execute(read_sql("traceattr.ingest", "graph_grids")).fetchall()
    connection.execute("DROP TABLE _grid")
    return tuple(GraphGrid(*row) for row in rows)
