"""Whether this machine can record, and what is known to go wrong on it."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from traceattr.checks import Check, failed, passed, warned
from traceattr.errors import NsysError
from traceattr.ingest.nsys import Nsys, find_nsys

_NEEDED = ("--cuda-graph-trace", "--trace-fork-before-exec")
_GIB = 2**30
_ENOUGH_BYTES = 10 * _GIB
_LEAST_BYTES = _GIB
_HIGHEST_PARANOID = 2
_OLD = (2023, 1)
"""nsys before this exports nothing of graphs that are traced as a whole."""


def check_machine(
    environment: Mapping[str, str], temporary: Path, nsys: str | None, root: Path = Path("/")
) -> tuple[Check, ...]:
    """Return every check of this machine.

    Args:
        environment: Environment variables.
        temporary: Directory for temporary files.
        nsys: The nsys that was named, if any.
        root: Where ``proc`` and ``.dockerenv`` lie.
    """
    return (
        *_nsys(environment, nsys),
        _driver(root),
        _injection(environment),
        _paranoid(root),
        _container(root),
        _space(temporary),
    )


def _nsys(environment: Mapping[str, str], named: str | None) -> Iterator[Check]:
    try:
        found = find_nsys(named, environment)
    except NsysError as error:
        yield failed("nsys", f"{error}.", "traceattr doctor --nsys PATH")
        return
    yield passed("nsys", f"nsys {found.version} is {found.command}.")
    yield _nsys_version(found)


def _nsys_version(nsys: Nsys) -> Check:
    code = "nsys-version"
    missing = [option for option in _NEEDED if not nsys.knows(option)]
    if missing:
        return failed(
            code, f"nsys {nsys.version} does not know {', '.join(missing)}: install a newer one."
        )
    version = tuple(int(part) for part in (nsys.version or "").split(".")[:2])
    if version < _OLD:
        return warned(
            code,
            f"nsys {nsys.version} exports nothing of CUDA graphs that are traced as a whole, and"
            " cannot read reports of newer ones; graphs must be traced per node.",
        )
    return passed(code, f"nsys {nsys.version} knows what attribution needs.")


def _driver(root: Path) -> Check:
    code, driver = "driver", _text(root / "proc/driver/nvidia/version")
    if driver is None:
        return warned(
            code,
            "No NVIDIA driver is loaded: servers cannot be recorded here, but traces can be read.",
        )
    return passed(code, driver.splitlines()[0] if driver else "An NVIDIA driver is loaded.")


def _injection(environment: Mapping[str, str]) -> Check:
    code = "other-profiler"
    library = environment.get("CUDA_INJECTION64_PATH")
    if library:
        return warned(
            code,
            "CUDA_INJECTION64_PATH is set: another profiler would be loaded, and CUDA lets in one.",
            "unset CUDA_INJECTION64_PATH",
        )
    return passed(code, "No other profiler is set to be loaded.")


def _paranoid(root: Path) -> Check:
    code = "perf-events"
    level = _text(root / "proc/sys/kernel/perf_event_paranoid")
    if level is None or not level.strip().lstrip("-").isdigit():
        return passed(code, "CPU sampling is not needed.")
    if int(level) > _HIGHEST_PARANOID:
        return warned(
            code,
            f"perf_event_paranoid is {level.strip()}: CPU samples cannot be taken. They are not"
            " needed here; other tools need them.",
            f"sudo sysctl -w kernel.perf_event_paranoid={_HIGHEST_PARANOID}",
        )
    return passed(code, f"perf_event_paranoid is {level.strip()}: CPU sampling is possible.")


def _container(root: Path) -> Check:
    code = "container"
    marks = (root / ".dockerenv", root / "run/.containerenv")
    groups = _text(root / "proc/1/cgroup") or ""
    if any(mark.exists() for mark in marks) or "kubepods" in groups or "docker" in groups:
        return warned(
            code,
            "This is a container: nsys may not be allowed to trace, and often records neither the"
            " GPU model nor the processes' numbers outside.",
            "docker run --cap-add=SYS_ADMIN --pid=host ...",
        )
    return passed(code, "This is no container.")


def _space(temporary: Path) -> Check:
    code = "temporary-space"
    try:
        free = shutil.disk_usage(temporary).free
    except OSError as error:
        return failed(
            code, f"{temporary}: cannot be used ({error.strerror}).", "export TMPDIR=DIRECTORY"
        )
    text = f"{free / _GIB:.1f} GiB are free in {temporary}, where nsys collects events."
    if free < _LEAST_BYTES:
        return failed(code, text, "export TMPDIR=DIRECTORY")
    if free < _ENOUGH_BYTES:
        return warned(code, f"{text} Long captures need more.", "export TMPDIR=DIRECTORY")
    return passed(code, text)


def _text(path: Path) -> str | None:
    """Return what a file says, None where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
