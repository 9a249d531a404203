"""Which modules of a checkpoint are quantised, and how."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any

from traceattr.errors import ModelError
from traceattr.roofline.facts import Formats, module_pattern
from traceattr.roofline.fields import Fields

_METHODS = ("awq", "compressed-tensors", "fp8", "gptq", "modelopt", "mxfp4")
_GPTQ_BITS = (2, 3, 4, 8)
_WHOLE_CHANNEL = -1
"""Group size of weights that have one scale per output."""

_MODELOPT = {
    "FP8": "fp8",
    "FP8_PB_WO": "fp8_block",
    "FP8_PER_CHANNEL_PER_TOKEN": "fp8_channel",
    "NVFP4": "nvfp4",
    "W4A16_NVFP4": "nvfp4_w4a16",
}
Read = tuple[Formats, str | None]


def read_quantization(
    top: Fields, dtype: str, quant_config: Mapping[str, Any] | None = None
) -> Read:
    """Return the formats of the modules and the cache format that the checkpoint asks for.

    Args:
        top: The whole ``config.json``.
        dtype: Format of what is not quantised.
        quant_config: The ``hf_quant_config.json`` beside it, which only ModelOpt writes.

    Raises:
        ModelError: When the method or one of its settings is unknown.
    """
    formats, kv_format = _read(top, dtype, quant_config)
    return replace(formats, file=top.file), kv_format


def _read(top: Fields, dtype: str, quant_config: Mapping[str, Any] | None) -> Read:
    if not top.has("quantization_config"):
        if quant_config is None:
            return Formats(dtype, dtype), None
        document = Fields(quant_config, f"hf_quant_config.json beside {top.file}", ModelError)
        return _modelopt(document.table("quantization"), dtype)
    table = top.table("quantization_config")
    method = table.text("quant_method")
    if method.startswith("modelopt"):
        return _modelopt(table, dtype)
    readers = {
        "awq": _awq,
        "compressed-tensors": _compressed_tensors,
        "fp8": _fp8,
        "gptq": _gptq,
        "mxfp4": _mxfp4,
    }
    if method not in readers:
        raise table.wrong("quant_method", f"one of {', '.join(_METHODS)}")
    return readers[method](table, dtype)


def _fp8(table: Fields, dtype: str) -> Read:
    if not table.has("weight_block_size"):
        return Formats(dtype, "fp8", _unquantised(table, dtype)), None
    if table.wholes("weight_block_size") != (128, 128):
        raise table.wrong("weight_block_size", "[128, 128]")
    return Formats(dtype, "fp8_block", _unquantised(table, dtype)), None


def _awq(table: Fields, dtype: str) -> Read:
    _require(table, "bits", 4)
    _require(table, "zero_point", True)
    entry = _grouped("int4_awq", table.whole("group_size"))
    return Formats(dtype, entry, _unquantised(table, dtype), quantises_mtp=False), None


def _gptq(table: Fields, dtype: str) -> Read:
    bits = table.whole("bits")
    if bits not in _GPTQ_BITS:
        raise table.wrong("bits", f"one of {', '.join(map(str, _GPTQ_BITS))}")
    base = f"int{bits}_gptq" if table.flag("sym") else f"int{bits}_awq"
    is_whole = table.values.get("group_size") == _WHOLE_CHANNEL
    entry = f"{base}_channel" if is_whole else _grouped(base, table.whole("group_size"))
    listed = (*_unquantised(table, dtype), *_merged(_dynamic(table, dtype), table.file))
    if table.values.get("lm_head"):
        listed = (*listed, (module_pattern("lm_head"), entry))
    return Formats(dtype, entry, listed, quantises_mtp=False), None


def _dynamic(table: Fields, dtype: str) -> Iterable[tuple[str, str]]:
    """Yield the modules that GPTQModel leaves alone: ``-:`` before a regular expression."""
    rules = table.table("dynamic").values if table.has("dynamic") else {}
    for rule in rules:
        if not rule.startswith("-:"):
            raise table.wrong("dynamic", "only rules that begin with '-:'")
        yield rule.removeprefix("-:"), dtype


def _mxfp4(table: Fields, dtype: str) -> Read:
    return Formats(dtype, "mxfp4", _unquantised(table, dtype)), None


def _modelopt(table: Fields, dtype: str) -> Read:
    """Read ModelOpt's settings; SGLang serves the draft layers of its NVFP4 files in bf16."""
    algorithm = table.text("quant_algo")
    kv_format = _modelopt_kv(table)
    if algorithm == "MIXED_PRECISION":
        return Formats(
            dtype, dtype, _merged(_by_module(table), table.file), quantises_mtp=False
        ), kv_format
    if algorithm not in _MODELOPT:
        raise table.wrong("quant_algo", f"one of {', '.join((*_MODELOPT, 'MIXED_PRECISION'))}")
    entry = _modelopt_format(table, algorithm)
    listed = _unquantised(table, dtype)
    return Formats(dtype, entry, listed, quantises_mtp="nvfp4" not in entry), kv_format


