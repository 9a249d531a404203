"""The tables of docs/hardware.md; cog calls them."""

from traceattr.roofline.calibration import GEMM_BANDWIDTH_SOURCE
from traceattr.roofline.hardware import GpuSpec, load_gpus
from traceattr.roofline.model import catalogue, load_model

_FORMATS = ("bf16", "fp16", "fp8", "int8", "fp4")
_PLAIN = "NVIDIA data sheet"
_LABELS = {
    "memory_bandwidth_bytes_per_s": "bandwidth",
    "peak_flop_per_s": "tensor peaks",
    "link_bandwidth_bytes_per_s": "link",
    "sm_count": "SMs",
    "memory_bytes": "memory",
    "bandwidth_efficiency": "efficiency",
}


def figures() -> str:
    """Return one row per GPU with its numbers."""
    header = ["GPU", "generation", "SMs", "GB", "GB/s", *_FORMATS, "GPU to GPU", "efficiency"]
    return _table(header, [_figures(gpu) for gpu in load_gpus()])


def names() -> str:
    """Return one row per GPU with the names that traces give it."""
    rows = [[f"`{gpu.name}`", ", ".join(gpu.device_names)] for gpu in load_gpus()]
    return _table(["GPU", "name in a trace"], rows)


def sources() -> str:
    """Return one row per GPU with the sources that are not plainly NVIDIA's data sheet."""
    return _table(["GPU", "source of"], [[f"`{gpu.name}`", _sources(gpu)] for gpu in load_gpus()])


def models() -> str:
    """Return one row per bundled model."""
    header = [
        "model",
        "billion parameters",
        "draft layers",
        "GB of layers and lm_head",
        "KiB of bf16 cache per token",
    ]
    rows = []
    for name in catalogue():
        model = load_model(name)
        weights = [weight for layer in model.layers for weight in layer.weights]
        size = sum(weight.bytes * weight.count for weight in weights) + model.lm_head.bytes
        cache = model.kv_values_per_token * 2 / 1024
        rows.append(
            [
                name,
                f"{model.parameters / 1e9:.2f}",
                str(len(model.mtp)),
                f"{size / 1e9:.2f}",
                f"{cache:g}",
            ]
        )
    return _table(header, rows)


def _figures(gpu: GpuSpec) -> list[str]:
    peaks = gpu.peak_flop_per_s
    return [
        f"`{gpu.name}`",
        gpu.architecture,
        str(gpu.sm_count),
        f"{gpu.memory_bytes / 1e9:g}",
        f"{gpu.memory_bandwidth_bytes_per_s / 1e9:g}",
        *(f"{peaks[key] / 1e12:g}" if key in peaks else "" for key in _FORMATS),
        f"{gpu.link} {gpu.link_bandwidth_bytes_per_s / 1e9:g}",
        f"{gpu.bandwidth_efficiency:g}",
    ]


def _sources(gpu: GpuSpec) -> str:
    said = {
        key: text
        for key, text in gpu.sources.items()
        if text != _PLAIN and text != f"default: {GEMM_BANDWIDTH_SOURCE}"
    }
    parts = [f"{_LABELS[key]}: {said[key]}" for key in _LABELS if key in said]
    return "<br>".join(parts) or _PLAIN


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
