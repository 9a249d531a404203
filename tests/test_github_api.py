"""Asking GitHub again: when, how long after, and that nothing is done twice."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations, count
from typing import TypeVar

import pytest

from tests.fake_github import FakeGithub, Reply
from traceattr.cli.github.address import Address, find_address
from traceattr.cli.github.api import Api
from traceattr.cli.github.comments import Comment, Comments, put_comment
from traceattr.cli.github.patience import Clock
from traceattr.cli.github.target import PullRequest
from traceattr.cli.github.token import Token
from traceattr.errors import GithubError

_Answer = TypeVar("_Answer")

KEY = "default"
BODY = "<!-- traceattr:default -->\n\nreport"
NOW_S = 1_700_000_000.0


@dataclass
class Waits:
    """A clock that only waiting moves."""

    waited_s: list[float] = field(default_factory=list)

    @property
    def clock(self) -> Clock:
        return Clock(
            monotonic=lambda: sum(self.waited_s),
            now=lambda: NOW_S + sum(self.waited_s),
            sleep=self.waited_s.append,
        )


def put(github: FakeGithub, waits: Waits, timeout_s: float = 600) -> str:
    api = Api(Address(github.url), Token("ghs_0123456789"), timeout_s, waits.clock)
    return put_comment(Comments(api, PullRequest("octo/server", 12)), KEY, "octobot", BODY).url


CUT = Reply(None)
CUT_AFTER = Reply(None, is_done=True)
LIMITED = {"message": "You have exceeded a secondary rate limit"}


@pytest.mark.parametrize("request_", ["GET comments", "POST comments", "PATCH comments"])
@pytest.mark.parametrize(
    ("reply", "wait_s"),
    [
        (Reply(429, {}, {"Retry-After": "7"}), 7),
        (Reply(403, {}, {"Retry-After": "7"}), 7),
        (Reply(429, {}, {"Retry-After": "Tue, 14 Nov 2023 22:13:29 GMT"}), 9),
        (Reply(429, {}, {"Retry-After": "Tue, 14 Nov 2023 22:13:19 GMT"}), 0),
        (
            Reply(403, LIMITED, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000030"}),
            31,
        ),
        (Reply(403, LIMITED), 60),
        (Reply(429, {}, {"Retry-After": "soon"}), 60),
    ],
)
def test_a_limit_is_waited_for_as_long_as_github_says(
    github: FakeGithub, request_: str, reply: Reply, wait_s: float
) -> None:
    if request_.startswith("PATCH"):
        github.add(BODY)
    github.replies = [(request_, reply)]
    waits = Waits()

    put(github, waits)

    assert waits.waited_s == [wait_s]
    assert github.bodies() == [BODY]


def test_a_limit_beyond_the_timeout_is_told_at_once(github: FakeGithub) -> None:
    github.replies = [("GET comments", Reply(429, LIMITED, {"Retry-After": "1800"}))]
    waits = Waits()

    with pytest.raises(GithubError) as error:
        put(github, waits, timeout_s=120)

    assert waits.waited_s == []
    assert str(error.value).endswith(
        "rate limit (429 You have exceeded a secondary rate limit); the next attempt would be in"
        " 1,800 s, beyond --timeout 120"
    )


def test_a_limit_without_end_is_given_up(github: FakeGithub) -> None:
    github.replies = [("GET comments", Reply(429, {}, {"Retry-After": "0"}))] * 9

    with pytest.raises(GithubError, match="given up after 5 attempts"):
        put(github, Waits())

    assert len(github.requests) == 5


@pytest.mark.parametrize("failure", [CUT, CUT_AFTER, Reply(502), Reply(503, is_done=True)])
@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
def test_a_cut_is_tried_again_and_nothing_is_done_twice(
    github: FakeGithub, method: str, failure: Reply
) -> None:
    if method in ("PATCH", "DELETE"):
        github.add("<!-- traceattr:default -->\n\nold")
        github.add("<!-- traceattr:default -->\n\nold, again")
    github.replies = [(f"{method} comments", failure)] * 2
    waits = Waits()

    put(github, waits)

    assert github.bodies() == [BODY]
    assert waits.waited_s == ([1] if method == "POST" and failure.is_done else [1, 2])


def test_a_connection_that_stays_cut_is_one_line(github: FakeGithub) -> None:
    github.replies = [("GET comments", CUT)] * 9
    waits = Waits()

    with pytest.raises(GithubError) as error:
        put(github, waits)

    assert waits.waited_s == [1, 2, 4, 8]
    host = github.url.removeprefix("http://")
    assert str(error.value) == f"{host}: the connection was cut; given up after 5 attempts"


def test_a_comment_that_vanishes_before_it_is_updated_is_created_anew(github: FakeGithub) -> None:
    github.add("<!-- traceattr:default -->\n\nold")

    def vanish(method: str, path: str) -> None:
        if method == "PATCH":
            github.comments.clear()

    github.before = vanish
    put(github, Waits())

    assert github.bodies() == [BODY]


@pytest.mark.parametrize(
    ("environment", "url"),
    [
        ({}, "https://api.github.com"),
        ({"GITHUB_API_URL": ""}, "https://api.github.com"),
        ({"GITHUB_API_URL": "https://git.corp:8443/api/v3/"}, "https://git.corp:8443/api/v3"),
        ({"GITHUB_API_URL": "http://localhost:80"}, "http://localhost:80"),
        ({"GITHUB_API_URL": "http://[::1]:80"}, "http://[::1]:80"),
    ],
)
def test_the_api_is_where_the_environment_says(environment: dict[str, str], url: str) -> None:
    assert find_address(environment) == Address(url)


class Turns:
    """Lets two runs ask one after the other, in a given order; a run that is over has no turn."""

    def __init__(self, order: list[int]) -> None:
        self._order = order
        self._over: set[int] = set()
        self._changed = threading.Condition()

    def take(self, run: int, do: Callable[[], _Answer]) -> _Answer:
        with self._changed:
            assert self._changed.wait_for(lambda: self._next() == run, timeout=20)
            self._order = self._order[1:]
            self._changed.notify_all()
            return do()

    def end(self, run: int) -> None:
        with self._changed:
            self._over.add(run)
            self._changed.notify_all()

    def _next(self) -> int:
        self._order = [run for run in self._order if run not in self._over]
        return self._order[0] if self._order else min({0, 1} - self._over)


class RacingComments(Comments):
    """The comments of a pull request as one of two runs asks for them."""

    def __init__(self, shared: list[Comment], turns: Turns, run: int) -> None:
        self._shared, self._turns, self._run = shared, turns, run

    def mine(self, key: str, author: str | None) -> list[Comment]:
        found = self._turns.take(self._run, self._shared.copy)
        return sorted(found, key=lambda comment: comment.id)

    def create(self, body: str) -> Comment:
        return self._turns.take(self._run, lambda: self._put(body, next(IDS)))

    def update(self, comment: Comment, body: str) -> Comment | None:
        return self._turns.take(
            self._run, lambda: self._put(body, comment.id) if self._remove(comment) else None
        )

    def delete(self, comment: Comment) -> None:
        self._turns.take(self._run, lambda: self._remove(comment))

    def _put(self, body: str, number: int) -> Comment:
        self._shared.append(Comment(number, "octobot", body, ""))
        return self._shared[-1]

    def _remove(self, comment: Comment) -> bool:
        """Remove a comment, and return whether it was there."""
        before = len(self._shared)
        self._shared[:] = [each for each in self._shared if each.id != comment.id]
        return len(self._shared) < before


IDS = count(1)
STEPS = 5
"""The most requests of one run in a race: list, create, list, update, delete."""


@pytest.mark.parametrize("existing", [0, 1, 2])
def test_two_runs_leave_one_comment_in_whatever_order_they_ask(existing: int) -> None:
    for first in combinations(range(2 * STEPS), STEPS):
        turns = Turns([0 if step in first else 1 for step in range(2 * STEPS)])
        shared = [Comment(next(IDS), "octobot", "old", "") for _ in range(existing)]
        oldest = [comment.id for comment in shared[:1]]

        def run(number: int, shared: list[Comment] = shared, turns: Turns = turns) -> None:
            put_comment(RacingComments(shared, turns, number), KEY, "octobot", f"report {number}")
            turns.end(number)

        threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        [left] = shared
        assert left.body in {"report 0", "report 1"}, first
        assert [left.id] == (oldest or [left.id])
