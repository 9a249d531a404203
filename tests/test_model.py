import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.model_configs import LLAMA, formats
from traceattr.errors import ModelError
from traceattr.roofline.model import (
    Attention,
    Gdn,
    LayerKind,
    Mla,
    Model,
    Moe,
    catalogue,
    load_model,
)

CONFIGS = Path(__file__).parents[2] / "shared" / "reference" / "roofline" / "model-configs"

BILLIONS = {
    "DeepSeek-R1": (669.17, 0.93, 11.61, 682.64, 68.625),
    "DeepSeek-V3": (669.17, 0.93, 11.61, 682.64, 68.625),
    "Llama-2-70B": (68.45, 0.26, 0.0, 68.98, 320.0),
    "Llama-2-7B": (6.48, 0.13, 0.0, 6.74, 512.0),
    "Llama-3.1-70B": (68.45, 1.05, 0.0, 70.55, 320.0),
    "Llama-3.1-8B": (6.98, 0.53, 0.0, 8.03, 128.0),
    "Mixtral-8x22B": (140.23, 0.20, 0.0, 140.62, 224.0),
    "Mixtral-8x7B": (46.44, 0.13, 0.0, 46.70, 128.0),
    "Qwen3-235B-A22B": (233.85, 0.62, 0.0, 235.09, 188.0),
    "Qwen3-30B-A3B": (29.91, 0.31, 0.0, 30.53, 96.0),
    "Qwen3-32B": (31.21, 0.78, 0.0, 32.76, 256.0),
    "Qwen3-8B": (6.95, 0.62, 0.0, 8.19, 144.0),
    "Qwen3-Next-80B-A3B": (79.05, 0.31, 1.65, 81.32, 24.0),
    "Qwen3.5-122B-A10B": (120.59, 0.76, 2.52, 124.63, 24.0),
    "Qwen3.5-27B": (24.35, 1.27, 0.42, 27.32, 64.0),
    "Qwen3.5-35B-A3B": (33.64, 0.51, 0.84, 35.51, 20.0),
    "Qwen3.5-397B-A17B": (394.31, 1.02, 6.60, 402.94, 30.0),
    "Qwen3.6-27B": (24.35, 1.27, 0.42, 27.32, 64.0),
    "Qwen3.6-27B-NVFP4": (24.35, 1.27, 0.42, 27.32, 64.0),
    "Qwen3.6-35B-A3B": (33.64, 0.51, 0.84, 35.51, 20.0),
    "gpt-oss-120b": (115.63, 0.58, 0.0, 116.79, 72.0),
    "gpt-oss-20b": (19.75, 0.58, 0.0, 20.91, 48.0),
}
"""Parameters in billions: layers, lm_head, draft layers, all; and KiB of cache per token."""

GDN_MEGABYTES = {
    "Qwen3-Next-80B-A3B": (75.5, 1.77),
    "Qwen3.5-122B-A10B": (151.0, 2.65),
    "Qwen3.5-27B": (151.0, 2.95),
    "Qwen3.5-35B-A3B": (62.9, 1.47),
    "Qwen3.5-397B-A17B": (188.7, 3.32),
    "Qwen3.6-27B": (151.0, 2.95),
    "Qwen3.6-27B-NVFP4": (151.0, 2.95),
    "Qwen3.6-35B-A3B": (62.9, 1.47),
}
"""Megabytes per request: fp32 state and bf16 convolution."""


def comparable(model: Model) -> Model:
    """Return the model without what a config does not hold."""
    return replace(model, source="", notes=(), max_context=None)


