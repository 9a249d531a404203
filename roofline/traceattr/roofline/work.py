"""What a forward pass does, as terms that can be added up and explained one by one."""

from dataclasses import dataclass
from typing import Literal

from traceattr.roofline.calibration import KernelKind

Phase = Literal["target", "draft", "prefill", "host"]
Stage = Literal["decode", "verify", "draft", "draft_extend", "prefill"]

PHASES: tuple[Phase, ...] = ("target", "draft", "prefill", "host")


@dataclass(frozen=True, slots=True)
class Message:
    """What a collective moves.

    Attributes:
        received_bytes: What each GPU must receive at least, however clever the algorithm.
        size_bytes: Size of the all-reduce that takes as long.
        ranks: GPUs that take part.
    """

    received_bytes: int
    size_bytes: int
    ranks: int


@dataclass(frozen=True, slots=True)
class Term:
    """Identical kernels, or small groups of them, on one GPU.

    Attributes:
        category: Category of `traceattr.rules.categories`.
        part: What does it, such as ``MLP down``.
        kind: Which calibration applies.
        count: How many times per round it runs.
        bytes: Device memory that each moves.
        flop: Floating-point (or integer) operations of each.
        number_format: In which the operations are done; None without a tensor core.
        launches: Kernels of each.
        formula: How bytes and operations follow from the shapes.
        numbers: The bytes again with the numbers put in.
        source: Where the formula comes from.
        floor_ns: Launch floor, or latency of a message, instead of the calibration's.
        message: What a collective moves.
        phase: Set by the pass the term belongs to.
        stage: Set by the pass the term belongs to.
    """

    category: str
    part: str
    kind: KernelKind
    count: int
    bytes: int
    flop: int = 0
    number_format: str | None = None
    launches: int = 1
    formula: str = ""
    numbers: str = ""
    source: str = ""
    floor_ns: int | None = None
    message: Message | None = None
    phase: Phase = "target"
    stage: Stage = "decode"

    @property
    def total_bytes(self) -> int:
        """Bytes per round."""
        return self.count * self.bytes

    @property
    def total_flop(self) -> int:
        """Operations per round."""
        return self.count * self.flop

    @property
    def total_launches(self) -> int:
        """Kernels per round."""
        return self.count * self.launches
