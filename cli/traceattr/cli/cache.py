"""``traceattr cache``: what is kept of traces seen before."""

import typer

from traceattr.cli.output import print_text, printable
from traceattr.errors import OptionError

app = typer.Typer(
    no_args_is_help=True,
    help="Show or remove the analyses that are kept of traces seen before.",
)


@app.command()
def info() -> None:
    """Say where analyses are kept, how many, and how much room they take.

    Example: traceattr cache info
    """
    from traceattr.attribution.cache import open_cache

    cache = open_cache()
    usage = cache.usage()
    rows = (
        ("directory", printable(str(cache.folder))),
        ("analyses", f"{usage.entries:,}"),
        ("size", f"{usage.bytes / 1e6:.1f} MB of at most {cache.limit_bytes / 1e6:.0f} MB"),
    )
    print_text("".join(f"{name:<11}{value}\n" for name, value in rows))


@app.command()
def clear() -> None:
    """Remove all analyses that are kept.

    Example: traceattr cache clear
    """
    from traceattr.attribution.cache import open_cache
    from traceattr.report.figures import counted

    cache = open_cache()
    try:
        usage = cache.clear()
    except OSError as error:
        raise OptionError(f"{cache.folder}: cannot be cleared ({error.strerror})") from error
    what = counted(usage.entries, "analysis", "analyses")
    print_text(f"Removed {what} ({usage.bytes / 1e6:.1f} MB).\n")
