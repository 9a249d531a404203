"""Which GPU an operation ran on: (process, device ordinal), never the ordinal alone.

`deviceId` counts inside one process, after CUDA_VISIBLE_DEVICES, so two ranks can both call theirs
device 0.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from traceattr.ingest.physical import CudaDevice, Hardware, PhysicalGpu, find_hardware

DEVICE_UNKNOWN = 2**31 - 1
"""What CUPTI writes for a graph that began on the host (``cupti_activity.h``)."""

_TP_RANK = re.compile(r"_TP(\d+)")


@dataclass(frozen=True, slots=True)
class Owner:
    """Process, device and context as an operation names them; each may be missing."""

    global_pid: int | None
    device_id: int | None
    context_id: int | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the trace says about processes and GPUs.

    Attributes:
        process_names: Name or title by global pid.
        launching: Global pids that made CUDA calls.
        context_pids: Plain pids by (device, context).
        cuda_devices: What each process's ordinals are.
        physical: The GPUs of the machine.
    """

    process_names: Mapping[int, str]
    launching: frozenset[int]
    context_pids: Mapping[tuple[int, int], frozenset[int]]
    cuda_devices: Sequence[CudaDevice]
    physical: Sequence[PhysicalGpu]


@dataclass(frozen=True, slots=True)
class ProcessGpu:
    """One row of the table ``gpu``; see the comments there."""

    gpu_id: int
    global_pid: int | None
    pid: int | None
    process_name: str | None
    device_id: int
    rank: int | None
    rank_from: str | None
    name: str | None
    name_from: str | None
    uuid: str | None
    bus_location: str | None
    sm_count: int | None
    memory_bandwidth_bytes_per_s: int | None


@dataclass(frozen=True, slots=True)
class Identity:
    """The GPUs of a trace and who owns what.

    Attributes:
        gpus: In order of rank.
        gpu_of: GPU of each owner that could be resolved.
        inferred: Owners whose process or device the row did not name but other evidence did.
        silent_ranks: Titles of processes that name a rank and own no GPU.
    """

    gpus: tuple[ProcessGpu, ...]
    gpu_of: Mapping[Owner, ProcessGpu]
    inferred: frozenset[Owner]
    silent_ranks: tuple[str, ...]


_Key = tuple[int | None, int]
_Rank = tuple[int, str] | None
_T = TypeVar("_T")


def pid_of(global_pid: int) -> int:
    """Return the operating-system id in a serialised process id (8 bits hw, 8 vm, 24 pid, 24 tid).

    Source: Nsight Systems User Guide, "Serialized process and thread identifiers".
    """
    return (global_pid >> 24) & 0xFFFFFF


def identify(owners: Iterable[Owner], evidence: Evidence) -> Identity:
    """Return the GPUs behind `owners`, physical ones where the trace allows."""
    keys = _resolved_keys(frozenset(owners), evidence)
    gpus = _numbered(frozenset(keys.values()), evidence)
    by_key = {(gpu.global_pid, gpu.device_id): gpu for gpu in gpus}
    return Identity(
        gpus=gpus,
        gpu_of={owner: by_key[key] for owner, key in keys.items()},
        inferred=frozenset(
            owner for owner, key in keys.items() if key != (owner.global_pid, owner.device_id)
        ),
        silent_ranks=_silent_ranks(keys.values(), evidence),
    )


def _silent_ranks(keys: Iterable[_Key], evidence: Evidence) -> tuple[str, ...]:
    """Return the titles of ranks that own nothing, if any rank is known by its title."""
    owning = {global_pid for global_pid, _ in keys}
    titles = {g: name for g, name in evidence.process_names.items() if _TP_RANK.search(name)}
    if not owning & titles.keys():
        return ()
    return tuple(sorted(name for global_pid, name in titles.items() if global_pid not in owning))


