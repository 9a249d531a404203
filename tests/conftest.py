"""What several test modules share."""

import functools
import gc
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer.main
import typer.testing
from hypothesis import settings

from tests.commenting import RunComment, runner_for
from tests.fake_github import FakeGithub, running
from tests.recordings import SHELF
from traceattr.errors import NsysError
from traceattr.ingest.nsys import find_nsys

GOLDEN = Path(__file__).parent / "golden"

# The machines that run the tests are shared, so no example has a deadline; a change lands or not by
# what it does, so there the examples are the same every time.
EXAMPLES = int(os.environ.get("TRACEATTR_EXAMPLES", "60"))
"""What is made up for each property; more of it finds rarer mistakes."""
settings.register_profile("here", deadline=None, max_examples=EXAMPLES)
settings.register_profile(
    "ci", deadline=None, max_examples=EXAMPLES, derandomize=True, print_blob=True
)
settings.load_profile("ci" if os.environ.get("CI") else "here")

# Making the commands from their signatures takes longer than most of them run.
vars(typer.testing)["_get_command"] = functools.cache(typer.main.get_command)

# Simulations and analyses make many objects that live and few cycles: to look for cycles as often
# as Python does takes a quarter of the time.
gc.set_threshold(100_000, 50, 100)

# A shell that starts the tests in the background lets them ignore Ctrl-C, and they their commands.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

CheckGolden = Callable[[str, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden")


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the tests out of the user's cache, also those that start a process."""
    os.environ["TRACEATTR_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session", autouse=True)
def shared(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let all processes of a test run share recordings, and compiled modules if none are kept."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    os.environ[SHELF] = str(folder / "recordings")
    # A command spends most of its time compiling itself where it may not keep the outcome.
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
        os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")


@pytest.fixture
def check_golden(request: pytest.FixtureRequest) -> CheckGolden:
    """Compare text with a file of tests/golden, or rewrite that file."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        assert text == path.read_text(encoding="utf-8"), "run make golden and review the diff"

    return check


@pytest.fixture(scope="session")
def nsys() -> str:
    """Return the path of a real nsys, such as the one that .ci/nsys unpacks."""
    unpacked = Path(__file__).parent.parent / ".nsys" / "usr" / "bin" / "nsys"
    try:
        return find_nsys(str(unpacked) if unpacked.exists() else None, os.environ).command
    except NsysError as error:
        pytest.skip(f"no real nsys (.ci/nsys unpacks one on Debian): {error}")


@pytest.fixture
def github() -> Iterator[FakeGithub]:
    """Serve the pull request octo/server#12 on this machine."""
    with running(FakeGithub()) as github:
        yield github


@pytest.fixture
def run_comment(github: FakeGithub, tmp_path: Path) -> RunComment:
    """Put a text on that pull request."""
    return runner_for(github, tmp_path / "report.md")
