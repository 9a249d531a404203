"""``traceattr scrub``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from traceattr.cli.artefacts import check_file, whole_file
from traceattr.cli.options import ForceOption, TraceArgument, named_file
from traceattr.cli.output import print_text
from traceattr.cli.progress import progress
from traceattr.errors import ScrubError

if TYPE_CHECKING:
    from traceattr.attribution.window import WindowOption
    from traceattr.ingest.export import Export
    from traceattr.ingest.scrub import Hide, Window


def scrub(
    trace: TraceArgument,
    out: Annotated[
        Path, typer.Argument(callback=named_file, metavar="OUT", help="The copy to write.")
    ],
    window: Annotated[
        str,
        typer.Option(
            metavar="A:B",
            help="Only this part, in seconds on the clock of the trace.",
            show_default="all",
        ),
    ] = "",
    hash_names: Annotated[
        bool,
        typer.Option("--hash-names", help="Replace kernel names that no shipped rule knows."),
    ] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Make sure that the report stays the same and that nothing else is left.",
        ),
    ] = False,
    force: ForceOption = False,
) -> None:
    """Copy a trace without what attribution does not need, so that it can be shared.

    Environment, command lines, paths, users, hosts, console output and NVTX texts stay behind.

    Example: traceattr scrub trace.sqlite shareable.sqlite --verify
    """
    from traceattr.attribution.shareable import hide_unknown, keep_names
    from traceattr.attribution.window import parse_window
    from traceattr.ingest.export import open_export
    from traceattr.ingest.scrub import scrub as copy
    from traceattr.report.scrub_summary import ScrubSummary, render_summary
    from traceattr.rules.rule_set import load_rules

    check_file(out, force=force, inputs=(trace,))
    wanted = parse_window(window) if window else None
    hide = hide_unknown(load_rules(None)) if hash_names else keep_names
    with open_export(trace) as export:
        chosen = _window(export, wanted) if wanted else None
        with whole_file(out) as part, progress(trace.name) as step:
            step("copying")
            tables = copy(export, part, chosen, hide)
            step("verifying")
            looked_for = _verify(export, part, chosen, hide) if verify else None
            summary = ScrubSummary(
                tables, export.stamp[0], part.stat().st_size, looked_for, of_window=bool(chosen)
            )
        export.check_unchanged()
    print_text(render_summary(summary))


def _window(export: "Export", wanted: "WindowOption") -> "Window":
    from traceattr.attribution.window import choose_window
    from traceattr.ingest.database import open_database
    from traceattr.ingest.scrub import Window
    from traceattr.ingest.trace import load_trace

    with open_database() as connection:
        trace = load_trace(connection, export, lambda _: None, details=False)
        chosen = choose_window(trace.gpu_work.recorded_ns, wanted)
    return Window(chosen.start_ns, chosen.end_ns)


def _verify(export: "Export", copy: Path, window: "Window | None", hide: "Hide") -> int:
    """Return how many texts were looked for in the copy and not found.

    Raises:
        ScrubError: The report differs, or something is left.
    """
    from traceattr.ingest.residue import SHORTEST_BYTES, all_texts, free_pages, kept_texts, residue
    from traceattr.ingest.session_clock import read_session_clock

    if read_session_clock(export.path) != read_session_clock(copy):
        raise ScrubError(
            f"{export.path}: logs would be matched to another time of the copy; nothing was written"
        )
    _check_report(export, copy, window, hide)
    if free_pages(copy):
        raise ScrubError(f"{export.path}: the copy has free pages; nothing was written")
    kept = kept_texts(copy, hide)
    texts = all_texts(export)
    left = residue(copy.read_bytes(), texts, b"\0".join(kept))
    if left:
        raise ScrubError(
            f"{export.path}: {len(left)} texts that must not be in the copy are in it;"
            " nothing was written"
        )
    return sum(len(text) >= SHORTEST_BYTES for text in texts - kept)


def _check_report(export: "Export", copy: Path, window: "Window | None", hide: "Hide") -> None:
    """Compare the reports; what has nothing on any GPU has none.

    Raises:
        ScrubError: They differ.
    """
    from traceattr.attribution.analyze import analyze
    from traceattr.attribution.choice import Choice
    from traceattr.attribution.shareable import made_public
    from traceattr.ingest.database import open_database
    from traceattr.ingest.diagnostics import NoGpuWorkError
    from traceattr.ingest.trace import load_trace, open_trace
    from traceattr.report.same_report import differences, differences_of_cut
    from traceattr.rules.rule_set import load_rules

    rules = load_rules(None)
    choice = Choice(window=(window.start_ns, window.end_ns)) if window else Choice()
    try:
        with open_database() as connection:
            original = made_public(load_trace(connection, export, lambda _: None), hide)
            before = analyze(original, rules, choice)
    except NoGpuWorkError:
        return
    with open_trace(copy) as shared:
        after = analyze(shared, rules, choice)
    found = (differences_of_cut if window else differences)(before, after)
    if found:
        raise ScrubError(
            f"{export.path}: the report of the copy differs in {', '.join(found[:3])};"
            " nothing was written"
        )
