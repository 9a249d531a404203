"""A line on standard error for whoever waits longer than a second."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

DELAY_S = 1.0


@contextmanager
def progress(what: str) -> Iterator[Callable[[str], None]]:
    """Show ``WHAT: step`` while the block runs; nothing in the first second or when piped."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    status = Console(stderr=True).status(what)
    timer = threading.Timer(DELAY_S, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda step: status.update(f"{what}: {step}")
    finally:
        timer.cancel()
        timer.join()
        status.stop()
