"""The facts in a Hugging Face ``config.json``, with its traps."""

from collections.abc import Mapping
from typing import Any

from traceattr.errors import ModelError
from traceattr.roofline.architecture import Attention, Gdn, LayerKind, Mla, Mlp, Moe
from traceattr.roofline.facts import Facts
from traceattr.roofline.fields import Fields
from traceattr.roofline.quantization import read_quantization

_DENSE = ("llama", "mistral", "qwen2", "qwen3")
_HYBRID = ("qwen3_next", "qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text")
_MLA = ("deepseek_v2", "deepseek_v3", "kimi_k2")
_MOE = ("mixtral", "qwen2_moe", "qwen3_moe", "gpt_oss", "qwen3_next", "qwen3_5_moe_text")
MODEL_TYPES: tuple[str, ...] = tuple(sorted({*_DENSE, *_HYBRID, *_MLA, *_MOE}))
"""Every ``model_type`` whose layers we know."""

_HEAD_DIM_IS_HIDDEN_OVER_HEADS = ("llama", "mistral", "mixtral", "qwen2", "qwen2_moe")
"""Architectures without a ``head_dim`` field; in others a missing one is an error."""

_WIDE_EXPERTS = ("mixtral", "gpt_oss")
"""Architectures whose experts are ``intermediate_size`` wide."""

_DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
_LAYER_KINDS = {
    "full_attention": LayerKind.FULL_ATTENTION,
    "sliding_attention": LayerKind.SLIDING_ATTENTION,
    "linear_attention": LayerKind.GDN,
}


def read_hf_config(
    config: Mapping[str, Any], name: str, file: str, quant_config: Mapping[str, Any] | None = None
) -> Facts:
    """Return the facts of a ``config.json``.

    Args:
        config: The document.
        name: What reports call the model.
        file: What errors call the document.
        quant_config: The ``hf_quant_config.json`` beside it.

    Raises:
        ModelError: When a field is missing or the architecture or quantisation is unknown.
    """
    top = Fields(config, file, ModelError)
    text = top.table("text_config") if top.has("text_config") else top
    model_type = _model_type(text)
    kinds = _kinds(text, model_type)
    moe = _moe(text, model_type)
    dense = _dense_layers(text, model_type, len(kinds)) if moe else frozenset[int]()
    dtype, notes = _dtype(text, top)
    formats, kv_format = read_quantization(top, dtype, quant_config)
    return Facts(
        name=name,
        source=file,
        hidden=text.whole("hidden_size"),
        vocab=text.whole("vocab_size"),
        tied=(text if text.has("tie_word_embeddings") else top).flag("tie_word_embeddings"),
        kinds=kinds,
        mixers=_mixers(text, model_type, kinds),
        mlp=Mlp(text.whole("intermediate_size")) if moe is None or dense else None,
        moe=moe,
        dense_layers=dense,
        mtp_layers=_mtp_layers(text, model_type),
        formats=formats,
        kv_format=kv_format,
        state_format=_state_format(text),
        max_context=text.optional_whole("max_position_embeddings"),
        notes=notes,
    )


def _model_type(text: Fields) -> str:
    model_type = text.text("model_type")
    if model_type not in MODEL_TYPES:
        raise text.wrong("model_type", f"one of {', '.join(MODEL_TYPES)}")
    return model_type


def _kinds(text: Fields, model_type: str) -> tuple[LayerKind, ...]:
    """Return the kind of each layer: listed, every nth, or all alike."""
    count = text.whole("num_hidden_layers")
    if model_type in _MLA:
        return (LayerKind.MLA,) * count
    if text.has("layer_types"):
        return _listed_kinds(text, count)
    if model_type in _HYBRID:
        every = text.whole("full_attention_interval")
        kinds = (LayerKind.GDN,) * (every - 1) + (LayerKind.FULL_ATTENTION,)
        return tuple(kinds[index % every] for index in range(count))
    if model_type == "gpt_oss":
        text.texts("layer_types")
    return (_window_kind(text, model_type),) * count


def _listed_kinds(text: Fields, count: int) -> tuple[LayerKind, ...]:
    names = text.texts("layer_types")
    unknown = sorted(set(names) - set(_LAYER_KINDS))
    if unknown or len(names) != count:
        wrong = f"has {unknown[0]!r}" if unknown else f"has {len(names)} entries"
        expected = f"{count} of {', '.join(_LAYER_KINDS)}"
        what = f"field '{text.path}layer_types' {wrong}"
        raise ModelError(f"{text.file}: {what} (expected {expected})")
    return tuple(_LAYER_KINDS[name] for name in names)


def _window_kind(text: Fields, model_type: str) -> LayerKind:
    """Return the kind of all layers; Qwen uses its window only with ``use_sliding_window``."""
    qwen_without = model_type.startswith("qwen") and not text.values.get("use_sliding_window")
    if qwen_without or not text.has("sliding_window"):
        return LayerKind.FULL_ATTENTION
    if model_type in ("mistral", "mixtral"):
        return LayerKind.SLIDING_ATTENTION
    raise text.wrong("sliding_window", "null, or layer_types to say which layers use it")


def _mixers(
    text: Fields, model_type: str, kinds: tuple[LayerKind, ...]
) -> dict[LayerKind, Attention | Mla | Gdn]:
    if model_type in _MLA:
        return {LayerKind.MLA: _mla(text)}
    mixers: dict[LayerKind, Attention | Mla | Gdn] = {
        LayerKind.FULL_ATTENTION: _attention(text, model_type, None)
    }
    if LayerKind.SLIDING_ATTENTION in kinds:
        window = text.whole("sliding_window")
        mixers[LayerKind.SLIDING_ATTENTION] = _attention(text, model_type, window)
    if LayerKind.GDN in kinds:
        mixers[LayerKind.GDN] = _gdn(text)
    return mixers


