"""What a model is made of, as far as bytes and FLOPs depend on it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Shard = Literal["column", "row", "expert", "replicated"]
"""How tensor parallelism splits a weight: its outputs, its inputs, each expert's width, or not."""


class LayerKind(StrEnum):
    """What mixes the tokens in a layer."""

    FULL_ATTENTION = "full_attention"
    SLIDING_ATTENTION = "sliding_attention"
    MLA = "mla"
    GDN = "gdn"


@dataclass(frozen=True, slots=True)
class Weight:
    """One matrix that one kernel reads; parts that the server fuses are one weight.

    Attributes:
        name: ``qkv_proj``, ``o_proj``, ``gate_up_proj``, ``experts_gate_up_proj``, ...
        rows: Outputs (of one expert).
        columns: Inputs (of one expert).
        number_format: Name of a `NumberFormat`.
        bytes: Bytes of one copy, scales included.
        shard: How tensor parallelism splits it.
        count: Copies, such as experts.
        kv_rows: Outputs that are keys and values; they are split over at most ``kv_heads`` GPUs.
        kv_heads: Key/value heads of ``kv_rows``.
    """

    name: str
    rows: int
    columns: int
    number_format: str
    bytes: int
    shard: Shard
    count: int = 1
    kv_rows: int = 0
    kv_heads: int = 1

    @property
    def parameters(self) -> int:
        """Return the number of values in all copies."""
        return self.rows * self.columns * self.count

    def bytes_on_gpu(self, tp: int) -> int:
        """Return the bytes of one copy on each of ``tp`` GPUs, rounded up."""
        return -(-self.bytes * self._values_on_gpu(tp) // (self.rows * self.columns))

    def flop_per_row(self, tp: int) -> int:
        """Return the FLOPs of one activation row through one copy on each of ``tp`` GPUs."""
        return 2 * self._values_on_gpu(tp)

    def _values_on_gpu(self, tp: int) -> int:
        if self.shard == "replicated":
            return self.rows * self.columns
        own = -(-(self.rows - self.kv_rows) * self.columns // tp)
        return own + -(-self.kv_rows * self.columns // min(tp, self.kv_heads))


@dataclass(frozen=True, slots=True)
class Attention:
    """Grouped-query attention.

    Attributes:
        heads: Query heads.
        kv_heads: Key/value heads.
        head_dim: Width of a head.
        output_gate: Whether the query projection also makes a gate, which doubles its width.
        window: Tokens a query sees; None is all of them.
    """

    heads: int
    kv_heads: int
    head_dim: int
    output_gate: bool = False
    window: int | None = None

    def kv_heads_on_gpu(self, tp: int) -> int:
        """Return the key/value heads on each of ``tp`` GPUs; at least one."""
        return -(-self.kv_heads // tp)

    def kv_values_per_token(self, tp: int = 1) -> int:
        """Return the values that a token has in this layer's cache on each of ``tp`` GPUs."""
        return 2 * self.kv_heads_on_gpu(tp) * self.head_dim

    def flop_per_pair(self, tp: int = 1) -> int:
        """Return the FLOPs for one query token and one cached token: QK^T and PV."""
        return 4 * self.heads * self.head_dim // tp


@dataclass(frozen=True, slots=True)
class Mla:
    """Multi-head latent attention, absorbed as it is decoded.

    Attributes:
        heads: Query heads.
        q_lora: Rank of the query projection; None when it is one matrix.
        kv_lora: Rank of the cached latent.
        nope_dim: Width of a query head without rotary position.
        rope_dim: Width of the rotary part.
        value_dim: Width of a value head.
    """

    heads: int
    q_lora: int | None
    kv_lora: int
    nope_dim: int
    rope_dim: int
    value_dim: int

    def kv_values_per_token(self, tp: int = 1) -> int:
        """Return the values that a token has in this layer's cache; every GPU holds them all."""
        del tp
        return self.kv_lora + self.rope_dim

    def flop_per_pair(self, tp: int = 1) -> int:
        """Return the FLOPs for one query token and one cached token, in the latent space."""
        return 2 * self.heads * (2 * self.kv_lora + self.rope_dim) // tp


@dataclass(frozen=True, slots=True)
class Gdn:
    """Gated delta network (arXiv 2412.06464): a recurrent state instead of a cache.

    Attributes:
        key_heads: Key heads, also of the queries.
        value_heads: Value heads; each has one state.
        key_dim: Width of a key head.
        value_dim: Width of a value head.
        conv_width: Taps of the causal convolution.
    """

    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    conv_width: int

    @property
    def conv_channels(self) -> int:
        """Return the channels of the convolution: queries, keys and values."""
        return 2 * self.key_heads * self.key_dim + self.value_heads * self.value_dim

    def state_values(self, tp: int = 1) -> int:
        """Return the values of one request's state in this layer on each of ``tp`` GPUs."""
        return self.value_heads * self.key_dim * self.value_dim // tp

    def conv_values(self, tp: int = 1) -> int:
        """Return the values that the convolution remembers of one request on each GPU."""
        return self.conv_channels * (self.conv_width - 1) // tp


@dataclass(frozen=True, slots=True)
class Mlp:
    """A gated multilayer perceptron.

    Attributes:
        intermediate: Its inner width.
    """

    intermediate: int


@dataclass(frozen=True, slots=True)
class Moe:
    """A mixture of experts.

    Attributes:
        experts: Routed experts.
        experts_per_token: Routed experts that a token visits.
        intermediate: Inner width of a routed expert.
        shared_intermediate: Inner width of all shared experts together; 0 without any.
        shared_gate: Whether a learned gate scales the shared expert's output.
    """

    experts: int
    experts_per_token: int
    intermediate: int
    shared_intermediate: int = 0
    shared_gate: bool = False


@dataclass(frozen=True, slots=True)
class Layer:
    """One decoder layer.

    Attributes:
        kind: What mixes the tokens.
        mixer: Its heads and widths.
        mlp: What follows the mixer.
        weights: Every matrix, in the order the layer uses them.
    """

    kind: LayerKind
    mixer: Attention | Mla | Gdn
    mlp: Mlp | Moe
    weights: tuple[Weight, ...]

    @property
    def parameters(self) -> int:
        """Return the number of values in the matrices of this layer."""
        return sum(weight.parameters for weight in self.weights)

    def weight(self, name: str) -> Weight:
        """Return the weight called ``name``; KeyError when this layer has none."""
        for weight in self.weights:
            if weight.name == name:
                return weight
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class DraftModel:
    """A draft that is a checkpoint of its own, such as an EAGLE3 head.

    Attributes:
        name: What reports call it.
        layers: Its decoder layers, all of which every draft pass runs.
        lm_head: Its output projection, over its own vocabulary.
        projection: What a draft-extend pass reads beside that: it narrows hidden states of the
            target to those of the draft. None without one.
        embedding: Its input embedding; None when it is that of the target.
    """

    name: str
    layers: tuple[Layer, ...]
    lm_head: Weight
    projection: Weight | None
    embedding: Weight | None

    @property
    def around_layers(self) -> tuple[Weight, ...]:
        """Return the matrices that it has beside its layers."""
        weights = (self.lm_head, self.projection, self.embedding)
        return tuple(weight for weight in weights if weight is not None)


@dataclass(frozen=True, slots=True)
class Model:
    """A language model; vision towers are left out, because decoding never reads them.

    Attributes:
        name: What reports call it.
        source: The file or catalogue entry it was read from.
        hidden: Width of the residual stream.
        vocab: Rows of the vocabulary.
        layers: Decoder layers in order.
        lm_head: The output projection; read in every forward, also when tied.
        embedding: The input embedding; only the rows of the tokens are read.
        tied: Whether lm_head and embedding are one matrix.
        mtp: Draft layers that come with the model, with the projection ``fc`` before them. They
            share embedding and lm_head with it.
        draft: A draft of its own, which is used instead of ``mtp``.
        dtype: Format of whatever is not quantised, and of activations.
        kv_format: Cache format that the checkpoint asks for; None when it does not say.
        state_format: Format of recurrent states that the config asks for; None when it does not.
        max_context: Longest context in tokens; None when the config does not say.
        notes: What was assumed where the config is silent.
    """

    name: str
    source: str
    hidden: int
    vocab: int
    layers: tuple[Layer, ...]
    lm_head: Weight
    embedding: Weight
    tied: bool
    mtp: tuple[Layer, ...]
    dtype: str
    kv_format: str | None = None
    state_format: str | None = None
    max_context: int | None = None
    notes: tuple[str, ...] = ()
    draft: DraftModel | None = None

    @property
    def draft_layers(self) -> tuple[Layer, ...]:
        """Return the layers that every draft pass runs; none without a draft.

        SGLang runs the first layer of ``mtp`` in every step, however many the checkpoint has.
        """
        return self.mtp[:1] if self.draft is None else self.draft.layers

    @property
    def layer_parameters(self) -> int:
        """Return the number of values in the matrices of all decoder layers."""
        return sum(layer.parameters for layer in self.layers)

    @property
    def mtp_parameters(self) -> int:
        """Return the number of values in the matrices of the draft layers."""
        return sum(layer.parameters for layer in self.mtp)

    @property
    def parameters(self) -> int:
        """Return the number of values in all matrices, without norms, biases and vision."""
        head = 0 if self.tied else self.lm_head.parameters
        return self.layer_parameters + head + self.embedding.parameters + self.mtp_parameters

    @property
    def kv_values_per_token(self) -> int:
        """Return the values that a token has in the caches of all layers, before any window."""
        mixers = [layer.mixer for layer in self.layers]
        return sum(mixer.kv_values_per_token() for mixer in mixers if not isinstance(mixer, Gdn))

    @property
    def state_values(self) -> int:
        """Return the values of one request's recurrent states in all layers."""
        mixers = [layer.mixer for layer in self.layers]
        return sum(mixer.state_values() for mixer in mixers if isinstance(mixer, Gdn))

    @property
    def conv_values(self) -> int:
        """Return the values that the convolutions of all layers remember of one request."""
        mixers = [layer.mixer for layer in self.layers]
        return sum(mixer.conv_values() for mixer in mixers if isinstance(mixer, Gdn))
