"""The facts that a model is built from, whoever spelled them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import translate

from traceattr.errors import ModelError
from traceattr.roofline.architecture import Attention, Gdn, LayerKind, Mla, Mlp, Moe

_PREFIXES = ("", "model.", "model.language_model.", "language_model.model.", "language_model.")


@dataclass(frozen=True, slots=True)
class Formats:
    """Which number format the modules of a checkpoint have.

    Attributes:
        unquantised: Format of whatever is not quantised.
        linear: Format of the linear layers that ``listed`` does not mention.
        listed: Regular expressions for names of modules, each with a format; first match wins.
        quantises_mtp: Whether the draft layers are quantised like the others.
        file: What errors call the document that says so.
    """

    unquantised: str
    linear: str
    listed: tuple[tuple[str, str], ...] = ()
    quantises_mtp: bool = True
    file: str = ""

    def of(self, modules: Iterable[str]) -> str:
        """Return the format of the weight that the server fuses from ``modules``.

        Args:
            modules: Names such as ``layers.0.mlp.up_proj``; also names that other checkpoints
                of the architecture use for the same weight.
        """
        return self._explicit(modules) or self.linear

    def of_lm_head(self) -> str:
        """Return the format of the output projection, which is quantised only when listed."""
        return self._explicit(("lm_head",)) or self.unquantised

    def _explicit(self, modules: Iterable[str]) -> str | None:
        found = {name: entry for name in modules if (entry := self._listed(name))}
        if len(set(found.values())) > 1:
            parts = ", ".join(f"{name}: {entry}" for name, entry in found.items())
            what = f"one kernel reads weights of different formats: {parts}"
            raise ModelError(f"{self.file}: {what} (expected one format for them)")
        return next(iter(found.values()), None)

    def _listed(self, module: str) -> str | None:
        names = [prefix + module for prefix in _PREFIXES]
        for pattern, entry in self.listed:
            if any(re.match(pattern, name) for name in names):
                return entry
        return None


def module_pattern(text: str) -> str:
    """Return the regular expression for how quantisation lists write names of modules.

    ``re:`` begins a regular expression; ``*`` stands for anything; a name also means the modules
    inside it, wherever in the path it is.
    """
    if text.startswith("re:"):
        return text.removeprefix("re:")
    inner = translate(text).removeprefix("(?s:").removesuffix(")\\Z").removesuffix(")\\z")
    return rf"(?:.*\.)?(?:{inner})(?:\..*)?$"


@dataclass(frozen=True, slots=True)
class Facts:
    """A model's configuration in our own words.

    Attributes:
        name: What reports call the model.
        source: Where the numbers are from.
        hidden: Width of the residual stream.
        vocab: Rows of the vocabulary.
        tied: Whether lm_head and embedding are one matrix.
        kinds: Kind of each layer in order.
        mixers: Heads and widths of each kind of layer.
        mlp: The dense perceptron; None when every layer has experts.
        moe: The experts; None when every layer is dense.
        dense_layers: Indices of the layers that are dense although there are experts.
        mtp_layers: Draft layers that come with the model.
        formats: Number formats.
        kv_format: Cache format that the checkpoint asks for.
        state_format: Format of recurrent states that the config asks for.
        max_context: Longest context in tokens.
        notes: What was assumed where the config is silent.
    """

    name: str
    source: str
    hidden: int
    vocab: int
    tied: bool
    kinds: tuple[LayerKind, ...]
    mixers: dict[LayerKind, Attention | Mla | Gdn]
    mlp: Mlp | None
    moe: Moe | None
    dense_layers: frozenset[int]
    mtp_layers: int
    formats: Formats
    kv_format: str | None = None
    state_format: str | None = None
    max_context: int | None = None
    notes: tuple[str, ...] = ()
