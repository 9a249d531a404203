from dataclasses import replace

import pytest

from tests.model_configs import formats
from traceattr.errors import ModelError
from traceattr.roofline.model import load_model
from traceattr.roofline.number_format import FORMATS, number_format
from traceattr.roofline.weight_override import with_weights


class TestNumberFormats:
    @pytest.mark.parametrize(
        ("name", "bits"),
        [
            ("bf16", 16),
            ("fp8_block", 8 + 32 / 128**2),
            ("int8", 8 + 16 / 4096),
            ("fp8_channel", 8 + 16 / 4096),
            ("int4_awq", 4 + 20 / 128),
            ("int4_gptq", 4 + 16 / 128),
            ("int4_gptq_g32", 4 + 16 / 32),
            ("int4_awq_g64", 4 + 20 / 64),
            ("mxfp4", 4 + 8 / 32),
        ],
    )
    def test_scales_are_part_of_the_bytes(self, name: str, bits: float) -> None:
        assert number_format(name).bytes_of(1024, 4096) * 8 == 1024 * 4096 * bits

    @pytest.mark.parametrize(("name", "bits"), [("fp8", 8), ("nvfp4", 4.5), ("nvfp4_w4a16", 4.5)])
    def test_some_have_one_scale_for_the_whole_tensor(self, name: str, bits: float) -> None:
        assert number_format(name).bytes_of(1024, 4096) * 8 == 1024 * 4096 * bits + 32

    def test_every_format_computes_in_16_bits_at_worst(self) -> None:
        assert {entry.computes_in[-1] for entry in FORMATS.values()} == {"fp16"}

    def test_an_unknown_one_is_an_error(self) -> None:
        with pytest.raises(ModelError, match=r"unknown number format 'int3' \(expected one of fp"):
            number_format("int3")


class TestOtherWeights:
    def test_linear_layers_change_and_the_rest_stays(self) -> None:
        model = with_weights(load_model("Qwen3.6-27B"), "fp8")

        assert formats(model.layers[0].weights) == {
            "in_proj_qkvz": "fp8",
            "in_proj_ba": "bf16",
            "conv1d": "bf16",
            "out_proj": "fp8",
            "gate_up_proj": "fp8",
            "down_proj": "fp8",
        }
        assert model.lm_head.number_format == "bf16"
        assert set(formats(model.mtp[0].weights).values()) == {"bf16"}
        assert model.layers[0].weight("down_proj").bytes == 5120 * 17408 + 4

    def test_16_bits_undo_a_quantisation(self) -> None:
        model = with_weights(load_model("Qwen3.6-27B-NVFP4"), "bf16")

        assert replace(model, name="", source="", kv_format=None) == replace(
            load_model("Qwen3.6-27B"), name="", source=""
        )
