"""What a run of nsys left: its report, or the reason why there is none."""

import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from traceattr.errors import NsysError, OptionError
from traceattr.ingest.export_format import HEAD_BYTES, shell_word, wrong_format
from traceattr.recording.plan import Recording
from traceattr.recording.run import Ended

REPORT_SUFFIXES = (".nsys-rep", ".qdrep")
"""Of a report; the second until 2021."""

CAPTURE_SUFFIX = ".qdstrm"
"""Of a capture that nsys could not turn into a report."""

EXPORT_SUFFIX = ".sqlite"

_ELSEWHERE = re.compile(r"^\s*(/[^\r\n]*(?:\.nsys-rep|\.qdrep|\.qdstrm))\s*$", re.MULTILINE)
_LONGEST_QUOTE = 200

_START_RACE = "ProcessWaiter"
"""Part of what nsys 2022 prints when it loses a race with itself."""

_TERMINATED = 128 + signal.SIGTERM

Stamps = Mapping[Path, tuple[int, int]]
"""Inode and time of change of files, to tell new ones from old ones."""


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a recording, by the name without suffix."""

    base: Path

    @property
    def export(self) -> Path:
        """The SQLite export."""
        return _with(self.base, EXPORT_SUFFIX)

    @property
    def deployment(self) -> Path:
        """What a running server says of itself."""
        return _with(self.base, ".deployment.json")

    @property
    def all(self) -> tuple[Path, ...]:
        """Everything that a recording may write."""
        suffixes = (*REPORT_SUFFIXES, CAPTURE_SUFFIX, EXPORT_SUFFIX)
        return tuple(_with(self.base, suffix) for suffix in suffixes)

    def stamps(self) -> Stamps:
        """Return the stamps of those that exist."""
        status = {path: path.stat() for path in self.all if path.exists()}
        return {path: (found.st_ino, found.st_mtime_ns) for path, found in status.items()}

    def check_free(self, *, overwrite: bool) -> None:
        """Make sure that nothing is lost.

        Raises:
            OptionError: A file exists and may not be overwritten, or there is no such directory.
        """
        if not self.base.parent.is_dir():
            make = shell_word(self.base.parent)
            raise OptionError(f"{self.base.parent}: no such directory; create it: mkdir -p {make}")
        for path in self.all:
            if path.is_dir():
                raise OptionError(f"{path}: is a directory; choose another name with -o NAME")
            if path.exists() and not overwrite:
                raise OptionError(
                    f"{path}: exists; overwrite it with --force, or choose another name with"
                    " -o NAME"
                )


def find_report(files: Files, before: Stamps, ended: Ended, recording: Recording) -> Path:
    """Return the report that nsys wrote.

    Args:
        files: Where it should be.
        before: What lay there before.
        ended: How nsys ended.
        recording: What it was told.

    Raises:
        NsysError: There is none; the message says why, and names what there is instead.
    """
    now = files.stamps()
    new = [path for path in files.all if path in now and now[path] != before.get(path)]
    for path in new:
        if path.suffix in REPORT_SUFFIXES:
            return path
    for path in new:
        if path.suffix == CAPTURE_SUFFIX:
            with path.open("rb") as file:
                raise NsysError(f"{path}: {wrong_format(path, file.read(HEAD_BYTES))}")
    for path in map(Path, _ELSEWHERE.findall(ended.said)):
        if path.exists():
            raise NsysError(_moved(path, files.all[0]))
    raise NsysError(f"nsys made no report: {_reason(ended, recording)}")


def failed(ended: Ended, recording: Recording) -> bool:
    """Return whether the command did not end well by itself; nsys ends it with SIGTERM."""
    return ended.code not in ((0, _TERMINATED) if recording.ends_command else (0,))


def _with(base: Path, suffix: str) -> Path:
    return base.with_name(base.name + suffix)


def _moved(path: Path, target: Path) -> str:
    return (
        f"{target}: nsys could not write it and left {path}; make room, then:"
        f" mv {shell_word(path)} {shell_word(target)}"
    )


def _reason(ended: Ended, recording: Recording) -> str:
    """Say why there is no report, as far as that can be told."""
    delay_s = recording.delay_s or 0
    if ended.signal is not None:
        return "it was stopped before the recording began"
    if ended.code < 0 and _START_RACE not in ended.said:
        return f"it was killed by signal {-ended.code}; what it started was ended"
    if _START_RACE in ended.said:
        return (
            "it crashed as it started, which versions of 2022 do now and then on a busy machine;"
            " run it again, or use a newer nsys"
        )
    if ended.seconds < delay_s:
        return (
            f"the command ended{_with_code(ended.code)} after {ended.seconds:.0f} s, before the"
            f" recording began; use a --delay below {delay_s:g}"
        )
    if recording.on_demand and ended.code == 0:
        return (
            "the command ended before anything called cudaProfilerStart; ask the server to:"
            " curl -X POST localhost:30000/start_profile -H 'Content-Type: application/json'"
            """ -d '{"activities": ["CUDA_PROFILER"], "num_steps": 100}'"""
        )
    return f"it ended{_with_code(ended.code)}{_last_words(ended.said)}"


def _with_code(code: int) -> str:
    return f" with exit code {code}" if code else ""


def _last_words(said: str) -> str:
    """Quote the first of the last lines that nsys printed, which names the mistake."""
    lines = [line.strip() for line in re.split(r"[\r\n]+", said) if line.strip()]
    told = [line for line in lines if "error" in line.lower() or "illegal" in line.lower()]
    told += [line for line in lines if "unrecognised" in line or "No such" in line] or lines[-1:]
    return f' (it says: "{told[0][:_LONGEST_QUOTE]}")' if told else ""
