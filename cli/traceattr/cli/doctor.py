"""``traceattr doctor``."""

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from traceattr.checks import Status
from traceattr.cli.load import kept_columns, uncached
from traceattr.cli.options import (
    ForceOption,
    NoCacheOption,
    OutputOption,
    RulesOption,
    TypedTrace,
    named_file,
    one_of,
)
from traceattr.cli.output import check_output, width, write_output
from traceattr.cli.progress import progress
from traceattr.cli.roofline_options import ModelOption
from traceattr.ingest.remote.name import TracePath, trace_path
from traceattr.report.checks_text import ChecksFormat

if TYPE_CHECKING:
    from traceattr.checks import Check


def doctor(
    trace: Annotated[
        TypedTrace | None,
        typer.Argument(
            parser=trace_path,
            callback=named_file,
            metavar="TRACE",
            help="A trace; without one, this machine.",
        ),
    ] = None,
    model: ModelOption = None,
    rules: RulesOption = None,
    nsys: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="The nsys to look at, without a trace.",
            show_default="TRACEATTR_NSYS, or nsys on the PATH",
        ),
    ] = None,
    format_: Annotated[
        ChecksFormat, typer.Option("--format", parser=one_of(ChecksFormat), help="What to print.")
    ] = (ChecksFormat.TERMINAL),
    output: OutputOption = None,
    force: ForceOption = False,
    no_cache: NoCacheOption = False,
) -> None:
    """Say whether a trace, or this machine, will do for attribution, and what mends it.

    Exit code 1: a check failed.

    Example: traceattr doctor trace.sqlite --model Qwen3.6-27B
    """
    from importlib.metadata import version

    from traceattr.report.checks_text import render_checks

    check_output(output, force=force, inputs=(trace, rules))
    checks = _of_machine(nsys) if trace is None else _of_trace(trace, model, rules, no_cache)
    text = render_checks(
        checks,
        format_,
        file=None if trace is None else trace.name,
        version=version("traceattr"),
        width=width(output),
    )
    write_output(text, output)
    if any(check.status is Status.FAIL for check in checks):
        raise typer.Exit(1)


def _of_machine(nsys: str | None) -> "tuple[Check, ...]":
    from traceattr.recording.machine import check_machine

    return check_machine(os.environ, Path(tempfile.gettempdir()), nsys)


def _of_trace(
    path: TracePath, model: str | None, rules: Path | None, no_cache: bool
) -> "tuple[Check, ...]":
    from traceattr.attribution.analyze import analyze
    from traceattr.attribution.fitness import check_trace, check_without_work
    from traceattr.ingest.database import open_database
    from traceattr.ingest.diagnostics import NoGpuWorkError
    from traceattr.ingest.export import open_export
    from traceattr.ingest.host import load_host_ranges, load_os_calls
    from traceattr.ingest.trace import load_trace
    from traceattr.roofline.expected_categories import expected_categories
    from traceattr.roofline.model import load_model
    from traceattr.rules.rule_set import load_rules

    path = uncached(path) if no_cache else path
    rule_set = load_rules(rules)
    expected = expected_categories(load_model(model)) if model else None
    with (
        kept_columns(path, no_cache=no_cache) as kept,
        progress(path.name) as step,
        open_export(path, kept=kept) as export,
        open_database() as connection,
    ):
        try:
            trace = load_trace(connection, export, step)
        except NoGpuWorkError as error:
            return check_without_work(connection, export, error)
        step("analysing")
        load_os_calls(trace)
        load_host_ranges(trace)
        return check_trace(trace, analyze(trace, rule_set), rule_set, expected)
