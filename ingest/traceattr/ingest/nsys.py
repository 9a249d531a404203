"""The local Nsight Systems command line: where it is, its version, and what it can be told."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from traceattr.errors import NsysError

ENVIRONMENT_KEY = "TRACEATTR_NSYS"
"""Environment variable that names the nsys to use."""

_ANSWER_S = 60.0
"""How long nsys may take to say its version; starting from a network drive is slow."""

_VERSION = re.compile(r"\b(20\d\d\.\d+(?:\.\d+)*)")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
_USUAL_PLACES = (
    "opt/nvidia/nsight-systems*/*/bin/nsys",
    "opt/nvidia/nsight-systems/*/target-linux-*/nsys",
    "usr/local/cuda*/bin/nsys",
    "usr/lib/nsight-systems/bin/nsys",
)


@dataclass(frozen=True, slots=True)
class Nsys:
    """An nsys that can be called.

    Attributes:
        command: Its path, or ``nsys`` where none was looked for.
        version: Such as ``2022.4.2.1``; None where none was looked for.
        options: What its ``profile`` takes, such as ``--delay``; None when it does not say.
    """

    command: str
    version: str | None = None
    options: frozenset[str] | None = None

    def knows(self, option: str) -> bool:
        """Return whether ``nsys profile`` takes an option; one that does not say takes all."""
        return self.options is None or option in self.options


def find_nsys(named: str | None, environment: Mapping[str, str]) -> Nsys:
    """Return the nsys that was named, or that the environment or PATH names.

    Its own help says which options it takes: there is no table of versions to go stale.

    Args:
        named: Path or name of a program, if the user gave one.
        environment: Where ``TRACEATTR_NSYS`` and ``PATH`` are looked up.

    Raises:
        NsysError: There is none, or it does not answer like nsys.
    """
    command = _located(named or environment.get(ENVIRONMENT_KEY) or None, environment)
    said = _answer(command, "--version")
    version = _VERSION.search(said)
    if version is None:
        first = said.strip().splitlines()[:1]
        raise NsysError(
            f"{command}: does not say the version of Nsight Systems"
            f" (its answer to --version: {first[0] if first else 'nothing'!r}); name another with"
            f" --nsys PATH or {ENVIRONMENT_KEY}"
        )
    options = frozenset(_OPTION.findall(_answer(command, "profile", "--help")))
    return Nsys(command, version[1], options if len(options) > 1 else None)


def _located(named: str | None, environment: Mapping[str, str]) -> str:
    found = shutil.which(named or "nsys", path=environment.get("PATH", os.defpath))
    if found:
        return found
    if named:
        raise NsysError(f"{named}: {_why_not_runnable(Path(named))} (expected the program nsys)")
    # The newest last: directories are named after versions.
    elsewhere = sorted(
        str(path) for place in _USUAL_PLACES for path in Path("/").glob(place) if path.is_file()
    )
    remedy = (
        f"there is one: --nsys {elsewhere[-1]}"
        if elsewhere
        else f"install Nsight Systems, or name it with --nsys PATH or {ENVIRONMENT_KEY}"
    )
    raise NsysError(f"nsys: not found on PATH; {remedy}")


def _why_not_runnable(path: Path) -> str:
    if path.is_dir():
        return "is a directory"
    return "cannot be run by you" if path.exists() else "no such program"


def _answer(command: str, *arguments: str) -> str:
    """Return what nsys prints, on whichever stream."""
    try:
        done = subprocess.run(
            [command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_ANSWER_S,
            check=False,
        )
    except OSError as error:
        raise NsysError(f"{command}: cannot be run ({error.strerror})") from error
    except subprocess.TimeoutExpired as error:
        asked = " ".join(arguments)
        raise NsysError(f"{command}: no answer to {asked} within {_ANSWER_S:.0f} s") from error
    return done.stdout.decode("utf-8", errors="replace")
