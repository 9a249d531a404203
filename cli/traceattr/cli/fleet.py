"""Several traces at once: on the cores of this machine, or on the workers of a Dask cluster."""

import logging
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context, resource_tracker
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from traceattr.errors import ExportError, OptionError, TraceattrError
from traceattr.ingest.remote.name import TracePath

if TYPE_CHECKING:
    from traceattr.attribution.choice import Choice
    from traceattr.attribution.fleet_figures import Fleet

_BYTES_PER_FILE_BYTE = 3
_BYTES_PER_PROCESS = 300 * 10**6
"""Memory that analysing one trace takes, from its size."""

_BYTES_WORTH_A_PROCESS = 10**7
"""Bytes of traces that take as long to analyse as a process takes to start."""

_RETRIES = 3
"""How often a trace is tried again whose worker died."""

LOCAL = "local"

_TIMEOUT = "10s"


def expand(paths: Sequence[TracePath]) -> list[TracePath]:
    """Return the traces; a directory stands for the exports in it, or in those of its nodes."""
    found: list[TracePath] = []
    for path in paths:
        found += _exports_in(path) or [path]
    return found


def _exports_in(path: TracePath) -> list[Path]:
    with suppress(OSError):  # reading it says what is wrong
        if isinstance(path, Path) and path.is_dir():
            return sorted(path.glob("*.sqlite")) or sorted(path.glob("*/*.sqlite"))
    return []


def load_fleet(
    paths: Sequence[TracePath],
    rules: Path | None,
    choice: "Choice",
    *,
    no_cache: bool,
    dask: str | None,
) -> "Fleet":
    """Analyse traces and combine what they say.

    Raises:
        TraceattrError: None of them can be read, or the cluster cannot be used.
    """
    from traceattr.attribution.fleet import combine
    from traceattr.attribution.fleet_part import load_parts

    job = _Job(_names(paths), {path: path for path in paths}, rules, choice, no_cache)
    stored = _locally(job, paths) if dask is None else _on_dask(job, paths, dask)
    parts = load_parts(stored)
    if all(part.failure is not None for part in parts):
        raise ExportError("; ".join(str(part.failure) for part in parts))
    return combine(parts)


def _names(paths: Sequence[TracePath]) -> dict[TracePath, str]:
    """Return the shortest names that tell traces apart: those of the files, or where they lie."""
    names = [path.name for path in paths]
    if len(set(names)) == len(set(paths)):
        return dict(zip(paths, names, strict=True))
    here = [path.absolute() for path in paths if isinstance(path, Path)]
    shared = os.path.commonpath([path.parent for path in here]) if here else ""
    return {
        path: os.path.relpath(path.absolute(), shared) if isinstance(path, Path) else str(path)
        for path in paths
    }


_Stored = TypeVar("_Stored")
"""Stored parts, or the promise of them."""


@dataclass(frozen=True, slots=True)
class _Job:
    """What is done with each trace; it travels to other processes.

    Attributes:
        names: What each trace is called in the report.
        given: Each trace as it was named on the command line.
        rules: Rules that go before the shipped ones.
        choice: What to look at.
        no_cache: Whether to keep nothing.
    """

    names: dict[TracePath, str]
    given: dict[TracePath, TracePath]
    rules: Path | None
    choice: "Choice"
    no_cache: bool

    def __call__(self, path: TracePath) -> bytes:
        """Return what one trace contributes, or why it cannot be read."""
        from traceattr.attribution.fleet_part import TracePart, dump_parts, part_of
        from traceattr.cli.load import load_analysis

        name = self.names[path]
        try:
            analysis = load_analysis(path, self.rules, self.choice, no_cache=self.no_cache)
        except TraceattrError as error:
            return dump_parts((TracePart(name, _failure(error, path, self.given[path])),))
        return dump_parts((part_of(name, analysis),))

    def kept(self, path: TracePath) -> bytes | None:
        """Return the same from what was kept of a trace, None when it has to be read."""
        from traceattr.attribution.fleet_part import dump_parts, part_of
        from traceattr.cli.load import kept_analysis

        if self.no_cache:
            return None
        try:
            found = kept_analysis(path, self.rules, self.choice)
        except ExportError:  # reading it says why
            return None
        return None if found is None else dump_parts((part_of(self.names[path], found),))


def _failure(error: TraceattrError, path: TracePath, given: TracePath) -> str:
    """Return what is wrong with a trace, under the path that the user gave."""
    told = str(error)
    if isinstance(path, Path) and isinstance(given, Path) and path != given:
        told = told.replace(_without_suffix(path), _without_suffix(given))
    return told if told.startswith(str(given)) else f"{given}: {told}"


def _without_suffix(path: Path) -> str:
    return str(path.with_suffix("") if path.name else path)


def _locally(job: _Job, paths: Sequence[TracePath]) -> bytes:
    kept = [job.kept(path) for path in paths]
    unread = [path for path, part in zip(paths, kept, strict=True) if part is None]
    read = iter(_read(job, unread))
    return _merged([part or next(read) for part in kept])


