"""How wait and wire of collectives are written in the JSON document of a report."""

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from traceattr.attribution.rank_figures import Communication, RankGroup
from traceattr.attribution.round_figures import Spread

Json = dict[str, Any]

NO_SPREAD = dict.fromkeys(field.name for field in fields(Spread))
"""Order statistics of nothing."""

_KEYS = tuple(field.name for field in fields(Communication))


def communication_of(gpu: int, groups: Sequence[RankGroup]) -> Json:
    """Return the entry of one GPU."""
    return communication_entry(
        next((one for group in groups for one in group.per_gpu or () if one.gpu == gpu), None)
    )


def communication_entry(found: Communication | None) -> Json:
    """Return what one rank spends in collectives, all null where nothing can be said."""
    entry = asdict(found) if found else dict.fromkeys(_KEYS)
    del entry["gpu"]
    wire, wait = entry.pop("wire_per_round"), entry.pop("wait_per_round")
    return {**entry, "wire_per_round_ns": wire or NO_SPREAD, "wait_per_round_ns": wait or NO_SPREAD}


def rank_group_entry(group: RankGroup) -> Json:
    """Return what holds for a group as a whole."""
    return {
        "gpus": list(group.gpus),
        "rounds": group.rounds,
        "decode_rounds": group.decode_rounds,
        "rounds_left_out": group.rounds_left_out,
        "straggler": asdict(group.straggler) if group.straggler else None,
        "reason": group.reason,
    }
