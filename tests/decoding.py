"""Small decode servers: each round is one replay of one graph on every rank."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from traceattr.attribution.account import Account, open_account
from traceattr.attribution.analysis import Gpu, Window
from traceattr.attribution.labels import KernelNames, classify_kernels
from traceattr.attribution.window import choose_window
from traceattr.ingest.identity import ProcessGpu
from traceattr.ingest.trace import open_trace
from traceattr.rules.rule_set import load_rules
from traces.export_writer import ExportWriter

ATTENTION = "void flashinfer::BatchDecodeWithPagedKVCacheKernel<int>(T1)"
RECURRENCE = "fused_recurrent_gated_delta_rule_packed_decode_kernel"
GEMM = "ampere_bf16_s16816gemm_bf16_64x64_sliced1x2_ldg8_f2f_stages_64x5_tn"
ALL_REDUCE = "void sglang::cross_device_reduce_1stage<__nv_bfloat16, (int)2>(T1 *, int)"
GRAPH = 17

Kernel = tuple[str, int, int]
"""Name, begin and end of one kernel."""

Replay = Sequence[Kernel]


@dataclass(frozen=True, slots=True)
class Server:
    """What the analyses of a trace start from."""

    accounts: tuple[Account, ...]
    gpus: tuple[Gpu, ...]
    names: KernelNames
    window: Window


def write_replays(path: Path, replays_of: Mapping[str, Sequence[Replay]]) -> None:
    """Write the replays of each process, given by title; all call their GPU device 0."""
    with ExportWriter(path) as export:
        for pid, (title, replays) in enumerate(replays_of.items(), start=101):
            export.process(pid, title)
            for correlation, kernels in enumerate(replays, start=1):
                for node, (name, start, end) in enumerate(kernels, start=1):
                    export.kernel(
                        name, start, end, pid=pid, correlation=correlation, graph=GRAPH, node=node
                    )


def opened(path: Path) -> Server:
    """Open a trace as far as accounts."""
    with open_trace(path) as trace:
        names = classify_kernels(trace.connection, load_rules())
        return Server(
            tuple(open_account(trace.connection, gpu, names, {}) for gpu in trace.gpu_work.gpus),
            tuple(map(_gpu, trace.gpus)),
            names,
            choose_window(trace.gpu_work.recorded_ns, (None, None)),
        )


def served(path: Path, replays_of: Mapping[str, Sequence[Replay]]) -> Server:
    """Write and open the replays of each process."""
    write_replays(path, replays_of)
    return opened(path)


def shifted(kernels: Iterable[Kernel], by_ns: int) -> list[Kernel]:
    """Return kernels at another time."""
    return [(name, start + by_ns, end + by_ns) for name, start, end in kernels]


def _gpu(gpu: ProcessGpu) -> Gpu:
    return titled(gpu.gpu_id, gpu.process_name)


def titled(gpu: int, title: str | None) -> Gpu:
    """Return a GPU of which only number and title of its process are known."""
    return Gpu(
        gpu=gpu,
        pid=None,
        process=title,
        device_id=0,
        rank=None,
        rank_from=None,
        name=None,
        name_from=None,
        sm_count=None,
        memory_bandwidth_bytes_per_s=None,
    )
