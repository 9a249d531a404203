"""``traceattr cache``: what is kept of traces seen before."""

from collections.abc import Iterable
from pathlib import Path

import typer

from traceattr.cli.output import print_text, printable
from traceattr.errors import OptionError

app = typer.Typer(
    no_args_is_help=True,
    help="Show or remove what is kept of traces seen before.",
)


@app.command()
def info() -> None:
    """Say where analyses and exports of reports are kept, how many, and how much room they take.

    Example: traceattr cache info
    """
    from traceattr.attribution.cache import open_cache
    from traceattr.ingest.export_cache import KEPT_DAYS, kept_exports

    cache, exports = open_cache(), kept_exports()
    usage = cache.usage()
    most = f"of at most {cache.limit_bytes / 1e6:.0f} MB"
    rows = (
        ("directory", printable(str(cache.folder))),
        ("analyses", f"{usage.entries:,}: {usage.bytes / 1e6:.1f} MB {most}"),
        ("exports", f"{len(exports):,}: {_megabytes(exports)}, for {KEPT_DAYS} days each"),
    )
    print_text("".join(f"{name:<11}{value}\n" for name, value in rows))


@app.command()
def clear() -> None:
    """Remove all analyses and exports of reports that are kept.

    Example: traceattr cache clear
    """
    from traceattr.attribution.cache import open_cache
    from traceattr.ingest.export_cache import kept_exports
    from traceattr.report.figures import counted

    cache, exports = open_cache(), kept_exports()
    exported = f"{counted(len(exports), 'export')} ({_megabytes(exports)})"
    try:
        usage = cache.clear()
        for export in exports:
            export.unlink(missing_ok=True)
    except OSError as error:
        raise OptionError(f"{cache.folder}: cannot be cleared ({error.strerror})") from error
    analyses = counted(usage.entries, "analysis", "analyses")
    print_text(f"Removed {analyses} ({usage.bytes / 1e6:.1f} MB) and {exported}.\n")


def _megabytes(paths: Iterable[Path]) -> str:
    return f"{sum(path.stat().st_size for path in paths) / 1e6:.1f} MB"
