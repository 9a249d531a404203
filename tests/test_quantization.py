import re
from typing import Any

import pytest

from tests.model_configs import DEEPSEEK, HYBRID, LLAMA, formats, from_config, quantised
from traceattr.errors import ModelError
from traceattr.roofline.facts import module_pattern


class TestQuantisation:
    def test_fp8_blocks_leave_router_head_fc_and_absorbed_weights_alone(self) -> None:
        model = quantised(DEEPSEEK, quant_method="fp8", weight_block_size=[128, 128])

        assert formats(model.layers[1].weights) == {
            "qkv_a_proj": "fp8_block",
            "q_b_proj": "fp8_block",
            "kv_b_proj": "bf16",
            "o_proj": "fp8_block",
            "router": "bf16",
            "experts_gate_up_proj": "fp8_block",
            "experts_down_proj": "fp8_block",
            "shared_gate_up_proj": "fp8_block",
            "shared_down_proj": "fp8_block",
        }
        assert formats(model.mtp[0].weights)["fc"] == "bf16"
        assert formats(model.mtp[0].weights)["o_proj"] == "fp8_block"
        assert model.lm_head.number_format == "bf16"

    def test_modules_that_are_not_converted_keep_their_format(self) -> None:
        model = quantised(
            HYBRID,
            quant_method="fp8",
            modules_to_not_convert=["model.language_model.layers.0.linear_attn.in_proj_a", "mtp"],
        )

        first = formats(model.layers[0].weights)
        assert first["in_proj_ba"] == "bf16"
        assert first["in_proj_qkvz"] == "fp8"
        assert set(formats(model.mtp[0].weights).values()) == {"bf16"}

    @pytest.mark.parametrize(
        ("settings", "entry"),
        [
            ({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}, "int4_awq"),
            (
                {"quant_method": "awq", "bits": 4, "group_size": 64, "zero_point": True},
                "int4_awq_g64",
            ),
            ({"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": True}, "int4_gptq"),
            ({"quant_method": "gptq", "bits": 4, "group_size": 32, "sym": False}, "int4_awq_g32"),
            ({"quant_method": "fp8"}, "fp8"),
            ({"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16}, "nvfp4"),
            ({"quant_method": "modelopt_fp8", "quant_algo": "FP8"}, "fp8"),
        ],
    )
    def test_each_method_has_its_format(self, settings: dict[str, Any], entry: str) -> None:
        model = quantised(LLAMA, **settings)

        assert set(formats(model.layers[0].weights).values()) == {entry}
        assert model.lm_head.number_format == "bf16"

    @pytest.mark.parametrize(
        ("weights", "activations", "entry"),
        [
            ({"num_bits": 8, "type": "float", "strategy": "tensor"}, {}, "fp8"),
            ({"num_bits": 8, "type": "float", "strategy": "channel"}, {}, "fp8_channel"),
            ({"num_bits": 8, "type": "float", "strategy": "block"}, {}, "fp8_block"),
            ({"num_bits": 8, "type": "int", "strategy": "channel"}, {"num_bits": 8}, "int8"),
            ({"num_bits": 8, "type": "int", "strategy": "channel"}, None, "int8_w8a16"),
            (
                {
                    "num_bits": 4,
                    "type": "int",
                    "strategy": "group",
                    "group_size": 32,
                    "symmetric": True,
                },
                None,
                "int4_gptq_g32",
            ),
            (
                {"num_bits": 4, "type": "int", "strategy": "channel", "symmetric": True},
                None,
                "int4_gptq_channel",
            ),
            (
                {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16},
                {},
                "nvfp4",
            ),
        ],
    )
    def test_compressed_tensors_say_bits_type_and_strategy(
        self, weights: dict[str, Any], activations: dict[str, Any] | None, entry: str
    ) -> None:
        group = {"targets": ["Linear"], "weights": weights, "input_activations": activations}

        model = quantised(
            LLAMA,
            quant_method="compressed-tensors",
            config_groups={"group_0": group},
            ignore=["lm_head", r"re:.*layers\.1\..*"],
        )

        assert set(formats(model.layers[0].weights).values()) == {entry}
        assert set(formats(model.layers[1].weights).values()) == {"bf16"}

    def test_a_list_of_modelopt_beside_the_config_counts(self) -> None:
        layers = {
            f"model.language_model.layers.{index}.mlp.{part}_proj": {"quant_algo": "FP8"}
            for index in (0, 1)
            for part in ("gate", "up")
        }
        quant_config = {
            "quantization": {
                "quant_algo": "MIXED_PRECISION",
                "kv_cache_quant_algo": "FP8",
                "quantized_layers": layers,
            }
        }

        model = from_config(HYBRID, quant_config)

        assert formats(model.layers[0].weights)["gate_up_proj"] == "fp8"
        assert formats(model.layers[0].weights)["down_proj"] == "bf16"
        assert model.kv_format == "fp8"

    def test_gptq_may_leave_modules_alone_and_quantise_the_head(self) -> None:
        settings = {"bits": 4, "group_size": 128, "sym": True, "lm_head": True}

        model = quantised(LLAMA, quant_method="gptq", dynamic={r"-:.*attn.*": {}}, **settings)

        layer = formats(model.layers[0].weights)
        assert (layer["o_proj"], layer["down_proj"]) == ("bf16", "int4_gptq")
        assert model.lm_head.number_format == "int4_gptq"
        with pytest.raises(ModelError, match="only rules that begin with '-:'"):
            quantised(LLAMA, quant_method="gptq", dynamic={r"+:.*": {"bits": 8}}, **settings)

    @pytest.mark.parametrize(
        ("settings", "entry", "bits_of_a_weight"),
        [
            ({"bits": 8, "group_size": 128, "sym": True}, "int8_gptq", 8 + 16 / 128),
            ({"bits": 8, "group_size": 32, "sym": False}, "int8_awq_g32", 8 + 24 / 32),
            ({"bits": 3, "group_size": 128, "sym": True}, "int3_gptq", 3 + 16 / 128),
            ({"bits": 4, "group_size": -1, "sym": True}, "int4_gptq_channel", 4 + 16 / 256),
        ],
    )
    def test_gptq_has_other_bits_and_scales_of_whole_channels(
        self, settings: dict[str, Any], entry: str, bits_of_a_weight: float
    ) -> None:
        [o_proj] = [
            weight
            for weight in quantised(LLAMA, quant_method="gptq", **settings).layers[0].weights
            if weight.name == "o_proj"
        ]

        assert o_proj.number_format == entry
        assert o_proj.bytes * 8 == 256 * 256 * bits_of_a_weight

    def test_parts_of_one_kernel_cannot_differ(self) -> None:
        layers = {
            "model.layers.0.mlp.gate_proj": {"quant_algo": "FP8"},
            "model.layers.0.mlp.up_proj": {"quant_algo": "NVFP4"},
        }

        with pytest.raises(
            ModelError, match=r"^config\.json: one kernel reads weights of different formats"
        ):
            quantised(
                LLAMA,
                quant_method="modelopt",
                quant_algo="MIXED_PRECISION",
                quantized_layers=layers,
            )

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"quant_method": "awq"}, "field 'quantization_config.bits' is missing (expected 4)"),
            ({"quant_method": "gptq", "bits": 5}, "field 'quantization_config.bits' is 5 (expect"),
            (
                {"quant_method": "fp8", "weight_block_size": [64, 64]},
                "field 'quantization_config.weight_block_size' is [64, 64] (expected [128, 128])",
            ),
            (
                {"quant_method": "modelopt", "quant_algo": "W4A8_AWQ"},
                "field 'quantization_config.quant_algo' is 'W4A8_AWQ' (expected one of FP8,",
            ),
        ],
    )
    def test_a_setting_we_do_not_know_is_named(
        self, settings: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(ModelError) as caught:
            quantised(LLAMA, **settings)

        assert str(caught.value).startswith(f"config.json: {message}")

    def test_a_bad_regular_expression_is_told(self) -> None:
        with pytest.raises(ModelError, match=r"^config\.json: .* bad regular expression"):
            quantised(LLAMA, quant_method="fp8", ignored_layers=["re:("])


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("lm_head", "lm_head", True),
        ("model.layers.*.self_attn", "model.layers.3.self_attn.q_proj", True),
        ("mlp.gate", "model.layers.3.mlp.gate", True),
        ("mlp.gate", "model.layers.3.mlp.gate_proj", False),
        ("layers.1", "model.layers.11.mlp", False),
        ("re:.*mlp.*", "model.layers.3.mlp.gate", True),
    ],
)
def test_a_list_of_modules_means_whole_parts_of_names(
    pattern: str, name: str, matches: bool
) -> None:
    assert bool(re.match(module_pattern(pattern), name)) is matches
