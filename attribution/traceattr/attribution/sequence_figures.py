"""What a CUDA graph runs, in order."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NamedKernel:
    """A kernel that graphs run; copies have names in parentheses.

    Attributes:
        name: Demangled name.
        category: Its category.
    """

    name: str
    category: str


@dataclass(frozen=True, slots=True)
class GraphSequence:
    """What the replays of graphs for one purpose run on one GPU.

    Attributes:
        gpu: Number of the GPU.
        kind: What the graphs are for.
        replays: Replays that run exactly this.
        of_replays: All replays of graphs for this purpose in the window.
        kernels: What runs, as positions in `GraphSequences.kernels`: in order of start on the
            stream that most runs on, then in order of start what runs beside it.
        median_ns: Median duration of each.
    """

    gpu: int
    kind: str
    replays: int
    of_replays: int
    kernels: tuple[int, ...]
    median_ns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GraphSequences:
    """The most frequent sequence of each kind of graph on each GPU.

    Attributes:
        kernels: Every kernel that occurs in one, once.
        graphs: The sequences; none for graphs whose nodes were not recorded.
    """

    kernels: tuple[NamedKernel, ...] = ()
    graphs: tuple[GraphSequence, ...] = ()

    def __post_init__(self) -> None:
        """Refuse sequences that make no sense, as a file written by hand may have them."""
        known = range(len(self.kernels))
        for graph in self.graphs:
            if len(graph.kernels) != len(graph.median_ns):
                raise ValueError("a sequence has more kernels than durations, or fewer")
            if any(kernel not in known for kernel in graph.kernels):
                raise ValueError("a sequence has a kernel without a name")
