"""How the cost of a token is written in the JSON document of a report."""

from dataclasses import asdict
from typing import Any

from traceattr.report.token_cost import TokenCost
from traceattr.report.token_cost_text import token_cost_headline

Json = dict[str, Any]


def token_cost_entry(cost: TokenCost) -> Json:
    """Return the ``token_cost`` of a report; times are those of one token of a request."""
    return {
        "headline": token_cost_headline(cost),
        "accept_length": _input(cost.accept_length),
        "batch": _input(cost.batch),
        "round_ns": cost.round_ns,
        "token_ns": cost.token_ns,
        "tokens_per_s": {"rounds": cost.tokens_per_s, "server": cost.logged_tokens_per_s},
        "parts": [
            {
                "part": part.name,
                "is_gap": part.is_gap,
                "round_ns": part.round_ns,
                "token_ns": cost.of_token(part.round_ns),
            }
            for part in cost.parts
        ],
        "server": asdict(cost.load) if cost.load else None,
        "warnings": list(cost.notices),
    }


def _input(found: Any) -> Json:
    return {"value": found.value, "from": found.source} if found else {"value": None, "from": None}
