"""Recordings of simulated servers, each made once for all tests, whichever process runs them."""

import hashlib
import os
import pickle
import shutil
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from traces.answer import truth_of
from traces.description import Simulation
from traces.simulate import run
from traces.timeline import Timeline
from traces.truth import Truth
from traces.workload import Workload
from traces.write import write_export

SHELF = "TRACEATTR_TEST_RECORDINGS"  # the directory that all processes of a test run share

# A workload is large, and the same for most servers; a server runs as it does however it is traced.
_DIGESTS: dict[int, tuple[Workload, bytes]] = {}
_LAST: dict[str, Timeline] = {}


def recorded(simulation: Simulation) -> tuple[Path, Truth]:
    """Return the trace of a simulation, which nobody may change, and the truth about it."""
    folder = Path(os.environ.get(SHELF) or _own_shelf().name) / _key(simulation)
    if not folder.exists():
        _record(simulation, folder)
    return folder / "trace.sqlite", pickle.loads((folder / "truth").read_bytes())


def _key(simulation: Simulation) -> str:
    others = {
        each.name: getattr(simulation, each.name)
        for each in fields(simulation)
        if each.name != "workload"
    }
    # Equal descriptions may be pickled differently; then they are recorded twice.
    described = pickle.dumps(others) + _digest(simulation.workload)
    return hashlib.sha256(described).hexdigest()[:16]


def _digest(workload: Workload) -> bytes:
    """Return what tells a workload, which is large, from others."""
    known, digest = _DIGESTS.get(id(workload), (None, b""))
    if known is None:
        digest = hashlib.sha256(pickle.dumps(workload)).digest()
        _DIGESTS[id(workload)] = workload, digest
    return digest


def _run(simulation: Simulation) -> Timeline:
    """Let a server run, or take what it did just now: what is traced of it makes no difference."""
    key = _key(replace(simulation, mode="node"))
    if key not in _LAST:
        _LAST.clear()
        _LAST[key] = run(simulation)
    return _LAST[key]


@cache
def _own_shelf() -> TemporaryDirectory[str]:
    return TemporaryDirectory()


def _record(simulation: Simulation, folder: Path) -> None:
    folder.parent.mkdir(exist_ok=True)
    unfinished = Path(mkdtemp(dir=folder.parent))
    timeline = _run(simulation)
    write_export(timeline, simulation, unfinished / "trace.sqlite")
    (unfinished / "trace.sqlite").chmod(0o444)
    (unfinished / "truth").write_bytes(pickle.dumps(truth_of(timeline, simulation)))
    try:
        unfinished.rename(folder)
    except OSError:  # another process was quicker
        shutil.rmtree(unfinished)
