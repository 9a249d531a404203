"""Recordings of simulated servers, each made once for all tests, whichever process runs them."""

import hashlib
import os
import pickle
import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from traces.answer import truth_of
from traces.description import Simulation
from traces.simulate import run
from traces.truth import Truth
from traces.write import write_export

SHELF = "TRACEATTR_TEST_RECORDINGS"  # the directory that all processes of a test run share


def recorded(simulation: Simulation) -> tuple[Path, Truth]:
    """Return the trace of a simulation, which nobody may change, and the truth about it."""
    # Equal descriptions may be pickled differently; then they are recorded twice.
    key = hashlib.sha256(pickle.dumps(simulation)).hexdigest()[:16]
    folder = Path(os.environ.get(SHELF) or _own_shelf().name) / key
    if not folder.exists():
        _record(simulation, folder)
    return folder / "trace.sqlite", pickle.loads((folder / "truth").read_bytes())


@cache
def _own_shelf() -> TemporaryDirectory[str]:
    return TemporaryDirectory()


def _record(simulation: Simulation, folder: Path) -> None:
    folder.parent.mkdir(exist_ok=True)
    unfinished = Path(mkdtemp(dir=folder.parent))
    timeline = run(simulation)
    write_export(timeline, simulation, unfinished / "trace.sqlite")
    (unfinished / "trace.sqlite").chmod(0o444)
    (unfinished / "truth").write_bytes(pickle.dumps(truth_of(timeline, simulation)))
    try:
        unfinished.rename(folder)
    except OSError:  # another process was quicker
        shutil.rmtree(unfinished)
