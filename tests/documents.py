"""Text that documentation pages generate from the code; cog calls these."""

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from ruamel.yaml import YAML
from typer.testing import CliRunner

from tests.loading import PID
from traceattr.attribution.analysis import Analysis
from traceattr.attribution.choice import Choice
from traceattr.attribution.tables import add_tables
from traceattr.cli import app
from traceattr.ingest.catalogue import Table, catalogue
from traceattr.ingest.host import load_host_ranges, load_os_calls
from traceattr.ingest.trace import open_trace
from traceattr.report.diff.diff import compare_analyses
from traceattr.report.diff.formats import DiffFormat
from traceattr.report.diff.gates import judge, parse_gates
from traceattr.report.diff.render import DiffReport, render_diff
from traceattr.rules.rule_set import load_rules
from traces.export_writer import ExportWriter

COMMANDS = (
    (),
    ("report",),
    ("diff",),
    ("baseline",),
    ("baseline", "save"),
    ("baseline", "list"),
    ("baseline", "show"),
    ("baseline", "remove"),
    ("gaps",),
    ("kernels",),
    ("rounds",),
    ("comment",),
    ("export",),
    ("sql",),
    ("profile",),
    ("doctor",),
    ("scrub",),
    ("roofline",),
    ("cache",),
    ("cache", "info"),
    ("cache", "clear"),
    ("rules",),
    ("rules", "list"),
    ("rules", "check"),
    ("rules", "explain"),
    ("rules", "classify"),
)
"""Every command; a test compares this with the application."""


def command_output(*arguments: str) -> str:
    """Return what a command prints when it is piped, as a fenced block."""
    return "\n".join(["```text", printed_by(*arguments), "```"])


def printed_by(*arguments: str) -> str:
    """Return what a command prints when it is piped, as it is: Markdown, for one."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {"COLUMNS": "80", "TRACEATTR_CACHE_DIR": cache}
        runner = CliRunner(env=environment)
        result = runner.invoke(app, list(arguments), prog_name="traceattr")
    assert result.exit_code == 0, result.stderr
    return "\n".join(line.rstrip() for line in result.stdout.strip("\n").splitlines())


def sql_example(title: str, query: str) -> str:
    """Return a query and what it prints about the sample trace, below its title."""
    answer = command_output("sql", "traces/demo.sqlite", query)
    return f"{title}:\n\n```sql\n{query.strip()}\n```\n\n{answer}\n"


def scrub_example() -> str:
    """Return what scrubbing the sample trace prints, below the command."""
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "shareable.sqlite")
        answer = command_output("scrub", "traces/demo.sqlite", out, "--verify")
    command = "$ traceattr scrub trace.sqlite shareable.sqlite --verify"
    return f"```console\n{command}\n```\n\n{answer}"


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
        add_tables(trace, load_rules(), Choice())
        return "\n\n".join(map(_table_section, catalogue(trace.connection)))


def _table_section(table: Table) -> str:
    rows = [f"| `{each.name}` | {each.type} | {each.comment} |" for each in table.columns]
    return "\n".join(
        [
            f"## `{table.name}`",
            "",
            table.comment,
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


@cache
def sample_diff() -> DiffReport:
    """Return the diff of simulated servers; the second has one kernel for two, and waits longer."""
    from tests.served_pairs import ACT_DOWN, FUSED, after, before, rewritten

    head = after(
        seam_delays_ns={"verify->draft_extend": 120_000},
        workload=rewritten(FUSED, ("\n[sequence]", ACT_DOWN)),
    )
    found = compare_analyses(_named(before(), "before"), _named(head, "after"))
    gates = parse_gates(["round>1%", "seam:verify->draft_extend>20us"])
    return DiffReport(found, judge(gates, found))


def _named(analysis: Analysis, name: str) -> Analysis:
    return replace(analysis, trace=replace(analysis.trace, file=f"{name}.sqlite"))


def sample_diff_text() -> str:
    """Return that diff as a terminal shows it, as a fenced block."""
    text = render_diff(sample_diff(), DiffFormat.TERMINAL, width=80, color=False)
    return f"```text\n{text.strip()}\n```"


def sample_diff_markdown() -> str:
    """Return that diff as a pull request shows it."""
    return render_diff(sample_diff(), DiffFormat.MARKDOWN, width=80, color=False).strip()
