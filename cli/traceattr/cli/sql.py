"""``traceattr sql``."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from traceattr.cli.artefacts import whole_file
from traceattr.cli.load import choose, tabulated
from traceattr.cli.options import (
    ForceOption,
    FormatOption,
    GraphKindOption,
    NoCacheOption,
    OutputOption,
    RoundsOption,
    RulesOption,
    TraceArgument,
    WindowOption,
)
from traceattr.cli.output import check_output, is_terminal, print_text, width
from traceattr.errors import OptionError
from traceattr.report.render import ReportFormat


def sql(
    trace: TraceArgument,
    query: Annotated[
        str | None,
        typer.Argument(metavar="QUERY", help="One SELECT; - is standard input."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="Read the query from this file.")
    ] = None,
    tables: Annotated[bool, typer.Option("--tables", help="List tables and columns.")] = False,
    format_: FormatOption = ReportFormat.TERMINAL,
    window: WindowOption = "",
    rounds: RoundsOption = "",
    graph_kind: GraphKindOption = None,
    rules: RulesOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
    no_cache: NoCacheOption = False,
) -> None:
    """Ask the tables of a trace in SQL; nothing but them can be read, and nothing is changed.

    Example: traceattr sql trace.sqlite 'SELECT joins, sum(end_ns - start_ns) FROM gap GROUP BY 1'
    """
    from traceattr.attribution.query import TABLES, answer, tables_of
    from traceattr.ingest.database import lock
    from traceattr.report.query_result import Result, render_result

    check_output(output, force=force, inputs=(trace, rules, file))
    choice = choose(window=window, rounds=rounds, graph_kinds=graph_kind)
    text = TABLES if tables else _query(query, file)
    if tables and (query is not None or file is not None):
        raise typer.BadParameter("--tables takes no query")
    needed = None if window or rounds else tables_of(text)
    with tabulated(trace, rules, choice, needed, no_cache=no_cache) as found:
        lock(found.connection)
        told = answer(found.connection, text)
        result = Result(told.columns, told.is_number, told.batches)
        limit = width(output) if is_terminal(output) else None
        _write(render_result(result, format_, width=limit), output)


def _query(query: str | None, file: Path | None) -> str:
    """Return the text of the query.

    Raises:
        OptionError: There is none, or two, or it cannot be read.
    """
    if (query is None) == (file is None):
        raise typer.BadParameter("expected either a QUERY (- is standard input) or --file FILE")
    try:
        if file is not None:
            text = file.read_text(encoding="utf-8")
        else:
            assert query is not None
            text = sys.stdin.read() if query == "-" else query
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "is no UTF-8 text"
        where = file or "standard input"
        raise OptionError(f"{where}: cannot be read: {reason} (expected a query)") from error
    if not text.strip():
        raise OptionError("query: is empty (expected a SELECT)")
    return text


def _write(parts: Iterable[str], output: Path | None) -> None:
    if output is None or str(output) == "-":
        for part in parts:
            print_text(part)
        return
    with whole_file(output) as path, path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(parts)
