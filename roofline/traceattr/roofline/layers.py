"""The layers and weights that a model's facts imply, fused as SGLang fuses them.

Shapes and splits are those of ``models/`` and ``layers/linear.py`` of SGLang 0.5.23. Norms, biases,
attention sinks and the per-head vectors of GDN are left out: together they are below 0.04 % of the
parameters of any bundled model.
"""

from collections.abc import Iterable

from traceattr.roofline.architecture import (
    Attention,
    Gdn,
    Layer,
    LayerKind,
    Mla,
    Mlp,
    Model,
    Moe,
    Shard,
    Weight,
)
from traceattr.roofline.facts import Facts, Formats
from traceattr.roofline.number_format import number_format


def build_model(facts: Facts) -> Model:
    """Return the model that has the ``facts``."""
    shape = (facts.vocab, facts.hidden)
    formats = facts.formats
    return Model(
        name=facts.name,
        source=facts.source,
        hidden=facts.hidden,
        vocab=facts.vocab,
        layers=tuple(_layer(facts, index) for index in range(len(facts.kinds))),
        lm_head=_weight("lm_head", *shape, formats.of_lm_head(), "column"),
        embedding=_weight("embed_tokens", *shape, formats.unquantised, "column"),
        tied=facts.tied,
        mtp=tuple(_draft_layer(facts, index) for index in range(facts.mtp_layers)),
        dtype=formats.unquantised,
        kv_format=facts.kv_format,
        state_format=facts.state_format,
        max_context=facts.max_context,
        notes=facts.notes,
    )


def _layer(facts: Facts, index: int) -> Layer:
    kind = facts.kinds[index]
    is_dense = facts.moe is None or index in facts.dense_layers
    mlp = facts.mlp if is_dense else facts.moe
    return _decoder_layer(facts, kind, mlp, _Names(f"layers.{index}", facts.formats))


def _draft_layer(facts: Facts, index: int) -> Layer:
    """Return a draft layer: ``fc`` over embedding and hidden state, then a layer like the last.

    It attends to everything, also in hybrids (SGLang ``qwen3_5_mtp.py``, ``deepseek_nextn.py``),
    and ``fc`` is a plain linear layer, whole on every GPU.
    """
    formats = facts.formats
    kind = LayerKind.MLA if LayerKind.MLA in facts.mixers else LayerKind.FULL_ATTENTION
    names = _Names(f"mtp.layers.{index}", formats, f"layers.{len(facts.kinds) + index}")
    if not formats.quantises_mtp:
        names = _Names(names.prefix, Formats(formats.unquantised, formats.unquantised))
    layer = _decoder_layer(facts, kind, facts.moe or facts.mlp, names)
    fc = _weight("fc", facts.hidden, 2 * facts.hidden, formats.unquantised, "replicated")
    return Layer(layer.kind, layer.mixer, layer.mlp, (fc, *layer.weights))


class _Names:
    """Number formats of the modules of one layer."""

    __slots__ = ("_formats", "_other", "prefix")

    def __init__(self, prefix: str, formats: Formats, other: str | None = None) -> None:
        self.prefix = prefix
        self._formats = formats
        self._other = other

    def format_of(self, *modules: str) -> str:
        prefixes = [self.prefix, *([self._other] if self._other else [])]
        return self._formats.of(f"{prefix}.{name}" for prefix in prefixes for name in modules)

    @property
    def unquantised(self) -> str:
        return self._formats.unquantised


def _decoder_layer(facts: Facts, kind: LayerKind, mlp: Mlp | Moe | None, names: _Names) -> Layer:
    assert mlp is not None, "facts have an mlp for every dense layer"
    mixer = facts.mixers[kind]
    match mixer:
        case Attention():
            mixing = _attention_weights(facts.hidden, mixer, names)
        case Mla():
            mixing = _mla_weights(facts.hidden, mixer, names)
        case Gdn():
            mixing = _gdn_weights(facts.hidden, mixer, names)
    feeding = (
        _mlp_weights(facts.hidden, mlp, names)
        if isinstance(mlp, Mlp)
        else _moe_weights(facts.hidden, mlp, names)
    )
    return Layer(kind, mixer, mlp, (*mixing, *feeding))


def _attention_weights(hidden: int, attention: Attention, names: _Names) -> Iterable[Weight]:
    q_rows = attention.heads * attention.head_dim * (2 if attention.output_gate else 1)
    kv_rows = 2 * attention.kv_heads * attention.head_dim
    qkv = names.format_of("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj")
    yield _weight(
        "qkv_proj", q_rows + kv_rows, hidden, qkv, "column", kv=(kv_rows, attention.kv_heads)
    )
    inputs = attention.heads * attention.head_dim
    yield _weight("o_proj", hidden, inputs, names.format_of("self_attn.o_proj"), "row")


