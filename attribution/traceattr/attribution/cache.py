"""Analyses of traces seen before, in a directory of the user; never beside a trace.

An entry is found by everything that it depends on, and holds a checksum: one that was half written,
or that a disk spoiled, is as good as none.  Neither DuckDB nor numpy is imported here.
"""

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version

import traceattr
from traceattr.attribution.analysis import Analysis
from traceattr.attribution.choice import Choice
from traceattr.attribution.stored import FORMAT, dump_analysis, load_analysis
from traceattr.errors import StoredAnalysisError
from traceattr.ingest.cache.files import ANALYSES, CacheFiles, open_files
from traceattr.ingest.cache.fingerprint import code_of, fingerprint
from traceattr.ingest.remote.name import TracePath
from traceattr.rules.rule_set import RuleSet

_MAGIC = b"traceattr cache 1\n"


@dataclass(frozen=True, slots=True)
class Cache:
    """Analyses in a directory.

    Attributes:
        files: Where they lie.
    """

    files: CacheFiles

    def find(self, key: str) -> Analysis | None:
        """Return an analysis, None when there is none or it is damaged."""
        path = self.files.folder / f"{key}.analysis"
        try:
            stored = path.read_bytes()
        except OSError:
            return None
        analysis = _checked(stored)
        with suppress(OSError):
            if analysis is None:
                path.unlink()
            else:
                os.utime(path)
        return analysis

    def keep(self, key: str, analysis: Analysis) -> None:
        """Store an analysis.

        Raises:
            OSError: It cannot be written.
        """
        with self.files.unfinished() as file:
            file.write(_with_checksum(dump_analysis(analysis)))
            self.files.finish(file, f"{key}.analysis")


def open_cache() -> Cache:
    """Return the cache of the user.

    Raises:
        OptionError: TRACEATTR_CACHE_LIMIT_MB is no number.
    """
    return Cache(open_files(ANALYSES))


def cache_key(trace: TracePath, rules: RuleSet, choice: Choice, how: str) -> str | None:
    """Return what an analysis depends on, in one word; None when it cannot be told.

    Args:
        trace: The export.
        rules: What decides the categories.
        choice: What is looked at.
        how: By which of several ways it is analysed.
    """
    content = fingerprint(trace)
    if content is None:
        return None
    kinds = sorted(choice.graph_kinds.items())
    depends_on = (
        how,
        trace.name,
        content,
        rules.name,
        rules.sha256,
        (choice.window, choice.rounds, [(graph, str(kind)) for graph, kind in kinds]),
        version("traceattr"),
        FORMAT,
        code_of(traceattr.__path__),
    )
    return hashlib.sha256(repr(depends_on).encode("utf-8", "surrogateescape")).hexdigest()


def _with_checksum(stored: bytes) -> bytes:
    return _MAGIC + hashlib.sha256(stored).hexdigest().encode() + b"\n" + stored


def _checked(entry: bytes) -> Analysis | None:
    stored = entry[entry.find(b"\n", len(_MAGIC)) + 1 :]
    if entry != _with_checksum(stored):
        return None
    try:
        return load_analysis(stored)
    except StoredAnalysisError:
        return None
