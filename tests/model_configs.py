"""Small configs of each architecture, and models made of them."""

from collections.abc import Iterable
from typing import Any

from traceattr.roofline.hf_config import read_hf_config
from traceattr.roofline.layers import build_model
from traceattr.roofline.model import Model, Weight

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "vocab_size": 1000,
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
GDN: dict[str, Any] = {
    "full_attention_interval": 2,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 16,
    "linear_conv_kernel_dim": 4,
}
HYBRID: dict[str, Any] = {
    "model_type": "qwen3_5",
    "tie_word_embeddings": False,
    "text_config": {
        **LLAMA,
        **GDN,
        "model_type": "qwen3_5_text",
        "head_dim": 64,
        "attn_output_gate": True,
        "mtp_num_hidden_layers": 1,
    },
}
DEEPSEEK: dict[str, Any] = {
    **LLAMA,
    "model_type": "deepseek_v3",
    "q_lora_rank": 32,
    "kv_lora_rank": 16,
    "qk_nope_head_dim": 16,
    "qk_rope_head_dim": 8,
    "v_head_dim": 16,
    "n_routed_experts": 8,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 64,
    "n_shared_experts": 2,
    "first_k_dense_replace": 1,
    "moe_layer_freq": 1,
    "num_nextn_predict_layers": 1,
}


def from_config(config: dict[str, Any], quant_config: dict[str, Any] | None = None) -> Model:
    return build_model(read_hf_config(config, "model", "config.json", quant_config))


def quantised(config: dict[str, Any], **settings: Any) -> Model:
    return from_config({**config, "quantization_config": settings})


def formats(weights: Iterable[Weight]) -> dict[str, str]:
    return {weight.name: weight.number_format for weight in weights}
