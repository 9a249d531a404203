"""``traceattr export``."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from traceattr.cli.artefacts import check_directory, check_file, whole_directory, whole_file
from traceattr.cli.load import choose, tabulated
from traceattr.cli.options import (
    ForceOption,
    GraphKindOption,
    NoCacheOption,
    RoundsOption,
    RulesOption,
    TraceArgument,
    WindowOption,
    named_file,
)
from traceattr.cli.progress import progress
from traceattr.errors import OptionError

if TYPE_CHECKING:
    import duckdb

    from traceattr.attribution.analysis import Window
    from traceattr.ingest.catalogue import Table


def export(
    trace: TraceArgument,
    perfetto: Annotated[
        Path | None,
        typer.Option(
            callback=named_file, metavar="FILE", help="Timeline for https://ui.perfetto.dev."
        ),
    ] = None,
    duckdb: Annotated[
        Path | None,
        typer.Option(callback=named_file, metavar="FILE", help="All tables as one DuckDB file."),
    ] = None,
    parquet: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A Parquet file for each table."),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A CSV file for each table.")
    ] = None,
    window: WindowOption = "",
    rounds: RoundsOption = "",
    graph_kind: GraphKindOption = None,
    rules: RulesOption = None,
    force: ForceOption = False,
    no_cache: NoCacheOption = False,
) -> None:
    """Write an annotated timeline, or the documented tables, for other programs.

    Example: traceattr export trace.sqlite --perfetto timeline.pftrace --rounds 10:20

    Example: traceattr export trace.sqlite --duckdb trace.duckdb --csv tables
    """
    folders = {kind: path for kind, path in (("csv", csv), ("parquet", parquet)) if path}
    files = [path for path in (perfetto, duckdb) if path]
    if not folders and not files:
        raise typer.BadParameter(
            "nothing to write (expected --perfetto, --duckdb, --parquet or --csv)"
        )
    if len(files) == 2 and files[0].absolute() == files[1].absolute():
        raise OptionError(f"{perfetto}: named for two outputs; name another file")
    for path in files:
        check_file(path, force=force, inputs=(trace, rules))
    for kind, path in folders.items():
        check_directory(path, _file_names(kind), force=force)
    choice = choose(window=window, rounds=rounds, graph_kinds=graph_kind)
    with tabulated(trace, rules, choice, no_cache=no_cache) as found:
        chosen = found.window if window or rounds else None
        if perfetto:
            _write_perfetto(found.connection, perfetto)
        if duckdb:
            _write_database(found.connection, chosen, duckdb)
        for kind, path in folders.items():
            _write_tables(found.connection, chosen, kind, path)


def _file_names(kind: str) -> list[str]:
    from traceattr.attribution.tables import ANALYSIS_TABLES
    from traceattr.ingest.catalogue import TRACE_TABLES

    return [f"{name}.{kind}" for name in sorted(TRACE_TABLES | ANALYSIS_TABLES)]


def _write_perfetto(connection: "duckdb.DuckDBPyConnection", path: Path) -> None:
    from traceattr.report.perfetto import write_perfetto

    with whole_file(path) as part, _writing(path), part.open("wb") as file:
        write_perfetto(connection, file)


def _write_database(
    connection: "duckdb.DuckDBPyConnection", window: "Window | None", path: Path
) -> None:
    from traceattr.report.table_files import write_database

    with whole_file(path) as part, _writing(path):
        write_database(connection, _tables(connection), window, part)


def _write_tables(
    connection: "duckdb.DuckDBPyConnection", window: "Window | None", kind: str, path: Path
) -> None:
    from traceattr.report.table_files import WRITERS, read_table

    with whole_directory(path) as part, _writing(path):
        for table in _tables(connection):
            rows = read_table(connection, table, window)
            WRITERS[kind](rows, table, part / f"{table.name}.{kind}")


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    with progress(path.name) as step:
        step("writing")
        yield


def _tables(connection: "duckdb.DuckDBPyConnection") -> "tuple[Table, ...]":
    from traceattr.ingest.catalogue import catalogue

    return catalogue(connection)
