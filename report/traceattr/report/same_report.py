"""Whether two reports say the same, apart from which files they are about."""

import json
from collections.abc import Iterator
from typing import Any

from traceattr.attribution.analysis import Analysis
from traceattr.report.json_document import Json, document

_ABOUT_READING = ("slow-reader", "values-unreadable")
"""Warnings about how a file is stored, not about what it says."""


def differences(first: Analysis, second: Analysis) -> tuple[str, ...]:
    """Return where the JSON reports of two analyses differ, such as ``rounds.count``."""
    return tuple(_differences(_comparable(first), _comparable(second), ""))


def differences_of_cut(first: Analysis, second: Analysis) -> tuple[str, ...]:
    """Return where two reports differ in what a window alone decides.

    What a pass is for, and so phases and rounds, is also told by what lies around the window.
    """
    return tuple(_differences(_of_window(first), _of_window(second), ""))


def _comparable(analysis: Analysis) -> Json:
    found: Json = json.loads(json.dumps(document(analysis), default=int))
    del found["trace"]["file"]
    found["warnings"] = [w for w in found["warnings"] if w["code"] not in _ABOUT_READING]
    for kernels in (found["kernels"], found["unclassified"]["kernels"]):
        # Names of equal time are in order of name, which a hidden one changes.
        kernels.sort(key=lambda kernel: (-kernel["total_ns"], kernel["name"]))
    return found


def _of_window(analysis: Analysis) -> Json:
    return {
        "window": [analysis.window.start_ns, analysis.window.end_ns],
        "gpus": [[gpu.pid, gpu.device_id, gpu.rank, gpu.name] for gpu in analysis.gpus],
        "kernels": sorted([k.name, k.operations, k.total_ns] for k in analysis.kernels),
        "per_gpu": [
            {
                "busy_ns": time.busy_ns,
                "kernel_ns": time.kernel_ns,
                "idle_ns": time.idle.total_ns,
                "categories": _sums(
                    (f"{row.category}/{row.subcategory}", row.exclusive_ns)
                    for row in time.categories
                ),
            }
            for time in analysis.per_gpu
        ],
    }


def _sums(pairs: Iterator[tuple[str, int]]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for name, ns in pairs:
        sums[name] = sums.get(name, 0) + ns
    return sums


def _differences(first: Any, second: Any, path: str) -> Iterator[str]:
    """Yield the paths at which two documents differ."""
    if isinstance(first, dict) and isinstance(second, dict):
        for key in sorted(first.keys() | second.keys()):
            where = f"{path}.{key}" if path else key
            yield from _differences(first.get(key), second.get(key), where)
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for at, pair in enumerate(zip(first, second, strict=True)):
            yield from _differences(*pair, f"{path}[{at}]")
    elif first != second:
        yield path
