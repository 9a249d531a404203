"""What a round must cost: exact figures of cases that were computed by hand."""

import pytest

from traceattr.roofline.forwards import round_forwards
from traceattr.roofline.gemm_work import distinct_experts
from traceattr.roofline.hardware import GpuSpec, find_gpu, load_gpus
from traceattr.roofline.model import Model, load_model
from traceattr.roofline.parallel import Parallel
from traceattr.roofline.prediction import (
    CategoryPrediction,
    Prediction,
    predict_prefill,
    predict_round,
)
from traceattr.roofline.setup import Setup
from traceattr.roofline.work import Term

GPUS = load_gpus()
MODEL = load_model("Qwen3.6-27B")

SEED = Setup(Parallel(2), 1, 500, draft_steps=3, draft_tokens=4, accept_length=3.0)
"""Qwen3.6-27B with three draft steps on two RTX A6000, which the project began with."""

PLAIN = Setup(Parallel(2), 1, 500, accept_length=1.0)
"""The same without speculation."""


def gpu(name: str) -> GpuSpec:
    return find_gpu(name, GPUS)


def predict(setup: Setup = SEED, gpu_name: str = "RTX_A6000", model: Model = MODEL) -> Prediction:
    return predict_round(model, gpu(gpu_name), setup)


def entry(prediction: Prediction, category: str, phase: str = "target") -> CategoryPrediction:
    [found] = (e for e in prediction.categories if (e.category, e.phase) == (category, phase))
    return found


def terms(prediction: Prediction, category: str, phase: str, *parts: str) -> list[Term]:
    return [t for t in entry(prediction, category, phase).terms if t.part in parts]


def read_ms(found: list[Term], bytes_per_s: float = 768e9) -> float:
    return sum(term.total_bytes for term in found) / bytes_per_s * 1e3


def without_links_ms(prediction: Prediction) -> float:
    """Return the bound without collectives; the host has none."""
    return sum(e.bound_ns for e in prediction.categories if e.category != "comm") / 1e6


@pytest.mark.parametrize(
    ("parts", "milliseconds"),
    [
        (("in_proj_qkvz", "in_proj_ba", "out_proj"), 7.25),
        (("gate_up_proj", "down_proj"), 22.31),
        (("qkv_proj", "o_proj"), 2.19),
        (("lm_head",), 1.66),
    ],
)
def test_target_weights_take_what_was_computed_by_hand(
    parts: tuple[str, ...], milliseconds: float
) -> None:
    found = terms(predict(), "weight_gemm", "target", *parts)

    assert read_ms(found) == pytest.approx(milliseconds, rel=0.002)


def test_a_target_pass_reads_each_weight_once() -> None:
    verify, plain = (entry(predict(setup), "weight_gemm") for setup in (SEED, PLAIN))

    weights = sum(
        weight.bytes_on_gpu(2)
        for layer in MODEL.layers
        for weight in layer.weights
        if weight.name != "conv1d"
    ) + MODEL.lm_head.bytes_on_gpu(2)
    activations = plain.bytes - weights
    assert weights == 25_621_954_560
    assert verify.bytes == weights + 4 * activations
    assert verify.bound_ns == 33_404_250
    assert (verify.launches, verify.limited_by) == (305, "memory")


def test_every_draft_pass_reads_the_output_projection_and_the_whole_fc() -> None:
    prediction = predict()

    heads = terms(prediction, "weight_gemm", "draft", "lm_head")
    fcs = terms(prediction, "weight_gemm", "draft", "fc")
    layer = ("fc", "qkv_proj", "o_proj", "gate_up_proj", "down_proj")
    assert [(term.stage, term.count) for term in heads] == [("draft", 2), ("draft_extend", 1)]
    assert read_ms(heads) == pytest.approx(4.97, rel=0.002)
    assert read_ms(terms(prediction, "weight_gemm", "draft", *layer)) == pytest.approx(
        1.87, rel=0.005
    )
    assert all(term.bytes - 5120 * 10240 * 2 < 200_000 for term in fcs)
    draft = sum(e.bound_ns for e in prediction.categories if e.group == "draft") / 1e6
    assert draft == pytest.approx(6.84, rel=0.01)


