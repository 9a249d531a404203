"""Small analyses to render, written by hand."""

from dataclasses import replace

from tests import round_parts as parts
from traceattr.attribution.analysis import (
    Analysis,
    CategoryTime,
    Diagnostic,
    Gpu,
    GpuTime,
    GraphTrace,
    Idle,
    KernelTime,
    Notice,
    RoundsSummary,
    RulesId,
    TraceFacts,
    Window,
)
from traceattr.attribution.layer_figures import Layers
from traceattr.rules.categories import GRAPH, UNCLASSIFIED

NO_ROUNDS = RoundsSummary(
    kind="none",
    why="no CUDA graph was replayed, and rounds are told by their graphs",
    count=0,
    sampled=0,
    prefills=0,
    wall=None,
    replays_per_round=(),
    graphs=(),
    slow=None,
    cut=(),
)
WITHOUT_ROUNDS = Notice(
    "no-rounds",
    "No rounds: no CUDA graph was replayed. Figures per round are unknown.",
)

NO_LAYERS = "no layers: no replay of a target model"


def gpu(number: int = 0, name: str | None = "NVIDIA RTX A6000") -> Gpu:
    return Gpu(
        gpu=number,
        pid=4001 + number,
        process=f"sglang::scheduler_TP{number}",
        device_id=number,
        rank=number,
        rank_from="process title",
        name=name,
        name_from="trace" if name else None,
        sm_count=84 if name else None,
        memory_bandwidth_bytes_per_s=768_096_000_000 if name else None,
    )


def idle(in_graph: int | None = 0, between: int = 0, outside: int = 0, edge: int = 0) -> Idle:
    return Idle(
        total_ns=(in_graph or 0) + between + outside + edge,
        in_graph_ns=in_graph,
        between_graph_ns=between,
        other_ns=outside + edge,
        no_work_ns=edge,
        completeness="complete",
    )


def category(
    name: str, exclusive_ns: int, operations: int = 1, sub: str | None = None, overlap_ns: int = 0
) -> CategoryTime:
    return CategoryTime(
        name, sub, None, exclusive_ns, exclusive_ns + overlap_ns, operations, per_round=None
    )


def gpu_time(
    number: int, categories: list[CategoryTime], gaps: Idle, only_copies_ns: int = 0
) -> GpuTime:
    busy_ns = sum(entry.exclusive_ns for entry in categories)
    return GpuTime(
        gpu=number,
        wall_ns=busy_ns + gaps.total_ns,
        busy_ns=busy_ns,
        kernel_ns=busy_ns - only_copies_ns,
        categories=tuple(categories),
        idle=gaps,
        per_round=(),
        category_rounds=(),
    )


def kernel(
    name: str,
    category: str,
    total_ns: int,
    operations: int = 1,
    rule: str | None = None,
    gpus: int = 1,
) -> KernelTime:
    sub = "custom" if category == "comm" else None
    return KernelTime(
        name, category, sub, rule, gpus, operations, total_ns, total_ns // max(operations, 1)
    )


def analysis(
    *per_gpu: GpuTime,
    graph_trace: GraphTrace = "node",
    kernels: list[KernelTime] | None = None,
    warnings: tuple[Notice, ...] = (WITHOUT_ROUNDS,),
    simulated: str | None = None,
    rounds: RoundsSummary = NO_ROUNDS,
) -> Analysis:
    wall_ns = per_gpu[0].wall_ns if per_gpu else 0
    return Analysis(
        version="0.1.0",
        rules=RulesId("sglang", "0123456789abcdef" * 4),
        trace=TraceFacts(
            file="decode.sqlite",
            nsys_version="2026.2.1.210",
            schema_version="3.25.0",
            graph_trace=graph_trace,
            opaque_replays=150 if graph_trace in ("graph", "mixed") else 0,
            unrecorded_graph_launches=0,
            duration_ns=2_000_000_000,
            driver_version="580.95.05",
            simulated=simulated,
            diagnostics=(),
        ),
        gpus=tuple(gpu(time.gpu) for time in per_gpu),
        window=Window(500_000_000, 500_000_000 + wall_ns, "first to last GPU operation"),
        rounds=rounds,
        per_gpu=per_gpu,
        gaps=tuple(map(parts.gpu_gaps, per_gpu)),
        ranks=parts.ranks_without_figures(len(per_gpu), parts.NO_ROUNDS),
        layers=parts.alike(Layers(0, reason=NO_LAYERS), per_gpu),
        kernels=tuple(kernels or ()),
        warnings=warnings,
    )


GEMM = "ampere_bf16_s16816gemm_bf16_64x64_sliced1x2_ldg8_f2f_stages_64x5_tn"
REDUCE = (
    "void sglang::cross_device_reduce_1stage<__nv_bfloat16, (int)2>(sglang::RankData *, "
    "sglang::RankSignals, sglang::Signal *, T1 *, int, int)"
)
SIGMOID = (
    "void at::native::vectorized_elementwise_kernel<(int)4, at::native::sigmoid_kernel_cuda("
    "at::TensorIteratorBase &)::[lambda() (instance 2)]::operator ()() const::[lambda(float) "
    "(instance 1)], std::array<char *, (unsigned long)2>>(int, T2, T3)"
)
RMS_NORM = "void flashinfer::norm::RMSNormKernel<(unsigned int)8, __nv_bfloat16>(T2 *, T2 *)"
RECURRENCE = "fused_sigmoid_gating_delta_rule_update_kernel"
NASTY = "evil|kernel`<b>bold</b>` @everyone #1\n\x1b[31mred <script>alert(1)</script>"


