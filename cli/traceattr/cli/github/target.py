"""Which pull request is meant: what flags say, or the event that started a workflow."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from traceattr.cli.github.api import Api
from traceattr.errors import GithubError, OptionError

_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9._-]+")
_REF = re.compile(r"refs/pull/(\d+)/")

_NAME_IT = "name it with --repo OWNER/NAME --pr N"


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request of a repository OWNER/NAME."""

    repository: str
    number: int

    def __str__(self) -> str:
        return f"{self.repository}#{self.number}"


@dataclass(frozen=True, slots=True)
class Head:
    """The commit of a pull request that is known by nothing else, as to a run after another run."""

    repository: str
    owner: str
    branch: str
    sha: str

    def __str__(self) -> str:
        return f"the pull request of {self.owner}:{self.branch} on {self.repository}"


def find_target(
    environment: Mapping[str, str], repository: str | None, number: int | None
) -> PullRequest | Head:
    """Return the pull request of the flags, and for what they leave open that of the workflow.

    Raises:
        OptionError: It is not known, or the environment is malformed.
    """
    ours = environment.get("GITHUB_REPOSITORY", "").strip()
    named = repository or ours
    if not named:
        raise OptionError(f"which repository? {_NAME_IT}")
    if not _REPOSITORY.fullmatch(named) or named.endswith(("/.", "/..")):
        where = "--repo" if repository else "GITHUB_REPOSITORY"
        raise OptionError(f"{where} {named!r}: is no repository (expected OWNER/NAME)")
    if number is not None:
        return PullRequest(named, number)
    if named.lower() != ours.lower():
        raise OptionError(f"which pull request of {named}? {_NAME_IT}")
    return _of_event(named, environment)


def _of_event(repository: str, environment: Mapping[str, str]) -> PullRequest | Head:
    match _event(environment.get("GITHUB_EVENT_PATH", "")):
        case {"workflow_run": {"pull_requests": [{"number": int(number)} as pull]}} if _is_of(
            repository, pull
        ):
            return PullRequest(repository, number)
        case {
            "workflow_run": {
                "head_repository": {"owner": {"login": str(owner)}},
                "head_branch": str(branch),
                "head_sha": str(sha),
            }
        }:
            return Head(repository, owner, branch, sha)
        case {"pull_request": {"number": int(number)}}:
            return PullRequest(repository, number)
        case {"issue": {"number": int(number), "pull_request": dict()}}:
            return PullRequest(repository, number)
    if found := _REF.match(environment.get("GITHUB_REF", "")):
        return PullRequest(repository, int(found[1]))
    name = environment.get("GITHUB_EVENT_NAME", "")
    why = f"the event {name!r} is of none" if name else "no event tells"
    raise OptionError(f"which pull request of {repository}? {why}; name it with --pr N")


def _is_of(repository: str, pull: Mapping[str, Any]) -> bool:
    """Return whether a pull request is of the repository; runs name those of its forks too."""
    match pull:
        case {"base": {"repo": {"url": str(url)}}}:
            return url.lower().endswith(f"/repos/{repository.lower()}")
        case _:
            return True


def _event(name: str) -> Any:
    """Return what GitHub wrote about the event that started a workflow."""
    if not name:
        return None
    try:
        return json.loads(Path(name).read_bytes())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no JSON"
        raise OptionError(
            f"{name}: cannot be read: {reason} (expected the event of GITHUB_EVENT_PATH)"
        ) from error


def find_pull_request(api: Api, target: PullRequest | Head) -> PullRequest:
    """Return the open pull request with a commit at its head.

    Raises:
        GithubError: There is none: it was closed, or has newer commits with a run of their own.
    """
    if isinstance(target, PullRequest):
        return target
    head = quote(f"{target.owner}:{target.branch}", safe="")
    path = f"/repos/{target.repository}/pulls?state=open&per_page=100&head={head}"
    answer = api.request("GET", path)
    if not answer.is_good:
        raise api.failure(answer, f"cannot find {target}")
    for number, sha in _numbers(answer.document):
        if sha == target.sha:
            return PullRequest(target.repository, number)
    raise GithubError(
        f"{target}: none is open with commit {target.sha[:12]} (closed, or newer commits have a run"
        " of their own; --pr N names one all the same)"
    )


def _numbers(document: object) -> Iterator[tuple[int, str]]:
    for each in document if isinstance(document, list) else ():
        match each:
            case {"number": int(number), "head": {"sha": str(sha)}}:
                yield number, sha