def _modelopt_kv(table: Fields) -> str | None:
    if table.has("kv_cache_quant_algo"):
        if table.text("kv_cache_quant_algo") != "FP8":
            raise table.wrong("kv_cache_quant_algo", "FP8 or null")
        return "fp8"
    return "fp8" if table.has("kv_cache_scheme") else None


def _by_module(table: Fields) -> Iterable[tuple[str, str]]:
    """Yield pattern and format of each module, from a table by name or a list of entries."""
    if table.has("_by_module"):
        entries = [
            Fields(entry, table.file, table.error, f"{table.path}_by_module.")
            for entry in table.values["_by_module"]
        ]
        named = [(entry.text("module"), entry, "algo") for entry in entries]
    else:
        layers = table.table("quantized_layers")
        named = [(name, layers.table(name), "quant_algo") for name in layers.values]
    for name, entry, key in named:
        if entry.text(key) not in _MODELOPT:
            raise entry.wrong(key, f"one of {', '.join(_MODELOPT)}")
        yield module_pattern(name), _modelopt_format(entry, entry.text(key))


def _modelopt_format(table: Fields, algorithm: str) -> str:
    entry = _MODELOPT[algorithm]
    if "nvfp4" in entry and table.has("group_size"):
        _require(table, "group_size", 16)
    return entry


def _compressed_tensors(table: Fields, dtype: str) -> Read:
    groups = table.table("config_groups")
    listed, linear = list(_unquantised(table, dtype)), dtype
    for name in groups.values:
        group = groups.table(name)
        entry = _group_format(group)
        for target in group.texts("targets"):
            if target == "Linear":
                linear = entry
            else:
                listed.append((module_pattern(target), entry))
    kv_format = "fp8" if table.has("kv_cache_scheme") else None
    return Formats(dtype, linear, _merged(listed, table.file)), kv_format


def _group_format(group: Fields) -> str:
    """Return the format of one scheme: bits, type, and how many values share a scale."""
    weights = group.table("weights")
    kind, bits, strategy = weights.text("type"), weights.whole("num_bits"), weights.text("strategy")
    has_activations = group.has("input_activations")
    match kind, bits, strategy:
        case "float", 8, "tensor":
            return "fp8"
        case "float", 8, "channel":
            return "fp8_channel"
        case "float", 8, "block":
            return "fp8_block"
        case "int", 8, "channel":
            return "int8" if has_activations else "int8_w8a16"
        case "int", 4, "channel":
            return "int4_gptq_channel" if weights.flag("symmetric") else "int4_awq_channel"
        case "int", 4 | 8, "group":
            base = f"int{bits}_gptq" if weights.flag("symmetric") else f"int{bits}_awq"
            return _grouped(base, weights.whole("group_size"))
        case "float", 4, "tensor_group" | "group":
            _require(weights, "group_size", 16)
            return "nvfp4" if has_activations else "nvfp4_w4a16"
    what = f"{kind} weights of {bits} bits per {strategy} in '{weights.path}' are unknown"
    expected = "float 8 or 4, int 8 or 4 per channel or group"
    raise ModelError(f"{weights.file}: {what} (expected {expected})")


def _unquantised(table: Fields, dtype: str) -> tuple[tuple[str, str], ...]:
    """Return what a checkpoint leaves alone, under any of the names for that list."""
    keys = ("modules_to_not_convert", "ignored_layers", "ignore", "exclude_modules")
    names = [name for key in keys if table.has(key) for name in table.texts(key)]
    return _merged(((module_pattern(name), dtype) for name in names), table.file)


def _merged(listed: Iterable[tuple[str, str]], file: str) -> tuple[tuple[str, str], ...]:
    """Return the list with neighbours of one format in one pattern, which is faster to search."""
    merged = []
    for entry, group in groupby(listed, key=lambda item: item[1]):
        pattern = "|".join(f"(?:{pattern})" for pattern, _ in group)
        try:
            re.compile(pattern)
        except re.error as error:
            what = f"a list of modules holds a bad regular expression: {error}"
            raise ModelError(f"{file}: {what} (expected names or re:...)") from error
        merged.append((pattern, entry))
    return tuple(merged)


def _grouped(base: str, size: int) -> str:
    return base if size == 128 else f"{base}_g{size}"


def _require(table: Fields, key: str, expected: object) -> None:
    if not table.has(key):
        what = f"field '{table.path}{key}' is missing"
        raise ModelError(f"{table.file}: {what} (expected {expected})")
    if table.values[key] != expected:
        raise table.wrong(key, str(expected))
