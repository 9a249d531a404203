"""Models from a Hugging Face config or the bundled catalogue."""

import json
import tomllib
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any

from traceattr.errors import ModelError
from traceattr.roofline.architecture import (
    Attention,
    Gdn,
    Layer,
    LayerKind,
    Mla,
    Mlp,
    Model,
    Moe,
    Shard,
    Weight,
)
from traceattr.roofline.catalogue import read_facts
from traceattr.roofline.hf_config import read_hf_config
from traceattr.roofline.layers import build_model

__all__ = [
    "Attention",
    "Gdn",
    "Layer",
    "LayerKind",
    "Mla",
    "Mlp",
    "Model",
    "Moe",
    "Shard",
    "Weight",
    "catalogue",
    "load_model",
]

_MODELS = files("traceattr.roofline") / "models"


def load_model(source: str | Path) -> Model:
    """Return a model.

    Args:
        source: A ``config.json``, a directory that holds one, or a name of `catalogue`, with or
            without its organisation (``Qwen/Qwen3.6-27B``).

    Raises:
        ModelError: When there is no such model, or its config lacks a field.
    """
    path = config_path(source)
    if path is None:
        return _bundled(str(source))
    return _read(path, path.resolve().parent.name if path.name == "config.json" else path.stem)


def config_path(source: str | Path) -> Path | None:
    """Return the config that ``source`` is or holds; None when it can only be a name."""
    path = Path(source)
    if path.is_dir():
        return path / "config.json"
    return path if path.is_file() else None


def catalogue() -> tuple[str, ...]:
    """Return the names of the bundled models, sorted."""
    names = (Path(entry.name) for entry in _MODELS.iterdir())
    return tuple(sorted(name.stem for name in names if name.suffix == ".toml"))


def _bundled(source: str) -> Model:
    names = catalogue()
    wanted = source.rsplit("/", 1)[-1].casefold()
    for name in names:
        if name.casefold() == wanted:
            text = (_MODELS / f"{name}.toml").read_text(encoding="utf-8")
            return build_model(read_facts(tomllib.loads(text), name))
    near = get_close_matches(wanted, [name.casefold() for name in names], n=3, cutoff=0.5)
    close = [name for name in names if name.casefold() in near] or names
    expected = f"a config.json, its directory, or a bundled model such as {', '.join(close)}"
    raise ModelError(f"{source}: no such model (expected {expected})")


def _read(path: Path, name: str) -> Model:
    beside = path.with_name("hf_quant_config.json")
    quant_config = _json(beside) if beside.is_file() else None
    return build_model(read_hf_config(_json(path), name, str(path), quant_config))


def _json(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or str(error)
        raise ModelError(f"{path}: {reason} (expected a Hugging Face config.json)") from error
    except ValueError as error:
        raise ModelError(f"{path}: not JSON: {error} (expected a config.json)") from error
    if not isinstance(document, dict):
        raise ModelError(f"{path}: not a JSON object (expected a Hugging Face config.json)")
    return document
