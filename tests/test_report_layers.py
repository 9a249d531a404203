"""What a report says about the layers of the target."""

from dataclasses import replace

import pytest

from tests.analyses import category, gpu_time, idle, one_gpu
from tests.round_analyses import opaque_rounds, speculative, speculative_two_gpus
from tests.round_parts import HYBRID
from traceattr.attribution.analysis import Analysis
from traceattr.attribution.layer_figures import LayerKind, Layers, OutlierLayer, Period
from traceattr.report.layers_text import layers_sentences

ATTENTION = replace(
    HYBRID,
    layers=32,
    attention_layers=32,
    recurrent_layers=0,
    period=Period((LayerKind.ATTENTION,), 32, 0),
    recurrent_layer_ns=None,
    kernels_per_recurrent_layer=None,
)
PLAIN = "64 layers: (3 GDN + 1 attention) x 16; a GDN layer 134.1 us in 17 kernels, an attention"


def sentences(*layers: Layers) -> tuple[str, ...]:
    return layers_sentences(replace(speculative_two_gpus(), layers=layers))


def test_layers_are_counted_in_their_order_with_what_one_takes() -> None:
    assert layers_sentences(speculative()) == (
        f"{PLAIN} layer 145.5 us in 20 kernels (median of 120 replays).",
    )
    assert layers_sentences(speculative_two_gpus()) == (
        f"{PLAIN} layer 145.5 us in 20 kernels (median of 120 replays, mean of 2 GPUs).",
    )


def test_a_model_with_one_kind_of_layer_needs_no_order() -> None:
    assert sentences(ATTENTION) == (
        "32 layers, all attention; an attention layer 145.5 us in 20 kernels "
        "(median of 120 replays).",
    )


def test_recurrent_layers_are_called_gdn_only_where_all_categories_say_so() -> None:
    other = gpu_time(0, [category("linear_attn_other", 5), category("gdn", 5)], idle())
    made = replace(one_gpu(), per_gpu=(other,), layers=(HYBRID,))

    (text,) = layers_sentences(made)

    assert text.startswith("64 layers: (3 recurrent + 1 attention) x 16; a recurrent layer 134")


def test_an_order_without_period_has_no_costs_and_says_why() -> None:
    reason = "no cost per layer: the order of the layers has no regular period"
    odd = Layers(0, 9, 0, 64, attention_layers=16, recurrent_layers=48, reason=reason)

    assert sentences(odd) == (
        "64 layers: 16 attention, 48 GDN. No cost per layer: the order of the layers has no "
        "regular period.",
    )


def test_slow_layers_are_named_by_how_much_they_exceed_their_kind() -> None:
    slow = [
        OutlierLayer(layer, LayerKind.ATTENTION, 200_000 + layer, 160_000) for layer in range(5)
    ]
    recurrent = OutlierLayer(17, LayerKind.RECURRENT, 150_000, 100_000)

    (text,) = sentences(replace(HYBRID, outliers=(*slow, recurrent)))

    assert text.endswith(
        "Slower than their kind: layer 17 (GDN) by 50.0 %, layer 4 (attention) by 25.0 %, "
        "layer 3 (attention) by 25.0 %, 3 more."
    )


def test_a_slow_layer_of_one_of_several_gpus_is_that_of_its_gpu() -> None:
    slow = OutlierLayer(5, LayerKind.RECURRENT, 150_000, 100_000)

    (text,) = sentences(HYBRID, replace(HYBRID, gpu=1, outliers=(slow,)))

    assert text.endswith("Slower than their kind: layer 5 (GDN) on GPU 1 by 50.0 %.")


def test_gpus_that_differ_are_told_apart_and_doubts_are_said() -> None:
    doubtful = replace(ATTENTION, gpu=1, notice="3 of 120 replays do not show the usual layers.")

    first, second = sentences(HYBRID, doubtful)

    assert first.startswith("GPU 0: 64 layers")
    assert second.startswith("GPU 1: 32 layers")
    assert second.endswith(". 3 of 120 replays do not show the usual layers.")


@pytest.mark.parametrize(
    ("made", "texts"),
    [
        (opaque_rounds(), ("No layers: graphs were not traced per node.",)),
        (one_gpu(), ("No layers: no replay of a target model.",)),
        (replace(speculative(), layers=(Layers(0),)), ("No layers.",)),
        (replace(speculative(), layers=()), ()),
    ],
)
def test_without_layers_there_is_a_reason(made: Analysis, texts: tuple[str, ...]) -> None:
    assert layers_sentences(made) == texts
