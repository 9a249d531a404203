"""How the inputs of a roofline are written for machines."""

from collections.abc import Iterator, Mapping
from typing import Any

from traceattr.roofline.roofline import Roofline


def inputs_entry(roofline: Roofline) -> dict[str, Any]:
    """Return every input with its value and where it came from."""
    return dict(_inputs(roofline))


def _inputs(roofline: Roofline) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, found in roofline.inputs:
        value, source = (None, None) if found is None else (found.value, found.source)
        yield name, {"value": value, "from": source}
    if roofline.prefill_tokens is not None:
        yield "prefill", {"value": roofline.prefill_tokens, "from": "flag"}
