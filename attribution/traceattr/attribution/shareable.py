"""What the analysis of a trace would be if it said no more than a copy to be shared."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace

from traceattr.ingest.scrub import Hide
from traceattr.ingest.scrub_text import public_message, public_title
from traceattr.ingest.trace import Trace
from traceattr.rules.rule_set import RuleSet

_NO_NAME = re.compile(r"kernel#\w+|private_kernel_[0-9a-f]{16}")
"""A kernel without a name (see `traceattr.ingest.names`), or one whose name is hidden already."""


def keep_names(names: Sequence[tuple[str, str]]) -> Sequence[str | None]:
    """Hide no kernel name."""
    return [None] * len(names)


def hide_unknown(rules: RuleSet) -> Hide:
    """Return what hides the names that no rule matches, each behind a hash of its own.

    The others are names of public libraries, or look like them, and their category is told by them.
    """

    def hide(names: Sequence[tuple[str, str]]) -> Sequence[str | None]:
        found = rules.classify_many(names)
        return [
            _hashed(full, short) if each.rule is None and _is_name(full) else None
            for (full, short), each in zip(names, found, strict=True)
        ]

    return hide


def _is_name(full: str) -> bool:
    return bool(full) and not _NO_NAME.fullmatch(full)


def _hashed(full: str, short: str) -> str:
    digest = hashlib.sha256(f"{full}\0{short}".encode("utf-8", "surrogateescape")).hexdigest()
    return f"private_kernel_{digest[:16]}"


def made_public(trace: Trace, hide: Hide) -> Trace:
    """Change the names in a loaded trace to those that a copy to be shared has."""
    connection = trace.connection
    rows = connection.execute("SELECT name_id, name, short_name FROM kernel_name").fetchall()
    hidden = hide([(name, short or "") for _, name, short in rows])
    for (name_id, *_), name in zip(rows, hidden, strict=True):
        if name is not None:
            connection.execute(
                "UPDATE kernel_name SET name = ?, short_name = ? WHERE name_id = ?",
                [name, name, name_id],
            )
    for (text,) in connection.execute("SELECT DISTINCT text FROM diagnostic").fetchall():
        connection.execute(
            "UPDATE diagnostic SET text = ? WHERE text = ?", [public_message(text), text]
        )
    return replace(
        trace,
        gpus=tuple(replace(gpu, process_name=_title(gpu.process_name)) for gpu in trace.gpus),
        silent_ranks=tuple(sorted(map(public_title, trace.silent_ranks))),
    )


def _title(title: str | None) -> str | None:
    return None if title is None else public_title(title)
