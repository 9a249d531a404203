"""A running SGLang server: what it says of itself, and its profiling switched on and off."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import urllib3

from traceattr.errors import ServerError

KEY_VARIABLE = "TRACEATTR_SERVER_KEY"
"""Environment variable with the key of a server that wants one."""

INFO_PATHS = ("/server_info", "/get_server_info")
"""Where a server says what it is; the second until 2026."""

MODEL_PATH = "/get_model_info"
_LONGEST_ANSWER_BYTES = 2**24
_LONGEST_QUOTE = 120
_NOT_FOUND = 404

_REASONS: Mapping[type[urllib3.exceptions.HTTPError], str] = {
    urllib3.exceptions.NameResolutionError: "there is no host of this name",
    urllib3.exceptions.NewConnectionError: "nothing answers there (is the server up?)",
    urllib3.exceptions.TimeoutError: "no answer in time",
    urllib3.exceptions.SSLError: "no secure connection",
    urllib3.exceptions.ProtocolError: "the connection was cut",
}


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Server:
    """Where a server is.

    Attributes:
        url: Its address, without a path.
        key: Sent as bearer token; never shown.
        timeout_s: How long an answer may take.
    """

    url: str
    key: str | None = field(default=None, repr=False)
    timeout_s: float = 30.0

    def info(self) -> dict[str, Any]:
        """Return what the server says of itself; it holds secrets.

        Raises:
            ServerError: It does not.
        """
        for path in INFO_PATHS:
            answer = self._ask("GET", path)
            if answer.status != _NOT_FOUND:
                return self._document(path, answer)
        raise ServerError(f"{self.url}: has neither {' nor '.join(INFO_PATHS)} (is it SGLang?)")

    def model_path(self) -> str | None:
        """Return the model that the server serves, where it says so in a place of its own."""
        answer = self._ask("GET", MODEL_PATH)
        if answer.status == _NOT_FOUND:
            return None
        found = self._document(MODEL_PATH, answer).get("model_path")
        return found if isinstance(found, str) else None

    def start_profile(self, steps: int | None) -> None:
        """Have the server call cudaProfilerStart, and Stop after some steps.

        Raises:
            ServerError: It does not.
        """
        body: dict[str, Any] = {"activities": ["CUDA_PROFILER"]}
        if steps is not None:
            body["num_steps"] = steps
        self._checked("/start_profile", self._ask("POST", "/start_profile", body))

    def stop_profile(self) -> None:
        """Have the server call cudaProfilerStop.

        Raises:
            ServerError: It does not.
        """
        self._checked("/stop_profile", self._ask("POST", "/stop_profile"))

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> _Answer:
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        try:
            with urllib3.PoolManager(retries=False, timeout=self.timeout_s) as pool:
                answer = pool.request(
                    method,
                    f"{self.url}{path}",
                    headers=headers,
                    json=body,
                    redirect=False,
                    preload_content=False,
                )
                return _Answer(answer.status, answer.read(_LONGEST_ANSWER_BYTES))
        except urllib3.exceptions.HTTPError as error:
            known = (text for kind, text in _REASONS.items() if isinstance(error, kind))
            reason = next(known, type(error).__name__)
            raise ServerError(f"{self.url}{path}: {reason}") from error

    def _document(self, path: str, answer: _Answer) -> dict[str, Any]:
        self._checked(path, answer)
        try:
            document = json.loads(answer.data)
        except ValueError as error:
            raise ServerError(
                f"{self.url}{path}: the answer is not JSON (is it SGLang?)"
            ) from error
        if not isinstance(document, dict):
            raise ServerError(f"{self.url}{path}: the answer is no object (is it SGLang?)")
        return document

    def _checked(self, path: str, answer: _Answer) -> None:
        if 200 <= answer.status < 300:
            return
        if answer.status in (401, 403):
            raise ServerError(f"{self.url}{path}: wants a key (put it into {KEY_VARIABLE})")
        said = " ".join(answer.data[:4096].decode("utf-8", errors="replace").split())
        if self.key:
            said = said.replace(self.key, "***")
        quoted = f': "{said[:_LONGEST_QUOTE]}"' if said else ""
        raise ServerError(f"{self.url}{path}: HTTP {answer.status}{quoted}")


def server_at(address: str, key: str | None, timeout_s: float) -> Server:
    """Return the server at an address as people write it, such as ``localhost:30000``.

    Raises:
        ServerError: It is no address, or the key cannot be sent.
    """
    try:
        url = urllib3.util.parse_url(address if "://" in address else f"http://{address}")
    except urllib3.exceptions.LocationParseError as error:
        raise ServerError("no address of a server (expected http://HOST:PORT)") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise ServerError("no address of a server (expected http://HOST:PORT)")
    key = (key or "").strip()
    if not key.isascii() or not key.isprintable():
        # The key is not repeated: it may be a secret with a stray character.
        raise ServerError(f"{KEY_VARIABLE}: is no key (expected letters and digits on one line)")
    path = (url.path or "").rstrip("/")
    # Name and password in an address are for nobody's terminal.
    port = f":{url.port}" if url.port else ""
    return Server(f"{url.scheme}://{url.host}{port}{path}", key or None, timeout_s)