class TestTheSeedCase:
    """Qwen3.6-27B in bf16 on two GPUs."""

    model = load_model("Qwen3.6-27B")

    def streamed(self, *names: str) -> int:
        """Return bytes per GPU and forward of the decoder weights of these names."""
        weights = (weight for layer in self.model.layers for weight in layer.weights)
        return sum(weight.bytes_on_gpu(2) for weight in weights if weight.name in names)

    def test_streams_its_weights_once_per_forward(self) -> None:
        assert self.streamed("gate_up_proj", "down_proj") == 17_112_760_320
        assert self.streamed("in_proj_qkvz", "in_proj_ba", "conv1d", "out_proj") == 5_562_040_320
        assert self.streamed("qkv_proj", "o_proj") == 1_677_721_600
        assert self.model.lm_head.bytes_on_gpu(2) == 1_271_398_400
        layers = sum(w.bytes_on_gpu(2) for layer in self.model.layers for w in layer.weights)
        assert layers + self.model.lm_head.bytes_on_gpu(2) == 25_623_920_640

    def test_counts_parameters_exactly(self) -> None:
        assert self.model.layer_parameters == 24_352_522_240
        assert self.model.lm_head.parameters == self.model.embedding.parameters == 1_271_398_400
        assert self.model.mtp_parameters == 424_673_280
        assert self.model.parameters == 27_319_992_320

    def test_gates_double_the_queries(self) -> None:
        qkv = self.model.layers[3].weight("qkv_proj")

        assert (qkv.rows, qkv.columns) == (2 * 24 * 256 + 2 * 4 * 256, 5120)

    def test_holds_state_and_cache_per_request(self) -> None:
        gdn, attention = self.model.layers[0].mixer, self.model.layers[3].mixer

        assert isinstance(gdn, Gdn)
        assert isinstance(attention, Attention)
        assert 48 * gdn.state_values(2) * 4 == 75_497_472
        assert 48 * gdn.conv_values(2) * 2 == 1_474_560
        assert 16 * attention.kv_values_per_token(2) * 2 == 32_768
        assert self.model.state_values * 4 == 150_994_944
        assert self.model.kv_values_per_token * 2 == 65_536
        assert self.model.state_format == "fp32"

    def test_has_three_gdn_layers_for_each_attention_layer(self) -> None:
        kinds = [layer.kind for layer in self.model.layers]

        assert kinds == 16 * [*3 * [LayerKind.GDN], LayerKind.FULL_ATTENTION]

    def test_drafts_with_one_attention_layer_whose_fc_is_whole_on_every_gpu(self) -> None:
        [draft] = self.model.mtp

        assert draft.kind is LayerKind.FULL_ATTENTION
        assert draft.weight("fc").bytes_on_gpu(2) == 104_857_600
        assert sum(weight.bytes_on_gpu(2) for weight in draft.weights) == 477_102_080


@pytest.mark.parametrize("name", catalogue())
class TestEveryBundledModel:
    def test_has_the_published_number_of_parameters(self, name: str) -> None:
        model = load_model(name)

        layers, head, mtp, total, kv = BILLIONS[name]
        assert model.layer_parameters / 1e9 == pytest.approx(layers, abs=0.005)
        assert model.lm_head.parameters / 1e9 == pytest.approx(head, abs=0.005)
        assert model.mtp_parameters / 1e9 == pytest.approx(mtp, abs=0.005)
        assert model.parameters / 1e9 == pytest.approx(total, abs=0.005)
        assert model.kv_values_per_token * 2 / 1024 == kv

    def test_has_the_states_of_its_gdn_layers(self, name: str) -> None:
        model = load_model(name)

        state, conv = GDN_MEGABYTES.get(name, (0.0, 0.0))
        assert model.state_values * 4 / 1e6 == pytest.approx(state, abs=0.05)
        assert model.conv_values * 2 / 1e6 == pytest.approx(conv, abs=0.005)

    def test_says_where_its_numbers_are_from(self, name: str) -> None:
        model = load_model(name)

        assert len(model.source) > 20
        assert model.max_context is not None
        assert not model.notes

    def test_equals_its_config(self, name: str) -> None:
        path = CONFIGS / f"{name}.json"
        if not path.exists():
            pytest.skip("the collection of configs is not beside this checkout")

        assert comparable(load_model(path)) == comparable(load_model(name))


def test_the_catalogue_is_what_the_tests_know() -> None:
    assert catalogue() == tuple(sorted(BILLIONS))