def test_verify_moves_seven_copies_of_the_state_and_decode_two() -> None:
    copy = 48 * 24 * 128 * 128 * 4

    verify = terms(predict(), "gdn", "target", "recurrence", "commit of accepted states")
    [decode] = terms(predict(PLAIN), "gdn", "target", "recurrence")

    activations = 48 * 4 * (5120 + 3072) * 2
    windows = 48 * 2 * 5120 * 3 * 2
    assert sum(term.total_bytes for term in verify) == 7 * copy + activations + windows
    assert decode.total_bytes == 2 * copy + activations // 4
    assert entry(predict(), "gdn").bound_ns / 1e6 == pytest.approx(0.71, rel=0.01)


def test_the_cache_is_read_once_for_all_rows() -> None:
    found = entry(predict(), "attention")

    assert found.bytes == 16 * (500 * 2 * 2 * 256 * 2 + 4 * 12 * 256 * 4)
    assert found.flop == 16 * 4 * 4 * 12 * 256 * 500


@pytest.mark.parametrize(
    ("prediction", "milliseconds"),
    [
        (predict(), 40.98),
        (predict(Setup(Parallel(2), 1, 131072, 3, 4)), 47.60),
        (predict(gpu_name="H100_SXM"), 9.40),
        (predict(PLAIN), 33.60),
    ],
    ids=["seed", "long context", "H100", "no speculation"],
)
def test_the_bound_without_links_is_that_of_the_hand_computed_cases(
    prediction: Prediction, milliseconds: float
) -> None:
    assert without_links_ms(prediction) == pytest.approx(milliseconds, rel=0.002)


def test_the_expected_round_of_the_seed_case() -> None:
    prediction = predict()

    assert prediction.expected_ns / 1e6 == pytest.approx(54.6, abs=0.1)
    assert prediction.expected_tokens_per_s == pytest.approx(54.9, abs=0.1)
    assert entry(prediction, "comm").expected_ns / 1e6 == pytest.approx(1.36, abs=0.005)
    assert entry(prediction, "weight_gemm").expected_ns / 1e6 == pytest.approx(41.5, abs=0.05)


def test_a_target_pass_has_129_reductions_and_one_gather() -> None:
    found = entry(predict(), "comm")

    assert found.launches == 130
    assert [term.count for term in found.terms] == [129, 1]
    assert found.terms[0].message is not None
    assert found.terms[0].message.size_bytes == 4 * 5120 * 2
    # 56.25 GB/s is a bridge, the fastest link that the card can have.
    assert found.bound_ns == int((129 * 40_960 + 4 * 248_320) / 56.25)


def test_one_gpu_sends_no_messages() -> None:
    prediction = predict(Setup(Parallel(1), 1, 500), "H100_SXM")

    assert all(e.category != "comm" for e in prediction.categories)


def test_tokens_need_an_accept_length() -> None:
    unknown = predict(Setup(Parallel(2), 1, 500, 3, 4))

    assert unknown.bound_tokens_per_s is None
    assert unknown.expected_tokens_per_s is None
    assert predict(PLAIN).bound_tokens_per_s == pytest.approx(29.7, abs=0.1)


def test_distinct_experts_under_uniform_routing() -> None:
    assert distinct_experts(128, 8, 1) == pytest.approx(8)
    assert distinct_experts(128, 8, 8) == pytest.approx(51.6, abs=0.05)
    assert distinct_experts(128, 8, 32) == pytest.approx(111.8, abs=0.05)
    assert distinct_experts(512, 10, 4) == pytest.approx(38.8, abs=0.05)


