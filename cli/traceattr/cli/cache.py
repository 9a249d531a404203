"""``traceattr cache``: what is kept of traces seen before."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from traceattr.cli.output import print_text, printable
from traceattr.errors import OptionError

if TYPE_CHECKING:
    from traceattr.ingest.remote_store import Place

app = typer.Typer(
    no_args_is_help=True,
    help="Show or remove what is kept of traces seen before.",
)


@app.command()
def info() -> None:
    """Say where analyses, exports of reports and parts of remote traces are kept, and their size.

    Example: traceattr cache info
    """
    from traceattr.attribution.cache import open_cache
    from traceattr.ingest.cache_folder import cache_limit_bytes
    from traceattr.ingest.export_cache import KEPT_DAYS, kept_exports
    from traceattr.ingest.remote_store import LIMIT_BYTES, kept_copies

    cache, exports, copies = open_cache(), kept_exports(), kept_copies()
    usage = cache.usage()
    most = f"of at most {cache.limit_bytes / 1e6:,.0f} MB"
    most_remote = f"of at most {cache_limit_bytes(LIMIT_BYTES) / 1e6:,.0f} MB"
    rows = (
        ("directory", printable(str(cache.folder))),
        ("analyses", f"{usage.entries:,}: {usage.bytes / 1e6:.1f} MB {most}"),
        ("exports", f"{len(exports):,}: {_megabytes(exports)}, for {KEPT_DAYS} days each"),
        ("remote", f"{len(copies):,}: {_megabytes_of(copies)} {most_remote}"),
    )
    print_text("".join(f"{name:<11}{value}\n" for name, value in rows))


@app.command()
def clear() -> None:
    """Remove all analyses, exports of reports and parts of remote traces that are kept.

    Parts that another process is using stay.

    Example: traceattr cache clear
    """
    from traceattr.attribution.cache import open_cache
    from traceattr.ingest.export_cache import kept_exports
    from traceattr.ingest.remote_store import kept_copies, remove_copy
    from traceattr.report.figures import counted

    cache, exports = open_cache(), kept_exports()
    exported = f"{counted(len(exports), 'export')} ({_megabytes(exports)})"
    try:
        usage = cache.clear()
        for export in exports:
            export.unlink(missing_ok=True)
        sizes = [(place.bytes, remove_copy(place)) for place in kept_copies()]
    except OSError as error:
        raise OptionError(f"{cache.folder}: cannot be cleared ({error.strerror})") from error
    analyses = counted(usage.entries, "analysis", "analyses")
    removed = [size for size, is_removed in sizes if is_removed]
    fetched = f"{counted(len(removed), 'remote trace')} ({sum(removed) / 1e6:.1f} MB)"
    print_text(f"Removed {analyses} ({usage.bytes / 1e6:.1f} MB), {exported} and {fetched}.\n")


def _megabytes_of(copies: "Iterable[Place]") -> str:
    return f"{sum(place.bytes for place in copies) / 1e6:.1f} MB"


def _megabytes(paths: Iterable[Path]) -> str:
    return f"{sum(path.stat().st_size for path in paths) / 1e6:.1f} MB"
