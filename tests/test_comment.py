"""``traceattr comment``: whose comment is created or updated, and what GitHub may answer."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.commenting import FORBIDDEN, REPORT, TOKEN, RunComment, environment
from tests.fake_github import FakeGithub, Reply


def test_a_comment_is_created_once_and_then_updated(
    github: FakeGithub, run_comment: RunComment
) -> None:
    created = run_comment()
    updated = run_comment(text="**A round takes 10.9 ms.**\n")

    assert (created.exit_code, updated.exit_code) == (0, 0)
    assert created.stderr == "Created the comment on octo/server#12\n"
    assert updated.stderr == "Updated the comment on octo/server#12\n"
    assert created.stdout == "https://github.com/octo/server/pull/12#issuecomment-1001\n"
    assert updated.stdout == created.stdout
    assert github.bodies() == ["<!-- traceattr:default -->\n\n**A round takes 10.9 ms.**\n"]
    assert [request.method for request in github.requests if request.method != "GET"] == [
        "POST",
        "PATCH",
    ]
    assert {request.token for request in github.requests} == {f"Bearer {TOKEN}"}


def test_two_keys_live_side_by_side(github: FakeGithub, run_comment: RunComment) -> None:
    for text in ("one", "two"):
        for key in ("H100 tp=2", "A6000"):
            assert run_comment("--sticky", key, text=f"{key}: {text}").exit_code == 0

    assert github.bodies() == [
        "<!-- traceattr:H100 tp=2 -->\n\nH100 tp=2: two",
        "<!-- traceattr:A6000 -->\n\nA6000: two",
    ]


@pytest.mark.parametrize("key", ["", "a--b", "a>b", "-->", "a-", " a", "ä", "a\nb", "a" * 101])
def test_a_key_that_a_marker_cannot_hold_is_refused(
    key: str, github: FakeGithub, run_comment: RunComment
) -> None:
    assert run_comment("--sticky", key).exit_code == 2
    assert github.requests == []


def test_a_comment_is_found_among_hundreds(github: FakeGithub, run_comment: RunComment) -> None:
    for number in range(250):
        github.add(f"talk {number}", "alice")
        if number == 230:
            ours = github.add("<!-- traceattr:default -->\r\n\r\nold")

    run_comment()

    assert ours["body"].endswith(REPORT)
    assert len(github.comments) == 251


def test_comments_of_others_and_quotes_are_left_alone(
    github: FakeGithub, run_comment: RunComment
) -> None:
    others = [
        github.add("<!-- traceattr:default -->\n\nnot yours", "mallory"),
        github.add("> <!-- traceattr:default -->\n\nI quote"),
        github.add("<!-- traceattr:other -->\n\n<!-- traceattr:default -->\n"),
        github.add("nothing"),
    ]
    before = [dict(comment) for comment in others]
    github.comments[3]["user"] = None
    before[3]["user"] = None

    run_comment()

    assert github.comments[:4] == before
    assert len(github.comments) == 5


def test_duplicates_of_old_are_merged_into_the_oldest(
    github: FakeGithub, run_comment: RunComment
) -> None:
    for text in ("one", "two", "three"):
        github.add(f"<!-- traceattr:default -->\n\n{text}", "OctoBot")

    assert run_comment().exit_code == 0

    assert [comment["id"] for comment in github.comments] == [1001]
    assert github.bodies()[0].endswith(REPORT)


def test_runs_that_race_leave_one_comment(github: FakeGithub) -> None:
    """Both have listed the comments before any creates one."""
    both = threading.Barrier(2)
    github.before = lambda method, path: (both.wait(20), None)[1] if method == "POST" else None
    processes = [start(github, f"report {number}") for number in range(2)]
    errors = [process.communicate()[1] for process in processes]

    assert [process.returncode for process in processes] == [0, 0], errors
    assert len(github.sent("POST")) == 2
    [comment] = github.comments
    assert comment["id"] == 1001
    assert comment["body"] in {f"<!-- traceattr:default -->\n\nreport {n}" for n in range(2)}


def start(github: FakeGithub, text: str, **more: str) -> "subprocess.Popen[str]":
    given = {k: v for k, v in environment(github, **more).items() if v is not None}
    ours = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "GH_"))}
    process = subprocess.Popen(
        [sys.executable, "-m", "traceattr", "comment", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ours | given,
    )
    assert process.stdin is not None
    process.stdin.write(text)
    process.stdin.close()
    process.stdin = None
    return process


def test_a_workflow_token_updates_the_comment_of_its_bot(
    github: FakeGithub, run_comment: RunComment
) -> None:
    github.user = None

    for _ in range(2):
        assert run_comment().exit_code == 0

    assert len(github.comments) == 1
    assert len(github.sent("POST")) == 1


@pytest.mark.parametrize(("flags", "created"), [((), 2), (("--author", "My-App[bot]"), 1)])
def test_the_token_of_an_app_keeps_one_comment_and_spares_work_with_its_name(
    github: FakeGithub, run_comment: RunComment, flags: tuple[str, ...], created: int
) -> None:
    github.replies = [("GET /user", Reply(403, {"message": "Resource not accessible"}))] * 2
    github.user = "my-app[bot]"

    for _ in range(2):
        assert run_comment(*flags).exit_code == 0

    assert len(github.comments) == 1
    assert len(github.sent("POST")) == created


@pytest.mark.parametrize("flags", [(), ("--summary",)])
def test_without_permission_the_report_is_in_the_summary_and_the_exit_code_is_3(
    github: FakeGithub, run_comment: RunComment, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    github.replies = [("POST comments", FORBIDDEN)]
    summary = tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")

    result = run_comment(*flags, GITHUB_STEP_SUMMARY=str(summary))

    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.count("\n") == 1
    for part in (
        "octo/server#12: 403 Resource not accessible by integration",
        "pull-requests: write",
        f"upload {tmp_path / 'report.md'} as an artifact",
        "workflow_run",
        "the report is in the step's summary",
    ):
        assert part in result.stderr
    assert summary.read_text(encoding="utf-8") == f"before\n\n{REPORT}"


def test_without_permission_and_outside_of_workflows_no_summary_is_promised(
    github: FakeGithub, run_comment: RunComment
) -> None:
    github.replies = [("POST comments", FORBIDDEN)]

    result = run_comment()

    assert result.exit_code == 3
    assert "summary" not in result.stderr


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Reply(404, {"message": "Not Found"}), "404 Not Found; there is no such pull request"),
        (Reply(401, {"message": "Bad credentials"}), "401 Bad credentials; the token is wrong"),
        (Reply(410, {"message": "Issues are disabled"}), "410 Issues are disabled"),
        (Reply(422, {"message": "Validation Failed", "errors": ["spam"]}), "Failed; spam"),
        (Reply(200, {"message": "hello"}), "no answer of GitHub"),
        (Reply(200, [{"id": "x"}]), "no answer of GitHub"),
        (Reply(302, None, {"Location": "https://example.com/?a"}), "redirects to another server"),
        (Reply(302, None, {"Location": "http://[/"}), "redirects to another server"),
        (Reply(302, None, {"Location": "/user"}), "no answer of GitHub"),
        (Reply(404, {"message": "no " * 9_999}), "no no no"),
    ],
)
def test_a_refusal_is_one_line(
    github: FakeGithub, run_comment: RunComment, reply: Reply, message: str
) -> None:
    github.replies = [("GET comments", reply)]

    result = run_comment()

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.startswith("error: 127.0.0.1:")
    assert result.stderr.count("\n") == 1
    assert github.comments == []


def test_a_wrong_token_is_told_at_once(github: FakeGithub, run_comment: RunComment) -> None:
    github.replies = [("GET /user", Reply(401, {"message": "Bad credentials"}))]

    result = run_comment()

    assert result.exit_code == 2
    assert "401 Bad credentials; the token is wrong or has expired" in result.stderr
    assert len(github.requests) == 1


def test_a_redirect_within_the_server_is_followed(
    github: FakeGithub, run_comment: RunComment
) -> None:
    """As GitHub does after a repository was renamed."""
    path = "/repos/octo/server/issues/12/comments"
    github.replies = [
        ("GET old/name", Reply(301, None, {"Location": f"{github.url}{path}?per_page=100&page=1"})),
        ("POST old/name", Reply(307, None, {"Location": path})),
        ("GET old/name", Reply(301, None, {"Location": f"{github.url}{path}?per_page=100&page=1"})),
    ]

    result = run_comment("--repo", "old/name", "--pr", "12")

    assert result.exit_code == 0, result.stderr
    assert len(github.comments) == 1


def pull(number: int, label: str, sha: str) -> dict[str, Any]:
    return {"number": number, "head": {"label": label, "sha": sha}}


RUN = {
    "pull_requests": [],
    "head_repository": {"owner": {"login": "alice"}},
    "head_branch": "fix/launch",
    "head_sha": "c0ffee",
}
FOREIGN = {"number": 9, "base": {"repo": {"url": "https://api.github.com/repos/alice/server"}}}


@pytest.mark.parametrize(
    "event",
    [
        {"pull_request": {"number": 12}},
        {"issue": {"number": 12, "pull_request": {}}},
        {"workflow_run": {"pull_requests": [{"number": 12}]}},
        {"workflow_run": RUN},
        {"workflow_run": RUN | {"pull_requests": [FOREIGN]}},
    ],
)
def test_the_event_tells_the_pull_request(
    github: FakeGithub, run_comment: RunComment, tmp_path: Path, event: Mapping[str, object]
) -> None:
    path = tmp_path / "event.json"
    path.write_text(json.dumps(event), encoding="utf-8")
    github.pulls = [
        pull(11, "alice:fix/launch", "0ld"),
        pull(12, "alice:fix/launch", "c0ffee"),
        pull(13, "bob:fix/launch", "c0ffee"),
    ]

    result = run_comment(GITHUB_EVENT_PATH=str(path), GITHUB_REF="refs/heads/main")

    assert result.stderr == "Created the comment on octo/server#12\n"


def test_a_run_for_commits_that_are_not_the_newest_posts_nothing(
    github: FakeGithub, run_comment: RunComment, tmp_path: Path
) -> None:
    path = tmp_path / "event.json"
    path.write_text(json.dumps({"workflow_run": RUN}), encoding="utf-8")
    github.pulls = [pull(12, "alice:fix/launch", "newer")]

    result = run_comment(GITHUB_EVENT_PATH=str(path))

    assert result.exit_code == 2
    assert "none is open with commit c0ffee" in result.stderr
    assert github.comments == []


@pytest.mark.parametrize(
    ("flags", "more", "message"),
    [
        (("--repo", "server"), {}, "--repo 'server': is no repository (expected OWNER/NAME)"),
        (("--repo", "octo/.."), {}, "is no repository"),
        (("--repo", "octo/other"), {}, "which pull request of octo/other? name it with"),
        ((), {"GITHUB_REPOSITORY": ""}, "which repository? name it with --repo OWNER/NAME"),
        (
            (),
            {"GITHUB_REF": "refs/heads/main", "GITHUB_EVENT_NAME": "push"},
            "which pull request of octo/server? the event 'push' is of none; name it with --pr N",
        ),
        ((), {"GITHUB_EVENT_PATH": "/nowhere.json"}, "/nowhere.json: cannot be read"),
        ((), {"GITHUB_TOKEN": ""}, "no token (expected GITHUB_TOKEN or GH_TOKEN"),
        ((), {"GITHUB_TOKEN": "ab cd"}, "GITHUB_TOKEN: is no token"),
        ((), {"GITHUB_API_URL": "http://github.example/api"}, "would send the token unencrypted"),
        ((), {"GITHUB_API_URL": "https://me:pw@github.example"}, "is no address of an API"),
        ((), {"GITHUB_API_URL": "github.example"}, "is no address of an API"),
    ],
)
def test_what_cannot_be_used_is_one_line_and_no_request(
    github: FakeGithub,
    run_comment: RunComment,
    flags: tuple[str, ...],
    more: dict[str, str],
    message: str,
) -> None:
    result = run_comment(*flags, **more)

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert github.requests == []
