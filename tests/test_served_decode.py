"""Decode rounds that others measured and published, beside what is expected of them."""

from dataclasses import dataclass
from statistics import fmean, median

from traceattr.roofline.deployment import deployment_from_flags
from traceattr.roofline.hardware import load_gpus
from traceattr.roofline.roofline import build_roofline


@dataclass(frozen=True, slots=True)
class Served:
    """One published round, in ms."""

    model: str
    gpu: str
    tp: int
    batch: int
    context: int
    round_ms: float
    weights: str | None = None
    ep: int = 1


def one_token(tokens_per_s: float) -> float:
    return 1e3 / tokens_per_s


A100 = "A100_SXM4_80GB"
GPT_FAST = (
    Served("Llama-2-7B", A100, 1, 1, 100, one_token(104.9)),
    Served("Llama-2-7B", A100, 2, 1, 100, one_token(168.84)),
    Served("Llama-2-7B", A100, 4, 1, 100, one_token(254.02)),
    Served("Llama-2-7B", A100, 8, 1, 100, one_token(328.43)),
    Served("Llama-2-70B", A100, 2, 1, 100, one_token(21.32)),
    Served("Llama-2-70B", A100, 4, 1, 100, one_token(38.01)),
    Served("Llama-2-70B", A100, 8, 1, 100, one_token(62.50)),
    Served("Llama-2-7B", A100, 1, 1, 100, one_token(155.58), "int8_w8a16"),
    Served("Llama-2-7B", A100, 1, 1, 100, one_token(196.80), "int4_gptq_g32"),
    Served("Llama-2-70B", A100, 1, 1, 100, one_token(19.13), "int8_w8a16"),
    Served("Llama-2-70B", A100, 1, 1, 100, one_token(25.25), "int4_gptq_g32"),
    Served("Llama-2-70B", A100, 8, 1, 100, one_token(80.44), "int8_w8a16"),
    Served("Llama-2-70B", A100, 8, 1, 100, one_token(90.77), "int4_gptq_g32"),
)
"""README of pytorch-labs/gpt-fast, commit 0f925b5d: one request, 8 x A100 at 330 W."""

FORWARD_PASSES = (
    Served("Qwen3-32B", "B300_SXM", 1, 1, 4100, 13.50),
    Served("Qwen3-32B", "B300_SXM", 1, 4, 4100, 13.98),
    Served("Qwen3-32B", "B300_SXM", 1, 8, 4100, 14.55),
    Served("Qwen3-32B", "B300_SXM", 1, 14, 4100, 16.37),
    Served("Qwen3.6-35B-A3B", "B300_SXM", 4, 1, 4096, 3.478, ep=4),
    Served("Qwen3.6-35B-A3B", "B300_SXM", 4, 8, 4096, 3.877, ep=4),
)
"""Forward-pass metrics of vLLM 0.20.1, ai-dynamo/aiconfigurator (commits 26844ff6, ef7057af)."""


def test_published_rounds_are_as_expected_and_never_below_their_bound() -> None:
    gpus = load_gpus()
    ratios = []

    for served in (*GPT_FAST, *FORWARD_PASSES):
        deployment = deployment_from_flags(
            model=served.model,
            gpu=served.gpu,
            tp=served.tp,
            ep=served.ep,
            batch=served.batch,
            context=served.context,
            weights=served.weights,
        )
        prediction = build_roofline(deployment, gpus, version="test").prediction
        assert served.round_ms * 1e6 > prediction.bound_ns
        ratios.append(served.round_ms * 1e6 / prediction.expected_ns)

    assert 0.9 <= median(ratios) <= 1.1
    assert fmean(abs(1 / ratio - 1) for ratio in ratios) <= 0.15
