"""What ``nsys profile`` is told, so that a decode round can be attributed."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traceattr.ingest.nsys import Nsys


class GraphTrace(StrEnum):
    """How CUDA graphs are recorded: each node, or one envelope per replay."""

    NODE = "node"
    GRAPH = "graph"


@dataclass(frozen=True, slots=True)
class Recording:
    """What is recorded, and when.

    Attributes:
        base: Where the report goes, without the suffix that nsys gives it.
        traced: APIs as nsys names them, comma-separated.
        graphs: How CUDA graphs are recorded.
        delay_s: Seconds from the start of the command to that of the recording.
        duration_s: Seconds that are recorded.
        on_demand: Whether the program itself says when, by ``cudaProfilerStart`` and ``Stop``.
        keep_running: Whether the command outlives the recording.
        overwrite: Whether nsys may replace an earlier report.
        more: Further arguments for nsys, as the user gave them.
    """

    base: Path
    traced: str = "cuda,nvtx"
    graphs: GraphTrace = GraphTrace.NODE
    delay_s: float | None = None
    duration_s: float | None = None
    on_demand: bool = False
    keep_running: bool = False
    overwrite: bool = False
    more: tuple[str, ...] = ()

    @property
    def ends_command(self) -> bool:
        """Whether nsys ends the command before that would end by itself."""
        return (self.duration_s is not None or self.on_demand) and not self.keep_running


@dataclass(frozen=True, slots=True)
class Plan:
    """How nsys is called.

    Attributes:
        arguments: The whole command line.
        left_out: What the local nsys does not know.
    """

    arguments: tuple[str, ...]
    left_out: tuple[str, ...]


def plan_recording(recording: Recording, command: tuple[str, ...], nsys: "Nsys") -> Plan:
    """Return how `nsys` records `command`."""
    wanted = _options(recording)
    known = [option for option in wanted if nsys.knows(option.partition("=")[0])]
    return Plan(
        arguments=(nsys.command, "profile", *known, *recording.more, *command),
        left_out=tuple(option for option in wanted if option not in known),
    )


def _options(recording: Recording) -> list[str]:
    options = [
        f"--trace={recording.traced}",
        # CPU samples and context switches fill the file and are not used.
        "--sample=none",
        "--cpuctxsw=none",
        f"--cuda-graph-trace={recording.graphs}",
        # The scheduler of each rank is a child process.
        "--trace-fork-before-exec=true",
    ]
    if recording.on_demand:
        options += ["--capture-range=cudaProfilerApi", "--capture-range-end=stop-shutdown"]
    if recording.delay_s is not None:
        options.append(f"--delay={recording.delay_s:g}")
    if recording.duration_s is not None:
        options.append(f"--duration={recording.duration_s:g}")
    if recording.keep_running:
        options.append("--kill=none")
    if recording.overwrite:
        options.append("--force-overwrite=true")
    # nsys takes %h, %p, %q{...} in the name for variables.
    options.append(f"--output={str(recording.base).replace('%', '%%')}")
    return options
