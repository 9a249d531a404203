"""A program that answers like nsys, for what a real one cannot be brought to do at will."""

import sys
from pathlib import Path

VERSION = "NVIDIA Nsight Systems version 2026.2.1.210-262137639646v0"
OPTIONS = (
    "--trace --sample --cpuctxsw --cuda-graph-trace --trace-fork-before-exec --capture-range"
    " --capture-range-end --delay --duration --kill --force-overwrite --output"
)
MAGIC = b"NVIDIA Tegra Profiler Report 1."

_PROGRAM = """#!{python} -IS
import sys

verb = sys.argv[1]
answer = {{"--version": {version!r}, "sessions": {sessions!r}}}.get(verb)
if verb == "profile" and "--help" in sys.argv:
    answer = {options!r}
if answer is not None:
    print(answer)
    sys.exit()

import pathlib, shutil, signal, subprocess

options = dict(a.split("=", 1) for a in sys.argv[2:] if a.startswith("--") and "=" in a)
output = pathlib.Path(options.get("--output", "none").replace("%%", "%"))


def record():
    command = [a for a in sys.argv[2:] if not a.startswith("--")]
    child = subprocess.Popen(command)
    stopped = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: (stopped.append(number), child.terminate()))
    print("recording", child.pid, flush=True)
    code = child.wait()
    return 128 + stopped[0] if stopped else code


def write_report(path):
    path.write_bytes({magic!r} + b"\\n")
    print(f"Generated:\\n    {{path}}", flush=True)


if verb == "profile":
{profile}
elif verb == "export":
{export}
else:
{other}
"""

NO_SESSION = "              ID         TIME                       STATE LAUNCH NAME"
SESSION = f"{NO_SESSION}\n         1014325        00:02                    Launched      1 server"

RECORDS = """
code = record()
write_report(output.with_name(output.name + ".nsys-rep"))
sys.exit(code)
"""


def exports(export: Path) -> str:
    """Return what exports the same file whatever it is given."""
    return f"shutil.copyfile({str(export)!r}, output)"


def says(text: str, code: int = 1) -> str:
    """Return what prints a text and exits."""
    return f"print({text!r}); sys.exit({code})"


def write_nsys(
    path: Path,
    *,
    profile: str = RECORDS,
    export: str = "sys.exit(1)",
    version: str = VERSION,
    options: str = OPTIONS,
    sessions: str = NO_SESSION,
    other: str = "pass",
) -> Path:
    """Write the program, which does as the two pieces of Python say."""
    text = _PROGRAM.format(
        python=sys.executable,
        magic=MAGIC,
        version=version,
        options=options,
        profile=_indented(profile),
        export=_indented(export),
        sessions=sessions,
        other=_indented(other),
    )
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def _indented(code: str) -> str:
    return "\n".join(f"    {line}" for line in code.strip().splitlines())
