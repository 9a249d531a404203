"""Putting rows in order of time, so that the order in which they were written changes nothing."""

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

_Integer = TypeVar("_Integer", bound=np.integer[Any])


def in_order(
    start_ns: npt.NDArray[_Integer], *others: npt.NDArray[np.integer]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[_Integer]]:
    """Return the order by start, then by each of the others, and the starts in it.

    Rows come almost sorted, which a stable sort of one key makes use of; only those that start
    together are sorted by the rest.
    """
    order = np.argsort(start_ns, kind="stable")
    starts = start_ns[order]
    is_equal = starts[1:] == starts[:-1]
    tied = np.flatnonzero(np.append(is_equal, False) | np.append(False, is_equal))
    mine = order[tied]
    order[tied] = mine[np.lexsort([*(key[mine] for key in reversed(others)), starts[tied]])]
    return order, starts
