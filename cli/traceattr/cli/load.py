"""From the arguments of a command to an analysis; imports wait so that ``--help`` does not."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from traceattr.cli.output import printable
from traceattr.cli.progress import progress
from traceattr.errors import OptionError
from traceattr.ingest.remote.name import RemoteFile, TracePath

if TYPE_CHECKING:
    import duckdb

    from traceattr.attribution.analysis import Analysis, Window
    from traceattr.attribution.choice import Choice
    from traceattr.attribution.closeup import Closeups
    from traceattr.attribution.gap_analysis import GapChoice
    from traceattr.attribution.gap_report import GapReport
    from traceattr.attribution.round_list import RoundList
    from traceattr.ingest.cache.kept import Kept
    from traceattr.ingest.trace import Trace
    from traceattr.rules.rule_set import RuleSet


@dataclass(frozen=True, slots=True)
class Tabulated:
    """A trace as tables, those of the analysis included.

    Attributes:
        connection: The database.
        window: What was analysed, None when nothing was.
    """

    connection: "duckdb.DuckDBPyConnection"
    window: "Window | None"


def choose(*, window: str, rounds: str, graph_kinds: Sequence[str] | None) -> "Choice":
    """Return what the user wants to see.

    Raises:
        OptionError: An option is malformed, or two exclude each other.
    """
    from traceattr.attribution.choice import parse_choice

    choice = parse_choice(window=window, rounds=rounds, graph_kinds=graph_kinds or ())
    _check_one_kind_each(graph_kinds or ())
    return choice


def _check_one_kind_each(graph_kinds: Sequence[str]) -> None:
    """Refuse two kinds for one graph; each text is known to be ID=KIND."""
    first: dict[int, str] = {}
    for text in graph_kinds:
        graph_id, _, kind = text.partition("=")
        if first.setdefault(int(graph_id), kind) != kind:
            raise OptionError(
                f"--graph-kind {text!r}: graph {int(graph_id)} is {first[int(graph_id)]} already"
                " (expected one kind for each graph)"
            )


def load_analysis(
    trace: TracePath, rules: Path | None, choice: "Choice", *, no_cache: bool = False
) -> "Analysis":
    """Return the analysis of a trace: the one that was kept, or a new one, which is kept then.

    Args:
        trace: The export.
        rules: Rules that go before the shipped ones.
        choice: What to look at.
        no_cache: Whether to read the trace in any case, and keep nothing.

    Raises:
        TraceattrError: The trace, the rules or the choice cannot be used.
    """
    return _kept_or_new(_analyse, trace, rules, choice, no_cache)


def kept_analysis(trace: TracePath, rules: Path | None, choice: "Choice") -> "Analysis | None":
    """Return what `load_analysis` kept of a trace, None where it has to read it."""
    from traceattr.attribution.cache import cache_key, open_cache
    from traceattr.rules.rule_set import load_rules

    key = cache_key(trace, load_rules(rules), choice, _analyse.__name__)
    return None if key is None else open_cache().find(key)


def load_analysis_with_rows(
    trace: TracePath, rules: Path | None, choice: "Choice", *, no_cache: bool = False
) -> "Analysis":
    """Do the same, and see over how many rows passes go."""
    return _kept_or_new(_analyse_with_rows, trace, rules, choice, no_cache)


_Analyse = Callable[["Trace", "RuleSet", "Choice"], "Analysis"]


def _kept_or_new(
    analyse: _Analyse, trace: TracePath, rules: Path | None, choice: "Choice", no_cache: bool
) -> "Analysis":
    from traceattr.attribution.cache import cache_key, open_cache
    from traceattr.rules.rule_set import load_rules

    def key() -> str | None:
        return cache_key(trace, rule_set, choice, analyse.__name__)

    trace = uncached(trace) if no_cache else trace
    cache, rule_set = open_cache(), load_rules(rules)
    before = None if no_cache else key()
    found = None if before is None else cache.find(before)
    if found is not None:
        return found
    with kept_columns(trace, no_cache=no_cache) as kept:
        with _opened_trace(trace, kept, _only(choice)) as loaded:
            analysis = analyse(loaded, rule_set, choice)
        if kept is not None and before is not None and key() == before:
            kept.attempt(partial(cache.keep, before, analysis))
    return analysis


def uncached(trace: TracePath) -> TracePath:
    """Return a trace of which nothing that was fetched is kept."""
    return replace(trace, is_kept=False) if isinstance(trace, RemoteFile) else trace


@contextmanager
def kept_columns(trace: TracePath, *, no_cache: bool) -> "Iterator[Kept | None]":
    """Give what was kept of a trace; that no more can be kept costs one line at the end."""
    if no_cache:
        yield None
        return
    from traceattr.ingest.cache.kept import open_kept

    kept = open_kept(trace)
    yield kept
    if kept is not None and kept.failure is not None:
        reason = f"{kept.files.folder}: cannot be written ({kept.failure.strerror})"
        typer.echo(f"note: not kept for the next time: {printable(reason)}", err=True)


def _only(choice: "Choice") -> tuple[int, int] | None:
    """Return the part of a trace that has to be read, None where all of it counts."""
    start_ns, end_ns = choice.window or (None, None)
    if start_ns is None or end_ns is None or choice.graph_kinds:
        return None
    return start_ns, end_ns


def _analyse(trace: "Trace", rules: "RuleSet", choice: "Choice") -> "Analysis":
    from traceattr.attribution.analyze import analyze

    return analyze(trace, rules, choice)


def _analyse_with_rows(trace: "Trace", rules: "RuleSet", choice: "Choice") -> "Analysis":
    from traceattr.attribution.pass_rows import with_pass_rows

    return with_pass_rows(_analyse(trace, rules, choice), trace, rules)


def load_closeups(
    trace: TracePath, rules: Path | None, choice: "Choice", *, no_cache: bool
) -> "tuple[Analysis, Closeups]":
    """Do the same, and look at single rounds operation by operation.

    Raises:
        TraceattrError: The trace, the rules or the choice cannot be used.
    """
    from traceattr.attribution.analyze import analysis_of
    from traceattr.attribution.closeup import closeups
    from traceattr.attribution.pass_rows import with_pass_rows
    from traceattr.attribution.survey import survey

    with _opened(trace, rules, no_cache=no_cache) as (loaded, rule_set):
        found = survey(loaded, rule_set, choice)
        analysis = with_pass_rows(analysis_of(loaded, rule_set, found), loaded, rule_set)
        return analysis, closeups(loaded, found)


def load_rounds(
    trace: TracePath, rules: Path | None, choice: "Choice", *, no_cache: bool
) -> "RoundList":
    """Read a trace and list its rounds.

    Raises:
        TraceattrError: The trace, the rules or the choice cannot be used.
    """
    from traceattr.attribution.round_list import list_rounds

    with _opened(trace, rules, no_cache=no_cache) as (loaded, rule_set):
        return list_rounds(loaded, rule_set, choice)


def load_stored_or_trace(path: TracePath, rules: Path | None, choice: "Choice") -> "Analysis":
    """Return the analysis that a file holds, or that of the trace it is.

    Raises:
        TraceattrError: The file, the rules or the choice cannot be used.
    """
    from traceattr.attribution.choice import STEADY_ROUNDS
    from traceattr.cli.baseline_store import load_file

    if not isinstance(path, Path) or not _holds_json(path):
        return load_analysis_with_rows(path, rules, choice)
    if choice != STEADY_ROUNDS or rules is not None:
        raise OptionError(
            f"{path}: is a stored analysis, for which rounds and rules are chosen when it is saved"
        )
    return load_file(path)


def _holds_json(path: Path) -> bool:
    """Return whether a file begins like an object; a trace begins with the name of SQLite."""
    try:
        with path.open("rb") as file:
            return file.read(1) == b"{"
    except OSError:
        return False  # reading it as a trace says what is wrong


def load_gaps(
    trace: TracePath,
    rules: Path | None,
    choice: "Choice",
    gap_choice: "GapChoice",
    *,
    no_cache: bool,
) -> "GapReport":
    """Read a trace with all that the host did, and find its gaps.

    Raises:
        TraceattrError: The trace, the rules or the choice cannot be used.
    """
    from traceattr.attribution.gap_report import report_gaps
    from traceattr.ingest.host import load_host_ranges, load_os_calls

    with _opened(trace, rules, no_cache=no_cache) as (loaded, rule_set):
        load_os_calls(loaded)
        load_host_ranges(loaded)
        return report_gaps(loaded, rule_set, choice, gap_choice)


@contextmanager
def tabulated(
    trace: TracePath,
    rules: Path | None,
    choice: "Choice",
    needed: frozenset[str] | None = None,
    *,
    no_cache: bool = False,
) -> "Iterator[Tabulated]":
    """Read a trace as tables, those of the analysis included.

    Args:
        trace: The export.
        rules: Rules that go before the shipped ones.
        choice: What the tables of the analysis are about.
        needed: Names of the tables that will be read; None for all.
        no_cache: Whether to read the trace in any case, and keep nothing.

    Raises:
        TraceattrError: The trace, the rules or the choice cannot be used.
    """
    from traceattr.attribution.tables import ANALYSIS_TABLES, add_tables
    from traceattr.ingest.host import load_host_ranges, load_os_calls
    from traceattr.ingest.trace import open_trace
    from traceattr.rules.rule_set import load_rules

    trace = uncached(trace) if no_cache else trace
    rule_set = load_rules(rules)
    needs_analysis = needed is None or bool(needed & ANALYSIS_TABLES)
    with ExitStack() as opened:
        # It ends before anything is printed, which it would write into.
        kept = opened.enter_context(kept_columns(trace, no_cache=no_cache))
        with progress(trace.name) as step:
            loaded = opened.enter_context(open_trace(trace, progress=step, kept=kept))
            step("analysing")
            if needs_analysis or (needed and "os_call" in needed):
                load_os_calls(loaded)
            if needed is None or "host_range" in needed:
                load_host_ranges(loaded)
            window = add_tables(loaded, rule_set, choice).steady.window if needs_analysis else None
        yield Tabulated(loaded.connection, window)


@contextmanager
def _opened(
    trace: TracePath, rules: Path | None, *, no_cache: bool
) -> "Iterator[tuple[Trace, RuleSet]]":
    from traceattr.rules.rule_set import load_rules

    trace = uncached(trace) if no_cache else trace
    rule_set = load_rules(rules)
    with (
        kept_columns(trace, no_cache=no_cache) as kept,
        _opened_trace(trace, kept) as loaded,
    ):
        yield loaded, rule_set


@contextmanager
def _opened_trace(
    trace: TracePath, kept: "Kept | None", window: tuple[int, int] | None = None
) -> "Iterator[Trace]":
    # Arrays of a large trace live for milliseconds, and huge pages for each cost a tenth of the
    # processor time; numpy asks this when it is imported.
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
    from traceattr.ingest.trace import open_trace

    with (
        progress(trace.name) as step,
        open_trace(trace, progress=step, window=window, details=False, kept=kept) as loaded,
    ):
        step("analysing")
        yield loaded
