"""Which GPUs share collectives, and which of their rounds are the same."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from traceattr.attribution.account import Account
from traceattr.attribution.analysis import Gpu
from traceattr.attribution.timeline import Ids

_TITLE_PART = re.compile(r"(?<![A-Z])_(DP|PP|TP|EP)(\d+)")
"""A part of a title, but not the end of a longer one such as ``_MOE_DP0``."""


def title_parts(title: str | None) -> list[tuple[str, str]]:
    """Return which of which groups a process is, such as TP 1 of ``scheduler_DP0_PP0_TP1``."""
    return _TITLE_PART.findall(title or "")


def tensor_parallel_groups(gpus: Sequence[Gpu]) -> tuple[tuple[int, ...], ...]:
    """Return the numbers of the GPUs that share collectives."""
    groups = groups_by_title([gpu.process for gpu in gpus])
    return tuple(tuple(gpus[at].gpu for at in group) for group in groups)


def groups_by_title(titles: Sequence[str | None]) -> tuple[tuple[int, ...], ...]:
    """Return the positions of the GPUs that share collectives.

    All GPUs do, unless titles such as ``scheduler_DP0_PP0_TP1`` tell pipeline stages or replicas
    apart.  With attention alone in replicas (DP attention) every rank of the stage has its own TP
    number, and its collectives span the replicas.
    """
    parts = {at: dict(title_parts(title)) for at, title in enumerate(titles)}
    stages = _grouped(parts, ("PP",))
    groups = []
    for stage in stages:
        ranks = [parts[gpu].get("TP") for gpu in stage]
        is_one = None not in ranks and len(set(ranks)) == len(ranks)
        groups += [stage] if is_one else _grouped({gpu: parts[gpu] for gpu in stage}, ("DP",))
    return tuple(tuple(group) for group in groups)


def _grouped(parts: Mapping[int, Mapping[str, str]], keys: tuple[str, ...]) -> list[list[int]]:
    """Return the GPUs by the parts of their titles; those without a rank stay apart from others."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for gpu, part in parts.items():
        key = ("TP" in part, *(part.get(key) for key in keys))
        groups.setdefault(key, []).append(gpu)
    return list(groups.values())


def align_rounds(accounts: Sequence[Account]) -> tuple[Ids, ...]:
    """Return the number of each round of each GPU, the same for rounds that run at the same time.

    A capture may begin or end in another round on each rank, so counting does not do.  Rounds are
    the same when they overlap by more than half of the shorter one; numbers ascend from 0.
    """
    spans = sorted(
        (start + end, gpu, at, start, end)
        for gpu, account in enumerate(accounts)
        for at, (start, end) in enumerate(
            zip(account.rounds.start_ns.tolist(), account.rounds.end_ns.tolist(), strict=True)
        )
    )
    numbers = tuple(np.zeros(len(account.rounds.start_ns), np.int64) for account in accounts)
    number = -1
    seen: set[int] = set()
    first_start = first_end = 0
    for _, gpu, at, start, end in spans:
        overlap = min(end, first_end) - max(start, first_start)
        shorter = min(end - start, first_end - first_start)
        if not seen or gpu in seen or 2 * overlap <= shorter:
            number, seen, first_start, first_end = number + 1, set(), start, end
        seen.add(gpu)
        numbers[gpu][at] = number
    return numbers
