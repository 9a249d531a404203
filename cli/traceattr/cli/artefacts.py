"""Outputs that are no text: files and directories that appear whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from traceattr.cli.output import check_output
from traceattr.errors import OptionError
from traceattr.ingest.remote.name import TracePath


def check_file(path: Path, *, force: bool, inputs: Iterable[TracePath | None]) -> None:
    """Refuse a file that cannot be written, before any work is done.

    Raises:
        OptionError: As in `check_output`, or it is no file that can be replaced.
    """
    if str(path) == "-" or (path.exists() and not path.is_file() and not path.is_dir()):
        raise OptionError(f"{path}: not a regular file (expected the name of a file to write)")
    check_output(path, force=force, inputs=inputs)


def check_directory(path: Path, names: Iterable[str], *, force: bool) -> None:
    """Refuse a directory that cannot be written or that has some of these files already.

    Raises:
        OptionError: It cannot be used; the message says why.
    """
    if path.exists() and not path.is_dir():
        raise OptionError(f"{path}: is a file (expected a directory to write to)")
    if not path.exists() and not path.absolute().parent.is_dir():
        raise OptionError(f"{path.parent}: no such directory; create it: mkdir -p {path.parent}")
    there = [name for name in names if (path / name).exists()]
    if there and not force:
        raise OptionError(f"{path / there[0]}: exists; overwrite such files with --force")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield where to write a file, which gets its name when the block ends without an error.

    Raises:
        OptionError: It cannot be written.
    """
    target = Path(os.path.realpath(path))
    with _scratch(path, target.parent) as folder:
        part = folder / target.name
        yield part
        part.replace(target)
    typer.echo(f"Wrote {path}", err=True)


@contextmanager
def whole_directory(path: Path) -> Iterator[Path]:
    """Yield where to write files, which come to `path` when the block ends without an error.

    Other files there are kept.

    Raises:
        OptionError: They cannot be written.
    """
    target = Path(os.path.realpath(path))
    with _scratch(path, target if target.is_dir() else target.parent) as folder:
        part = folder / "part"
        part.mkdir()
        yield part
        if not target.is_dir():
            part.replace(target)
        else:
            for file in sorted(part.iterdir()):
                file.replace(target / file.name)
    typer.echo(f"Wrote {path}", err=True)


@contextmanager
def _scratch(path: Path, beside: Path) -> Iterator[Path]:
    """Yield a new directory on the file system of the output; it is removed in the end."""
    try:
        folder = Path(tempfile.mkdtemp(dir=beside, prefix=f".{path.name}."))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise OptionError(f"{path}: cannot be written ({error.strerror or error})") from error
