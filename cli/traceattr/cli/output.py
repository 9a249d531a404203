"""Where a rendered report goes: the terminal, a pipe or a file."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import typer

from traceattr.errors import OptionError
from traceattr.ingest.remote.name import TracePath

PIPED_WIDTH = 80
"""Columns when nobody's terminal says otherwise."""

_SIDECARS = ("-wal", "-shm", "-journal")
"""What SQLite appends to the name of a database for the files it keeps beside it."""


def is_terminal(path: Path | None) -> bool:
    """Return whether the report is for a person at a terminal."""
    return _is_standard_output(path) and sys.stdout is not None and sys.stdout.isatty()


def width(path: Path | None) -> int:
    """Return the columns to fill; COLUMNS overrides, as for other tools."""
    if is_terminal(path) or (_is_standard_output(path) and os.environ.get("COLUMNS")):
        return shutil.get_terminal_size((PIPED_WIDTH, 24)).columns
    return PIPED_WIDTH


def use_color(path: Path | None) -> bool:
    """Return whether to colour; NO_COLOR (no-color.org) and dumb terminals mean no."""
    return is_terminal(path) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def check_output(path: Path | None, *, force: bool, inputs: Iterable[TracePath | None]) -> None:
    """Refuse a file that cannot be written, before any work is done.

    Args:
        path: Where the output goes.
        force: Whether to overwrite a regular file.
        inputs: Files that are never overwritten, nor are the files SQLite keeps beside them.

    Raises:
        OptionError: The file is an input, exists and `force` is not given, or its directory is
            missing; or standard output is closed.
    """
    if _is_standard_output(path):
        if sys.stdout is None:
            raise OptionError("standard output is closed; name a file to write with -o FILE")
        return
    assert path is not None
    try:
        _check_no_input(path, [each for each in inputs if isinstance(each, Path)])
        _check_file(path, force)
    except OSError as error:
        raise _not_written(path, error) from error


def check_plot(
    plot: Path | None, output: Path | None, *, force: bool, inputs: Iterable[TracePath | None]
) -> None:
    """Refuse a drawing that cannot be written, as `check_output` does.

    Raises:
        OptionError: The same, or the name is not that of an SVG file, or that of the output.
    """
    if plot is None:
        return
    if plot.suffix.lower() != ".svg":
        raise OptionError(f"--plot {plot}: plots are SVG (expected a name that ends in .svg)")
    check_output(plot, force=force, inputs=inputs)
    if output is not None and _is_same(plot, output):
        raise OptionError(f"--plot {plot}: is the output file too; name another file")


def link_to(file: Path | None, output: Path | None) -> str | None:
    """Return the address of a file in a document that is written to ``output``."""
    if file is None:
        return None
    folder = Path() if _is_standard_output(output) else Path(output or "").parent
    return quote(Path(os.path.relpath(file, folder)).as_posix())


def _check_no_input(path: Path, inputs: Iterable[Path]) -> None:
    for each in inputs:
        if each.is_dir() and _followed(path).is_relative_to(_followed(each)):
            raise OptionError(f"{path}: is inside the input {each}; name another output file")
        for suffix in ("", *_SIDECARS):
            if _is_same(path, Path(f"{each}{suffix}")) or (
                suffix and _is_same(path, Path(f"{_followed(each)}{suffix}"))
            ):
                part = f"SQLite's {suffix} file of" if suffix else "the same file as"
                raise OptionError(f"{path}: is {part} the input {each}; name another output file")


def _check_file(path: Path, force: bool) -> None:
    if path.is_dir():
        raise OptionError(f"{path}: is a directory (expected a file to write)")
    if _is_written_in_place(path):
        return
    if path.exists() and not force:
        raise OptionError(f"{path}: exists; overwrite it with --force")
    target = _followed(path)
    if target.is_symlink():
        raise OptionError(f"{path}: is a symbolic link that leads nowhere (expected a file)")
    if not target.parent.is_dir():
        missing = path.parent if not path.is_symlink() else target.parent
        raise OptionError(f"{path}: no such directory; create it: mkdir -p {missing}")


def check_page(format: str, path: Path | None) -> None:  # noqa: A002
    """Refuse to fill a terminal with a page for a browser.

    Raises:
        OptionError: It would.
    """
    if format == "html" and is_terminal(path):
        raise OptionError("--format html: is for a browser; name a file, as in -o report.html")


def write_output(text: str, path: Path | None) -> None:
    """Print the text, or write it whole and then name the file on standard error.

    Raises:
        OptionError: The file, or standard output, cannot be written.
    """
    if _is_standard_output(path):
        print_text(text)
        return
    assert path is not None
    try:
        if _is_written_in_place(path):
            _write_in_place(path, text)
        else:
            write_whole(_followed(path), text)
    except OSError as error:
        raise _not_written(path, error) from error
    typer.echo(f"Wrote {path}", err=True)


def print_text(text: str) -> None:
    """Print the text on standard output.

    Raises:
        OptionError: Standard output is closed or cannot be written, as on a full disk.
    """
    if sys.stdout is None:
        raise OptionError("standard output is closed (expected somewhere to print to)")
    try:
        typer.echo(_encodable(text), nl=False)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise standard_output_failed(error) from error


def say(text: str) -> None:
    """Print a line on standard error."""
    typer.echo(printable(text), err=True)


def printable(text: str) -> str:
    """Return text on one line, with control characters made visible: names are data too."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def standard_output_failed(error: OSError) -> OptionError:
    """Return what to tell the user, and drop what could not be written."""
    _forget_standard_output()
    return OptionError(f"standard output: cannot be written ({error.strerror})")


def _forget_standard_output() -> None:
    """Let what is still buffered go nowhere, or Python would complain about it at its end."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _not_written(path: Path, error: OSError) -> OptionError:
    return OptionError(f"{path}: cannot be written ({error.strerror})")


def _is_standard_output(path: Path | None) -> bool:
    return path is None or str(path) == "-"


def _is_same(path: Path, other: Path) -> bool:
    """Return whether both are one file, by whatever names; a file may be still to come."""
    if path.exists() and other.exists():
        return path.samefile(other)
    return _followed(path) == _followed(other)


def _followed(path: Path) -> Path:
    """Return where symbolic links lead; unlike `Path.resolve`, a circle of them is no error."""
    return Path(os.path.realpath(path))


def _is_written_in_place(path: Path) -> bool:
    """Return whether this is a device, a pipe or an open file: a rename would put an end to it."""
    return path.exists() and (not path.is_file() or _is_descriptor(path))


def _is_descriptor(path: Path) -> bool:
    """Return whether this is one of our open files, such as ``/dev/stdout``."""
    while path.is_symlink():
        folder = _followed(path.parent)
        if folder.is_relative_to("/proc") or folder == Path("/dev/fd"):
            return True
        path = folder / path.readlink()
    return False


def _write_in_place(path: Path, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_APPEND)
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def _encodable(text: str) -> str:
    """Return the text with what the terminal's encoding lacks replaced, drawings by ASCII."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        from traceattr.report.drawing import in_ascii

        return in_ascii(text).encode(encoding, errors="replace").decode(encoding)
    return text


def write_whole(path: Path, text: str) -> None:
    """Write beside the target and rename, so that a reader never sees half a file."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(path)
    finally:
        with suppress(OSError):
            Path(name).unlink(missing_ok=True)
