"""What the cost of a token says, in words and cells that every format shares."""

from collections.abc import Iterator

from traceattr.report.figures import MILLISECONDS, NOTHING, counted, duration, share
from traceattr.report.token_cost import TokenCost

TITLES = ("part of a round", "ms/round", "ms/token", "from", "to", "share")
"""Of the whole table; `COLUMNS` names choices of them, the widest first."""

COLUMNS = ((0, 1, 2, 3, 4, 5), (0, 1, 2, 5), (0, 2, 5), (0, 2))

METHOD = (
    "ms/token: time per round over the tokens that a request gains in it, the bonus one too; from"
    " and to add the parts up."
)

_NAMES = {
    "target": "target passes",
    "draft": "draft passes",
    "prefill": "prefill",
    "other": "eager work around them",
}


def token_cost_title(cost: TokenCost) -> str:
    """Return what stands above the table."""
    gpus = "1 GPU" if cost.gpus == 1 else f"mean of {cost.gpus} GPUs"
    return f"Cost of one accepted token ({gpus})"


def token_cost_headline(cost: TokenCost) -> str:
    """Return the cost of a token, and tokens per second as the rounds and the server have it."""
    words = [_cost_words(cost), *_rate_words(cost)]
    return f"{'; '.join(words)}."


def _cost_words(cost: TokenCost) -> str:
    if cost.token_ns is None or cost.accept_length is None:
        return "The cost of a token is unknown"
    accept = f"{cost.accept_length.value:.2f}"
    return (
        f"One token of a request costs {duration(cost.token_ns)} at {accept} tokens per round"
        f" ({cost.accept_length.source})"
    )


def _rate_words(cost: TokenCost) -> Iterator[str]:
    if cost.tokens_per_s is not None and cost.batch is not None:
        requests = counted(cost.batch.value, "request")
        yield f"the rounds of the trace make {cost.tokens_per_s:,.1f} tokens/s of {requests}"
    if cost.load is not None and cost.logged_tokens_per_s is not None:
        yield (
            f"the {cost.load.source} says {cost.logged_tokens_per_s:,.1f} tokens/s"
            f" ({cost.load.about})"
        )


def token_cost_rows(cost: TokenCost) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each part, and of the round at the end."""
    if cost.round_ns is None:
        return
    begin_ns = 0
    for part in cost.parts:
        end_ns = begin_ns + part.round_ns
        yield (
            _NAMES.get(part.name, part.name),
            MILLISECONDS.number(part.round_ns),
            *(_token(cost, ns) for ns in (part.round_ns, begin_ns, end_ns)),
            share(part.round_ns, cost.round_ns),
        )
        begin_ns = end_ns
    whole = (MILLISECONDS.number(cost.round_ns), _token(cost, cost.round_ns))
    yield ("round", *whole, NOTHING, NOTHING, share(cost.round_ns, cost.round_ns))


def _token(cost: TokenCost, round_ns: int) -> str:
    token_ns = cost.of_token(round_ns)
    return "-" if token_ns is None else MILLISECONDS.number(token_ns)


def token_cost_notes(cost: TokenCost) -> tuple[str, ...]:
    """Return sentences below the table."""
    return tuple(f"{notice[0].upper()}{notice[1:]}." for notice in cost.notices)
