"""Where a rendered report goes: the terminal, a pipe or a file."""

import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import typer

from traceattr.errors import OptionError

PIPED_WIDTH = 80
"""Columns when nobody's terminal says otherwise."""


def is_terminal(path: Path | None) -> bool:
    """Return whether the report is for a person at a terminal."""
    return _is_standard_output(path) and sys.stdout.isatty()


def width(path: Path | None) -> int:
    """Return the columns to fill; COLUMNS overrides, as for other tools."""
    if is_terminal(path) or (_is_standard_output(path) and os.environ.get("COLUMNS")):
        return shutil.get_terminal_size((PIPED_WIDTH, 24)).columns
    return PIPED_WIDTH


def use_color(path: Path | None) -> bool:
    """Return whether to colour; NO_COLOR (no-color.org) and dumb terminals mean no."""
    return is_terminal(path) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def check_output(path: Path | None, *, force: bool) -> None:
    """Refuse a file that cannot be written, before any work is done.

    Raises:
        OptionError: The file exists and `force` is not given, or its directory is missing.
    """
    if _is_standard_output(path):
        return
    assert path is not None
    if path.is_dir():
        raise OptionError(f"{path}: is a directory (expected a file to write)")
    if path.exists() and not force:
        raise OptionError(f"{path}: exists; overwrite it with --force")
    if not path.parent.is_dir():
        raise OptionError(f"{path}: no such directory; create it: mkdir -p {path.parent}")


def write_output(text: str, path: Path | None) -> None:
    """Print the text, or write it whole and then name the file on standard error.

    Raises:
        OptionError: The file cannot be written.
    """
    if _is_standard_output(path):
        typer.echo(_encodable(text), nl=False)
        return
    assert path is not None
    try:
        _replace(path, text)
    except OSError as error:
        raise OptionError(f"{path}: cannot be written ({error.strerror})") from error
    typer.echo(f"Wrote {path}", err=True)


def _is_standard_output(path: Path | None) -> bool:
    return path is None or str(path) == "-"


def _encodable(text: str) -> str:
    """Return the text with what the terminal's encoding lacks replaced."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, errors="replace").decode(encoding)


def _replace(path: Path, text: str) -> None:
    """Write beside the target and rename, so that a reader never sees half a report."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
