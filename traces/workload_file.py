"""Read a workload from TOML (the format is described at the top of the bundled file)."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

from traces.kernel_table import Document, Sequences, kernel_table
from traces.workload import (
    ROWS,
    Await,
    Call,
    Copy,
    Deployment,
    Enter,
    GpuModel,
    Graph,
    HostWork,
    Join,
    Launch,
    Program,
    Record,
    Replay,
    Set,
    Span,
    Step,
    Workload,
)

WORKLOADS = {path.stem: path for path in sorted(Path(__file__).parent.glob("*.toml"))}
QWEN36_27B_A6000 = WORKLOADS["qwen36_27b_a6000"]
AS_CAPTURED = ""  # the variant of the smallest batch size


@cache
def load_workload(path: Path = QWEN36_27B_A6000) -> Workload:
    """Return the workload that the file at `path` describes."""
    document = _document(path)
    deployment = _deployment(document["deployment"])
    variants = {AS_CAPTURED: {}, **document.get("variant", {})}
    servers = {name: _Variant(document, entry) for name, entry in variants.items()}
    programs = {
        name: _program(_inherited(entry, document["program"]), servers, deployment)
        for name, entry in document["program"].items()
    }
    graphs = {
        f"{name}@{variant}" if variant else name: copies[0]
        for variant, server in servers.items()
        for name, copies in server.graphs.items()
    }
    return Workload(deployment, graphs, programs)


def _document(path: Path) -> Document:
    """Parse a file; what it says goes over what its `base` says, or the parts to `inherit`."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    if "base" not in document:
        return document
    base = _document(path.with_name(document.pop("base")))
    parts = document.pop("inherit", base.keys())
    return _merged({part: base[part] for part in parts}, document)


def _merged(below: Document, above: Document) -> Document:
    both = {
        key: _merged(below[key], above[key])
        for key in above
        if isinstance(above[key], dict) and isinstance(below.get(key), dict)
    }
    return {**below, **above, **both}


def _inherited(entry: Document, entries: Document) -> Document:
    return {**entries[entry["like"]], **entry} if "like" in entry else entry


def _deployment(entry: Document) -> Deployment:
    gpu = entry["gpu"]
    major, minor = gpu["compute"]
    return Deployment(
        model=entry["model"],
        server=entry["server"],
        speculation=entry["speculation"],
        ranks=entry["ranks"],
        gpu=GpuModel(**{**gpu, "compute": (major, minor)}),
    )


def _program(entry: Document, servers: Mapping[str, "_Variant"], deployment: Deployment) -> Program:
    server = servers[entry.get("variant", AS_CAPTURED)]
    return Program(
        steps=tuple(server.steps(entry["steps"])),
        kind=entry.get("round"),
        batch_size=server.batch_size,
        speculation=entry.get("speculation", deployment.speculation),
    )


class _Variant:
    """The graphs and eager kernels of one batch size, and the steps that launch them."""

    def __init__(self, document: Document, variant: Document) -> None:
        self.batch_size: int = variant.get("batch_size", 1)
        self._sequences = Sequences(kernel_table(document, variant), document["sequence"])
        offset = variant.get("graph_id_offset", 0)
        self.graphs = {
            name: self._copies(name, entry, offset) for name, entry in document["graph"].items()
        }

    def _copies(self, name: str, entry: Document, offset: int) -> tuple[Graph, ...]:
        rows = entry.get("rows", ROWS)
        sequence = self._sequences.expand(entry.get("sequence", name))
        nodes = tuple(node.over(rows) for node in sequence)
        first = entry["id"] + offset
        return tuple(
            Graph(entry.get("kind", name), graph_id, entry["phase"], nodes)
            for graph_id in range(first, first + entry.get("copies", 1))
        )

    def steps(self, entries: Iterable[Document]) -> Iterator[Step]:
        """Return the steps that `entries` stand for, with loops unrolled."""
        replays = {name: cycle(copies) for name, copies in self.graphs.items()}
        for entry in _unrolled(entries):
            if "replay" in entry:
                yield Replay(next(replays[entry["replay"]]))
            elif "launch" in entry:
                yield self._launch(entry)
            elif "host_us" in entry:
                yield _host_work(entry)
            else:
                yield _small_step(entry)

    def _launch(self, entry: Document) -> Launch:
        return Launch(
            nodes=tuple(node for item in entry["launch"] for node in self._sequences.expand(item)),
            phase=entry.get("phase", "other"),
            lane=entry.get("on", "main"),
            stage=entry.get("stage"),
        )


def _unrolled(entries: Iterable[Document]) -> Iterator[Document]:
    for entry in entries:
        if "repeat" in entry:
            for _ in range(entry["repeat"]):
                yield from _unrolled(entry["steps"])
        else:
            yield entry


def _host_work(entry: Document) -> HostWork:
    return HostWork(
        time_ns=_span(entry["host_us"]),
        late_ns=_span(entry["late_us"]) if "late_us" in entry else None,
        os_call=entry.get("os"),
        is_pause=entry.get("pause", False),
    )


def _copy(entry: Document) -> Copy:
    return Copy(
        kind=entry["copy"],
        size_bytes=entry["bytes"],
        times=entry.get("times", 1),
        is_waited_for=entry.get("wait", False),
        lane=entry.get("on", "main"),
        phase=entry.get("phase", "other"),
        is_pinned=entry.get("pinned", False),
        is_blocking=entry.get("blocks", False),
    )


def _small_step(entry: Document) -> Step:
    if "copy" in entry:
        return _copy(entry)
    if "set" in entry:
        return Set(entry["set"])
    if "call" in entry:
        return Call(entry["call"], _span(entry["us"]), entry.get("times", 1))
    if "record" in entry:
        return Record(entry["record"], entry.get("on", "main"))
    if "join" in entry:
        return Join(entry["join"], entry["after"])
    if "await" in entry:
        return Await(entry["await"], entry.get("behind", 0))
    return Enter(entry["range"])


def _span(us: list[Any]) -> Span:
    low, high = us
    return round(low * 1000), round(high * 1000)
