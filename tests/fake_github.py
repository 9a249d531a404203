"""A server on this machine that behaves as GitHub's REST API does for comments."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.http_server import served

MOST_CHARACTERS = 65_536
PAGE = 30
"""What GitHub gives of a list unless it is asked for up to 100."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer; no status is a connection that is cut before any answer."""

    status: int | None
    document: object = None
    headers: dict[str, str] = field(default_factory=dict)
    is_done: bool = False
    """Whether what was asked for is done all the same."""


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    token: str | None
    body: str | None


@dataclass
class FakeGithub:
    """The pull request octo/server#12, whose comments are in `comments`."""

    user: str | None = "octobot"
    """Whose token is used; None is that of a workflow, which may not ask."""
    comments: list[dict[str, Any]] = field(default_factory=list)
    replies: list[tuple[str, Reply]] = field(default_factory=list)
    """Answers to the next requests that match ``METHOD PATTERN``, each given once."""
    requests: list[Request] = field(default_factory=list)
    pulls: list[dict[str, Any]] = field(default_factory=list)
    before: Callable[[str, str], None] = lambda method, path: None
    url: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _next_id: int = 1000

    @property
    def login(self) -> str:
        return self.user or "github-actions[bot]"

    def add(self, body: str, login: str | None = None) -> dict[str, Any]:
        self._next_id += 1
        comment = {
            "id": self._next_id,
            "user": {"login": login or self.login},
            "body": body,
            "html_url": f"https://github.com/octo/server/pull/12#issuecomment-{self._next_id}",
        }
        self.comments.append(comment)
        return comment

    def bodies(self) -> list[str]:
        return [comment["body"] for comment in self.comments]

    def sent(self, method: str) -> list[Request]:
        return [request for request in self.requests if request.method == method]

    def answer(self, request: Request) -> Reply:
        self.before(request.method, request.path)
        with self._lock:
            self.requests.append(request)
            for given in self.replies:
                method, pattern = given[0].split(" ")
                if method == request.method and re.search(pattern, request.path):
                    self.replies.remove(given)
                    if given[1].is_done:
                        self._done(request)
                    return given[1]
            return self._done(request)

    def _done(self, request: Request) -> Reply:
        if request.token is None:
            return Reply(401, {"message": "Bad credentials"})
        url = urlsplit(request.path)
        match request.method, url.path.split("/")[1:]:
            case "GET", ["user"]:
                if self.user is None:
                    return Reply(403, {"message": "Resource not accessible by integration"})
                return Reply(200, {"login": self.user})
            case "GET", ["repos", "octo", "server", "issues", "12", "comments"]:
                return self._page(parse_qs(url.query))
            case "GET", ["repos", "octo", "server", "pulls"]:
                [head] = parse_qs(url.query)["head"]
                return Reply(200, [pull for pull in self.pulls if pull["head"]["label"] == head])
            case "POST", ["repos", "octo", "server", "issues", "12", "comments"]:
                assert request.body is not None
                return self._too_long(request.body) or Reply(201, self.add(request.body))
            case ("PATCH" | "DELETE") as method, [*_, "issues", "comments", number]:
                found = [c for c in self.comments if c["id"] == int(number)]
                if found and method == "PATCH":
                    return self._changed(found[0], request.body)
                if found:
                    self.comments.remove(found[0])
                    return Reply(204)
        return Reply(404, {"message": "Not Found"})

    def _page(self, query: dict[str, list[str]]) -> Reply:
        size = min(int(query.get("per_page", [str(PAGE)])[0]), 100)
        page = int(query.get("page", ["1"])[0])
        shown = self.comments[(page - 1) * size : page * size]
        more = len(self.comments) > page * size
        link = {
            "Link": f'<{self.url}/repositories/1/issues/12/comments?page={page + 1}>; rel="next"'
        }
        return Reply(200, shown, link if more else {})

    def _changed(self, comment: dict[str, Any], body: str | None) -> Reply:
        assert body is not None
        if (refused := self._too_long(body)) is None:
            comment["body"] = body
        return refused or Reply(200, comment)

    def _too_long(self, body: str) -> Reply | None:
        if len(body) <= MOST_CHARACTERS:
            return None
        text = f"body is too long (maximum is {MOST_CHARACTERS} characters)"
        return Reply(422, {"message": "Validation Failed", "errors": [{"message": text}]})


@contextmanager
def running(github: FakeGithub) -> Iterator[FakeGithub]:
    """Serve on a free port of this machine while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            content = json.loads(self.rfile.read(length)) if length else {}
            token = self.headers.get("Authorization")
            reply = github.answer(Request(self.command, self.path, token, content.get("body")))
            if reply.status is None:
                self.close_connection = True
                return
            data = b"" if reply.status == 204 else json.dumps(reply.document).encode()
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_DELETE = _serve  # noqa: N815

        def log_message(self, *_: object) -> None: ...

    with served(Handler) as github.url:
        yield github