def _read(job: _Job, paths: Sequence[TracePath]) -> list[bytes]:
    workers = min(len(paths), _workers(paths))
    if workers < 2:
        return [job(path) for path in paths]
    with _pool(workers) as pool:
        with _sigint_held_back():
            results = [pool.submit(job, path) for path in paths]
        return [_result(job, path, one) for path, one in zip(paths, results, strict=True)]


def _result(job: _Job, path: TracePath, running: "Future[bytes]") -> bytes:
    """Return what a process made of a trace; if it was killed, do it here."""
    try:
        return running.result()
    except BrokenProcessPool:
        return job(path)


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_die_of_sigint)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _sigint_held_back() -> Iterator[None]:
    """Let Ctrl-C wait, here and in processes that are started, until these are ready for it.

    Processes inherit what this thread blocks; here another thread may be told of Ctrl-C instead.
    """
    told: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: told.append(number))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGINT, handler)
        for number in told[:1]:
            signal.raise_signal(number)


def _die_of_sigint() -> None:
    """Make Ctrl-C end this process without a word; the one that started it has the word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _workers(paths: Sequence[TracePath]) -> int:
    """Return how many traces to read at once: cores and memory allow, and there is work for."""
    from traceattr.ingest.machine import cores, memory_bytes

    sizes = [_size_bytes(path) for path in paths]
    each = _BYTES_PER_PROCESS + _BYTES_PER_FILE_BYTE * max(sizes, default=0)
    worth = sum(sizes) // _BYTES_WORTH_A_PROCESS
    return max(1, min(cores(), memory_bytes() // each, worth))


def _size_bytes(path: TracePath) -> int:
    """Return the size of a trace; 0 where it cannot be told, as reading it says why."""
    with suppress(OSError, ExportError):
        if isinstance(path, Path):
            return path.stat().st_size if path.is_file() else 0
        from traceattr.ingest.remote.source import find_source

        return find_source(path).size_bytes or 0
    return 0


def _merged(stored: Sequence[bytes]) -> bytes:
    from traceattr.attribution.fleet_part import merge_parts

    return _tree(stored, merge_parts)


def _tree(parts: Sequence[_Stored], merge: Callable[[_Stored, _Stored], _Stored]) -> _Stored:
    """Return the parts merged in pairs, and the pairs in pairs."""
    level = list(parts)
    while len(level) > 1:
        pairs = [merge(*level[at : at + 2]) for at in range(0, len(level) - 1, 2)]
        level = pairs + level[2 * len(pairs) :]
    return level[0]


def _on_dask(job: _Job, paths: Sequence[TracePath], address: str) -> bytes:
    """Do the same on the workers of a cluster, which read the files by the same paths."""
    from traceattr.attribution.fleet_part import merge_parts

    absolute = {path: path.absolute() if isinstance(path, Path) else path for path in paths}
    there = _Job(
        {absolute[path]: name for path, name in job.names.items()},
        {absolute[path]: path for path in job.given},
        None if job.rules is None else job.rules.absolute(),
        job.choice,
        job.no_cache,
    )
    with _client(address) as client:
        parts = client.map(there, list(absolute.values()), pure=False, retries=_RETRIES)
        whole = _tree(parts, lambda one, two: client.submit(merge_parts, one, two, pure=False))
        try:
            result: bytes = whole.result()
        except import_module("distributed.scheduler").KilledWorker as error:
            lost = [str(path) for path, part in zip(paths, parts, strict=True) if _is_lost(part)]
            raise OptionError(
                f"{', '.join(lost) or 'merging'}: each worker that was given this died, as if"
                " memory ran out; give workers more memory, or leave out --dask"
            ) from error
        return result


def _is_lost(part: Any) -> bool:
    return bool(part.status == "error")


@contextmanager
def _client(address: str) -> Iterator[Any]:
    try:
        distributed: Any = import_module("distributed")
    except ImportError as error:
        remedy = "pip install 'traceattr[dask]'"
        raise OptionError(f"--dask: needs Dask; install it: {remedy}") from error
    from traceattr.ingest.machine import cores

    with ExitStack() as opened:
        try:
            where = address
            if address == LOCAL:
                where = opened.enter_context(_local_cluster(distributed, max(2, cores())))
            client = opened.enter_context(distributed.Client(where, timeout=_TIMEOUT))
        except (OSError, ValueError) as error:
            raise OptionError(
                f"--dask {address}: cannot be reached ({error}); expected local or an address such"
                " as tcp://HOST:8786"
            ) from error
        yield client


@contextmanager
def _local_cluster(distributed: Any, workers: int) -> Iterator[Any]:
    """Start workers here: Ctrl-C is for this process, which ends them, and nothing is left."""
    resource_tracker.ensure_running()  # which would let SIGINT through when a worker starts it
    with TemporaryDirectory(prefix="traceattr-") as folder, ExitStack() as opened:
        opened.enter_context(distributed.dask.config.set({"temporary-directory": folder}))
        with _sigint_held_back():
            cluster = opened.enter_context(
                distributed.LocalCluster(
                    workers,
                    threads_per_worker=1,
                    dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                )
            )
        yield cluster
