"""What a running server says of its deployment, as a file for the roofline."""

import json
from collections.abc import Mapping
from math import inf
from typing import Any

from traceattr.roofline.deployment import KEYS, Deployment, deployment_from_server_args

_SETTINGS = (
    "model_path",
    "tp_size",
    "ep_size",
    "pp_size",
    "dp_size",
    "enable_dp_attention",
    "speculative_algorithm",
    "speculative_num_steps",
    "speculative_num_draft_tokens",
    "speculative_eagle_topk",
    "speculative_draft_model_path",
    "kv_cache_dtype",
    "mamba_ssm_dtype",
    "quantization",
)
"""All that is looked at of what a server says; the rest holds keys, addresses and paths."""


def deployment_text(info: Mapping[str, Any], model: str | None, url: str) -> str:
    """Return a deployment file as JSON.

    Args:
        info: What the server says of itself.
        model: The model that it serves, where it says so elsewhere.
        url: What errors call the server.

    Raises:
        DeploymentError: It has a setting that cannot be modelled, or none of SGLang's.
    """
    nested = info.get("server_args")
    said = nested if isinstance(nested, dict) else info
    arguments = {key: said[key] for key in _SETTINGS if key in said}
    if model is not None:
        arguments.setdefault("model_path", model)
    deployment = deployment_from_server_args(json.dumps(arguments), url)
    known = _values(deployment) | _accept_length(info)
    return json.dumps(known, indent=2) + "\n"


def _values(deployment: Deployment) -> dict[str, Any]:
    found = {key: getattr(deployment, key) for key in KEYS}
    return {key: one.value for key, one in found.items() if one is not None}


def _accept_length(info: Mapping[str, Any]) -> dict[str, float]:
    """Return the mean accept length since the server began, where it says one."""
    states = info.get("internal_states")
    places = [info, *(states if isinstance(states, list) else [])]
    for place in places:
        value = place.get("avg_spec_accept_length") if isinstance(place, dict) else None
        if isinstance(value, (int, float)) and 1 <= value < inf:
            return {"accept_length": float(value)}
    return {}
