"""What replays of one graph show of its purpose: its make-up, and what runs beside it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from traceattr.attribution import roles
from traceattr.attribution.intervals import Times
from traceattr.attribution.labels import KernelNames
from traceattr.attribution.pieces import Pieces, named
from traceattr.attribution.roles import Flags
from traceattr.attribution.timeline import Timeline

CHAIN = 4
"""So many replays with the attention of one layer between each two are the pieces of a prefill."""

MOSTLY = 0.5
"""Share of a family's replays from which on something is said of the family."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """For each piece, whether tree building or verification runs eagerly right beside it."""

    tree_before: Flags
    tree_after: Flags
    verified_before: Flags
    verified_after: Flags


@dataclass(frozen=True, slots=True)
class Signs:
    """Shares of a family's replays, and what it is made of.

    Attributes:
        depth: Layers of the model it runs, the median over replays.
        passes: Forward passes in a replay.
        duration_ns: Median length of a replay.
        is_hidden: Whether no replay shows a layer.
        tree_before: Share of replays right after tree building.
        tree_after: Share right before tree building.
        verified_before: Share right after verification.
        verified_after: Share right before verification.
        after_target: Share right after the target.
        before_target: Share right before the target.
        in_chain: Share among the pieces of a prefill, see `find_chains`.
    """

    depth: float
    passes: int
    duration_ns: float
    is_hidden: bool
    tree_before: float
    tree_after: float
    verified_before: float
    verified_after: float
    after_target: float
    before_target: float
    in_chain: float


def surroundings(timeline: Timeline, pieces: Pieces, names: KernelNames) -> Surroundings:
    """Return what runs eagerly beside each piece."""
    tree = _runs_after(timeline, pieces, roles.tree_building(names))
    verified = _runs_after(timeline, pieces, roles.verification(names))
    return Surroundings(
        tree_before=np.append(False, tree[:-1])[: len(tree)],
        tree_after=tree,
        verified_before=np.append(False, verified[:-1])[: len(verified)],
        verified_after=verified,
    )


def _runs_after(timeline: Timeline, pieces: Pieces, flags: Flags) -> Flags:
    """Return after which pieces, and before the next one, some of the flagged names run."""
    starts = timeline.start_ns[named(flags, timeline) & (pieces.of_operation < 0)]
    after = np.searchsorted(pieces.start_ns, starts, side="right") - 1
    result = np.zeros(len(pieces.start_ns), np.bool_)
    result[after[after >= 0]] = True
    return result


def find_chains(timeline: Timeline, pieces: Pieces, names: KernelNames) -> Flags:
    """Return which pieces are replays of the graphs that a prefill is cut into.

    Such graphs hold no attention: it runs eagerly between each two.  Every one is another graph,
    and neither an embedding nor sampling nor anything of speculation comes between them.
    """
    is_replay = pieces.replay >= 0
    at = np.flatnonzero(is_replay & (pieces.layers == 0))
    graph_id = timeline.replays.graph_id[pieces.replay[at]]
    between = _eager_of(timeline, roles.attention_core(names) | roles.recurrent_core(names))
    breaks = _eager_of(timeline, roles.embedding(names) | _ends_pass(names))
    starts = pieces.start_ns
    is_link = (
        (np.cumsum(is_replay)[at[1:]] - np.cumsum(is_replay)[at[:-1]] == 1)
        & (graph_id[1:] != graph_id[:-1])
        & _any_between(between, starts[at[:-1]], starts[at[1:]])
        & ~_any_between(breaks, starts[at[:-1]], starts[at[1:]])
    )
    chain = np.cumsum(np.append(True, ~is_link))[: len(at)]
    in_chain = np.zeros(len(starts), np.bool_)
    in_chain[at] = np.bincount(chain, minlength=1)[chain] >= CHAIN
    return in_chain


def _ends_pass(names: KernelNames) -> Flags:
    return roles.sampling(names) | roles.tree_building(names) | roles.verification(names)


def _eager_of(timeline: Timeline, flags: Flags) -> Times:
    """Return when kernels of the flagged names begin that no graph replays."""
    return timeline.start_ns[named(flags, timeline) & (timeline.replay < 0)]


def _any_between(times_ns: Times, begin_ns: Times, end_ns: Times) -> Flags:
    return np.searchsorted(times_ns, end_ns) > np.searchsorted(times_ns, begin_ns)


def read_signs(
    pieces: Pieces, mine: Flags, around: Surroundings, is_target: Flags, in_chain: Flags
) -> Signs:
    """Return what the pieces flagged as `mine` show; targets and chains are flagged too."""
    before_target = np.append(is_target[1:], False)
    after_target = np.append(False, is_target[:-1])
    layers = pieces.layers[mine]
    return Signs(
        depth=float(np.median(pieces.depth[mine])),
        passes=int(np.median(pieces.passes[mine])),
        duration_ns=float(np.median((pieces.end_ns - pieces.start_ns)[mine])),
        is_hidden=not layers.any(),
        tree_before=float(around.tree_before[mine].mean()),
        tree_after=float(around.tree_after[mine].mean()),
        verified_before=float(around.verified_before[mine].mean()),
        verified_after=float(around.verified_after[mine].mean()),
        after_target=float(after_target[mine].mean()),
        before_target=float(before_target[mine].mean()),
        in_chain=float(in_chain[mine].mean()),
    )


def evidence(signs: Signs) -> Iterator[str]:
    """Yield the signs that hold for most replays, in words."""
    if signs.is_hidden:
        yield f"{signs.duration_ns / 1e6:.3f} ms, nodes hidden"
    else:
        passes = "1 pass" if signs.passes == 1 else f"{signs.passes} passes"
        layers = "1 layer" if signs.depth == 1 else f"{signs.depth:g} layers"
        yield f"{layers} in {passes}"
    for share, text in (
        (signs.tree_before, "after tree building"),
        (signs.tree_after, "before tree building"),
        (signs.verified_before, "after verification"),
        (signs.verified_after, "before verification"),
        (signs.after_target, "right after the target"),
        (signs.before_target, "right before the target"),
        (signs.in_chain, "one of the graphs that a prefill is cut into"),
    ):
        if share > MOSTLY:
            yield text
