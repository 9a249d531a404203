"""Whether a model can be split over a number of GPUs."""

from collections.abc import Iterator

from traceattr.errors import ModelError
from traceattr.roofline.architecture import Attention, Gdn, Layer, Mla, Mlp, Model


def check_sharding(model: Model, tp: int, attention_tp: int, ep: int) -> None:
    """Raise when the heads or widths of ``model`` do not divide evenly.

    Args:
        model: The model.
        tp: GPUs of the tensor-parallel group.
        attention_tp: GPUs that one attention layer is split over; fewer with DP attention.
        ep: Groups that experts are spread over.

    Raises:
        ModelError: With the first number that does not divide.
    """
    for layer in dict.fromkeys((*model.layers, *model.mtp, *model.draft_layers)):
        for name, value, parts in _splits(layer, tp, attention_tp, ep):
            if value % parts:
                what = f"{value} {name} do not split over {parts} GPUs"
                raise ModelError(f"{model.name}: {what} (expected a divisor of {value})")
        if isinstance(layer.mixer, Attention):
            _check_kv_heads(model.name, layer.mixer.kv_heads, attention_tp)


def _splits(layer: Layer, tp: int, attention_tp: int, ep: int) -> Iterator[tuple[str, int, int]]:
    """Yield what is split, how many there are, and into how many parts."""
    match layer.mixer:
        case Attention() | Mla():
            yield "query heads", layer.mixer.heads, attention_tp
        case Gdn():
            yield "GDN key heads", layer.mixer.key_heads, attention_tp
            yield "GDN value heads", layer.mixer.value_heads, attention_tp
    if isinstance(layer.mlp, Mlp):
        yield "MLP channels", layer.mlp.intermediate, tp
        return
    yield "experts", layer.mlp.experts, ep
    yield "channels of an expert", layer.mlp.intermediate, tp // ep
    yield "channels of the shared expert", layer.mlp.shared_intermediate, tp


def _check_kv_heads(model: str, kv_heads: int, tp: int) -> None:
    """Raise unless every GPU has whole heads, or every head is on whole GPUs."""
    if kv_heads % tp and tp % kv_heads:
        what = f"{kv_heads} key/value heads do not split over {tp} GPUs"
        raise ModelError(f"{model}: {what} (expected a divisor or a multiple of {kv_heads})")
