"""How a model is served, from wherever that is known."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from traceattr.errors import DeploymentError, ModelError
from traceattr.roofline.deployment_document import read_document
from traceattr.roofline.fields import Fields
from traceattr.roofline.inputs import Input
from traceattr.roofline.number_format import VALUE_BYTES, number_format
from traceattr.roofline.server_args import read_server_args

_COUNTS = {
    "tp": 1,
    "ep": 1,
    "dp_attention": 1,
    "batch": 1,
    "context": 0,
    "draft_steps": 0,
    "draft_tokens": 1,
    "draft_topk": 1,
    "draft_vocab": 1,
}
"""Whole numbers, each with its least value."""

_NUMBERS = ("accept_length", "alpha_us")
_TEXTS = ("model", "gpu", "draft_model")
_SPELLINGS = {
    "float32": "fp32",
    "bfloat16": "bf16",
    "float16": "fp16",
    "half": "fp16",
    "fp8_e4m3": "fp8",
    "fp8_e5m2": "fp8",
}
"""How servers and configs spell our formats of values."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """What is known of a deployment; None is unknown.

    Attributes:
        model: A config or a name of the catalogue.
        gpu: Name of a GPU.
        tp: GPUs of the tensor-parallel group.
        ep: Groups that experts are spread over.
        dp_attention: Data-parallel groups of attention; 1 is none.
        batch: Requests in flight.
        context: Tokens of each request in the cache.
        draft_steps: Draft passes per round; 0 is no speculation.
        draft_tokens: Rows of each request in a verify pass, the bonus token included.
        accept_length: Tokens that a request gains per round, the bonus token included.
        draft_topk: Branches that a draft pass continues; above 1 drafts are a tree.
        draft_model: Config of a draft that is a checkpoint of its own.
        draft_vocab: Tokens that drafts choose from; unknown is all of them.
        alpha_us: Latency of an empty all-reduce, which is a property of the machine.
        kv_format: Format of the KV cache: ``bf16``, ``fp8``, ...
        state_format: Format of recurrent states: ``fp32``, ``bf16``, ...
        weights: Number format that replaces the one of the model's linear layers.
    """

    model: Input[str] | None = None
    gpu: Input[str] | None = None
    tp: Input[int] | None = None
    ep: Input[int] | None = None
    dp_attention: Input[int] | None = None
    batch: Input[int] | None = None
    context: Input[int] | None = None
    draft_steps: Input[int] | None = None
    draft_tokens: Input[int] | None = None
    accept_length: Input[float] | None = None
    draft_topk: Input[int] | None = None
    draft_model: Input[str] | None = None
    draft_vocab: Input[int] | None = None
    alpha_us: Input[float] | None = None
    kv_format: Input[str] | None = None
    state_format: Input[str] | None = None
    weights: Input[str] | None = None


KEYS: tuple[str, ...] = tuple(field.name for field in fields(Deployment))
"""What a deployment file can say, in the order reports show it."""


def deployment_from_flags(
    *,
    model: str | None = None,
    gpu: str | None = None,
    tp: int | None = None,
    ep: int | None = None,
    dp_attention: int | None = None,
    batch: int | None = None,
    context: int | None = None,
    draft_steps: int | None = None,
    draft_tokens: int | None = None,
    accept_length: float | None = None,
    draft_topk: int | None = None,
    draft_model: str | None = None,
    draft_vocab: int | None = None,
    alpha_us: float | None = None,
    kv_format: str | None = None,
    state_format: str | None = None,
    weights: str | None = None,
) -> Deployment:
    """Return what the command line says.

    Raises:
        DeploymentError: When a value makes no sense.
    """
    values = {
        "model": model,
        "gpu": gpu,
        "tp": tp,
        "ep": ep,
        "dp_attention": dp_attention,
        "batch": batch,
        "context": context,
        "draft_steps": draft_steps,
        "draft_tokens": draft_tokens,
        "accept_length": accept_length,
        "draft_topk": draft_topk,
        "draft_model": draft_model,
        "draft_vocab": draft_vocab,
        "alpha_us": alpha_us,
        "kv_format": kv_format,
        "state_format": state_format,
        "weights": weights,
    }
    return _deployment(values, "command line", "flag")


def deployment_from_texts(values: Mapping[str, str], file: str, source: str) -> Deployment:
    """Return what pairs of a key and a text say.

    Args:
        values: Texts by key of `KEYS`.
        file: What errors call them.
        source: One of `SOURCES` of the inputs.

    Raises:
        DeploymentError: When a key or value is unknown.
    """
    typed = {key: _typed(key, text) for key, text in values.items()}
    return _deployment(typed, file, source)


def _typed(key: str, text: str) -> int | float | str:
    """Return the number that a text says where the key wants one, else the text."""
    wanted: Callable[[str], int | float | str] = str
    if key in _COUNTS:
        wanted = int
    elif key in _NUMBERS:
        wanted = float
    try:
        return wanted(text)
    except ValueError:
        return text


def deployment_from_file(path: Path) -> Deployment:
    """Return what a TOML, YAML or JSON file says: `KEYS`, or SGLang's server arguments.

    Raises:
        DeploymentError: When it cannot be read, or a key or value is unknown.
    """
    document = read_document(path)
    if not {"tp_size", "server_args"}.isdisjoint(document):
        arguments = json.dumps(document, default=str)
        return _deployment(read_server_args(arguments, str(path)), str(path), "file")
    return _deployment(document, str(path), "file")


def deployment_from_server_args(text: str, file: str = "server arguments") -> Deployment:
    """Return what SGLang's server arguments say.

    Args:
        text: A log with a ``ServerArgs(...)`` line, of which the last counts, or the arguments
            as JSON.
        file: What errors call the text.

    Raises:
        DeploymentError: When there are no arguments, or one that we cannot model.
    """
    return _deployment(read_server_args(text, file), file, "server log")


def merge(*deployments: Deployment) -> Deployment:
    """Return a deployment with each value from the first of ``deployments`` that knows it."""
    known: dict[str, Any] = {}
    for deployment in deployments:
        for key in KEYS:
            value = getattr(deployment, key)
            if value is not None:
                known.setdefault(key, value)
    return Deployment(**known)


def _deployment(values: Mapping[str, Any], file: str, source: str) -> Deployment:
    table = Fields(values, file, DeploymentError)
    table.only(KEYS)
    known: dict[str, Any] = {
        key: Input(_value(table, key), source) for key in KEYS if table.has(key)
    }
    return Deployment(**known)


def _value(table: Fields, key: str) -> int | float | str:
    if key in _COUNTS:
        return table.whole(key, least=_COUNTS[key])
    if key in _TEXTS:
        return table.text(key)
    if key == "accept_length":
        return _accept_length(table)
    if key in _NUMBERS:
        return table.number(key)
    return _weights(table) if key == "weights" else _value_format(table, key)


def _accept_length(table: Fields) -> float:
    value = table.number("accept_length")
    if value < 1:
        raise table.wrong("accept_length", "at least 1: a round always gains one token")
    return value


def _value_format(table: Fields, key: str) -> str:
    name = table.text(key)
    name = _SPELLINGS.get(name, name)
    if name not in VALUE_BYTES:
        raise table.wrong(key, f"one of {', '.join((*VALUE_BYTES, *_SPELLINGS))}")
    return name


def _weights(table: Fields) -> str:
    try:
        return number_format(table.text("weights")).name
    except ModelError as error:
        raise DeploymentError(f"{table.file}: field 'weights': {error}") from error
