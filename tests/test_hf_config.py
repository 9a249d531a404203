from typing import Any

import pytest

from tests.model_configs import DEEPSEEK, GDN, HYBRID, LLAMA, formats, from_config
from traceattr.errors import ModelError
from traceattr.roofline.model import LayerKind, Moe


class TestTrapsOfConfigs:
    def test_fields_may_be_nested(self) -> None:
        assert from_config(HYBRID).hidden == 256

    def test_heads_may_be_wider_than_the_hidden_state(self) -> None:
        model = from_config({**LLAMA, "model_type": "qwen3", "head_dim": 128})

        assert model.layers[0].weight("o_proj").columns == 4 * 128

    def test_llama_has_no_head_dim(self) -> None:
        assert from_config(LLAMA).layers[0].weight("o_proj").columns == 256

    def test_layer_types_may_be_an_interval(self) -> None:
        kinds = [layer.kind for layer in from_config(HYBRID).layers]

        assert kinds == [LayerKind.GDN, LayerKind.FULL_ATTENTION]

    def test_qwen3_next_is_gated_and_drafts_without_saying_so(self) -> None:
        config = {
            **LLAMA,
            **GDN,
            "model_type": "qwen3_next",
            "head_dim": 64,
            "num_experts": 4,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 32,
            "shared_expert_intermediate_size": 32,
        }

        model = from_config(config)

        assert model.layers[1].weight("qkv_proj").rows == 2 * 4 * 64 + 2 * 2 * 64
        assert len(model.mtp) == 1
        assert model.layers[0].weight("shared_expert_gate").parameters == 256
        assert model.state_format is None

    def test_shared_experts_add_up(self) -> None:
        layer = from_config(DEEPSEEK).layers[1]

        assert isinstance(layer.mlp, Moe)
        assert layer.mlp.shared_intermediate == 2 * 64
        assert layer.weight("shared_down_proj").columns == 128

    def test_the_query_projection_may_be_one_matrix(self) -> None:
        names = formats(from_config({**DEEPSEEK, "q_lora_rank": None}).layers[0].weights)

        assert list(names)[:3] == ["q_proj", "kv_a_proj", "kv_b_proj"]

    def test_experts_of_mixtral_are_as_wide_as_its_intermediate_size(self) -> None:
        config = {**LLAMA, "model_type": "mixtral", "num_local_experts": 4}

        model = from_config({**config, "num_experts_per_tok": 2})

        assert model.layers[0].weight("experts_gate_up_proj").rows == 2 * 512
        assert model.layers[0].weight("experts_gate_up_proj").count == 4

    def test_some_layers_of_a_mixture_are_dense(self) -> None:
        config = {
            **LLAMA,
            "model_type": "qwen3_moe",
            "head_dim": 64,
            "num_experts": 4,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 32,
            "num_hidden_layers": 4,
            "mlp_only_layers": [1],
            "decoder_sparse_step": 2,
        }

        mlps = [isinstance(layer.mlp, Moe) for layer in from_config(config).layers]

        assert mlps == [False, False, False, True]

    def test_tied_embeddings_are_counted_once_and_streamed_all_the_same(self) -> None:
        tied = from_config({**LLAMA, "tie_word_embeddings": True})

        assert from_config(LLAMA).parameters - tied.parameters == 1000 * 256
        assert tied.lm_head.bytes == 1000 * 256 * 2

    def test_mistral_slides_and_qwen_does_so_only_when_told(self) -> None:
        window = {"sliding_window": 64}
        mistral = from_config({**LLAMA, **window, "model_type": "mistral"})
        qwen = from_config({**LLAMA, **window, "model_type": "qwen3", "head_dim": 64})

        assert mistral.layers[0].kind is LayerKind.SLIDING_ATTENTION
        assert qwen.layers[0].kind is LayerKind.FULL_ATTENTION

    def test_an_absent_dtype_is_noted(self) -> None:
        config = {key: value for key, value in LLAMA.items() if key != "torch_dtype"}

        model = from_config(config)

        assert model.dtype == "bf16"
        assert model.notes == ("the config has no dtype; servers keep weights in 16 bits",)

    def test_float32_is_served_in_16_bits(self) -> None:
        model = from_config({**LLAMA, "torch_dtype": "float32"})

        assert model.dtype == "fp16"
        assert model.notes == ("torch_dtype is float32; servers keep weights in 16 bits",)


@pytest.mark.parametrize(
    "config", [LLAMA, DEEPSEEK, HYBRID["text_config"]], ids=["llama", "deepseek", "hybrid"]
)
def test_every_missing_field_is_an_error_that_names_it(config: dict[str, Any]) -> None:
    optional = {"torch_dtype"}
    for key in set(config) - optional:
        rest = {name: value for name, value in config.items() if name != key}
        if key == "num_key_value_heads" and "kv_lora_rank" in config:
            continue

        with pytest.raises(ModelError) as caught:
            from_config(rest)

        assert str(caught.value).startswith(f"config.json: field '{key}' is missing (expected ")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "mamba2"}, "field 'model_type' is 'mamba2' (expected one of deepseek_v2,"),
        ({"hidden_size": "256"}, "field 'hidden_size' is '256' (expected an integer of at least 1"),
        ({"num_hidden_layers": 0}, "field 'num_hidden_layers' is 0 (expected an integer"),
        ({"layer_types": ["full_attention"]}, "field 'layer_types' has 1 entries (expected 2 of"),
        ({"layer_types": ["x", "y"]}, "field 'layer_types' has 'x' (expected 2 of full_att"),
        ({"torch_dtype": "int3"}, "field 'torch_dtype' is 'int3' (expected one of bfloat16"),
        ({"text_config": 3}, "field 'text_config' is 3 (expected a table)"),
        ({"sliding_window": 4}, "field 'sliding_window' is 4 (expected null, or layer_types"),
        (
            {"quantization_config": {"quant_method": "bitsandbytes"}},
            "field 'quantization_config.quant_method' is 'bitsandbytes' (expected one of awq,",
        ),
    ],
)
def test_a_value_that_makes_no_sense_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        from_config({**LLAMA, **change})

    assert str(caught.value).startswith(f"config.json: {message}")