def test_expert_parallelism_moves_as_many_weights_per_gpu_as_tensor_parallelism() -> None:
    model = load_model("Qwen3-235B-A22B")
    tensor = predict(Setup(Parallel(8), 16, 1000), "H200_SXM", model)
    expert = predict(Setup(Parallel(8, ep=8), 16, 1000), "H200_SXM", model)

    tensor_bytes = entry(tensor, "moe_gemm").bytes
    assert entry(expert, "moe_gemm").bytes == pytest.approx(tensor_bytes, rel=0.01)
    assert entry(expert, "moe_gemm").flop == pytest.approx(entry(tensor, "moe_gemm").flop)


def test_data_parallel_attention_keeps_fewer_requests_and_more_of_each_weight() -> None:
    model = load_model("Qwen3-235B-A22B")
    tensor = predict(Setup(Parallel(8), 16, 1000), "H200_SXM", model)
    data = predict(Setup(Parallel(8, dp=4), 16, 1000), "H200_SXM", model)

    [qkv_tensor] = terms(tensor, "weight_gemm", "target", "qkv_proj")
    [qkv_data] = terms(data, "weight_gemm", "target", "qkv_proj")
    # 64 query heads over 2 GPUs instead of 8; 4 KV heads over 2 instead of 4 of the 8.
    assert qkv_data.bytes > 3 * qkv_tensor.bytes
    assert entry(data, "moe_gemm").bytes == entry(tensor, "moe_gemm").bytes
    assert [t.part for t in entry(data, "comm").terms] == [
        "attention all-reduce",
        "gather before MLP",
        "scatter after MLP",
        "logits gather",
    ]


def test_a_window_bounds_what_attention_reads() -> None:
    model = load_model("gpt-oss-120b")
    short, long = (
        predict(Setup(Parallel(1), 1, context), "H100_SXM", model) for context in (1024, 65536)
    )

    windowed = [terms(p, "attention", "target", "attention, window 128") for p in (short, long)]
    assert windowed[0][0].bytes == windowed[1][0].bytes
    assert entry(long, "attention").bytes > 30 * entry(short, "attention").bytes


def test_every_gpu_reads_the_whole_latent_cache() -> None:
    model = load_model("DeepSeek-V3")
    place = Setup(Parallel(8), 1, 1000)

    found = entry(predict(place, "H200_SXM", model), "attention")

    assert found.bytes == 61 * (1000 * 576 * 2 + 16 * (2 * 512 + 64) * 2)
    assert found.flop == 61 * 1000 * 2 * 16 * (2 * 512 + 64)


def test_quantised_weights_are_multiplied_in_their_own_format() -> None:
    model = load_model("Qwen3.6-27B-NVFP4")

    found = entry(predict(PLAIN, "RTX_PRO_6000_Blackwell", model), "weight_gemm")

    formats = {term.part: term.number_format for term in found.terms}
    assert formats["gate_up_proj"] == "nvfp4_w4a16"
    assert formats["in_proj_ba"] == "bf16"


def test_a_round_has_as_many_draft_passes_as_steps() -> None:
    for steps in range(1, 9):
        drafts = [f for f in round_forwards(1, 500, steps, steps + 1) if f.phase == "draft"]

        assert sum(forward.repeats for forward in drafts) == steps


def test_a_prefill_of_many_tokens_is_limited_by_compute() -> None:
    prediction = predict_prefill(MODEL, gpu("RTX_A6000"), Setup(Parallel(2), 1, 0), 2048)

    found = entry(prediction, "weight_gemm", "prefill")
    assert found.limited_by == "compute"
    assert found.flop / 154.8e12 * 1e3 == pytest.approx(found.bound_ns / 1e6)
    # 129 messages of 21 MB take 0.28 s on PCIe 4.
    assert entry(prediction, "comm", "prefill").expected_ns / 1e9 == pytest.approx(0.28, abs=0.015)


def test_a_prefill_with_a_draft_fills_the_cache_of_its_layer_too() -> None:
    prediction = predict_prefill(MODEL, gpu("RTX_A6000"), SEED, 2048)

    assert entry(prediction, "kv_cache", "draft").bytes == 2048 * 2 * 2 * 256 * 2
