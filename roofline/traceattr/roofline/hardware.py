"""What GPUs can do: bandwidth, tensor peaks and links, each number with its source."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any

from traceattr.errors import HardwareError
from traceattr.roofline.calibration import GEMM_BANDWIDTH_SOURCE, KERNEL_COSTS, KernelKind
from traceattr.roofline.fields import Fields

TOLERANCE = 0.05
"""Share by which a trace may differ from the table before we say so."""

_BUNDLED = "hardware.toml"
_VENDOR = re.compile(r"^(?:NVIDIA|Tesla|Quadro|GeForce) ", re.IGNORECASE)
_FORMATS = ("bf16", "fp16", "tf32", "fp8", "int8", "fp4", "int4")
_KEYS = (
    "name",
    "device_names",
    "architecture",
    "compute_capability",
    "sm_count",
    "memory_gb",
    "memory_bandwidth_gb_per_s",
    "peak_tflop_per_s",
    "link",
    "link_gb_per_s",
    "pcie_gb_per_s",
    "bandwidth_efficiency",
    "sources",
)


@dataclass(frozen=True, slots=True)
class GpuSpec:
    """One GPU model.

    Attributes:
        name: Short name, such as ``RTX_A6000``.
        device_names: Names that CUDA gives the device, as a trace records them.
        architecture: NVIDIA's name of the generation.
        compute_capability: ``8.6``, ...
        sm_count: Streaming multiprocessors.
        memory_bandwidth_bytes_per_s: Data-sheet bandwidth.
        memory_bytes: Nominal size.
        peak_flop_per_s: Dense tensor peak with fp32 accumulate by number format; a format that is
            missing is not supported.
        link: The fastest link to another GPU that the model can have.
        link_bandwidth_bytes_per_s: Its nominal bandwidth per direction.
        pcie_bandwidth_bytes_per_s: Nominal PCIe bandwidth per direction; None without PCIe. It is
            what GPUs without their ``NVLink bridge`` talk over.
        bandwidth_efficiency: Share of the bandwidth that reading weights achieves: measured, or the
            default of `calibration`.
        sources: Where the number in each field is from.
    """

    name: str
    device_names: tuple[str, ...]
    architecture: str
    compute_capability: str
    sm_count: int
    memory_bandwidth_bytes_per_s: int
    memory_bytes: int
    peak_flop_per_s: Mapping[str, float]
    link: str
    link_bandwidth_bytes_per_s: int
    pcie_bandwidth_bytes_per_s: int | None
    bandwidth_efficiency: float
    sources: Mapping[str, str]

    def format_for(self, computes_in: Sequence[str]) -> str:
        """Return the first of these formats that the GPU computes in.

        Raises:
            HardwareError: When it has none of them.
        """
        for name in computes_in:
            if name in self.peak_flop_per_s:
                return name
        wanted, known = ", ".join(computes_in), ", ".join(self.peak_flop_per_s)
        raise HardwareError(f"{self.name} does not compute in {wanted} (it has {known})")

    def peak_for(self, computes_in: Sequence[str]) -> float:
        """Return the peak in FLOP/s of the first of these formats that the GPU has.

        Raises:
            HardwareError: When it has none of them.
        """
        return self.peak_flop_per_s[self.format_for(computes_in)]


def load_gpus(extra: Path | None = None) -> tuple[GpuSpec, ...]:
    """Return the known GPUs.

    Args:
        extra: A file in the format of ``hardware.toml``; its GPUs replace ours of the same name
            or device name.

    Raises:
        HardwareError: When the file cannot be read or a number is missing.
    """
    bundled = (files("traceattr.roofline") / _BUNDLED).read_text(encoding="utf-8")
    gpus = _parse(bundled, _BUNDLED)
    if extra is None:
        return gpus
    try:
        text = extra.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise HardwareError(f"{extra}: {reason} (expected a TOML file of GPUs)") from error
    own = _parse(text, str(extra))
    taken = {name for gpu in own for name in _spellings(gpu)}
    return (*own, *(gpu for gpu in gpus if taken.isdisjoint(_spellings(gpu))))


def find_gpu(name: str, gpus: Iterable[GpuSpec]) -> GpuSpec:
    """Return the GPU of that short name or device name.

    Only whole names match, because ``NVIDIA H100 PCIe`` is not an ``NVIDIA H100 80GB HBM3``. Case,
    ``NVIDIA`` and ``GeForce`` in front, and the choice of space, dash or underscore do not matter.

    Raises:
        HardwareError: With the names that come near.
    """
    known = {spelling: gpu for gpu in gpus for spelling in _spellings(gpu)}
    wanted = _spelling(name)
    if wanted in known:
        return known[wanted]
    near = [gpu.name for spelling, gpu in known.items() if _is_part(wanted, spelling)]
    near += [known[key].name for key in get_close_matches(wanted, known, n=3, cutoff=0.7)]
    names = dict.fromkeys(near or (gpu.name for gpu in known.values()))
    raise HardwareError(f"{name}: unknown GPU (expected {', '.join(names)} or a file of GPUs)")


def check_against_trace(
    spec: GpuSpec, *, sm_count: int | None, memory_bandwidth_bytes_per_s: int | None
) -> tuple[str, ...]:
    """Return a warning for each number of the trace that is more than 5 % off the table."""
    pairs = (
        ("SMs", 1, sm_count, spec.sm_count),
        ("GB/s", 10**9, memory_bandwidth_bytes_per_s, spec.memory_bandwidth_bytes_per_s),
    )
    return tuple(
        f"the trace says {seen / scale:.5g} {unit}, the table of {spec.name} {own / scale:.5g}:"
        " another card, a lower clock, ECC or a MIG slice"
        for unit, scale, seen, own in pairs
        if seen and abs(seen - own) > TOLERANCE * own
    )


def _parse(text: str, file: str) -> tuple[GpuSpec, ...]:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise HardwareError(f"{file}: not TOML: {error} (expected [[gpu]] tables)") from error
    tables = document.get("gpu")
    if set(document) != {"gpu"} or not isinstance(tables, list):
        raise HardwareError(f"{file}: something else than GPUs (expected [[gpu]] tables alone)")
    return tuple(_gpu(table, index, file) for index, table in enumerate(tables, 1))


def _gpu(table: Mapping[str, Any], index: int, file: str) -> GpuSpec:
    name = table.get("name", index)
    fields = Fields(table, file, HardwareError, f"gpu.{name}.")
    fields.only(_KEYS)
    sources = fields.table("sources").values if fields.has("sources") else {}
    return GpuSpec(
        name=fields.text("name"),
        device_names=fields.texts("device_names"),
        architecture=fields.text("architecture"),
        compute_capability=fields.text("compute_capability"),
        sm_count=fields.whole("sm_count"),
        memory_bandwidth_bytes_per_s=_giga(fields, "memory_bandwidth_gb_per_s"),
        memory_bytes=_giga(fields, "memory_gb"),
        peak_flop_per_s=_peaks(fields.table("peak_tflop_per_s")),
        link=fields.text("link"),
        link_bandwidth_bytes_per_s=_giga(fields, "link_gb_per_s"),
        pcie_bandwidth_bytes_per_s=(
            _giga(fields, "pcie_gb_per_s") if fields.has("pcie_gb_per_s") else None
        ),
        bandwidth_efficiency=_efficiency(fields),
        sources={key: sources.get(key, file) for key in _SOURCED} | _efficiency_source(fields),
    )


_EFFICIENCY = "bandwidth_efficiency"
_SOURCED = (
    "sm_count",
    "memory_bytes",
    "memory_bandwidth_bytes_per_s",
    "peak_flop_per_s",
    "link_bandwidth_bytes_per_s",
    _EFFICIENCY,
)


def _peaks(fields: Fields) -> dict[str, float]:
    fields.only(_FORMATS)
    if not fields.values:
        what = f"'{fields.path.removesuffix('.')}' is empty"
        raise HardwareError(f"{fields.file}: {what} (expected bf16, fp16, ...)")
    return {name: round(fields.number(name) * 10**6) * 10.0**6 for name in fields.values}


def _giga(fields: Fields, key: str) -> int:
    return round(fields.number(key) * 10**9)


def _efficiency(fields: Fields) -> float:
    if not fields.has(_EFFICIENCY):
        return KERNEL_COSTS[KernelKind.GEMM].bandwidth_ratio
    value = fields.number(_EFFICIENCY)
    if value > 1:
        raise fields.wrong(_EFFICIENCY, "a share of at most 1")
    return value


def _efficiency_source(fields: Fields) -> dict[str, str]:
    """Return where a default is from; a GPU that has no number of its own may have a remark."""
    if fields.has(_EFFICIENCY):
        return {}
    sources = fields.table("sources").values if fields.has("sources") else {}
    remark = f"; {sources[_EFFICIENCY]}" if _EFFICIENCY in sources else ""
    return {_EFFICIENCY: f"default: {GEMM_BANDWIDTH_SOURCE}{remark}"}


def _spellings(gpu: GpuSpec) -> set[str]:
    return {_spelling(name) for name in (gpu.name, *gpu.device_names)}


def _spelling(name: str) -> str:
    """Return the name without what people leave out or write differently."""
    text = re.sub(r"[\s_-]+", " ", name.strip())
    while (shorter := _VENDOR.sub("", text)) != text:
        text = shorter
    return text.casefold()


def _is_part(wanted: str, spelling: str) -> bool:
    """Return whether every word of one name is in the other."""
    words, others = set(wanted.split()), set(spelling.split())
    return words <= others or others <= words
