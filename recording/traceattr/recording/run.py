"""Running nsys to its end, whoever ends it, without leaving processes behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import IO

from traceattr.errors import NsysError

_REMEMBERED_BYTES = 64 * 1024
"""How much of what nsys and the command said last is kept, to look for file names in it."""

_GRACE_S = 3.0
"""How long processes have to end after SIGTERM before SIGKILL."""

_DRAIN_S = 2.0
"""How long to wait for the last output once nsys has ended."""

_STOPPING = b"\nstopping: nsys writes what it has; Ctrl-C again ends it at once\n"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run of nsys ended.

    Attributes:
        code: Exit code of nsys, which is that of the command; minus a signal that killed nsys.
        signal: What stopped us meanwhile, such as SIGINT; None when nothing did.
        seconds: How long it took.
        said: The last part of what nsys and the command printed; empty when they kept the terminal.
    """

    code: int
    signal: int | None
    seconds: float
    said: str


class _Run:
    """One running nsys, and what has been heard of it."""

    def __init__(self, process: subprocess.Popen[bytes], echo: Callable[[bytes], None]) -> None:
        self.process = process
        self.signal: int | None = None
        self.said = b""
        self._echo = echo

    def listen(self, stream: IO[bytes]) -> None:
        """Pass on what is printed, as it comes."""
        with stream:
            while chunk := os.read(stream.fileno(), 65536):
                self._echo(chunk)
                self.said = (self.said + chunk)[-_REMEMBERED_BYTES:]

    def stop(self, number: int, _frame: FrameType | None) -> None:
        """Ask nsys to write what it has and to end the command; the second time, end everything."""
        if self.signal is not None:
            self.kill()
            return
        self.signal = number
        self._echo(_STOPPING)
        self.process.send_signal(signal.SIGINT if number == signal.SIGINT else signal.SIGTERM)

    def kill(self) -> None:
        """End nsys and what it started, which is in its process group."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)


def run_nsys(
    arguments: Sequence[str], *, echo: Callable[[bytes], None], keep_running: bool
) -> Ended:
    """Run nsys and wait for it.

    It gets a process group of its own, so that Ctrl-C reaches it once and through us. When nsys
    is killed, what it started is ended too.

    Args:
        arguments: The whole command line.
        echo: Told all that nsys and the command print.
        keep_running: Whether the command outlives us; it then prints to our standard error itself.

    Raises:
        NsysError: It cannot be started.
    """
    began = time.monotonic()
    run = _Run(_started(arguments, keep_running), echo)
    try:
        with _signals_to(run):
            listener = _listener(run)
            code = run.process.wait()
            if listener is not None:
                listener.join(_DRAIN_S)
        if code < 0:
            _end_group(run.process.pid)
    except BaseException:
        run.kill()
        raise
    said = run.said.decode("utf-8", errors="replace")
    return Ended(code, run.signal, time.monotonic() - began, said)


def _started(arguments: Sequence[str], keep_running: bool) -> subprocess.Popen[bytes]:
    # Of a terminal, a process group in the background would be stopped when it reads.
    is_terminal = sys.stdin is not None and sys.stdin.isatty()
    try:
        return subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL if is_terminal else None,
            stdout=_ERRORS if keep_running else subprocess.PIPE,
            stderr=_ERRORS if keep_running else subprocess.STDOUT,
            process_group=0,
        )
    except OSError as error:
        raise NsysError(f"{arguments[0]}: cannot be run ({error.strerror})") from error


_ERRORS = 2
"""Standard error; standard output is for the report alone."""


def _listener(run: _Run) -> threading.Thread | None:
    if run.process.stdout is None:
        return None
    thread = threading.Thread(target=run.listen, args=(run.process.stdout,), daemon=True)
    thread.start()
    return thread


@contextmanager
def _signals_to(run: _Run) -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, run.stop) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _end_group(group: int) -> None:
    """End what a killed nsys left running."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGTERM)
        time.sleep(_GRACE_S)
        os.killpg(group, signal.SIGKILL)
