"""The command line; it parses arguments, calls one function and prints its result."""

from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from traceattr.cli.comment import comment
from traceattr.cli.export import export
from traceattr.cli.gaps import gaps
from traceattr.cli.kernels import kernels
from traceattr.cli.output import say, standard_output_failed
from traceattr.cli.profile import profile
from traceattr.cli.report import report
from traceattr.cli.roofline import roofline
from traceattr.cli.rules import app as rules
from traceattr.cli.sql import sql
from traceattr.errors import TraceattrError

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 and the number of the signal, as shells have it."""


class _ErrorsOnOneLine(TyperGroup):
    """Print our own errors as one line on stderr; let bugs keep their traceback."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        try:
            return super().main(*arguments, **options)
        except OSError as error:
            if error.filename is not None:
                raise
            # The text of --help, which Typer prints itself; nothing else writes to no named file.
            _print_error(standard_output_failed(error))
            raise SystemExit(2) from error

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except TraceattrError as error:
            _print_error(error)
            raise typer.Exit(error.exit_code) from error
        except (KeyboardInterrupt, RuntimeError) as error:
            # DuckDB turns Ctrl-C in a query into a RuntimeError of its own.
            if isinstance(error, RuntimeError) and str(error) != "Query interrupted":
                raise
            typer.echo("interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from None


app = typer.Typer(
    cls=_ErrorsOnOneLine,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_error(error: TraceattrError) -> None:
    say(f"error: {error}")


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"traceattr {version('traceattr')}")
        raise typer.Exit


@app.callback()
def main(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Say where the GPU time of an SGLang server goes, from an Nsight Systems trace."""


app.command()(report)
app.command()(gaps)
app.command()(kernels)
app.command()(comment)
app.command()(export)
app.command()(sql)
# What follows the command to record is for that command.
app.command(context_settings={"allow_interspersed_args": False})(profile)
app.command()(roofline)
app.add_typer(rules, name="rules")
