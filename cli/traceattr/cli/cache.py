"""``traceattr cache``: what is kept of traces seen before."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from traceattr.cli.output import print_text, printable
from traceattr.errors import OptionError

if TYPE_CHECKING:
    from traceattr.ingest.cache.files import CacheFiles
    from traceattr.ingest.remote.store import Place

app = typer.Typer(
    no_args_is_help=True,
    help="Show or remove what is kept of traces seen before.",
)


@app.command()
def info() -> None:
    """Say where what is kept of traces lies, and its size.

    That is: analyses, columns, exports of reports and parts of remote traces.

    Example: traceattr cache info
    """
    from traceattr.ingest.cache.exports import KEPT_DAYS, kept_exports
    from traceattr.ingest.cache.files import ANALYSES, COLUMNS, open_files
    from traceattr.ingest.cache.folder import cache_limit_bytes
    from traceattr.ingest.remote.store import LIMIT_BYTES, kept_copies

    analyses, columns = open_files(ANALYSES), open_files(COLUMNS)
    exports, copies = kept_exports(), kept_copies()
    most_remote = f"of at most {cache_limit_bytes(LIMIT_BYTES) / 1e6:,.0f} MB"
    rows = (
        ("directory", printable(str(analyses.folder))),
        ("analyses", _room(analyses)),
        ("columns", _room(columns)),
        ("exports", f"{len(exports):,}: {_megabytes(exports)}, for {KEPT_DAYS} days each"),
        ("remote", f"{len(copies):,}: {_megabytes_of(copies)} {most_remote}"),
    )
    print_text("".join(f"{name:<11}{value}\n" for name, value in rows))


@app.command()
def clear() -> None:
    """Remove all that is kept: analyses, columns, exports of reports and parts of remote traces.

    Parts that another process is using stay.

    Example: traceattr cache clear
    """
    from traceattr.ingest.cache.exports import kept_exports
    from traceattr.ingest.cache.files import ANALYSES, COLUMNS, open_files
    from traceattr.ingest.remote.store import kept_copies, remove_copy
    from traceattr.report.figures import counted

    files, exports = (open_files(ANALYSES), open_files(COLUMNS)), kept_exports()
    exported = f"{counted(len(exports), 'export')} ({_megabytes(exports)})"
    analyses, columns = (each.usage() for each in files)
    try:
        for each in files:
            each.clear()
        for export in exports:
            export.unlink(missing_ok=True)
        sizes = [(place.bytes, remove_copy(place)) for place in kept_copies()]
    except OSError as error:
        raise OptionError(f"{files[0].folder}: cannot be cleared ({error.strerror})") from error
    removed = [size for size, is_removed in sizes if is_removed]
    fetched = f"{counted(len(removed), 'remote trace')} ({sum(removed) / 1e6:.1f} MB)"
    print_text(
        f"Removed {counted(analyses.entries, 'analysis', 'analyses')}"
        f" ({analyses.bytes / 1e6:.1f} MB), columns of {counted(columns.entries, 'table')}"
        f" ({columns.bytes / 1e6:.1f} MB), {exported} and {fetched}.\n"
    )


def _room(files: "CacheFiles") -> str:
    usage = files.usage()
    most = f"of at most {files.limit_bytes / 1e6:,.0f} MB"
    return f"{usage.entries:,}: {usage.bytes / 1e6:.1f} MB {most}"


def _megabytes_of(copies: "Iterable[Place]") -> str:
    return f"{sum(place.bytes for place in copies) / 1e6:.1f} MB"


def _megabytes(paths: Iterable[Path]) -> str:
    return f"{sum(path.stat().st_size for path in paths) / 1e6:.1f} MB"
