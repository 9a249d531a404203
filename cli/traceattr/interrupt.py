"""Ctrl-C ends the program with one word, whatever it is doing."""

import os
import signal

INTERRUPTED = 128 + signal.SIGINT
"""Exit code after Ctrl-C, as shells and Typer have it."""


def end_at_once() -> None:
    """Let Ctrl-C end the program while nothing is begun that would have to be cleaned up.

    An exception would be swallowed by some of the imports, or show where they were.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored
        signal.signal(signal.SIGINT, _end)


def raise_from_now_on() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again, so that work is cleaned up."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> None:
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(INTERRUPTED)
