"""Figures about the layers of a target model."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from traceattr.attribution.round_figures import Spread


class LayerKind(StrEnum):
    """What a layer mixes tokens with."""

    RECURRENT = "recurrent"
    ATTENTION = "attention"


@dataclass(frozen=True, slots=True)
class Period:
    """What the sequence of layers repeats.

    Attributes:
        layers: One repetition.
        repeats: How often it occurs as a whole.
        rest: Layers after the last whole one, which begin another.
    """

    layers: tuple[LayerKind, ...]
    repeats: int
    rest: int

    def text(self, recurrent: str = "recurrent") -> str:
        """Return it as ``(3 GDN + 1 attention) x 16``, given a word for recurrent layers."""
        words = {LayerKind.RECURRENT: recurrent, LayerKind.ATTENTION: "attention"}
        parts = [f"{len(list(run))} {words[kind]}" for kind, run in groupby(self.layers)]
        text = f"({' + '.join(parts)}) x {self.repeats}"
        return f"{text}, {self.rest} more" if self.rest else text


@dataclass(frozen=True, slots=True)
class OutlierLayer:
    """A layer that costs more than its kind does.

    Attributes:
        layer: Its number, from 0.
        kind: What it is.
        median_ns: Its cost, the median over replays.
        usual_ns: The median of that over the layers of its kind.
    """

    layer: int
    kind: LayerKind
    median_ns: int
    usual_ns: int


@dataclass(frozen=True, slots=True)
class Layers:
    """The layers of the target on one GPU.

    Attributes:
        gpu: Number of the GPU.
        replays: Replays of the target in the window, traced per node.
        unusual: Those of them whose layers are not the usual ones, the most frequent sequence.
        layers: Layers of the usual ones; None when no replay shows any.
        attention_layers: Those that attend.
        recurrent_layers: Those with a recurrence.
        period: What the layers repeat; None when nothing regular.
        kernels_per_attention_layer: Kernels of an attention layer, those of its MLP included.
        kernels_per_recurrent_layer: Kernels of a recurrent layer.
        attention_layer_ns: Cost of an attention layer, gaps included: over the replays, the spread
            of the mean over its layers.
        recurrent_layer_ns: Cost of a recurrent layer.
        outliers: Layers that cost more than their kind does.
        reason: Why something is None, for people.
        notice: What makes the figures doubtful, for people.
    """

    gpu: int
    replays: int = 0
    unusual: int = 0
    layers: int | None = None
    attention_layers: int | None = None
    recurrent_layers: int | None = None
    period: Period | None = None
    kernels_per_attention_layer: int | None = None
    kernels_per_recurrent_layer: int | None = None
    attention_layer_ns: Spread | None = None
    recurrent_layer_ns: Spread | None = None
    outliers: tuple[OutlierLayer, ...] = ()
    reason: str | None = None
    notice: str | None = None
