"""What a kernel tells about where in a decode round it stands, from its category and subcategory.

Which names these are is the business of the rules; here only their words are known.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from traceattr.attribution.labels import KernelNames
from traceattr.rules.rule import Classification

Flags = npt.NDArray[np.bool_]

_ATTENTION_HELPERS = frozenset({"merge_state", "metadata", "mla_prep", "dsa_indexer", "sparse"})
"""Attention kernels that do not run once per attention layer."""

_RECURRENT_CORES = frozenset({"recurrence", "chunk", "flat_prefill", "cute", "kda"})
"""GDN kernels of which each layer runs at least one; the others come beside them."""


def attention_core(names: KernelNames) -> Flags:
    """Return which names are the attention of a layer, shape (names,)."""
    return _flags(
        (c.category == "attention" and c.subcategory not in _ATTENTION_HELPERS)
        for c in names.classifications
    )


def recurrent_core(names: KernelNames) -> Flags:
    """Return which names are the linear attention of a layer, shape (names,)."""
    return _flags(
        c.category == "linear_attn_other"
        or (c.category == "gdn" and c.subcategory in _RECURRENT_CORES)
        for c in names.classifications
    )


def embedding(names: KernelNames) -> Flags:
    """Return which names begin a forward pass, shape (names,)."""
    return _of_category(names, "embedding")


def model_work(names: KernelNames) -> Flags:
    """Return which names only a forward pass or its sampling runs, not preparation."""
    return _flags(_is_model_work(c) for c in names.classifications)


def sampling(names: KernelNames) -> Flags:
    """Return which names choose tokens from logits, shape (names,)."""
    return _of_category(names, "sampling")


def tree_building(names: KernelNames) -> Flags:
    """Return which names run between draft and verification, shape (names,)."""
    return _draft(names, "spec_tree")


def verification(names: KernelNames) -> Flags:
    """Return which names run between verification and draft extension, shape (names,)."""
    return _draft(names, "spec_verify")


def finishing(names: KernelNames) -> Flags:
    """Return which names end a round rather than prepare the next one, shape (names,).

    Those are passes and sampling, and in speculative decoding what verification leaves to note.
    """
    return model_work(names) | verification(names) | _draft(names, "bookkeeping")


def prefill_only(names: KernelNames) -> Flags:
    """Return which names run in a prefill only, shape (names,)."""
    return _flags(
        c.category == "gdn" and c.subcategory in ("chunk", "flat_prefill")
        for c in names.classifications
    )


def speculation(names: KernelNames) -> bool:
    """Return whether any name belongs to speculative decoding."""
    return bool(_of_category(names, "draft").any())


def _is_model_work(c: Classification) -> bool:
    return c.category in (
        "weight_gemm",
        "moe_gemm",
        "comm",
        "sampling",
        "norm",
        "activation",
        "rope",
    ) or (c.category == "attention" and c.subcategory not in _ATTENTION_HELPERS)


def _draft(names: KernelNames, subcategory: str) -> Flags:
    return _flags(
        c.category == "draft" and c.subcategory == subcategory for c in names.classifications
    )


def _of_category(names: KernelNames, category: str) -> Flags:
    return _flags(c.category == category for c in names.classifications)


def _flags(values: Iterable[bool]) -> Flags:
    return np.fromiter(values, np.bool_)
