"""Run the command line as ``python -m traceattr``."""

from traceattr.cli import app

app(prog_name="traceattr")
