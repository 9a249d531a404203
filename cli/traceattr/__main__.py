"""The command line as ``traceattr`` and ``python -m traceattr`` start it."""

import os
import sys
from contextlib import suppress
from typing import NoReturn


def main() -> None:
    """Run the command line; what takes long to import is imported when Ctrl-C is clean."""
    try:
        from traceattr.interrupt import end_at_once

        end_at_once()
        from traceattr.cli import app

        app(prog_name="traceattr")
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        _end(130)
    except SystemExit as end:
        if end.code == 130:
            _end(130)
        raise


def _end(code: int) -> NoReturn:
    """End with that code; Python may have noted Ctrl-C in an import, and end by SIGINT instead."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # closed, or nobody reads it
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
