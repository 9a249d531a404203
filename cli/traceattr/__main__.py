"""The command line as ``traceattr`` and ``python -m traceattr`` start it."""

import sys


def main() -> None:
    """Run the command line; what takes long to import is imported when Ctrl-C is clean."""
    try:
        from traceattr.interrupt import end_at_once

        end_at_once()
        from traceattr.cli import app

        app(prog_name="traceattr")
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