def _attention(text: Fields, model_type: str, window: int | None) -> Attention:
    heads = text.whole("num_attention_heads")
    if not text.has("head_dim") and model_type in _HEAD_DIM_IS_HIDDEN_OVER_HEADS:
        head_dim = text.whole("hidden_size") // heads
    else:
        head_dim = text.whole("head_dim")
    return Attention(
        heads=heads,
        kv_heads=text.whole("num_key_value_heads"),
        head_dim=head_dim,
        output_gate=_has_output_gate(text, model_type),
        window=window,
    )


def _has_output_gate(text: Fields, model_type: str) -> bool:
    """Return whether queries bring a gate; Qwen3-Next always does and has no field for it."""
    if model_type == "qwen3_next" and not text.has("attn_output_gate"):
        return True
    return model_type in _HYBRID and text.flag("attn_output_gate")


def _mla(text: Fields) -> Mla:
    if "q_lora_rank" not in text.values:
        text.whole("q_lora_rank")
    return Mla(
        heads=text.whole("num_attention_heads"),
        q_lora=text.optional_whole("q_lora_rank"),
        kv_lora=text.whole("kv_lora_rank"),
        nope_dim=text.whole("qk_nope_head_dim"),
        rope_dim=text.whole("qk_rope_head_dim"),
        value_dim=text.whole("v_head_dim"),
    )


def _gdn(text: Fields) -> Gdn:
    return Gdn(
        key_heads=text.whole("linear_num_key_heads"),
        value_heads=text.whole("linear_num_value_heads"),
        key_dim=text.whole("linear_key_head_dim"),
        value_dim=text.whole("linear_value_head_dim"),
        conv_width=text.whole("linear_conv_kernel_dim"),
    )


def _moe(text: Fields, model_type: str) -> Moe | None:
    """Return the experts, whose count and width each family spells its own way."""
    if model_type not in (*_MOE, *_MLA, "qwen3_5_moe"):
        return None
    is_wide = model_type in _WIDE_EXPERTS
    count = "num_local_experts" if is_wide else "num_experts"
    return Moe(
        experts=text.whole("n_routed_experts" if model_type in _MLA else count),
        experts_per_token=text.whole("num_experts_per_tok"),
        intermediate=text.whole("intermediate_size" if is_wide else "moe_intermediate_size"),
        shared_intermediate=_shared_intermediate(text, model_type),
        shared_gate=model_type in ("qwen2_moe", "qwen3_next", "qwen3_5_moe", "qwen3_5_moe_text"),
    )


def _shared_intermediate(text: Fields, model_type: str) -> int:
    if model_type in _MLA:
        if "n_shared_experts" in text.values and not text.has("n_shared_experts"):
            return 0
        return text.whole("n_shared_experts", least=0) * text.whole("moe_intermediate_size")
    if model_type in (*_WIDE_EXPERTS, "qwen3_moe"):
        return 0
    return text.whole("shared_expert_intermediate_size", least=0)


def _dense_layers(text: Fields, model_type: str, count: int) -> frozenset[int]:
    """Return the layers without experts (``first_k_dense_replace``, ``mlp_only_layers``, steps)."""
    if model_type in _MLA:
        first, every = text.whole("first_k_dense_replace", least=0), text.whole("moe_layer_freq")
        return frozenset(i for i in range(count) if i < first or i % every)
    listed = text.wholes("mlp_only_layers") if text.has("mlp_only_layers") else ()
    every = text.whole("decoder_sparse_step") if text.has("decoder_sparse_step") else 1
    return frozenset(i for i in range(count) if i in listed or (i + 1) % every)


def _mtp_layers(text: Fields, model_type: str) -> int:
    """Return the draft layers in the checkpoint.

    Qwen3-Next has one and no field for it (SGLang ``qwen3_next_mtp.py`` sets the count to 1).
    """
    if model_type == "qwen3_next":
        return 1
    if model_type in _HYBRID:
        return text.whole("mtp_num_hidden_layers", least=0)
    if model_type in ("deepseek_v3",):
        return text.whole("num_nextn_predict_layers", least=0)
    return 0


def _dtype(text: Fields, top: Fields) -> tuple[str, tuple[str, ...]]:
    """Return the format of unquantised weights, and a note when it is not the config's."""
    for fields in (text, top):
        for key in ("dtype", "torch_dtype"):
            if fields.has(key):
                name = fields.text(key)
                if name not in _DTYPES:
                    raise fields.wrong(key, f"one of {', '.join(_DTYPES)}")
                return _served(_DTYPES[name], f"{fields.path}{key}")
    return "bf16", ("the config has no dtype; servers keep weights in 16 bits",)


def _served(dtype: str, key: str) -> tuple[str, tuple[str, ...]]:
    if dtype == "fp32":
        return "fp16", (f"{key} is float32; servers keep weights in 16 bits",)
    return dtype, ()


def _state_format(text: Fields) -> str | None:
    if not text.has("mamba_ssm_dtype"):
        return None
    name = text.text("mamba_ssm_dtype")
    if name not in _DTYPES:
        raise text.wrong("mamba_ssm_dtype", f"one of {', '.join(_DTYPES)}")
    return _DTYPES[name]
