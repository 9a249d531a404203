"""What a server runs: kernels, the graphs and sequences they form, and what the host does.

All of it is data (see `qwen36_27b_a6000.toml`); another server is another file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

Span: TypeAlias = tuple[int, int]  # from, to: a range of ns to draw from
Lane: TypeAlias = Literal["main", "alternate", "copy", "schedule"]

PREFILL_PIECE = "prefill_piece"


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel as launched in one place: its name, what it is, and how long it takes."""

    name: str
    category: str
    subcategory: str | None
    duration_ns: int
    is_driver_launched: bool
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers: int
    is_per_row: bool = False  # the grid is as wide as the pass has rows

    @property
    def is_collective(self) -> bool:
        """Whether all ranks take part, so that the early ones wait inside it."""
        return self.category == "comm"


ROWS = 4
"""Rows that grids are written for: one request, and the tokens that are verified of it."""


@dataclass(frozen=True, slots=True)
class Node:
    """A kernel in a sequence; `is_beside` puts it on the alternate stream beside the last."""

    kernel: Kernel
    is_beside: bool

    def over(self, rows: int) -> "Node":
        """Return the same in a pass over other rows."""
        if not self.kernel.is_per_row:
            return self
        x, y, z = self.kernel.grid
        return replace(self, kernel=replace(self.kernel, grid=(x * rows // ROWS, y, z)))


@dataclass(frozen=True, slots=True)
class Graph:
    """A captured CUDA graph of one kind."""

    kind: str
    graph_id: int
    phase: str
    nodes: tuple[Node, ...]
    category: str = "graph (not traced per node)"
    subcategory: str | None = None

    @property
    def stage(self) -> str:
        """The stage that a replay is, or is part of: all pieces of a prefill are one."""
        return "prefill" if self.kind == PREFILL_PIECE else self.kind


@dataclass(frozen=True, slots=True)
class HostWork:
    """Time in which the host launches nothing; `late_ns` is how much later each rank gets it."""

    time_ns: Span
    late_ns: Span | None
    os_call: str | None
    is_pause: bool  # nobody has asked for anything


@dataclass(frozen=True, slots=True)
class Launch:
    """Kernels launched one by one; with a `stage` they stand where others replay a graph."""

    nodes: tuple[Node, ...]
    phase: str
    lane: Lane
    stage: str | None


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy; with `is_waited_for` the host waits for the stream afterwards.

    Into pageable memory, `is_blocking` lets the call itself last until the copy is done.
    """

    kind: str
    size_bytes: int
    times: int
    is_waited_for: bool
    lane: Lane
    phase: str = "other"
    is_pinned: bool = False
    is_blocking: bool = False
    category: str = "memory"
    subcategory: str | None = None

    @property
    def waits_by_contract(self) -> bool:
        """Whether CUDA promises that the call returns only once the data has arrived."""
        return self.kind == "d2h" and not self.is_pinned


@dataclass(frozen=True, slots=True)
class Set:
    """A memset."""

    size_bytes: int
    category: str = "memory"
    subcategory: str | None = None


@dataclass(frozen=True, slots=True)
class Replay:
    """The launch of a graph."""

    graph: Graph


@dataclass(frozen=True, slots=True)
class Call:
    """CUDA calls that put nothing on a GPU."""

    name: str
    time_ns: Span
    times: int


@dataclass(frozen=True, slots=True)
class Record:
    """An event recorded on a stream."""

    event: str
    lane: Lane


@dataclass(frozen=True, slots=True)
class Join:
    """A stream that waits for the event last recorded under this name."""

    lane: Lane
    event: str


@dataclass(frozen=True, slots=True)
class Await:
    """The host waits for an event: the last one of this name, or one `behind` it."""

    event: str
    behind: int


@dataclass(frozen=True, slots=True)
class Enter:
    """The scheduler enters another range of its own (NVTX)."""

    range: str


Step: TypeAlias = HostWork | Launch | Copy | Set | Replay | Call | Record | Join | Await | Enter
RoundKind: TypeAlias = Literal["speculative", "decode", "prefill"]


@dataclass(frozen=True, slots=True)
class Program:
    """What the host does in one go; a round if it has a kind."""

    steps: tuple[Step, ...]
    kind: RoundKind | None
    batch_size: int
    speculation: str  # for the sentence in which the file says what it is

    @property
    def uses_schedule_stream(self) -> bool:
        """Whether the scheduler has a stream of its own."""
        return any(getattr(step, "lane", None) == "schedule" for step in self.steps)


@dataclass(frozen=True, slots=True)
class Deployment:
    """What is served by what on what."""

    model: str
    server: str
    speculation: str
    ranks: int
    gpu: "GpuModel"


@dataclass(frozen=True, slots=True)
class GpuModel:
    """The kind of GPU, as exports describe it."""

    name: str
    chip: str
    compute: tuple[int, int]
    sm_count: int
    memory_bytes: int
    l2_cache_bytes: int
    memory_bandwidth_bytes_per_s: int


@dataclass(frozen=True, slots=True)
class Workload:
    """A server: its deployment and, by name, its graphs and the programs its host runs."""

    deployment: Deployment
    graphs: Mapping[str, Graph]
    programs: Mapping[str, Program]
