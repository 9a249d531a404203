"""Our own files of facts about models, one TOML document each."""

from collections.abc import Mapping
from typing import Any

from traceattr.errors import ModelError
from traceattr.roofline.architecture import Attention, Gdn, LayerKind, Mla, Mlp, Moe
from traceattr.roofline.facts import Facts, Formats, module_pattern
from traceattr.roofline.fields import Fields

_KEYS = (
    "source",
    "hidden",
    "vocab",
    "tied",
    "layers",
    "pattern",
    "dense_layers",
    "mtp_layers",
    "max_context",
    "attention",
    "window",
    "mla",
    "gdn",
    "mlp",
    "moe",
    "formats",
)


def read_facts(document: Mapping[str, Any], name: str) -> Facts:
    """Return the facts of the catalogue's ``document`` about the model ``name``."""
    fields = Fields(document, f"{name}.toml", ModelError)
    fields.only(_KEYS)
    kinds = _kinds(fields)
    formats = fields.table("formats")
    return Facts(
        name=name,
        source=fields.text("source"),
        hidden=fields.whole("hidden"),
        vocab=fields.whole("vocab"),
        tied=fields.flag("tied"),
        kinds=kinds,
        mixers=_mixers(fields, kinds),
        mlp=Mlp(fields.table("mlp").whole("intermediate")) if fields.has("mlp") else None,
        moe=_moe(fields.table("moe")) if fields.has("moe") else None,
        dense_layers=frozenset(fields.wholes("dense_layers") if fields.has("dense_layers") else ()),
        mtp_layers=fields.whole("mtp_layers", least=0),
        formats=_formats(formats),
        kv_format=formats.text("kv") if formats.has("kv") else None,
        state_format=formats.text("state") if formats.has("state") else None,
        max_context=fields.whole("max_context"),
    )


def _kinds(fields: Fields) -> tuple[LayerKind, ...]:
    pattern = [LayerKind(name) for name in fields.texts("pattern")]
    return tuple(pattern[index % len(pattern)] for index in range(fields.whole("layers")))


def _mixers(fields: Fields, kinds: tuple[LayerKind, ...]) -> dict[LayerKind, Attention | Mla | Gdn]:
    mixers: dict[LayerKind, Attention | Mla | Gdn] = {}
    if fields.has("mla"):
        mixers[LayerKind.MLA] = _mla(fields.table("mla"))
    if fields.has("attention"):
        table = fields.table("attention")
        mixers[LayerKind.FULL_ATTENTION] = _attention(table, None)
        if LayerKind.SLIDING_ATTENTION in kinds:
            mixers[LayerKind.SLIDING_ATTENTION] = _attention(table, fields.whole("window"))
    if fields.has("gdn"):
        mixers[LayerKind.GDN] = _gdn(fields.table("gdn"))
    return mixers


def _attention(table: Fields, window: int | None) -> Attention:
    return Attention(
        heads=table.whole("heads"),
        kv_heads=table.whole("kv_heads"),
        head_dim=table.whole("head_dim"),
        output_gate=table.flag("output_gate"),
        window=window,
    )


def _mla(table: Fields) -> Mla:
    return Mla(
        heads=table.whole("heads"),
        q_lora=table.optional_whole("q_lora"),
        kv_lora=table.whole("kv_lora"),
        nope_dim=table.whole("nope_dim"),
        rope_dim=table.whole("rope_dim"),
        value_dim=table.whole("value_dim"),
    )


def _gdn(table: Fields) -> Gdn:
    return Gdn(
        key_heads=table.whole("key_heads"),
        value_heads=table.whole("value_heads"),
        key_dim=table.whole("key_dim"),
        value_dim=table.whole("value_dim"),
        conv_width=table.whole("conv_width"),
    )


def _moe(table: Fields) -> Moe:
    return Moe(
        experts=table.whole("experts"),
        experts_per_token=table.whole("experts_per_token"),
        intermediate=table.whole("intermediate"),
        shared_intermediate=table.whole("shared_intermediate", least=0),
        shared_gate=table.flag("shared_gate"),
    )


def _formats(table: Fields) -> Formats:
    modules = table.table("modules").values if table.has("modules") else {}
    return Formats(
        unquantised=table.text("unquantised"),
        linear=table.text("linear"),
        listed=tuple((module_pattern(name), entry) for name, entry in modules.items()),
        quantises_mtp=table.has("quantises_mtp") and table.flag("quantises_mtp"),
    )