class TestMixedPrecision:
    model = load_model("Qwen3.6-27B-NVFP4")

    def test_each_module_has_its_own_format(self) -> None:
        gdn, attention = self.model.layers[0], self.model.layers[3]

        assert formats(gdn.weights) == {
            "in_proj_qkvz": "fp8",
            "in_proj_ba": "bf16",
            "conv1d": "bf16",
            "out_proj": "fp8",
            "gate_up_proj": "nvfp4_w4a16",
            "down_proj": "nvfp4_w4a16",
        }
        assert formats(attention.weights)["qkv_proj"] == "fp8"
        assert self.model.lm_head.number_format == "nvfp4_w4a16"
        assert self.model.embedding.number_format == "bf16"
        assert self.model.kv_format == "fp8"

    def test_the_draft_stays_in_bf16(self) -> None:
        assert set(formats(self.model.mtp[0].weights).values()) == {"bf16"}

    def test_scales_are_counted(self) -> None:
        down = self.model.layers[0].weight("down_proj")

        values = 5120 * 17408
        assert down.bytes == values // 2 + values // 16 + 4


def test_experts_of_gpt_oss_are_mxfp4_and_attention_is_not() -> None:
    layer = load_model("gpt-oss-20b").layers[0]

    assert layer.kind is LayerKind.SLIDING_ATTENTION
    assert isinstance(layer.mixer, Attention)
    assert layer.mixer.window == 128
    assert formats(layer.weights) == {
        "qkv_proj": "bf16",
        "o_proj": "bf16",
        "router": "bf16",
        "experts_gate_up_proj": "mxfp4",
        "experts_down_proj": "mxfp4",
    }
    down = layer.weight("experts_down_proj")
    assert (down.count, down.bytes) == (32, 2880 * 2880 * 17 // 32)


def test_deepseek_caches_a_latent_that_every_gpu_holds_whole() -> None:
    model = load_model("DeepSeek-V3")
    layer = model.layers[3]

    assert isinstance(layer.mixer, Mla)
    assert layer.mixer.kv_values_per_token(8) == layer.mixer.kv_values_per_token(1) == 576
    assert layer.weight("qkv_a_proj").shard == "replicated"
    assert layer.weight("kv_b_proj").number_format == "bf16"
    assert layer.weight("experts_down_proj").bytes == 2048 * 7168 + 16 * 56 * 4
    assert [isinstance(each.mlp, Moe) for each in model.layers[:4]] == [False, False, False, True]


class TestWhereModelsComeFrom:
    def test_a_directory_holds_a_config(self, tmp_path: Path) -> None:
        folder = tmp_path / "My-Model"
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(LLAMA), encoding="utf-8")

        for source in (folder, folder / "config.json"):
            assert load_model(source).name == "My-Model"

    def test_quantisation_may_be_beside_it(self, tmp_path: Path) -> None:
        (tmp_path / "config.json").write_text(json.dumps(LLAMA), encoding="utf-8")
        text = json.dumps({"quantization": {"quant_algo": "FP8", "exclude_modules": ["lm_head"]}})
        (tmp_path / "hf_quant_config.json").write_text(text, encoding="utf-8")

        assert formats(load_model(tmp_path).layers[0].weights)["o_proj"] == "fp8"

    def test_an_organisation_may_stand_before_the_name(self) -> None:
        assert load_model("qwen/qwen3.6-27b").name == "Qwen3.6-27B"

    def test_an_unknown_name_is_told_what_comes_near(self) -> None:
        with pytest.raises(ModelError) as caught:
            load_model("Qwen/Qwen3.6-72B")

        assert str(caught.value).startswith("Qwen/Qwen3.6-72B: no such model (expected a config")
        assert "Qwen3.6-27B" in str(caught.value)

    @pytest.mark.parametrize(
        ("text", "message"),
        [("{", "not JSON: "), ("[]", "not a JSON object (expected a Hugging Face config.json)")],
    )
    def test_a_file_that_is_no_config_is_told(
        self, tmp_path: Path, text: str, message: str
    ) -> None:
        path = tmp_path / "config.json"
        path.write_text(text, encoding="utf-8")

        with pytest.raises(ModelError) as caught:
            load_model(path)

        assert str(caught.value).startswith(f"{path}: {message}")

    def test_a_directory_without_a_config_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(ModelError) as caught:
            load_model(tmp_path)

        expected = "No such file or directory (expected a Hugging Face config.json)"
        assert str(caught.value) == f"{tmp_path / 'config.json'}: {expected}"
