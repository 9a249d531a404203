"""Which physical GPU a process means by its device ordinal."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

ProcessDevice = tuple[int | None, int]
"""Plain pid and CUDA ordinal inside that process."""


@dataclass(frozen=True, slots=True)
class PhysicalGpu:
    """One row of ``TARGET_INFO_GPU``.

    Attributes:
        number: Its id in the export.
        name: Marketing name.
        uuid: Without the ``GPU-`` prefix.
        bus_location: PCI address.
        sm_count: Streaming multiprocessors.
        memory_bandwidth_bytes_per_s: As the driver reports it.
        cuda_ordinal: CUDA ordinal without CUDA_VISIBLE_DEVICES.
    """

    number: int
    name: str | None
    uuid: str | None
    bus_location: str | None
    sm_count: int | None
    memory_bandwidth_bytes_per_s: int | None
    cuda_ordinal: int | None


@dataclass(frozen=True, slots=True)
class CudaDevice:
    """One row of ``TARGET_INFO_CUDA_DEVICE``, in exports of schema 3.24 and later.

    Attributes:
        pid: Plain process id.
        device_id: CUDA ordinal inside the process.
        gpu_number: `PhysicalGpu.number`.
        uuid: Of the GPU, or of its MIG slice.
        sm_count: Streaming multiprocessors the process can use.
    """

    pid: int
    device_id: int
    gpu_number: int | None
    uuid: str | None
    sm_count: int | None


@dataclass(frozen=True, slots=True)
class Hardware:
    """What is known about the GPU behind one ordinal.

    Attributes:
        gpu: The physical GPU; with only the fields that all candidates share when which one it is
            cannot be told.
        found: ``trace`` when the export maps the ordinal, else ``assumed``.
        sm_count: Streaming multiprocessors the process can use.
    """

    gpu: PhysicalGpu
    found: str
    sm_count: int | None


def find_hardware(
    devices: Collection[ProcessDevice],
    physical: Sequence[PhysicalGpu],
    cuda_devices: Sequence[CudaDevice],
) -> dict[ProcessDevice, Hardware | None]:
    """Return the hardware behind each of `devices`; None where the trace lists no GPU."""
    mapped = {(row.pid, row.device_id): row for row in cuda_devices}
    claims = Counter(ordinal for pid, ordinal in devices if (pid, ordinal) not in mapped)
    found: dict[ProcessDevice, Hardware | None] = {}
    for pid, ordinal in devices:
        row = mapped.get((pid, ordinal)) if pid is not None else None
        gpu = _mapped_gpu(row, physical) if row else None
        if row and gpu:
            found[pid, ordinal] = Hardware(gpu, "trace", row.sm_count or gpu.sm_count)
        else:
            found[pid, ordinal] = _assumed(ordinal, physical, is_contested=claims[ordinal] > 1)
    return found


def _mapped_gpu(row: CudaDevice, physical: Sequence[PhysicalGpu]) -> PhysicalGpu | None:
    """Prefer the UUID: numbers are only unique within one machine."""
    by_uuid = [gpu for gpu in physical if row.uuid and gpu.uuid == row.uuid]
    by_number = [gpu for gpu in physical if gpu.number == row.gpu_number]
    return next(iter(by_uuid or by_number), None)


def _assumed(
    ordinal: int, physical: Sequence[PhysicalGpu], *, is_contested: bool
) -> Hardware | None:
    """Take the ordinal for the physical number, unless two processes claim the same one.

    With one CUDA_VISIBLE_DEVICES per rank every rank says device 0; then only what all GPUs of the
    machine share is known.
    """
    by_ordinal = [gpu for gpu in physical if gpu.cuda_ordinal == ordinal]
    by_number = [gpu for gpu in physical if gpu.number == ordinal]
    if (by_ordinal or by_number) and (len(physical) == 1 or not is_contested):
        gpu = (by_ordinal or by_number)[0]
        return Hardware(gpu, "assumed", gpu.sm_count)
    return _shared(physical)


def _shared(physical: Sequence[PhysicalGpu]) -> Hardware | None:
    kinds = {(gpu.name, gpu.sm_count, gpu.memory_bandwidth_bytes_per_s) for gpu in physical}
    if len(kinds) != 1:
        return None
    name, sm_count, bandwidth = kinds.pop()
    gpu = PhysicalGpu(-1, name, None, None, sm_count, bandwidth, None)
    return Hardware(gpu, "assumed", sm_count)
