"""Arguments and options that several commands take."""

from collections.abc import Callable
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from traceattr.errors import OptionError, RuleError
from traceattr.ingest.remote.name import TracePath, trace_path
from traceattr.report.render import ReportFormat

if TYPE_CHECKING:
    TypedTrace = TracePath
else:
    # Typer takes no unions, and shows the name of the type; `trace_path` decides what it is.
    TypedTrace = type("path|URL", (), {})

_Words = TypeVar("_Words", bound=StrEnum)
_Named = TypeVar("_Named", bound=TracePath | None)


def named_file(path: _Named) -> _Named:
    """Return the path, which an empty name on the command line turned into this directory.

    Raises:
        OptionError: It is this directory.
    """
    if path == Path():
        raise OptionError("no file name given, only this directory (expected the name of a file)")
    return path


def finite(value: float | None) -> float | None:
    """Return a number, which ``inf`` and what is as large are not."""
    if value is not None and not isfinite(value):
        raise typer.BadParameter(f"{value} is no number to count with (expected a finite one)")
    return value


def rule_file(path: Path | None) -> Path | None:
    """Return the path of a rule file.

    Raises:
        OptionError: No name was given.
        RuleError: There is no such file, or nothing can be known of it.
    """
    if named_file(path) is None:
        return None
    assert path is not None
    try:
        path.stat()
    except FileNotFoundError as error:
        raise RuleError(f"{path}: no such file (expected a rule file)") from error
    except OSError as error:
        raise RuleError(f"{path}: {error.strerror} (expected a rule file)") from error
    return path


def one_of(choices: type[_Words]) -> Callable[[str], _Words]:
    """Return what reads one of the choices, and names them all when it is none."""

    def read(text: str) -> _Words:
        try:
            return choices(text)
        except ValueError as error:
            names = ", ".join(choices)
            raise typer.BadParameter(f"{text!r} is not one of {names}") from error

    return read


TraceArgument = Annotated[
    TypedTrace,
    typer.Argument(
        parser=trace_path,
        callback=named_file,
        metavar="TRACE",
        help="Export of an Nsight Systems report (nsys export --type sqlite), or the .nsys-rep; or"
        " the URL of an export.",
        show_default=False,
    ),
]


def trace_or_directory(text: str) -> TracePath:
    """Return what a word names, which may be this directory, but not by an empty name."""
    return trace_path(text) if text else named_file(Path(text))


TracesArgument = Annotated[
    list[TypedTrace],
    typer.Argument(
        parser=trace_or_directory,
        metavar="TRACE...",
        help="Exports of Nsight Systems reports (nsys export --type sqlite REPORT.nsys-rep), or"
        " directories or URLs of them. Several are ranks of one server and get one report.",
        show_default=False,
    ),
]

DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Analyse several traces on the workers of this Dask scheduler; local starts some"
        " here.",
        show_default=False,
    ),
]

RulesOption = Annotated[
    Path | None,
    typer.Option(
        "--rules",
        callback=rule_file,
        metavar="FILE",
        help="Rules to try before the shipped ones.",
        show_default=False,
    ),
]

WindowOption = Annotated[
    str,
    typer.Option(
        "--window",
        metavar="A:B",
        help="Only this part, in seconds on the clock of the trace, exact to the ns; either end may"
        " be left out.",
        show_default="the steady rounds",
    ),
]

RoundsOption = Annotated[
    str,
    typer.Option(
        "--rounds",
        metavar="A:B",
        help="Only these rounds, counted from 0; B is the one after the last.",
        show_default=False,
    ),
]

GraphKindOption = Annotated[
    list[str] | None,
    typer.Option(
        "--graph-kind",
        metavar="ID=KIND",
        help="What a CUDA graph is for, where the report gets it wrong: verify, decode, draft,"
        " draft_extend, prefill_piece or other. Repeat it for more graphs.",
        show_default=False,
    ),
]

FormatOption = Annotated[
    ReportFormat, typer.Option("--format", parser=one_of(ReportFormat), help="What to print.")
]

OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        callback=named_file,
        metavar="FILE",
        help="Write to this file; - is standard output.",
        show_default="standard output",
    ),
]

PlotOption = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        callback=named_file,
        metavar="FILE.svg",
        help="Also draw the roofline, or the alternatives, to this file; Markdown shows it.",
        show_default=False,
    ),
]

ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite the output file.")]

NoCacheOption = Annotated[
    bool,
    typer.Option(
        "--no-cache",
        help="Read all of the trace, whatever was kept of it, and keep nothing (see traceattr"
        " cache).",
    ),
]
