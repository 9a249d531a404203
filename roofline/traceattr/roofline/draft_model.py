"""Drafts that are checkpoints of their own: EAGLE3 heads, and whole small models.

An EAGLE3 head (arXiv 2503.01840) is one decoder layer whose attention sees the embedding beside the
hidden state, so that its query, key and value projections are twice as wide, and an output
projection over a reduced vocabulary.  Its projection ``fc`` narrows three hidden states of the
target to one; only a draft-extend pass has those (SGLang 0.5.23 ``models/llama_eagle3.py``).  A
small model (STANDALONE) is taken as it is.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from traceattr.errors import ModelError
from traceattr.roofline.architecture import DraftModel, Layer, Model, Weight
from traceattr.roofline.fields import Fields
from traceattr.roofline.model import config_path, load_model
from traceattr.roofline.number_format import number_format

AUX_STATES = 3
"""Hidden states of the target that an EAGLE3 head sees."""

_EAGLE3 = "eagle3"
_EAGLE = "eagle"
_WIDENED = "qkv_proj"


def with_draft_model(model: Model, source: str) -> Model:
    """Return ``model`` with the draft of a config.

    Args:
        model: The target.
        source: A ``config.json``, its directory, or a name of the catalogue.

    Raises:
        ModelError: When there is no such config, or it is no draft of this target.
    """
    draft = load_model(source)
    document = _document(source)
    architecture = _architecture(document, source)
    if _EAGLE3 in architecture or document.get("draft_vocab_size") is not None:
        return replace(model, draft=_eagle3(draft, model, Fields(document, source, ModelError)))
    if _EAGLE in architecture:
        what = f"a draft of architecture {document['architectures'][0]}"
        raise ModelError(f"{source}: {what} (expected an EAGLE3 head or a whole model)")
    if draft.vocab != model.vocab:
        what = f"a vocabulary of {draft.vocab}, and that of {model.name} is {model.vocab}"
        raise ModelError(f"{source}: {what} (expected a draft of the same vocabulary)")
    return replace(model, draft=_whole(draft))


def _document(source: str) -> Mapping[str, Any]:
    """Return the config again, for what only drafts have; a bundled model has nothing of it."""
    path = config_path(source)
    document: Mapping[str, Any] = {}
    if path is not None:
        document = json.loads(path.read_text(encoding="utf-8"))
    return document


def _architecture(document: Mapping[str, Any], source: str) -> str:
    fields = Fields(document, source, ModelError)
    names = fields.texts("architectures") if fields.has("architectures") else ()
    return names[0].lower() if names else ""


def _eagle3(draft: Model, model: Model, fields: Fields) -> DraftModel:
    if len(draft.layers) != 1:
        what = f"{len(draft.layers)} layers"
        raise ModelError(f"{fields.file}: {what} (expected an EAGLE3 head of one layer)")
    rows = fields.whole("draft_vocab_size") if fields.has("draft_vocab_size") else draft.vocab
    key = "target_hidden_size"
    width = fields.whole(key) if fields.has(key) else draft.hidden
    if width != model.hidden:
        what = f"hidden states of {width}, and those of {model.name} have {model.hidden}"
        raise ModelError(f"{fields.file}: {what} (expected a head of this model)")
    projection = _resized(
        replace(draft.lm_head, name="fc", shard="replicated"), draft.hidden, AUX_STATES * width
    )
    return DraftModel(
        name=draft.name,
        layers=(_widened(draft.layers[0]),),
        lm_head=_resized(draft.lm_head, rows, draft.hidden),
        projection=projection,
        embedding=None if draft.hidden == model.hidden else draft.embedding,
    )


def _whole(draft: Model) -> DraftModel:
    embedding = None if draft.tied else draft.embedding
    return DraftModel(draft.name, draft.layers, draft.lm_head, None, embedding)


def _widened(layer: Layer) -> Layer:
    """Return a layer whose attention sees the embedding beside the hidden state."""
    return replace(
        layer,
        weights=tuple(
            _resized(weight, weight.rows, 2 * weight.columns) if weight.name == _WIDENED else weight
            for weight in layer.weights
        ),
    )


def _resized(weight: Weight, rows: int, columns: int) -> Weight:
    size = number_format(weight.number_format).bytes_of(rows, columns)
    return replace(weight, rows=rows, columns=columns, bytes=size)
