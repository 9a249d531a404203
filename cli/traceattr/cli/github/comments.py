"""One comment of a pull request for each key: created once, then updated, even when runs race."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from traceattr.cli.github.api import Answer, Api, UnsureError
from traceattr.cli.github.marker import key_of
from traceattr.cli.github.target import PullRequest
from traceattr.errors import GithubError, NotAllowedError

PAGE = 100
"""Comments that are asked for at once; GitHub gives no more."""

ACTIONS_BOT = "github-actions[bot]"
"""Who comments with the token of a workflow, which may not ask who it is."""

_MOST_ROUNDS = 5
"""How often to begin again because a comment vanished or a request may have been lost."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment; the author is None for accounts that are gone."""

    id: int
    author: str | None
    body: str
    url: str


@dataclass(frozen=True, slots=True)
class Posted:
    """Where the report now is."""

    url: str
    is_new: bool


class TooLongError(GithubError):
    """GitHub takes only shorter comments."""


class Comments:
    """The comments of one pull request; a comment that is not there any more is no error."""

    def __init__(self, api: Api, pull_request: PullRequest) -> None:
        self._api = api
        self._pull_request = pull_request
        self._issues = f"/repos/{pull_request.repository}/issues"

    def mine(self, key: str, author: str | None) -> list[Comment]:
        """Return an author's comments with a key, the oldest first."""
        found = [c for c in self._all() if c.author == author and key_of(c.body) == key]
        return sorted(found, key=lambda comment: comment.id)

    def create(self, body: str) -> Comment:
        """Add a comment.

        Raises:
            UnsureError: It may have been added or not.
        """
        path = f"{self._issues}/{self._pull_request.number}/comments"
        answer = self._api.request("POST", path, {"body": body})
        return self._comment(self._good(answer).document)

    def update(self, comment: Comment, body: str) -> Comment | None:
        """Change a comment's text; return nothing if it was deleted meanwhile."""
        path = f"{self._issues}/comments/{comment.id}"
        answer = self._api.request("PATCH", path, {"body": body})
        return None if answer.status == 404 else self._comment(self._good(answer).document)

    def delete(self, comment: Comment) -> None:
        """Delete a comment, or leave that to whoever was faster."""
        answer = self._api.request("DELETE", f"{self._issues}/comments/{comment.id}")
        if answer.status not in (404, 410):
            self._good(answer)

    def pause(self, attempt: int, error: GithubError) -> None:
        """Wait before another attempt, or raise the error."""
        self._api.pause(attempt, error)

    def _all(self) -> Iterator[Comment]:
        path = f"{self._issues}/{self._pull_request.number}/comments?per_page={PAGE}&page="
        for page in self._pages(path):
            for each in page:
                yield self._comment(each)

    def _pages(self, path: str) -> Iterator[list[Any]]:
        before = None
        for number in count(1):
            answer = self._good(self._api.request("GET", f"{path}{number}"))
            page = answer.document
            if not isinstance(page, list):
                raise self._unreadable(answer)
            yield page
            # The link itself is not followed: the token goes to no address but the API's.
            link = answer.headers.get("link")
            has_more = len(page) == PAGE if link is None else 'rel="next"' in link
            if not has_more or page == before:
                return
            before = page

    def _comment(self, document: object) -> Comment:
        match document:
            case {"id": int(number), **rest}:
                author, body, url = rest.get("user"), rest.get("body"), rest.get("html_url")
                return Comment(
                    id=number,
                    author=login(author),
                    body=body if isinstance(body, str) else "",
                    url=url if isinstance(url, str) else "",
                )
            case _:
                raise self._unreadable(Answer(200, {}, document))

    def _good(self, answer: Answer) -> Answer:
        if answer.is_good:
            return answer
        if answer.status == 422 and "too long" in answer.message.lower():
            raise TooLongError(str(self._failure(answer, "")))
        if answer.status == 403:
            raise NotAllowedError(str(self._failure(answer, "")))
        raise self._failure(answer, _REMEDIES.get(answer.status, ""))

    def _failure(self, answer: Answer, remedy: str) -> GithubError:
        failure = self._api.failure(answer, f"cannot comment on {self._pull_request}")
        return GithubError(f"{failure}{remedy}")

    def _unreadable(self, answer: Answer) -> GithubError:
        return self._failure(answer, ": no answer of GitHub (expected GITHUB_API_URL to name one)")


_REMEDIES = {
    401: "; the token is wrong or has expired (expected another in GITHUB_TOKEN or GH_TOKEN)",
    404: "; there is no such pull request, or the token may not see it"
    " (expected --repo OWNER/NAME and --pr N of one that it may)",
}


def login(user: object) -> str | None:
    """Return the name of an account, in small letters as GitHub does not tell them apart."""
    match user:
        case {"login": str(name)}:
            return name.lower()
        case _:
            return None


def who_am_i(api: Api) -> str:
    """Return whose token this is; tokens of workflows may not ask.

    Raises:
        GithubError: The token is refused.
    """
    answer = api.request("GET", "/user")
    if answer.status == 401:
        raise GithubError(f"{api.failure(answer, 'cannot log in')}{_REMEDIES[401]}")
    return login(answer.document) or ACTIONS_BOT


def put_comment(comments: Comments, key: str, author: str, body: str) -> Posted:
    """Make this the text of the author's one comment with the key.

    Raises:
        GithubError: GitHub does not do it.
    """
    for attempt in range(_MOST_ROUNDS):
        if found := comments.mine(key, author):
            if updated := _keep_first(comments, found, body):
                return Posted(updated.url, is_new=False)
            continue
        try:
            created = comments.create(body)
        except UnsureError as error:
            comments.pause(attempt, error)
            continue
        return _settle(comments, key, created, body)
    raise GithubError(
        "the comment is listed, but there is none (404) when it is updated (expected a token that"
        " may write)"
    )


def _settle(comments: Comments, key: str, created: Comment, body: str) -> Posted:
    """Merge what racing runs created at the same time into the oldest.

    Each run deletes all but the oldest, whoever made them: a run that finds its own comment gone
    sees the oldest here, and writes to that. So one comment is left, in whatever order they go, and
    its text is one of theirs. The author is who GitHub says it is, even where that was not known.
    """
    found = comments.mine(key, created.author)
    others = [comment for comment in found if comment.id != created.id]
    both = sorted([*others, created], key=lambda comment: comment.id)
    if both[0] is created:
        for other in others:
            comments.delete(other)
        return Posted(created.url, is_new=True)
    updated = _keep_first(comments, both, body)
    return Posted(updated.url if updated else created.url, is_new=updated is None)


def _keep_first(comments: Comments, found: list[Comment], body: str) -> Comment | None:
    """Update the first comment and delete the rest; return nothing if it was deleted meanwhile."""
    updated = comments.update(found[0], body)
    if updated:
        for other in found[1:]:
            comments.delete(other)
    return updated
