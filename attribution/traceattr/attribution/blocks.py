"""Long arrays in parts, where copies of the whole would take too much memory."""

from collections.abc import Iterator

LENGTH = 2**19
"""Elements of a part: some megabytes, which stay in the caches of a core."""


def blocks(length: int) -> Iterator[slice]:
    """Yield the parts of an array in order."""
    for begin in range(0, length, LENGTH):
        yield slice(begin, min(begin + LENGTH, length))