def decode_kernels(gpus: int = 1) -> list[KernelTime]:
    return [
        kernel(GEMM, "weight_gemm", 966_200_000 * gpus, 16_000 * gpus, "cublas-gemm", gpus),
        kernel(REDUCE, "comm", 130_000_000 * gpus, 6_400 * gpus, "custom-all-reduce", gpus),
        kernel(RECURRENCE, "gdn", 48_000_000 * gpus, 2_400 * gpus, "gdn", gpus),
        kernel(RMS_NORM, "norm", 15_500_000 * gpus, 4_800 * gpus, "rms-norm", gpus),
        kernel(SIGMOID, "elementwise", 2_050_000 * gpus, 800 * gpus, "aten", gpus),
    ]


def decode_categories(gemm_ns: int) -> list[CategoryTime]:
    return [
        category("weight_gemm", gemm_ns, 16_000, overlap_ns=3_000_000),
        category("gdn", 48_000_000, 2_400),
        category("attention", 21_000_000, 800),
        category("kv_cache", 2_000_000, 800),
        category("rope", 1_500_000, 800),
        category("comm", 130_000_000, 6_400, sub="custom"),
        category("comm", 1_200_000, 25, sub="nccl"),
        category("draft", 900_000, 50),
        category("norm", 15_500_000, 4_800),
        category("elementwise", 2_050_000, 800),
        category("sampling", 350_000, 25),
        category("memory", 250_000, 100),
    ]


def one_gpu() -> Analysis:
    gaps = idle(in_graph=9_000_000, between=16_250_000, outside=1_000, edge=2_000_000)
    return analysis(
        gpu_time(0, decode_categories(1_000_000_000), gaps, 250_000), kernels=decode_kernels()
    )


def two_gpus() -> Analysis:
    fast = idle(in_graph=12_250_000, between=16_250_000, edge=100_000)
    slow = idle(in_graph=8_000_000, between=16_000_000, edge=100_000)
    return analysis(
        gpu_time(0, decode_categories(965_300_000), fast, 200_000),
        gpu_time(1, decode_categories(969_800_000), slow, 200_000),
        kernels=decode_kernels(2),
        simulated="Qwen3.6-27B, TP2, 3-step MTP on A6000, seed 7",
    )


def eight_gpus() -> Analysis:
    times = []
    for number in range(8):
        gaps = idle(in_graph=9_000_000 - number, between=15_000_000 + number)
        times.append(gpu_time(number, decode_categories(900_000_000), gaps, 200_000))
    return analysis(*times, kernels=decode_kernels(8))


def graph_mode() -> Analysis:
    per_gpu = [
        gpu_time(
            number,
            [
                category("sampling", 4_000_000, 75),
                category("memory", 1_000_000, 300),
                category(GRAPH, 880_000_000 + number, 75),
            ],
            idle(in_graph=None, between=60_000_000 - number),
            only_copies_ns=1_000_000,
        )
        for number in range(2)
    ]
    kernels = [kernel("_topk_topp_kernel", "sampling", 8_000_000, 150, "sampling", 2)]
    return analysis(*per_gpu, graph_trace="graph", kernels=kernels)


def mostly_unclassified() -> Analysis:
    kernels = [
        kernel(NASTY, UNCLASSIFIED, 600_000_000, 1_234),
        *(kernel(f"user_kernel_{n}", UNCLASSIFIED, 1_000_000 - n, 3) for n in range(30)),
        kernel(GEMM, "weight_gemm", 100_000_000, 1_600, "cublas-gemm"),
    ]
    categories = [category("weight_gemm", 100_000_000, 1_600), category(UNCLASSIFIED, 629_000_000)]
    made = analysis(
        gpu_time(0, categories, idle(outside=71_000_000)), graph_trace="none", kernels=kernels
    )
    diagnostics = (
        Diagnostic(2, "Not all CUDA events might have been collected.", 3, 4001),
        Diagnostic(3, "CUPTI | buffer\nlost", 1, None),
    )
    gpus = (gpu(0, name=None),)
    return replace(made, trace=replace(made.trace, diagnostics=diagnostics), gpus=gpus)


def mostly_copies() -> Analysis:
    per_gpu = [
        gpu_time(
            number,
            [category("gdn", 22_000_000, 900), category("memory", 940_000_000 + number, 70)],
            idle(outside=6_900_000 - number),
            only_copies_ns=940_000_000 + number,
        )
        for number in range(2)
    ]
    return analysis(*per_gpu, graph_trace="none")


def mostly_idle() -> Analysis:
    categories = [category("weight_gemm", 30_000_000, 40)]
    gaps = idle(outside=900_000_000, edge=39_000_000)
    return analysis(gpu_time(0, categories, gaps), graph_trace="none")


def empty_window() -> Analysis:
    return analysis(gpu_time(0, [], idle(edge=250_000_000)))


def graph_work_missing() -> Analysis:
    gaps = idle(in_graph=None, outside=800_000_000)
    made = analysis(gpu_time(0, [category("sampling", 5_000_000, 75)], gaps), graph_trace="none")
    return replace(made, trace=replace(made.trace, unrecorded_graph_launches=225))
