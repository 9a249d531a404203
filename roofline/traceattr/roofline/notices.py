"""What a reader must know before trusting a prediction."""

from collections.abc import Iterator
from dataclasses import dataclass

from traceattr.roofline.architecture import Layer, Model, Moe
from traceattr.roofline.calibration import MOST_FITTED_GPUS, NVLINK
from traceattr.roofline.hardware import GpuSpec
from traceattr.roofline.memory import resident_bytes
from traceattr.roofline.setup import Setup


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning.

    Attributes:
        code: Stable lower-case word for machines.
        text: One sentence, with the remedy when there is one.
    """

    code: str
    text: str


def notices(model: Model, gpu: GpuSpec, setup: Setup) -> Iterator[Notice]:
    """Yield what is unknown, assumed or odd about a case."""
    if setup.accept_length is None:
        yield Notice(
            "accept-length",
            "tokens/s are unknown without the accept length: give --accept-length, as the"
            " server's log says it (`accept len`)",
        )
    yield from _memory(model, gpu, setup)
    yield from _routing(model, setup)
    yield from _links(gpu, setup)
    for note in model.notes:
        yield Notice("model", note)


def _memory(model: Model, gpu: GpuSpec, setup: Setup) -> Iterator[Notice]:
    needed = resident_bytes(model, setup)
    if needed > gpu.memory_bytes:
        yield Notice(
            "memory",
            f"weights, cache and states take {needed / 1e9:.1f} GB of each GPU, which has"
            f" {gpu.memory_bytes / 1e9:.0f} GB: check --tp, --batch and --context",
        )


def _routing(model: Model, setup: Setup) -> Iterator[Notice]:
    layers: tuple[Layer, ...] = model.layers
    rows = setup.batch * setup.draft_tokens
    if rows > 1 and any(isinstance(layer.mlp, Moe) for layer in layers):
        yield Notice(
            "routing",
            "expert weights are those that uniform routing hits; real routing is skewed and reads"
            " fewer, and then a bound is too high",
        )


def _links(gpu: GpuSpec, setup: Setup) -> Iterator[Notice]:
    tp = setup.parallel.tp
    if (
        tp > 1
        and gpu.link != NVLINK
        and gpu.link_bandwidth_bytes_per_s != (gpu.pcie_bandwidth_bytes_per_s)
    ):
        yield Notice(
            "link",
            f"bound takes the {gpu.link} that {gpu.name} can have, expected takes PCIe",
        )
    if tp > MOST_FITTED_GPUS:
        yield Notice(
            "collectives",
            f"collectives of {tp} GPUs are expected to take as long as those of"
            f" {MOST_FITTED_GPUS}; nobody measured more",
        )
