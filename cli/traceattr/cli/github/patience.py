"""When to ask GitHub again, and how long to wait before."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

MOST_RETRIES = 4
"""How often one request is repeated, whatever the reason."""

_TRY_AGAIN = {500, 502, 503, 504}

_UNTOLD_LIMIT_S = 60.0
"""GitHub's advice for a limit that does not say when it ends, docs.github.com: rate limits."""


@dataclass(frozen=True, slots=True)
class Clock:
    """What tells the time and waits; tests bring their own."""

    monotonic: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep


def is_limited(status: int, headers: Mapping[str, str], message: str) -> bool:
    """Return whether GitHub only wants to be asked later, which 403 may mean too."""
    return status == 429 or (
        status == 403
        and (
            "retry-after" in headers
            or headers.get("x-ratelimit-remaining") == "0"
            or "rate limit" in message.lower()
        )
    )


def is_overloaded(status: int) -> bool:
    """Return whether the failure is GitHub's and may pass."""
    return status in _TRY_AGAIN


def limit_s(headers: Mapping[str, str], now_s: float, attempt: int) -> float:
    """Return the seconds after which a limit ends, by what GitHub says of it."""
    told = _retry_after_s(headers.get("retry-after", ""), now_s)
    if told is None and headers.get("x-ratelimit-remaining") == "0":
        reset = headers.get("x-ratelimit-reset", "")
        told = float(reset) - now_s + 1 if reset.isdecimal() else None
    return max(told, 0.0) if told is not None else _UNTOLD_LIMIT_S * 2**attempt


def backoff_s(headers: Mapping[str, str], now_s: float, attempt: int) -> float:
    """Return the seconds to wait after a failure: as told, or longer each time."""
    told = _retry_after_s(headers.get("retry-after", ""), now_s)
    return max(told, 0.0) if told is not None else float(2**attempt)


def _retry_after_s(text: str, now_s: float) -> float | None:
    """Return the seconds of a Retry-After header, a number or a date."""
    if text.isdecimal():
        return float(text)
    try:
        return parsedate_to_datetime(text).timestamp() - now_s
    except ValueError:
        return None
