"""What a copy to be shared says in place of texts that may name people, machines or files.

A text is kept only where it is known word by word; nothing is searched for secrets, as no search
finds them all.
"""

import hashlib
import re
from datetime import datetime

REMOVED = "(a message that is not in this copy)"
"""Stands for a diagnostic message whose words are not known."""

_TITLE = re.compile(
    r"sglang::(scheduler|detokenizer|tokenizer|tokenizer_worker|data_parallel_controller|router)"
    r"(_(DP|PP|TP|EP)\d+)*"
    r"|sglang|python[\d.]*|pt_main_thread"
)
"""Titles that SGLang and Python give their processes."""

_RANK = re.compile(r"_TP(\d+)")

_PSEUDONYM = re.compile(r"[0-9a-f]{16}")

_TRACED = r"(CUDA|CUPTI|NVTX|OSRT|OS runtime libraries|cuDNN|cuBLAS|MPI|OpenGL|Vulkan)"
_MESSAGES = re.compile(
    "|".join(
        (
            rf"No {_TRACED} events collected\. Does the process use {_TRACED}\?",
            r"CUDA profiling might have not been started correctly\.",
            rf"Not all {_TRACED} events might have been collected\.?",
            rf"Number of {_TRACED} events (collected|produced): ?\t?[\d,]+"
            r"(, CUPTI buffers: [\d,]+)?\.?",
            r"Couldn't allocate CUPTI buffer( [\d,]+ times?)?\.?",
            r"Reached the size limit on recording trace events for this process\.?",
            r"Wrong event order has been detected\.?",
            r"Enabling trace for device graph launch\.?",
            r"CUDA hardware tracing is not supported on this system\. A legacy \(software"
            r" instrumented\) trace was collected instead\.?",
            r"CUDA device \d+: Unified Memory cannot be traced",
        )
    )
)
"""How messages of nsys begin (User Guide, release notes, exports of 2021 to 2026)."""

_VERSION = re.compile(r"\d[\d.]{0,30}(-\d+v\d)?")
_WHOLE_NUMBER = re.compile(r"-?\d+")
_YES_OR_NO = re.compile(r"true|false|yes|no|[01]", re.IGNORECASE)
_GRAPH_MODE = re.compile(r"(?i:graph|node)(:[a-z-]{1,20}){0,2}")
_SIMULATED = re.compile(r"simulated by traceattr: [\w .,:()+-]*")

_VALUES = {
    "EXPORT_PRODUCT_VERSION": _VERSION,
    "EXPORT_SCHEMA_VERSION": _VERSION,
    "EXPORT_CONFIG_TIME_SHIFT": _WHOLE_NUMBER,
    "EXPORT_PARAM_TIME_SHIFT": _WHOLE_NUMBER,
    "EXPORT_PARAM_TIME_NORMALIZE": _YES_OR_NO,
    "TRACEATTR_SIMULATED": _SIMULATED,
    "NvDriverVersion": _VERSION,
    "CUDA_GRAPH_TRACE_OPTIONS:MODE": _GRAPH_MODE,
}
"""Metadata that is kept, and what its values look like."""

_CHOICES = ("EXPORT_PARAM_TABLES_TO_EXPORT", "EXPORT_PARAM_TIMES_TO_EXPORT")
"""Metadata of which only matters whether there is any."""


def public_title(title: str) -> str:
    """Return a process title as far as the rank is told by it."""
    if not title or _TITLE.fullmatch(title):
        return title
    rank = _RANK.search(title)
    return f"process_TP{int(rank[1])}" if rank else "process"


def is_rank(title: str) -> bool:
    """Return whether a title names a tensor-parallel rank."""
    return _RANK.search(title) is not None


def public_uuid(uuid: str | None) -> str | None:
    """Return what tells GPUs apart as their UUIDs do, and identifies none."""
    if not uuid or _PSEUDONYM.fullmatch(uuid):
        return uuid
    return hashlib.sha256(uuid.encode()).hexdigest()[:16]


def public_message(text: str) -> str:
    """Return the words of nsys at the begin of a diagnostic message."""
    known = _MESSAGES.match(text)
    return known[0] if known else REMOVED


def public_time(text: str | None) -> str | None:
    """Return a date and time, None where that is not all that a text is."""
    try:
        return datetime.fromisoformat(text or "").replace(tzinfo=None).isoformat()
    except ValueError:
        return None


def public_value(name: str, value: str) -> tuple[str, str] | None:
    """Return a row of metadata as far as ingest needs it, None where it does not."""
    if name in _CHOICES:
        return (name, "some") if value else None
    key = next((key for key in _VALUES if name == key or name.endswith(f":{key}")), None)
    if key is None:
        return None
    known = _VALUES[key].match(value)
    return (key, known[0]) if known else None
