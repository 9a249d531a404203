"""What serving reaches of a datasheet: efficiencies, launch floors, collectives and the host.

These figures enter *expected* only, never *bound*.  They were measured by others on other machines;
each names its source.  "Kernel tables" are those of ai-dynamo/aiconfigurator for SGLang 0.5.10 and
0.5.14, fitted by relative least squares as ``time = floor + bytes / (ratio x datasheet)``.
"""

from dataclasses import dataclass
from enum import Enum

EXPECTED_ERROR_PERCENT = 15
"""Half-width of the range in which *expected* is meant; differences inside it say nothing."""

_KERNEL_TABLES = "aiconfigurator kernel tables, SGLang 0.5.14"


class KernelKind(Enum):
    """Kinds of kernels that reach about the same part of the datasheet."""

    GEMM = "GEMM"
    EXPERTS = "experts"
    ATTENTION = "attention"
    GDN = "GDN"
    CONVOLUTION = "convolution"
    SMALL = "small"
    SAMPLING = "sampling"
    COLLECTIVE = "collective"


@dataclass(frozen=True, slots=True)
class KernelCost:
    """What one kernel costs: ``floor + max(bytes / ratio, flop / ratio)``.

    Attributes:
        floor_ns: Time of a kernel that moves next to nothing.
        bandwidth_ratio: Part of the datasheet bandwidth that a large one reaches.
        source: Where both come from.
    """

    floor_ns: int
    bandwidth_ratio: float
    source: str


GEMM_BANDWIDTH_SOURCE = (
    "median of GEMMs above 100 MB on L40S, RTX PRO 6000 and H100 (aiconfigurator, SGLang 0.5.14)"
)

KERNEL_COSTS: dict[KernelKind, KernelCost] = {
    # The ratio is that of GPUs without one of their own in hardware.toml.
    KernelKind.GEMM: KernelCost(
        4_000,
        0.83,
        f"{_KERNEL_TABLES}: bf16, 279 shapes of 8 MB and more: H100 4.0 us, H200 4.2, B200 3.5,"
        " A100 6.1; fp8 alone has 6.7 to 6.8, which served rounds do not show",
    ),
    KernelKind.EXPERTS: KernelCost(
        4_000, 0.70, "assumed: 8 us for the two expert GEMMs of a layer, 0.70 of bandwidth"
    ),
    KernelKind.ATTENTION: KernelCost(
        9_000,
        0.83,
        f"{_KERNEL_TABLES}: 12 query and 2 KV heads of 256 at batch 1, L40S 10.5 us at 512 tokens,"
        " H100 14.4 us; long contexts 0.83-0.92",
    ),
    KernelKind.GDN: KernelCost(
        4_000,
        0.80,
        f"{_KERNEL_TABLES}: 4.6-5.2 us at batch 1; from batch 64 on L40S 0.78, H200 0.81,"
        " B200 0.76-0.85, H100 0.87-0.90",
    ),
    KernelKind.CONVOLUTION: KernelCost(1_700, 0.80, f"{_KERNEL_TABLES}: conv update 1.7 us"),
    KernelKind.SMALL: KernelCost(
        2_000,
        0.83,
        "assumed 2 us; sgl-project/sglang-omni#379 has 1.3 us (SiLU) to 2.4 us (add + RMSNorm)",
    ),
    KernelKind.SAMPLING: KernelCost(
        3_000, 0.83, "assumed 3 us; sgl-project/sglang-omni#379 has 3.3 us for a top-k softmax"
    ),
    KernelKind.COLLECTIVE: KernelCost(0, 1.0, "alpha and beta of the collective, not a floor"),
}

PEAK_FLOP_RATIO = 0.70
"""Part of the dense tensor peak that large GEMMs reach; an assumption."""

IN_GRAPH_GAP_NS = 500
"""Idle time between two nodes of a CUDA graph."""

IN_GRAPH_GAP_SOURCE = (
    "0.45 ms in 855 gaps (NVIDIA/Megatron-LM#6064), 0.40 ms in 1065 nodes"
    " (sgl-project/sglang-omni#760)"
)

GRAPH_LAUNCH_NS = 10_000
"""Idle time that one graph launch costs; one in a decode step, three in a speculative round."""

SCHEDULER_NS = 500_000
"""Idle time between two rounds while the host prepares the next."""

HOST_SOURCE = "assumed; `traceattr gaps` measures both in a trace"

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class CollectiveFit:
    """Latency of an all-reduce of ``size`` bytes inside a CUDA graph: ``alpha + size / beta``.

    Attributes:
        alpha_ns: Time of an empty message.
        bytes_per_s: Bytes of the message, not of the wire, per second; from 1 KiB to 1 MiB.
        source: Where both come from.
    """

    alpha_ns: int
    bytes_per_s: float
    source: str


_COMM_TABLES = "aiconfigurator comm tables, SGLang 0.5.10, CUDA graphs, 1 KiB to 1 MiB"


def _fits(machine: str, *alpha_us_and_gb: tuple[float, float]) -> dict[int, CollectiveFit]:
    """Return the fits of a machine for 2, 4 and 8 GPUs."""
    return {
        2 << position: CollectiveFit(round(alpha * 1e3), beta * 1e9, f"{_COMM_TABLES}: {machine}")
        for position, (alpha, beta) in enumerate(alpha_us_and_gb)
    }


_PCIE4 = _fits("L40S over PCIe 4", (5.45, 9.7), (13.0, 1.4), (25.7, 0.7))
_PCIE5 = _PCIE4 | _fits("RTX PRO 6000 over PCIe 5, NCCL at 1 KiB and 1 MiB", (6.3, 16.0))
_NVLINK = {
    "ampere": _fits("A100 with NVSwitch", (5.3, 94), (5.7, 43), (6.6, 36)),
    "hopper": _fits("H100 with NVSwitch", (4.5, 135), (4.8, 66), (5.5, 50)),
    "blackwell": _fits("B200 with NVSwitch", (6.9, 83), (7.2, 47), (7.8, 36)),
}

NVLINK = "NVLink"
"""Link of GPUs that are wired to each other on the board, unlike those with a bridge or PCIe."""

NVLINK_RATIO = 0.84
"""Part of NVLink's nominal rate that large messages reach: 380 of 450 GB/s (NVIDIA/nccl#1264)."""

PCIE_RATIO = 0.30
"""The same for PCIe: 9.5 to 10.0 of 32 GB/s on two L40S (aiconfigurator comm tables)."""

MOST_FITTED_GPUS = 8


def collective_fit(link: str, architecture: str, ranks: int) -> CollectiveFit:
    """Return the measured all-reduce latency that is nearest to a machine.

    Numbers of GPUs between two measured ones take the slower; more than eight take eight.  A GPU
    that can have an NVLink bridge is taken to be without one.
    """
    size = next((size for size in (2, 4, 8) if ranks <= size), MOST_FITTED_GPUS)
    if link == NVLINK:
        return _NVLINK.get(architecture.lower(), _NVLINK["ampere"])[size]
    return (_PCIE5 if architecture.lower() == "blackwell" else _PCIE4)[size]
