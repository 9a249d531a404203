"""Build the kernels of a workload and the sequences that they form."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from traces.workload import Kernel, Node

Document: TypeAlias = Mapping[str, Any]  # parsed TOML: whatever the file holds


def kernel_table(document: Document, variant: Document) -> dict[str, Kernel]:
    """Return the kernels of `document` by key, as they are in `variant`."""
    gpu, deployment = document["deployment"]["gpu"], document["deployment"]
    bytes_per_ns = (
        gpu["memory_bandwidth_bytes_per_s"] * deployment["weight_read_efficiency"] / 1e9
    ) / deployment.get("weight_share", 1.0)
    entries = document["kernel"]
    renamed = variant.get("names", {})
    return {
        key: _kernel(_whole(entry, entries), bytes_per_ns, variant, renamed.get(key))
        for key, entry in entries.items()
    }


def _whole(entry: Document, entries: Document) -> Document:
    """Add what an entry has from the one that it is like; its own time replaces that one's."""
    if "like" not in entry:
        return entry
    model = dict(_whole(entries[entry["like"]], entries))
    if "us" in entry:
        model.pop("weight_bytes", None)
    return {**model, **entry}


def _kernel(whole: Document, bytes_per_ns: float, variant: Document, name: str | None) -> Kernel:
    x, y, z = whole.get("grid", [40, 1, 1])
    return Kernel(
        name=name or whole["name"],
        category=whole["category"],
        subcategory=whole.get("subcategory"),
        duration_ns=_duration_ns(whole, bytes_per_ns, variant),
        is_driver_launched=whole.get("launch") == "driver",
        grid=(x * variant.get("grid_ratio", 1), y, z),
        block=_triple(whole.get("block", [128, 1, 1])),
        registers=whole.get("registers", 40),
        is_per_row=whole.get("per_row", False),
    )


def _duration_ns(whole: Document, bytes_per_ns: float, variant: Document) -> int:
    if "weight_bytes" not in whole:
        own_ns: float = whole["us"] * 1000 * variant.get("time_ratio", 1)
        return round(own_ns)
    read_ns: float = whole["weight_bytes"] / bytes_per_ns * variant.get("weight_time_ratio", 1)
    launch_ns: float = whole.get("base_us", 0) * 1000
    return round(launch_ns + read_ns)


def _triple(values: list[int]) -> tuple[int, int, int]:
    x, y, z = values
    return x, y, z


class Sequences:
    """Expands the names in sequences down to kernels."""

    def __init__(self, kernels: Mapping[str, Kernel], sequences: Document) -> None:
        """Take the kernels and the sequences by name; no name may mean both."""
        both = kernels.keys() & sequences.keys()
        if both:
            raise ValueError(f"a kernel and a sequence have the same name: {', '.join(both)}")
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
