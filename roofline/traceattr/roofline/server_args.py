"""SGLang's server arguments, as its log prints them or as JSON."""

import ast
import json
import re
from collections.abc import Mapping
from typing import Any

from traceattr.errors import DeploymentError

_BEGIN = re.compile(r"\bServerArgs\(")
_ARGUMENT = re.compile(
    r"""
    (?:\b(?P<key>\w+)=)?
    (?P<value>
        '(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*"
      | (?:(?<==)(?:None|True|False|-?\d+(?:\.\d+)?(?:e-?\d+)?)\b)
    )
    """,
    re.VERBOSE,
)
"""One quoted or plain value, with its name when it has one; quoted text is never looked into."""

_OWN_DRAFTS = ("EAGLE3", "STANDALONE")

_ONLINE_FORMATS = {"fp8": "fp8", "w8a8_fp8": "fp8_channel", "w8a8_int8": "int8"}
"""Values of ``--quantization`` that quantise a 16-bit checkpoint; others only name its format."""


def read_server_args(text: str, file: str) -> dict[str, Any]:
    """Return what the arguments say about a deployment, by the keys of `Deployment`.

    Arguments that are absent or left to the server are None.

    Args:
        text: A log with ``ServerArgs(...)`` lines, of which the last counts, or JSON.
        file: What errors call the text.

    Raises:
        DeploymentError: When there are no arguments, or a setting that we cannot model.
    """
    arguments = _from_json(text, file) if text.lstrip().startswith("{") else _from_log(text, file)
    if arguments.get("pp_size", 1) not in (1, None):
        what = f"pp_size is {arguments['pp_size']}: pipeline parallelism has no roofline here"
        raise DeploymentError(f"{file}: {what} (expected pp_size 1)")
    return {
        "model": arguments.get("model_path"),
        "tp": arguments.get("tp_size"),
        "ep": arguments.get("ep_size"),
        "dp_attention": _dp_attention(arguments),
        "draft_steps": _draft(arguments, "speculative_num_steps", 0),
        "draft_tokens": _draft(arguments, "speculative_num_draft_tokens", 1),
        "draft_topk": _draft(arguments, "speculative_eagle_topk", 1),
        "draft_model": _draft_model(arguments),
        "kv_format": _unless_auto(arguments.get("kv_cache_dtype")),
        "state_format": _unless_auto(arguments.get("mamba_ssm_dtype")),
        "weights": _ONLINE_FORMATS.get(str(arguments.get("quantization"))),
    }


def _from_json(text: str, file: str) -> Mapping[str, Any]:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise DeploymentError(f"{file}: not JSON: {error} (expected server arguments)") from error
    nested = document.get("server_args")
    arguments: Mapping[str, Any] = nested if isinstance(nested, dict) else document
    return _with_size(arguments, file)


def _from_log(text: str, file: str) -> Mapping[str, Any]:
    begins = [match.end() for match in _BEGIN.finditer(text)]
    if not begins:
        what = "no server arguments (expected a line with ServerArgs(...) or JSON)"
        raise DeploymentError(f"{file}: {what}")
    line = text[begins[-1] :].split("\n", 1)[0]
    arguments: dict[str, Any] = {}
    for match in _ARGUMENT.finditer(line):
        if match["key"]:
            arguments.setdefault(match["key"], ast.literal_eval(match["value"]))
    return _with_size(arguments, file)


def _with_size(arguments: Mapping[str, Any], file: str) -> Mapping[str, Any]:
    if "tp_size" not in arguments:
        raise DeploymentError(f"{file}: no tp_size (expected the server arguments of SGLang)")
    return arguments


def _dp_attention(arguments: Mapping[str, Any]) -> Any:
    """Return the data-parallel groups of attention; without it, dp_size counts whole replicas."""
    if "enable_dp_attention" not in arguments:
        return None
    return arguments.get("dp_size") if arguments["enable_dp_attention"] else 1


def _draft(arguments: Mapping[str, Any], key: str, without: int) -> Any:
    """Return a setting of speculation, ``without`` when the server does not speculate."""
    if "speculative_algorithm" in arguments and arguments["speculative_algorithm"] is None:
        return without
    return arguments.get(key)


def _draft_model(arguments: Mapping[str, Any]) -> Any:
    """Return the checkpoint of a draft of its own; others name the model's own draft layers."""
    algorithm = str(arguments.get("speculative_algorithm")).upper()
    if algorithm not in _OWN_DRAFTS:
        return None
    return arguments.get("speculative_draft_model_path")


def _unless_auto(value: Any) -> Any:
    return None if value == "auto" else value
