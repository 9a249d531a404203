"""Read a workload from TOML (the format is described at the top of the bundled file)."""

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from traces.workload import (
    Copy,
    Deployment,
    Graph,
    HostWork,
    Kernel,
    Launch,
    Node,
    Replay,
    Set,
    Span,
    Step,
    Workload,
)

QWEN36_27B_A6000 = Path(__file__).parent / "qwen36_27b_a6000.toml"

Document = Mapping[str, Any]  # parsed TOML: whatever the file holds


@cache
def load_workload(path: Path = QWEN36_27B_A6000) -> Workload:
    """Return the workload that the file at `path` describes."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    kernels = _kernels(document)
    nodes = _Sequences(kernels, document["sequence"])
    graphs = {
        kind: Graph(kind, entry["id"], entry["phase"], nodes.expand(kind))
        for kind, entry in document["graph"].items()
    }
    programs = {
        name: tuple(_step(step, nodes.expand, graphs) for step in steps)
        for name, steps in document["program"].items()
    }
    return Workload(_deployment(document["deployment"]), graphs, programs)


def _deployment(entry: Document) -> Deployment:
    return Deployment(
        model=entry["model"],
        server=entry["server"],
        speculation=entry["speculation"],
        gpu=entry["gpu"],
        ranks=entry["ranks"],
        memory_bandwidth_bytes_per_s=entry["memory_bandwidth_bytes_per_s"],
    )


def _kernels(document: Document) -> dict[str, Kernel]:
    deployment = document["deployment"]
    bytes_per_ns = (
        deployment["memory_bandwidth_bytes_per_s"] * deployment["weight_read_efficiency"] / 1e9
    )
    entries = document["kernel"]
    return {key: _kernel(entry, entries, bytes_per_ns) for key, entry in entries.items()}


def _kernel(entry: Document, entries: Document, bytes_per_ns: float) -> Kernel:
    whole = {**entries[entry["like"]], **entry} if "like" in entry else entry
    reads_weights = "weight_bytes" in (entry if {"us", "weight_bytes"} & entry.keys() else whole)
    time_ns = whole["weight_bytes"] / bytes_per_ns if reads_weights else whole["us"] * 1000
    return Kernel(
        name=whole["name"],
        category=whole["category"],
        subcategory=whole.get("subcategory"),
        duration_ns=round(time_ns),
        is_driver_launched=whole.get("launch") == "driver",
        grid=_triple(whole.get("grid", [40, 1, 1])),
        block=_triple(whole.get("block", [128, 1, 1])),
        registers=whole.get("registers", 40),
    )


def _triple(values: list[int]) -> tuple[int, int, int]:
    x, y, z = values
    return x, y, z


class _Sequences:
    """Expands the names in sequences down to kernels."""

    def __init__(self, kernels: Mapping[str, Kernel], sequences: Document) -> None:
        self._kernels = kernels
        self._sequences = sequences

    def expand(self, item: str) -> tuple[Node, ...]:
        """Return the nodes that `item` of a sequence stands for."""
        if " * " in item:
            times, name = item.split(" * ")
            return self.expand(name) * int(times)
        if " & " in item:
            main, beside = item.split(" & ")
            return Node(self._kernels[main], False), Node(self._kernels[beside], True)
        if item in self._sequences:
            return tuple(node for part in self._sequences[item] for node in self.expand(part))
        return (Node(self._kernels[item], False),)


def _step(
    entry: Document, expand: Callable[[str], tuple[Node, ...]], graphs: Mapping[str, Graph]
) -> Step:
    if "replay" in entry:
        return Replay(graphs[entry["replay"]])
    if "launch" in entry:
        nodes = tuple(node for item in entry["launch"] for node in expand(item))
        return Launch(nodes, entry.get("phase", "eager"))
    if "set" in entry:
        return Set(entry["set"])
    if "copy" in entry:
        return Copy(
            kind=entry["copy"],
            size_bytes=entry["bytes"],
            times=entry.get("times", 1),
            is_waited_for=entry.get("wait", False),
            is_beside=entry.get("beside", False),
        )
    late = _span(entry["late_us"]) if "late_us" in entry else None
    return HostWork(_span(entry["host_us"]), late, entry.get("os"))


def _span(us: list[float]) -> Span:
    low, high = us
    return round(low * 1000), round(high * 1000)
