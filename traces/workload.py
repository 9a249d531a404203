"""What a server runs: kernels, the graphs and sequences they form, and what the host does.

All of it is data (see `qwen36_27b_a6000.toml`); another server is another file.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]  # from, to: a range of ns to draw from


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

    @property
    def is_collective(self) -> bool:
        """Whether all ranks take part, so that the early ones wait inside it."""
        return self.category == "comm"


@dataclass(frozen=True, slots=True)
class Node:
    """A kernel in a sequence; `is_beside` puts it on the alternate stream beside the last."""

    kernel: Kernel
    is_beside: bool


@dataclass(frozen=True, slots=True)
class Graph:
    """A captured CUDA graph of one kind."""

    kind: str
    graph_id: int
    phase: str
    nodes: tuple[Node, ...]
    category: str = "graph (not traced per node)"
    subcategory: str | None = None


@dataclass(frozen=True, slots=True)
class HostWork:
    """Time in which the host launches nothing; `late_ns` is how much later each rank gets it."""

    time_ns: Span
    late_ns: Span | None
    os_call: str | None


@dataclass(frozen=True, slots=True)
class Launch:
    """Kernels launched one by one."""

    nodes: tuple[Node, ...]
    phase: str


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy; with `is_waited_for` the host blocks until it is done."""

    kind: str
    size_bytes: int
    times: int
    is_waited_for: bool
    is_beside: bool
    category: str = "memory"
    subcategory: str | None = None


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


Step: TypeAlias = HostWork | Launch | Copy | Set | Replay


@dataclass(frozen=True, slots=True)
class Deployment:
    """What is served by what on what."""

    model: str
    server: str
    speculation: str
    gpu: str
    ranks: int
    memory_bandwidth_bytes_per_s: int


@dataclass(frozen=True, slots=True)
class Workload:
    """A server: its deployment and, by name, the programs its host runs."""

    deployment: Deployment
    graphs: Mapping[str, Graph]
    programs: Mapping[str, tuple[Step, ...]]