def _resolved_keys(owners: frozenset[Owner], evidence: Evidence) -> dict[Owner, _Key]:
    """Return process and device of every owner for which both can be told."""
    known = {o for o in owners if o.global_pid is not None and o.device_id not in _NO_DEVICE}
    keys: dict[Owner, _Key] = {}
    for owner in owners:
        global_pid = owner.global_pid
        if global_pid is None:
            global_pid = _inferred_process(owner, known, evidence)
        device_id = owner.device_id
        if device_id in _NO_DEVICE:
            device_id = _only({o.device_id for o in known if o.global_pid == global_pid})
        if device_id is not None:
            keys[owner] = (global_pid, device_id)
    return keys


_NO_DEVICE = (None, DEVICE_UNKNOWN)


def _inferred_process(owner: Owner, known: set[Owner], evidence: Evidence) -> int | None:
    """Return the owner of the context, else the only process that launched work."""
    candidates = {o.global_pid for o in known if o.global_pid is not None} | evidence.launching
    pids = evidence.context_pids.get((owner.device_id or 0, owner.context_id or 0), frozenset())
    of_context = {g for g in candidates | evidence.process_names.keys() if pid_of(g) in pids}
    return _only(of_context) if of_context else _only(candidates)


def _only(values: set[_T]) -> _T | None:
    return next(iter(values)) if len(values) == 1 else None


def _numbered(keys: frozenset[_Key], evidence: Evidence) -> tuple[ProcessGpu, ...]:
    plain = {key: (None if key[0] is None else pid_of(key[0]), key[1]) for key in keys}
    hardware = find_hardware(list(plain.values()), evidence.physical, evidence.cuda_devices)
    of_key = {key: hardware[plain[key]] for key in keys}
    ranks = _ranks(keys, of_key, evidence.process_names)
    ordered = sorted(keys, key=lambda key: (_rank_order(ranks[key]), _key_order(key)))
    return tuple(
        _process_gpu(gpu_id, key, ranks[key], of_key[key], evidence.process_names)
        for gpu_id, key in enumerate(ordered)
    )


def _ranks(
    keys: frozenset[_Key], hardware: Mapping[_Key, Hardware | None], names: Mapping[int, str]
) -> dict[_Key, _Rank]:
    """Return ranks from titles such as ``sglang::scheduler_TP1``, else by device order.

    Titles are often lost (processes may keep the name ``python3``); SGLang gives rank r the device
    ``base_gpu_id + r * gpu_id_step``, so device order is rank order.
    """
    titled: dict[_Key, _Rank] = dict.fromkeys(keys)
    for key in keys:
        match = _TP_RANK.search(names.get(key[0], "")) if key[0] is not None else None
        if match:
            titled[key] = (int(match[1]), "process title")
    if any(titled.values()):
        return titled
    ordered = sorted(keys, key=lambda key: (_device_order(key, hardware[key]), _key_order(key)))
    return {key: (rank, "device order") for rank, key in enumerate(ordered)}


def _device_order(key: _Key, hardware: Hardware | None) -> int:
    return hardware.gpu.number if hardware and hardware.gpu.number >= 0 else key[1]


def _rank_order(rank: _Rank) -> tuple[bool, int]:
    return (rank is None, rank[0] if rank else 0)


def _key_order(key: _Key) -> tuple[bool, int, int]:
    return (key[0] is None, key[0] or 0, key[1])


def _process_gpu(
    gpu_id: int, key: _Key, rank: _Rank, hardware: Hardware | None, names: Mapping[int, str]
) -> ProcessGpu:
    global_pid, device_id = key
    gpu = hardware.gpu if hardware else None
    return ProcessGpu(
        gpu_id=gpu_id,
        global_pid=global_pid,
        pid=None if global_pid is None else pid_of(global_pid),
        process_name=None if global_pid is None else names.get(global_pid),
        device_id=device_id,
        rank=rank[0] if rank else None,
        rank_from=rank[1] if rank else None,
        name=gpu.name if gpu else None,
        name_from=hardware.found if hardware and gpu and gpu.name else None,
        uuid=gpu.uuid if gpu else None,
        bus_location=gpu.bus_location if gpu else None,
        sm_count=hardware.sm_count if hardware else None,
        memory_bandwidth_bytes_per_s=gpu.memory_bandwidth_bytes_per_s if gpu else None,
    )
