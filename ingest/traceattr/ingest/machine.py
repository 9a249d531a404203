"""How many cores and how much memory a process may use, which in a container is not all."""

import ctypes
import os
from contextlib import suppress
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
_NO_LIMIT_BYTES = 2**60
"""Version 1 of control groups writes a number near 2**63 where there is no limit."""


def cores(root: Path = _CGROUP) -> int:
    """Return how many threads run at once: by affinity, and by the quota of the container."""
    if hasattr(os, "sched_getaffinity"):
        usable = len(os.sched_getaffinity(0))
    else:
        usable = os.cpu_count() or 1
    quota = _quota(root)
    return usable if quota is None else max(1, min(usable, round(quota)))


def memory_bytes(root: Path = _CGROUP) -> int:
    """Return how much memory there is: that of the machine, or less in a container."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = [
        int(text)
        for name in ("memory.max", "memory/memory.limit_in_bytes")
        if (text := _read(root / name)).isdecimal()
    ]
    return min([physical, *(limit for limit in limits if limit < _NO_LIMIT_BYTES)])


def _quota(root: Path) -> float | None:
    """Return how many cores' worth of time a container gets, None when it is not limited."""
    quota, _, period = _read(root / "cpu.max").partition(" ")
    if not quota:
        quota = _read(root / "cpu" / "cpu.cfs_quota_us")
        period = _read(root / "cpu" / "cpu.cfs_period_us")
    if not (quota.isdecimal() and period.isdecimal() and int(period)):
        return None
    return int(quota) / int(period)


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def release_memory() -> None:
    """Give back to the system what the C library keeps of arrays that are gone.

    Threads leave arrays of some megabytes in heaps of their own, a quarter of all memory in the
    end; glibc gives them back when it is asked, other libraries by themselves.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
