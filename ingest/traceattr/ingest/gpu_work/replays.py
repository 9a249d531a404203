"""Which launch of its graph an operation without a correlation id belongs to.

nsys gives correlation 0 to the nodes of graphs that were instantiated before the collection began,
which is normal when a running server is profiled.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class GraphWork:
    """Operations that graphs ran, in any order; arrays of shape (n,).

    Attributes:
        graph: Graph of each operation, unique per GPU.
        node: Node of each operation, unique in its graph.
        start_ns: Begins.
        end_ns: Ends.
    """

    graph: IntArray
    node: IntArray
    start_ns: IntArray
    end_ns: IntArray

    def sorted(self) -> tuple["GraphWork", IntArray]:
        """Return the operations by graph and time, and their order."""
        order = np.lexsort((self.node, self.start_ns, self.graph))
        columns = (self.graph, self.node, self.start_ns, self.end_ns)
        return GraphWork(*(column[order] for column in columns)), order


def number_replays(work: GraphWork) -> IntArray:
    """Return the replay number of each operation, dense from 0 over all graphs; shape (n,).

    Algorithm: a node runs once per replay and replays of one graph do not overlap, so somewhere
    between two runs of a node a replay begins: where the graph had been idle for longest.  The
    first replay may be cut short by the begin of the capture.
    """
    if not len(work.graph):
        return np.empty(0, np.int64)
    work, order = work.sorted()
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(_begins_replay(work)) - 1
    return numbers


def _begins_replay(work: GraphWork) -> npt.NDArray[np.bool_]:
    """Return where a replay begins; the loop is over replays, not over operations.

    `latest` never falls, so the first node that ran since a beginning is found by bisection.
    """
    latest = np.maximum.accumulate(_previous_run(work))
    idle_ns = _idle_before(work)
    bounds = np.append(np.flatnonzero(np.diff(work.graph)) + 1, len(work.graph))
    begins = np.zeros(len(work.graph), np.bool_)
    first = 0
    for end in bounds.tolist():
        while first < end:
            begins[first] = True
            repeat = int(np.searchsorted(latest, first))
            if repeat >= end:
                break
            # Between the two runs; of equal gaps the last, which is the repeated node itself.
            choices = idle_ns[int(latest[repeat]) + 1 : repeat + 1][::-1]
            first = repeat - int(np.argmax(choices))
        first = end
    return begins


def _previous_run(work: GraphWork) -> IntArray:
    """Return, for each position, the last earlier position of the same node, or -1."""
    by_node = np.lexsort((np.arange(len(work.node)), work.node, work.graph))
    same = (np.diff(work.graph[by_node]) == 0) & (np.diff(work.node[by_node]) == 0)
    previous = np.full(len(work.node), -1, np.int64)
    previous[by_node[1:][same]] = by_node[:-1][same]
    return previous


def _idle_before(work: GraphWork) -> IntArray:
    """Return how long no earlier operation had run when each one began, negative if one still does.

    Graphs follow each other in the arrays, so the value at a graph's first operation means nothing.
    """
    latest_end = np.maximum.accumulate(work.end_ns - _offset(work)) + _offset(work)
    idle_ns = np.zeros(len(work.start_ns), np.int64)
    idle_ns[1:] = work.start_ns[1:] - latest_end[:-1]
    return idle_ns


def _offset(work: GraphWork) -> IntArray:
    """Return a time per graph that makes the ends of later graphs the later ones."""
    span = int(work.end_ns.max() - work.start_ns.min()) + 1
    step = np.cumsum(np.append(0, np.diff(work.graph) != 0))
    return -span * step
