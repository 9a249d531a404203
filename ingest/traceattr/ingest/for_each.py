"""The same for every GPU, several at a time: numpy and DuckDB leave the interpreter free."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from traceattr.ingest.machine import cores, release_memory

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def for_each(job: Callable[[_Item], _Result], items: Iterable[_Item]) -> tuple[_Result, ...]:
    """Return what the job makes of each item, in their order; the first error is raised.

    A job that reads the database does so through a cursor of its own.
    """
    work = list(items)
    if len(work) < 2 or cores() < 2:
        results = tuple(map(job, work))
    else:
        with ThreadPoolExecutor(min(len(work), cores())) as pool:
            results = tuple(pool.map(job, work))
    release_memory()
    return results


def both(first: Callable[[], _Item], second: Callable[[], _Result]) -> tuple[_Item, _Result]:
    """Return what two jobs make that keep one core busy each."""
    if cores() < 2:
        return first(), second()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(second)
        return first(), running.result()
