"""A bar of block characters; `traceattr.report.drawing` has it in ASCII."""

FULL, LIGHT = "█", "░"
_PARTS = " ▏▎▍▌▋▊▉"
"""Blocks of no to seven eighths of a character."""


def text_bar(full: float, columns: int, light: float = 0) -> str:
    """Return a bar that is full up to one share of its columns and light up to another."""
    whole, rest = divmod(round(full * columns * len(_PARTS)), len(_PARTS))
    return f"{FULL * whole}{_PARTS[rest].strip()}".ljust(round(light * columns), LIGHT)
