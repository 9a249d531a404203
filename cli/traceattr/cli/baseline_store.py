"""Analyses kept under names, to compare later traces with: one JSON file for each name."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from traceattr.cli.output import write_whole
from traceattr.errors import StoredAnalysisError

if TYPE_CHECKING:
    from traceattr.attribution.analysis import Analysis

MOST_BYTES = 1_000_000
"""Size of a baseline; of longer traces the last rounds are kept."""

MOST_KERNELS = (300, 50)
"""Kernel names kept, those with most time; fewer where names are so long that rounds would go."""

FEWEST_KEPT = 50
"""Rounds of a baseline that are kept in any case."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class Saved:
    """A baseline in a directory.

    Attributes:
        name: Its name.
        saved: When it was written, in UTC.
        analysis: What it holds, or why it cannot be read.
    """

    name: str
    saved: datetime
    analysis: "Analysis | StoredAnalysisError"


def default_directory() -> Path:
    """Return where baselines are kept when nothing else is said."""
    from platformdirs import user_data_path

    return user_data_path("traceattr", appauthor=False) / "baselines"


def path_of(directory: Path, name: str) -> Path:
    """Return the file of a name, which is never outside the directory.

    Raises:
        StoredAnalysisError: It is no name.
    """
    if _NAME.fullmatch(name) is None:
        raise StoredAnalysisError(
            f"baseline {name!r}: not a name (expected letters, digits, '.', '_' and '-', not"
            " beginning with a sign; up to 100)"
        )
    return directory / f"{name}{_SUFFIX}"


def writable(directory: Path, name: str, *, force: bool) -> Path:
    """Return the file to keep a baseline in, before any work is done.

    Raises:
        StoredAnalysisError: The name is none, or taken and `force` is not given; or its directory
            cannot be written or made.
    """
    path = path_of(directory, name)
    if path.exists() and not force:
        raise StoredAnalysisError(f"baseline {name}: exists in {directory}; overwrite with --force")
    there = next(each for each in (directory, *directory.absolute().parents) if each.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        what = "no directory that can be written" if there.is_dir() else "not a directory"
        raise StoredAnalysisError(f"{there}: {what}; name another with --baselines DIR")
    return path


def save(path: Path, analysis: "Analysis") -> None:
    """Keep an analysis; whoever reads meanwhile sees the whole old file or the whole new one.

    Raises:
        StoredAnalysisError: The file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, f"{_small(analysis)}\n")
    except OSError as error:
        raise StoredAnalysisError(f"{path}: cannot be written ({error.strerror})") from error


def existing(directory: Path, name: str) -> Path:
    """Return the file of a baseline.

    Raises:
        StoredAnalysisError: There is none of that name.
    """
    path = path_of(directory, name)
    if not path.exists():
        names = ", ".join(_names(directory)) or "none"
        raise StoredAnalysisError(
            f"baseline {name}: not in {directory} (there: {names}); keep one with"
            f" traceattr baseline save {name} TRACE"
        )
    return path


def load_file(path: Path) -> "Analysis":
    """Return the analysis stored in a file.

    Raises:
        StoredAnalysisError: It cannot be read.
    """
    from traceattr.attribution.stored import load_analysis

    try:
        return load_analysis(path.read_bytes())
    except OSError as error:
        raise StoredAnalysisError(f"{path}: cannot be read ({error.strerror})") from error
    except StoredAnalysisError as error:
        raise StoredAnalysisError(f"{path}: {error}") from error


def all_saved(directory: Path) -> Iterator[Saved]:
    """Yield every baseline by name; one that vanishes meanwhile is left out."""
    for name in _names(directory):
        path = path_of(directory, name)
        try:
            saved = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        except FileNotFoundError:
            continue
        try:
            yield Saved(name, saved, load_file(path))
        except StoredAnalysisError as error:
            yield Saved(name, saved, error)


def remove(directory: Path, name: str) -> Path:
    """Delete a baseline and return what was its file.

    Raises:
        StoredAnalysisError: There is none of that name, or it cannot be deleted.
    """
    path = path_of(directory, name)
    try:
        path.unlink()
    except FileNotFoundError as error:
        raise StoredAnalysisError(f"baseline {name}: not in {directory}") from error
    except OSError as error:
        raise StoredAnalysisError(f"{path}: cannot be deleted ({error.strerror})") from error
    return path


def _names(directory: Path) -> list[str]:
    try:
        files = sorted(directory.glob(f"*{_SUFFIX}"))
    except OSError as error:
        raise StoredAnalysisError(f"{directory}: cannot be read ({error.strerror})") from error
    stems = (path.name.removesuffix(_SUFFIX) for path in files)
    return [stem for stem in stems if _NAME.fullmatch(stem)]


def _small(analysis: "Analysis") -> str:
    """Return what a comparison needs as text below `MOST_BYTES`, unless few rounds are longer."""
    from traceattr.attribution.stored import dump_analysis

    kept = replace(analysis, gaps=tuple(replace(gaps, longest=()) for gaps in analysis.gaps))
    for most in MOST_KERNELS:
        kept = replace(kept, kernels=kept.kernels[:most])
        text = dump_analysis(kept).decode()
        if len(text) < MOST_BYTES:
            return text
    while len(text) >= MOST_BYTES and (shorter := _last_rounds(kept)) != kept:
        kept = shorter
        text = dump_analysis(kept).decode()
    return text


def _last_rounds(analysis: "Analysis") -> "Analysis":
    """Return the second half of the rounds, or all where half would be too few to compare."""
    rounds = min((len(one.wall_ns) for one in analysis.series), default=0)
    if rounds // 2 < FEWEST_KEPT:
        return analysis
    return replace(analysis, series=tuple(one.last(rounds // 2) for one in analysis.series))
