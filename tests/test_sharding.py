import pytest

from tests.model_configs import LLAMA, from_config
from traceattr.errors import ModelError
from traceattr.roofline.model import Attention, load_model
from traceattr.roofline.sharding import check_sharding


class TestSharding:
    def test_keys_and_values_are_split_over_at_most_their_heads(self) -> None:
        qkv = load_model("Qwen3-30B-A3B").layers[0].weight("qkv_proj")

        queries, keys_and_values = 32 * 128 * 2048 * 2, 2 * 4 * 128 * 2048 * 2
        assert qkv.bytes_on_gpu(4) == (queries + keys_and_values) // 4
        assert qkv.bytes_on_gpu(8) == queries // 8 + keys_and_values // 4

    def test_a_head_that_several_gpus_hold_is_whole_on_each(self) -> None:
        attention = Attention(heads=32, kv_heads=4, head_dim=128)

        assert [attention.kv_heads_on_gpu(tp) for tp in (1, 2, 4, 8)] == [4, 2, 1, 1]

    def test_flop_are_two_per_value_and_row(self) -> None:
        down = load_model("Qwen3-8B").layers[0].weight("down_proj")

        assert down.flop_per_row(2) == 12288 * 4096

    @pytest.mark.parametrize(("name", "tp"), [("Qwen3.6-27B", 8), ("DeepSeek-V3", 16)])
    def test_a_model_that_splits_evenly_is_accepted(self, name: str, tp: int) -> None:
        check_sharding(load_model(name), tp, tp, 1)

    @pytest.mark.parametrize(
        ("name", "tp", "ep", "message"),
        [
            ("Qwen3.6-27B", 16, 1, "24 query heads do not split over 16 GPUs"),
            ("Qwen3.6-27B", 3, 1, "16 GDN key heads do not split over 3 GPUs"),
            ("Qwen3-8B", 5, 1, "32 query heads do not split over 5 GPUs"),
            ("Qwen3-30B-A3B", 8, 3, "128 experts do not split over 3 GPUs"),
        ],
    )
    def test_one_that_does_not_is_told(self, name: str, tp: int, ep: int, message: str) -> None:
        with pytest.raises(ModelError, match=f"^{name}: {message} "):
            check_sharding(load_model(name), tp, tp, ep)

    def test_heads_of_keys_must_divide_or_be_divided(self) -> None:
        heads = {"num_attention_heads": 12, "num_key_value_heads": 4}
        model = from_config({**LLAMA, **heads, "hidden_size": 768, "intermediate_size": 768})

        check_sharding(model, 4, 4, 1)
        with pytest.raises(ModelError, match="4 key/value heads do not split over 3 GPUs"):
            check_sharding(model, 3, 3, 1)
