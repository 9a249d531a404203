"""Text that documentation pages generate from the code; cog calls these."""

import os
from pathlib import Path

from ruamel.yaml import YAML
from typer.testing import CliRunner

from tests.loading import PID
from traceattr.cli import app
from traceattr.ingest.host import load_host_ranges, load_os_calls
from traceattr.ingest.trace import open_trace
from traces.export_writer import ExportWriter

COMMANDS = (
    (),
    ("report",),
    ("gaps",),
    ("kernels",),
    ("comment",),
    ("roofline",),
    ("rules",),
    ("rules", "list"),
    ("rules", "check"),
    ("rules", "explain"),
    ("rules", "classify"),
)
"""Every command; a test compares this with the application."""


def command_output(*arguments: str) -> str:
    """Return what a command prints when it is piped, as a fenced block."""
    os.environ["COLUMNS"] = "80"
    result = CliRunner().invoke(app, list(arguments), prog_name="traceattr")
    lines = [line.rstrip() for line in result.stdout.strip("\n").splitlines()]
    return "\n".join(["```text", *lines, "```"])


def cli_reference() -> str:
    """Return a section for every command."""
    return "\n\n".join(
        f"## `{' '.join(('traceattr', *command))}`\n\n{command_output(*command, '--help')}"
        for command in COMMANDS
    )


def table_catalogue(folder: Path) -> str:
    """Return a section for every public table, from the comments in the database."""
    path = folder / "trace.sqlite"
    with ExportWriter(path) as export:
        export.kernel("f", 1, 2, pid=PID)
    with open_trace(path) as trace:
        load_host_ranges(trace)
        load_os_calls(trace)
        tables = trace.connection.execute(
            "SELECT table_name, comment FROM duckdb_tables() WHERE NOT internal"
            " UNION ALL SELECT view_name, comment FROM duckdb_views() WHERE NOT internal"
            " ORDER BY table_name"
        ).fetchall()
        columns = trace.connection.execute(
            "SELECT table_name, column_name, lower(data_type), comment FROM duckdb_columns()"
            " WHERE NOT internal ORDER BY table_name, column_index"
        ).fetchall()
    return "\n\n".join(
        _table_section(name, comment, [row[1:] for row in columns if row[0] == name])
        for name, comment in tables
        if not name.startswith("_")
    )


def _table_section(name: str, comment: str, columns: list[tuple[str, str, str]]) -> str:
    rows = [f"| `{column}` | {kind} | {text} |" for column, kind, text in columns]
    return "\n".join(
        [
            f"## `{name}`",
            "",
            comment,
            "",
            "| column | type | meaning |",
            "| --- | --- | --- |",
            *rows,
        ]
    )


def action_inputs() -> str:
    """Return a table of the inputs of the GitHub action."""
    inputs = YAML(typ="safe").load(Path("action.yml"))["inputs"]
    rows = ["| input | what | default |", "| --- | --- | --- |"]
    for name, each in inputs.items():
        default = f"`{each['default']}`" if each["default"] else ""
        rows.append(f"| `{name}` | {each['description']} | {default} |")
    return "\n".join(rows)
