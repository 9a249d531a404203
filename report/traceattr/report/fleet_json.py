"""The report on several traces as JSON: every number, integer ns."""

import json
from typing import Any

from traceattr.attribution.fleet_figures import Fleet, RankFigures, Run, Team
from traceattr.attribution.rank_figures import SharedCollectives
from traceattr.report.json_ranks import communication_entry

FORMAT = 1
"""1: first version; keys may be added under the same number."""


def render_fleet_json(fleet: Fleet, *, version: str, rules_sha256: str) -> str:
    """Return one JSON document."""
    document = {
        "format": FORMAT,
        "kind": "fleet",
        "traceattr": version,
        "rules": {"sha256": rules_sha256},
        "traces": fleet.traces,
        "failed": [{"file": file, "reason": reason} for file, reason in fleet.failed],
        "runs": [_run(run) for run in fleet.runs],
        "warnings": [{"code": notice.code, "text": notice.text} for notice in fleet.warnings],
    }
    return json.dumps(document, indent=2) + "\n"


def _run(run: Run) -> dict[str, Any]:
    return {
        "ranks": [_rank(rank, run) for rank in run.ranks],
        "parallel": dict(run.parallel),
        "matched_rounds": run.matched,
        "straggler": run.straggler,
        "rank_groups": [_team(team) for team in run.teams],
        "groups": [
            {
                "group": spread.group,
                "lowest_share": spread.lowest,
                "median_share": spread.median,
                "highest_share": spread.highest,
                "highest_rank": spread.highest_rank,
            }
            for spread in run.spreads
        ],
        "worst_rounds": [
            {
                "after_ns": worst.start_ns,
                "wall_ns": worst.wall_ns,
                "rank": worst.rank,
                "excess_ns": worst.excess_ns,
            }
            for worst in run.worst
        ],
    }


def _team(team: Team) -> dict[str, Any]:
    collectives = team.collectives or SharedCollectives()
    return {
        "name": team.name,
        "ranks": list(team.ranks),
        "matched_rounds": team.matched,
        "why_unmatched": team.why_unmatched,
        "rounds": collectives.rounds,
        "rounds_left_out": collectives.rounds_left_out,
        "reason": collectives.reason,
        "straggler": team.straggler,
    }


def _rank(rank: RankFigures, run: Run) -> dict[str, Any]:
    part = rank.part
    return {
        "number": rank.number,
        "file": part.file,
        "gpu": part.gpu,
        "rank": part.rank,
        "process": part.process,
        "name": part.name,
        "wall_ns": part.wall_ns,
        "busy_ns": part.busy_ns,
        "groups": [{"group": name, "exclusive_ns": ns} for name, ns in part.groups],
        "rounds": rank.rounds,
        "round_ns": rank.round_ns,
        "own_ns": rank.own_ns,
        "behind_ns": rank.behind_ns,
        "slowest_rounds": rank.slowest,
        "clock_ns": rank.clock_ns,
        "communication": communication_entry(run.communication_of(rank)),
    }
