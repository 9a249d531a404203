"""Arguments and options that several commands take."""

from pathlib import Path
from typing import Annotated

import typer

TraceArgument = Annotated[
    Path,
    typer.Argument(
        metavar="TRACE",
        help="Export of an Nsight Systems report: nsys export --type sqlite REPORT.nsys-rep",
        show_default=False,
    ),
]

RulesOption = Annotated[
    Path | None,
    typer.Option(
        "--rules", metavar="FILE", help="Rules to try before the shipped ones.", show_default=False
    ),
]

WindowOption = Annotated[
    str,
    typer.Option(
        "--window",
        metavar="A:B",
        help="Only this part, in seconds on the clock of the trace, exact to the ns; either end may"
        " be left out.",
        show_default="first to last GPU operation",
    ),
]

OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write to this file; - is standard output.",
        show_default="standard output",
    ),
]

ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite the output file.")]
