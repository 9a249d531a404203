"""A model with its weights in another number format."""

from dataclasses import replace

from traceattr.roofline.architecture import Layer, Model, Weight
from traceattr.roofline.number_format import number_format

_KEPT = ("router", "shared_expert_gate", "conv1d", "in_proj_ba", "kv_b_proj", "fc", "lm_head")
"""What quantised checkpoints leave in 16 bits."""


def with_weights(model: Model, name: str) -> Model:
    """Return ``model`` with the linear layers of its decoder in the number format ``name``.

    Quantised checkpoints keep lm_head, embeddings, routers and the small projections of GDN in
    16 bits, and mostly the draft layers; so do we. A 16-bit format is given to all of them.

    Raises:
        ModelError: When no format has that name.
    """
    if number_format(name).bits < 16:
        layers = tuple(_reformatted(layer, name, _KEPT) for layer in model.layers)
        return replace(model, layers=layers)
    return replace(
        model,
        layers=tuple(_reformatted(layer, name, ()) for layer in model.layers),
        mtp=tuple(_reformatted(layer, name, ()) for layer in model.mtp),
        lm_head=_in_format(model.lm_head, name),
        embedding=_in_format(model.embedding, name),
        dtype=name,
    )


def with_vocabulary(model: Model, rows: int) -> Model:
    """Return ``model`` with an output projection of ``rows``, as drafts with hot tokens have."""
    head = replace(model.lm_head, rows=rows)
    return replace(model, lm_head=_in_format(head, head.number_format))


def _reformatted(layer: Layer, name: str, kept: tuple[str, ...]) -> Layer:
    weights = (
        weight if weight.name in kept else _in_format(weight, name) for weight in layer.weights
    )
    return replace(layer, weights=tuple(weights))


def _in_format(weight: Weight, name: str) -> Weight:
    size = number_format(name).bytes_of(weight.rows, weight.columns)
    return replace(weight, number_format=name, bytes=size)
