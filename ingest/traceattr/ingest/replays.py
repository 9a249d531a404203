"""Which launch of its graph an operation without a correlation id belongs to.

nsys gives correlation 0 to the nodes of graphs that were instantiated before the collection began,
which is normal when a running server is profiled.
"""

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]


def number_replays(group: IntArray, node: IntArray, start_ns: IntArray) -> IntArray:
    """Return the replay number of each operation, dense from 0 over all groups.

    A node runs once per replay, and replays of one graph do not overlap, so in order of time a new
    replay begins with the first node that the current one has already run.

    Args:
        group: Graph of each operation, unique per GPU; shape (n,).
        node: Node of each operation, unique in its graph; shape (n,).
        start_ns: Begin of each operation; shape (n,).
    """
    if not len(group):
        return np.empty(0, np.int64)
    order = np.lexsort((node, start_ns, group))
    previous = _previous_run(group[order], node[order])
    begins_group = np.append(0, np.flatnonzero(np.diff(group[order])) + 1)
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(_begins_replay(previous, begins_group)) - 1
    return numbers


def _previous_run(group: IntArray, node: IntArray) -> IntArray:
    """Return, for each position, the last earlier position of the same node, or -1."""
    by_node = np.lexsort((np.arange(len(node)), node, group))
    same = (np.diff(group[by_node]) == 0) & (np.diff(node[by_node]) == 0)
    previous = np.full(len(node), -1, np.int64)
    previous[by_node[1:][same]] = by_node[:-1][same]
    return previous


def _begins_replay(previous: IntArray, begins_group: IntArray) -> npt.NDArray[np.bool_]:
    """Return where a replay begins: at each group, and wherever a node has run since the last one.

    `latest` never falls, so the first repeat after a beginning is found by bisection: the loop is
    over replays, not over operations.
    """
    latest = np.maximum.accumulate(previous)
    begins = np.zeros(len(previous), np.bool_)
    for first, end in zip(begins_group, np.append(begins_group[1:], len(previous)), strict=True):
        at = int(first)
        while at < end:
            begins[at] = True
            at = max(at + 1, int(np.searchsorted(latest, at)))
    return begins