def _mla_weights(hidden: int, mla: Mla, names: _Names) -> Iterable[Weight]:
    """Yield the projections; ``kv_b_proj`` is absorbed and kept in 16 bits (``deepseek_v2.py``)."""
    q_rows = mla.heads * (mla.nope_dim + mla.rope_dim)
    kv_a_rows = mla.kv_lora + mla.rope_dim
    kv_a = names.format_of("self_attn.kv_a_proj_with_mqa")
    if mla.q_lora is None:
        yield _weight("q_proj", q_rows, hidden, names.format_of("self_attn.q_proj"), "column")
        yield _weight("kv_a_proj", kv_a_rows, hidden, kv_a, "replicated")
    else:
        q_b = names.format_of("self_attn.q_b_proj")
        yield _weight("qkv_a_proj", mla.q_lora + kv_a_rows, hidden, kv_a, "replicated")
        yield _weight("q_b_proj", q_rows, mla.q_lora, q_b, "column")
    kv_b_rows = mla.heads * (mla.nope_dim + mla.value_dim)
    yield _weight("kv_b_proj", kv_b_rows, mla.kv_lora, names.unquantised, "column")
    inputs = mla.heads * mla.value_dim
    yield _weight("o_proj", hidden, inputs, names.format_of("self_attn.o_proj"), "row")


def _gdn_weights(hidden: int, gdn: Gdn, names: _Names) -> Iterable[Weight]:
    modules = ("in_proj_qkv", "in_proj_z", "in_proj_qkvz")
    qkvz = names.format_of(*(f"linear_attn.{name}" for name in modules))
    modules = ("in_proj_b", "in_proj_a", "in_proj_ba")
    ba = names.format_of(*(f"linear_attn.{name}" for name in modules))
    value_rows = gdn.value_heads * gdn.value_dim
    yield _weight("in_proj_qkvz", gdn.conv_channels + value_rows, hidden, qkvz, "column")
    yield _weight("in_proj_ba", 2 * gdn.value_heads, hidden, ba, "column")
    yield _weight("conv1d", gdn.conv_channels, gdn.conv_width, names.unquantised, "column")
    yield _weight("out_proj", hidden, value_rows, names.format_of("linear_attn.out_proj"), "row")


def _mlp_weights(hidden: int, mlp: Mlp, names: _Names) -> Iterable[Weight]:
    gate_up = names.format_of("mlp.gate_proj", "mlp.up_proj", "mlp.gate_up_proj")
    yield _weight("gate_up_proj", 2 * mlp.intermediate, hidden, gate_up, "column")
    down = names.format_of("mlp.down_proj")
    yield _weight("down_proj", hidden, mlp.intermediate, down, "row")


def _moe_weights(hidden: int, moe: Moe, names: _Names) -> Iterable[Weight]:
    """Yield router, routed experts and shared experts; routers are never quantised."""
    yield _weight("router", moe.experts, hidden, names.unquantised, "replicated")
    experts = names.format_of("mlp.experts", "mlp.experts.0", "block_sparse_moe.experts.0")
    width, count = moe.intermediate, moe.experts
    yield _weight("experts_gate_up_proj", 2 * width, hidden, experts, "expert", count=count)
    yield _weight("experts_down_proj", hidden, width, experts, "expert", count=count)
    if not moe.shared_intermediate:
        return
    width = moe.shared_intermediate
    shared = names.format_of(
        *(f"mlp.{name}.{part}" for name in _SHARED for part in ("gate_proj", "up_proj"))
    )
    down = names.format_of(*(f"mlp.{name}.down_proj" for name in _SHARED))
    yield _weight("shared_gate_up_proj", 2 * width, hidden, shared, "column")
    yield _weight("shared_down_proj", hidden, width, down, "row")
    if moe.shared_gate:
        yield _weight("shared_expert_gate", 1, hidden, names.unquantised, "replicated")


_SHARED = ("shared_expert", "shared_experts")


def _weight(
    name: str,
    rows: int,
    columns: int,
    entry: str,
    shard: Shard,
    *,
    count: int = 1,
    kv: tuple[int, int] = (0, 1),
) -> Weight:
    size = number_format(entry).bytes_of(rows, columns)
    return Weight(name, rows, columns, entry, size, shard, count, *kv)
