"""The summary of a workflow's step, which needs no permission."""

import os
from collections.abc import Mapping
from pathlib import Path

from traceattr.errors import OptionError
from traceattr.report.markdown_cut import bytes_of, cut_markdown

MOST_BYTES = 1 << 20
"""What GitHub takes from one step; of more it shows nothing."""


def summary_file(environment: Mapping[str, str]) -> Path | None:
    """Return where the step's summary is collected, if this is a step of a workflow."""
    name = environment.get("GITHUB_STEP_SUMMARY", "")
    return Path(name) if name else None


def add_to_summary(path: Path, text: str, whereabouts: str) -> None:
    """Add a report to what the step has said already.

    Args:
        path: The file of GITHUB_STEP_SUMMARY.
        text: The report.
        whereabouts: Where the whole report is, if it does not fit.

    Raises:
        OptionError: The file cannot be written, or is full.
    """
    note = (
        f"*The report is cut here: GitHub takes {MOST_BYTES:,} bytes from one step. {whereabouts}*"
    )
    try:
        # A name may be a pipe or a device, whose size says nothing.
        used = path.stat().st_size if path.is_file() else 0
        shown = cut_markdown(f"{text.rstrip()}\n", MOST_BYTES - used - 1, note, bytes_of)
        if used + 1 + bytes_of(shown) > MOST_BYTES:
            raise OptionError(f"{path}: is full (expected at most {MOST_BYTES:,} bytes in a step)")
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        with os.fdopen(handle, "wb") as file:
            file.write((("\n" if used else "") + shown).encode())
    except OSError as error:
        raise OptionError(f"{path}: cannot be written ({error.strerror})") from error
