"""How often and how long each kernel name ran."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from traceattr.attribution.account import Account
from traceattr.attribution.analysis import KernelTime, Window
from traceattr.attribution.intervals import Times
from traceattr.attribution.labels import KernelNames
from traceattr.attribution.roles import Flags
from traceattr.attribution.spread import lower_median
from traceattr.attribution.timeline import Ids
from traceattr.ingest.for_each import for_each


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs of kernels on one GPU that touch a window.

    Attributes:
        count: Runs of each name; shape (names,).
        end: Where those of each name end in `length_ns`; shape (names,).
        inside_ns: How long they ran inside the window; shape (names,).
        length_ns: How long each lasted as a whole, those of one name after those of the one
            before; shape (runs,).
    """

    count: Ids
    end: Ids
    inside_ns: Times
    length_ns: Times

    def lengths_of(self, name_id: int) -> Times:
        """Return how long the runs of one name lasted."""
        end = int(self.end[name_id])
        return self.length_ns[end - int(self.count[name_id]) : end]


def kernel_times(
    accounts: Sequence[Account], window: Window, names: KernelNames
) -> tuple[KernelTime, ...]:
    """Return every kernel name in the window, longest time per GPU first."""
    found = for_each(lambda account: _runs(account, window, len(names.names)), accounts)
    counts = np.array([runs.count for runs in found])
    gpus, operations = (counts > 0).sum(axis=0), counts.sum(axis=0)
    total_ns = np.sum([runs.inside_ns for runs in found], axis=0)
    ran = np.flatnonzero(operations).tolist()
    return tuple(
        KernelTime(
            name=names.names[name_id],
            category=names.classifications[name_id].category,
            subcategory=names.classifications[name_id].subcategory,
            rule=names.classifications[name_id].rule,
            gpus=int(gpus[name_id]),
            operations=int(operations[name_id]),
            total_ns=int(total_ns[name_id]),
            median_ns=lower_median(np.concatenate([runs.lengths_of(name_id) for runs in found])),
        )
        for name_id in sorted(ran, key=lambda at: (-total_ns[at] / gpus[at], at))
    )


def _runs(account: Account, window: Window, names: int) -> _Runs:
    """Return the runs of one GPU.

    Sums go through float64, which is exact below 2**53 ns (104 days).
    """
    timeline = account.timeline
    chosen = timeline.touches(window.start_ns, window.end_ns) & (timeline.name_id >= 0)
    # Ids of 16 bits are sorted in linear time.
    name_id = timeline.name_id[chosen].astype(np.min_scalar_type(names))
    length_ns = (timeline.end_ns - timeline.start_ns)[chosen]
    total_ns = np.bincount(name_id, weights=length_ns, minlength=names).astype(np.int64)
    order = np.argsort(name_id, kind="stable")
    count = np.bincount(name_id, minlength=names)
    return _Runs(
        count=count,
        end=np.cumsum(count),
        inside_ns=total_ns - _outside(account, window, chosen, names),
        length_ns=length_ns[order],
    )


def _outside(account: Account, window: Window, chosen: Flags, names: int) -> Times:
    """Return how long the chosen runs of each name last outside the window, as few do."""
    timeline = account.timeline
    is_cut = (timeline.start_ns < window.start_ns) | (timeline.end_ns > window.end_ns)
    at = np.flatnonzero(chosen & is_cut)
    before_ns = np.maximum(window.start_ns - timeline.start_ns[at], 0)
    after_ns = np.maximum(timeline.end_ns[at] - window.end_ns, 0)
    outside = np.bincount(timeline.name_id[at], weights=before_ns + after_ns, minlength=names)
    return outside.astype(np.int64)
