"""The command line; it parses arguments, calls one function and prints its result."""

import sys
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from traceattr.cli.baseline import app as baseline
from traceattr.cli.cache import app as cache
from traceattr.cli.comment import comment
from traceattr.cli.diff import diff
from traceattr.cli.doctor import doctor
from traceattr.cli.export import export
from traceattr.cli.gaps import gaps
from traceattr.cli.kernels import kernels
from traceattr.cli.output import say, standard_output_failed
from traceattr.cli.profile import profile
from traceattr.cli.report import report
from traceattr.cli.roofline import roofline
from traceattr.cli.rounds import rounds
from traceattr.cli.rules import app as rules
from traceattr.cli.scrub import scrub
from traceattr.cli.sql import sql
from traceattr.cli.usage import usage_error
from traceattr.errors import TraceattrError
from traceattr.ingest.remote.name import without_secrets
from traceattr.interrupt import INTERRUPTED, raise_from_now_on


class _ErrorsOnOneLine(TyperGroup):
    """Print a person's mistakes as one line on stderr; let bugs keep their traceback."""

    def main(self, *arguments: Any, **options: Any) -> NoReturn:
        options["standalone_mode"] = False  # which would print usage errors in a box
        try:
            code = super().main(*arguments, **options) or 0
        except TraceattrError as error:
            code = error.exit_code
            _print_error(str(error))
        except typer.TyperException as error:
            code = error.exit_code
            _print_error(usage_error(error))
        except OSError as error:
            if error.filename is not None:
                raise
            # The text of --help, which Typer prints itself; nothing else writes to no named file.
            code = 2
            _print_error(str(standard_output_failed(error)))
        sys.exit(code)

    def invoke(self, ctx: Any) -> Any:
        raise_from_now_on()
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, RuntimeError) as error:
            # DuckDB turns Ctrl-C in a query into a RuntimeError of its own.
            if isinstance(error, RuntimeError) and str(error) != "Query interrupted":
                raise
            say("interrupted")
            raise typer.Exit(INTERRUPTED) from None


app = typer.Typer(
    cls=_ErrorsOnOneLine,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_error(text: str) -> None:
    if text:
        say(f"error: {without_secrets(text)}")


def _print_version(value: bool) -> None:
    if value:
        from importlib.metadata import version

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
app.command()(diff)
app.add_typer(baseline, name="baseline")
app.command()(gaps)
app.command()(kernels)
app.command()(rounds)
app.command()(comment)
app.command()(export)
app.command()(sql)
# What follows the command to record is for that command.
app.command(context_settings={"allow_interspersed_args": False})(profile)
app.command()(doctor)
app.command()(scrub)
app.command()(roofline)
app.add_typer(cache, name="cache")
app.add_typer(rules, name="rules")
