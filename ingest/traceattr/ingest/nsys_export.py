"""Turning a report of nsys into an export, with the local nsys."""

import re
import subprocess
import tempfile
import textwrap
from pathlib import Path

from traceattr.errors import NsysError
from traceattr.ingest.export_format import shell_word
from traceattr.ingest.nsys import Nsys

_NEWER = re.compile(r"Version number is invalid: (\d+)@(\d+)@(\d+)")
"""How nsys refuses a report that a newer one made."""

_LONGEST_REASON = 200


def export_report(nsys: Nsys, report: Path, target: Path) -> None:
    """Write the SQLite export of a report, whole or not at all, over what was there.

    Others cannot read it: an export holds the environment of what was recorded.

    Raises:
        NsysError: nsys cannot, or the target cannot be written.
    """
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".traceattr-") as folder:
            unfinished = Path(folder) / "export.sqlite"
            _run(nsys, report, unfinished)
            unfinished.replace(target)
    except OSError as error:
        raise NsysError(f"{target}: cannot be written ({error.strerror})") from error


def _run(nsys: Nsys, report: Path, target: Path) -> None:
    arguments = [nsys.command, "export", "--type=sqlite", f"--output={target}", "--quiet=true"]
    done = subprocess.run(
        [*arguments, str(report.absolute())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        umask=0o077,
        check=False,
    )
    if done.returncode or not target.exists():
        raise NsysError(_refusal(nsys, report, done.stdout.decode("utf-8", errors="replace")))


def _refusal(nsys: Nsys, report: Path, said: str) -> str:
    newer = _NEWER.search(said)
    if newer:
        word = shell_word(report.with_suffix(".sqlite"))
        return (
            f"{report}: recorded by nsys {'.'.join(newer.groups())}, and {nsys.command} is"
            f" {nsys.version}: an older nsys cannot read it; where the newer one is, run: nsys"
            f" export --type sqlite --output {word} {shell_word(report)} (or name that nsys with"
            " --nsys or TRACEATTR_NSYS)"
        )
    lines = [line.strip() for line in re.split(r"[\r\n]+", said) if "rror" in line]
    reason = textwrap.shorten(lines[0] if lines else said, _LONGEST_REASON) or "it says nothing"
    return f"{report}: nsys {nsys.version} cannot export it: {reason}"
