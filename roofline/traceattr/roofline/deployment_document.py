"""The table in a deployment file, whose suffix says what it is."""

import json
import tomllib
from pathlib import Path
from typing import Any

from traceattr.errors import DeploymentError

SUFFIXES = (".toml", ".yaml", ".yml", ".json")


def read_document(path: Path) -> dict[str, Any]:
    """Return the table that a TOML, YAML or JSON file holds.

    Raises:
        DeploymentError: When it cannot be read, or is something else.
    """
    if path.suffix not in SUFFIXES:
        raise DeploymentError(f"{path}: unknown kind of file (expected {', '.join(SUFFIXES)})")
    try:
        document = _parsed(path.read_text(encoding="utf-8"), path.suffix)
    except OSError as error:
        reason = error.strerror or str(error)
        raise DeploymentError(f"{path}: {reason} (expected a deployment)") from error
    except (ValueError, RecursionError) as error:
        kind = {".toml": "TOML", ".json": "JSON"}.get(path.suffix, "YAML")
        raise DeploymentError(f"{path}: not {kind}: {error} (expected a deployment)") from error
    if not isinstance(document, dict) or not all(isinstance(key, str) for key in document):
        raise DeploymentError(f"{path}: not a table (expected keys with values)")
    return document


def _parsed(text: str, suffix: str) -> Any:
    if suffix == ".toml":
        return tomllib.loads(text)
    return json.loads(text) if suffix == ".json" else _yaml(text)


def _yaml(text: str) -> Any:
    """Return what YAML says; its errors take many lines, so that only what and where is kept."""
    import yaml  # it takes a while to import, and few deployments need it

    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        where = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ValueError(f"{error.problem}{where}") from error
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error
