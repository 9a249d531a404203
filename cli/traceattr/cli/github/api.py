"""Requests to GitHub's REST API: asked again while that may help, and never with a token astray."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import urllib3

from traceattr.cli.github.address import Address, connections
from traceattr.cli.github.patience import (
    MOST_RETRIES,
    Clock,
    backoff_s,
    is_limited,
    is_overloaded,
    limit_s,
)
from traceattr.cli.github.token import Token
from traceattr.errors import GithubError

LONGEST_REQUEST_S = 30.0
"""A request that takes longer is given up, and counts as cut."""

LONGEST_MESSAGE = 500
"""Characters of what GitHub says of a failure."""

_MOST_REDIRECTS = 5
_REDIRECTS = {301, 302, 307, 308}


class UnsureError(GithubError):
    """The connection broke: what was sent may have arrived or not."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What GitHub answered; header names are in lower case, and `document` is None for no JSON."""

    status: int
    headers: Mapping[str, str]
    document: Any

    @property
    def is_good(self) -> bool:
        """Whether GitHub did what it was asked."""
        return 200 <= self.status < 300

    @property
    def message(self) -> str:
        """What GitHub says of a failure."""
        if not isinstance(self.document, dict):
            return ""
        errors = self.document.get("errors")
        details = errors if isinstance(errors, list) else []
        texts = [each.get("message") if isinstance(each, dict) else each for each in details]
        parts = [self.document.get("message"), *texts]
        return "; ".join(part for part in parts if isinstance(part, str) and part)[:LONGEST_MESSAGE]


class Api:
    """GitHub's REST API, within a time limit for everything together."""

    def __init__(
        self, address: Address, token: Token, timeout_s: float, clock: Clock | None = None
    ) -> None:
        self._address = address
        self._token = token
        self._clock = clock or Clock()
        self._timeout_s = timeout_s
        self._deadline = self._clock.monotonic() + timeout_s
        self._connections = connections(address)

    def request(self, method: str, path: str, content: object = None) -> Answer:
        """Send a request until GitHub answers for good, whether it did what it was asked or not.

        Raises:
            UnsureError: A POST may have arrived or not; the caller must look before it asks again.
            GithubError: There is no answer, or not in time.
        """
        for attempt in range(MOST_RETRIES + 1):
            try:
                answer = self._follow(method, path, content)
            except UnsureError as error:
                if method == "POST":
                    raise
                self.pause(attempt, error)
                continue
            now_s = self._clock.now()
            if is_limited(answer.status, answer.headers, answer.message):
                reason = f"rate limit ({self._said(answer)})"
                self._wait(limit_s(answer.headers, now_s, attempt), attempt, self._error(reason))
            elif is_overloaded(answer.status):
                failed = UnsureError(self._text(self._said(answer)))
                if method == "POST":
                    raise failed
                self._wait(backoff_s(answer.headers, now_s, attempt), attempt, failed)
            else:
                return answer
        raise AssertionError("the last attempt answers or raises")

    def pause(self, attempt: int, error: GithubError) -> None:
        """Wait before another attempt.

        Raises:
            GithubError: The error, if there were enough attempts or no time is left.
        """
        self._wait(backoff_s({}, 0, attempt), attempt, error)

    def failure(self, answer: Answer, what: str) -> GithubError:
        """Return the error for an answer that the caller can do nothing with."""
        return self._error(f"{what}: {self._said(answer)}")

    def _wait(self, wait_s: float, attempt: int, error: GithubError) -> None:
        if attempt >= MOST_RETRIES:
            raise type(error)(f"{error}; given up after {attempt + 1} attempts")
        if self._clock.monotonic() + wait_s > self._deadline:
            raise type(error)(
                f"{error}; the next attempt would be in {wait_s:,.0f} s, beyond --timeout"
                f" {self._timeout_s:g}"
            )
        self._clock.sleep(wait_s)

    def _follow(self, method: str, path: str, content: object) -> Answer:
        """Send a request and go where the answer points to on the same server."""
        url = f"{self._address.url}{path}"
        for _ in range(_MOST_REDIRECTS):
            answer = self._send(method, url, content)
            location = answer.headers.get("location")
            if answer.status not in _REDIRECTS or location is None:
                return answer
            target = self._address.redirected(url, location)
            if target is None:
                raise self._error(
                    "redirects to another server, which the token is not for"
                    " (expected GITHUB_API_URL to name the right one)"
                )
            url = target
        raise self._error("redirects in a circle (expected GITHUB_API_URL to name an API)")

    def _send(self, method: str, url: str, content: object) -> Answer:
        left_s = self._deadline - self._clock.monotonic()
        # A moment is left even at the deadline: whoever waited for it may ask once more.
        timeout = urllib3.Timeout(max(min(left_s, LONGEST_REQUEST_S), 1.0))
        body = None if content is None else json.dumps(content).encode()
        try:
            response = self._connections.request(
                method,
                url,
                body=body,
                headers=self._headers(),
                retries=False,
                redirect=False,
                timeout=timeout,
            )
        except urllib3.exceptions.HTTPError as error:
            raise UnsureError(self._text(_reason(error))) from error
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Answer(response.status, headers, _document(response.data))

    def _headers(self) -> dict[str, str]:
        return {
            "Accept": "application/vnd.github+json",
            "Authorization": self._token.header,
            "Content-Type": "application/json",
            "User-Agent": f"traceattr/{version('traceattr')}",
            "X-GitHub-Api-Version": "2022-11-28",
        }

    def _said(self, answer: Answer) -> str:
        return f"{answer.status} {answer.message}".rstrip()

    def _error(self, text: str) -> GithubError:
        return GithubError(self._text(text))

    def _text(self, text: str) -> str:
        return self._token.hide(f"{self._address.host}: {text}")


def _document(data: bytes) -> object:
    try:
        return json.loads(data)
    except ValueError:
        return None


_REASONS = {
    urllib3.exceptions.NameResolutionError: "there is no host of this name",
    urllib3.exceptions.NewConnectionError: "cannot be connected to",
    urllib3.exceptions.TimeoutError: "no answer in time",
    urllib3.exceptions.ProxyError: "the proxy of HTTPS_PROXY does not connect",
    urllib3.exceptions.SSLError: "no secure connection (SSL_CERT_FILE names certificates to trust)",
    urllib3.exceptions.ProtocolError: "the connection was cut",
}
"""What a person can understand of a failed connection; the first that fits."""


def _reason(error: Exception) -> str:
    for kind, text in _REASONS.items():
        if isinstance(error, kind):
            return text
    return f"the connection failed ({type(error).__name__})"
