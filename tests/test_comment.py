"""``traceattr comment`` as a person and a workflow use it, against a server on this machine."""

import json
import os
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.fake_github import FakeGithub, Reply, running
from traceattr.cli import app
from traceattr.cli.github.token import find_token

TOKEN = "ghs_abcdefghijklmnopqrstuvwxyz0123456789"
REPORT = "**A round takes 11.1 ms.**\n"

Run = Callable[..., Result]


@pytest.fixture
def github() -> Iterator[FakeGithub]:
    with running(FakeGithub()) as github:
        yield github


def environment(github: FakeGithub, **more: str) -> dict[str, str | None]:
    """Return the environment of a workflow, and nothing of the one the tests run in."""
    ours: dict[str, str | None] = {name: None for name in os.environ if name.startswith("GITHUB_")}
    ours |= {"GH_TOKEN": None, "GITHUB_TOKEN": TOKEN, "GITHUB_API_URL": github.url}
    return ours | {"GITHUB_REPOSITORY": "octo/server", "GITHUB_REF": "refs/pull/12/merge"} | more


@pytest.fixture
def run(github: FakeGithub, tmp_path: Path) -> Run:
    report = tmp_path / "report.md"

    def run(*arguments: str, text: str = REPORT, **more: str) -> Result:
        report.write_text(text, encoding="utf-8")
        return CliRunner().invoke(
            app, ["comment", str(report), *arguments], env=environment(github, **more)
        )

    return run


def test_a_comment_is_created_once_and_then_updated(github: FakeGithub, run: Run) -> None:
    created = run()
    updated = run(text="**A round takes 10.9 ms.**\n")

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


def test_two_keys_live_side_by_side(github: FakeGithub, run: Run) -> None:
    for text in ("one", "two"):
        for key in ("H100 tp=2", "A6000"):
            assert run("--sticky", key, text=f"{key}: {text}").exit_code == 0

    assert github.bodies() == [
        "<!-- traceattr:H100 tp=2 -->\n\nH100 tp=2: two",
        "<!-- traceattr:A6000 -->\n\nA6000: two",
    ]


@pytest.mark.parametrize("key", ["", "a--b", "a>b", "-->", "a-", " a", "ä", "a\nb", "a" * 101])
def test_a_key_that_a_marker_cannot_hold_is_refused(key: str, github: FakeGithub, run: Run) -> None:
    assert run("--sticky", key).exit_code == 2
    assert github.requests == []


def test_a_comment_is_found_among_hundreds(github: FakeGithub, run: Run) -> None:
    for number in range(250):
        github.add(f"talk {number}", "alice")
        if number == 230:
            ours = github.add("<!-- traceattr:default -->\r\n\r\nold")

    run()

    assert ours["body"].endswith(REPORT)
    assert len(github.comments) == 251


def test_comments_of_others_and_quotes_are_left_alone(github: FakeGithub, run: Run) -> None:
    others = [
        github.add("<!-- traceattr:default -->\n\nnot yours", "mallory"),
        github.add("> <!-- traceattr:default -->\n\nI quote"),
        github.add("<!-- traceattr:other -->\n\n<!-- traceattr:default -->\n"),
        github.add("nothing"),
    ]
    before = [dict(comment) for comment in others]
    github.comments[3]["user"] = None
    before[3]["user"] = None

    run()

    assert github.comments[:4] == before
    assert len(github.comments) == 5


def test_duplicates_of_old_are_merged_into_the_oldest(github: FakeGithub, run: Run) -> None:
    for text in ("one", "two", "three"):
        github.add(f"<!-- traceattr:default -->\n\n{text}", "OctoBot")

    assert run().exit_code == 0

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


def test_a_workflow_token_updates_the_comment_of_its_bot(github: FakeGithub, run: Run) -> None:
    github.user = None

    for _ in range(2):
        assert run().exit_code == 0

    assert len(github.comments) == 1
    assert len(github.sent("POST")) == 1


@pytest.mark.parametrize(("flags", "created"), [((), 2), (("--author", "My-App[bot]"), 1)])
def test_the_token_of_an_app_keeps_one_comment_and_spares_work_with_its_name(
    github: FakeGithub, run: Run, flags: tuple[str, ...], created: int
) -> None:
    github.replies = [("GET /user", Reply(403, {"message": "Resource not accessible"}))] * 2
    github.user = "my-app[bot]"

    for _ in range(2):
        assert run(*flags).exit_code == 0

    assert len(github.comments) == 1
    assert len(github.sent("POST")) == created


FORBIDDEN = Reply(403, {"message": "Resource not accessible by integration"})


@pytest.mark.parametrize("flags", [(), ("--summary",)])
def test_without_permission_the_report_is_in_the_summary_and_the_exit_code_is_3(
    github: FakeGithub, run: Run, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    github.replies = [("POST comments", FORBIDDEN)]
    summary = tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")

    result = run(*flags, GITHUB_STEP_SUMMARY=str(summary))

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
    github: FakeGithub, run: Run
) -> None:
    github.replies = [("POST comments", FORBIDDEN)]

    result = run()

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
def test_a_refusal_is_one_line(github: FakeGithub, run: Run, reply: Reply, message: str) -> None:
    github.replies = [("GET comments", reply)]

    result = run()

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.startswith("error: 127.0.0.1:")
    assert result.stderr.count("\n") == 1
    assert github.comments == []


def test_a_wrong_token_is_told_at_once(github: FakeGithub, run: Run) -> None:
    github.replies = [("GET /user", Reply(401, {"message": "Bad credentials"}))]

    result = run()

    assert result.exit_code == 2
    assert "401 Bad credentials; the token is wrong or has expired" in result.stderr
    assert len(github.requests) == 1


def test_a_redirect_within_the_server_is_followed(github: FakeGithub, run: Run) -> None:
    """As GitHub does after a repository was renamed."""
    path = "/repos/octo/server/issues/12/comments"
    github.replies = [
        ("GET old/name", Reply(301, None, {"Location": f"{github.url}{path}?per_page=100&page=1"})),
        ("POST old/name", Reply(307, None, {"Location": path})),
        ("GET old/name", Reply(301, None, {"Location": f"{github.url}{path}?per_page=100&page=1"})),
    ]

    result = run("--repo", "old/name", "--pr", "12")

    assert result.exit_code == 0, result.stderr
    assert len(github.comments) == 1


def test_a_report_that_is_too_long_is_cut_before_it_is_sent(github: FakeGithub, run: Run) -> None:
    rows = "".join(f"| kernel {number:,} | {number} |\n" for number in range(5_000))
    table = f"| a | b |\n| - | - |\n{rows}"
    text = f"**Verdict**\n\n<details><summary>All</summary>\n\n{table}\n</details>\n"

    result = run(text=text, GITHUB_SERVER_URL="https://github.com", GITHUB_RUN_ID="77")

    assert result.exit_code == 0
    assert len(github.sent("POST")) == 1
    [body] = github.bodies()
    assert 65_000 < len(body) <= 65_536
    assert body.startswith("<!-- traceattr:default -->\n\n**Verdict**\n\n<details>")
    *_, row, empty, closing, empty2, note = body.splitlines()
    assert (row.startswith("| kernel "), empty, closing, empty2) == (True, "", "</details>", "")
    assert note == (
        f"*The report is cut here: a comment takes 65,536 characters, and it has {len(text):,}. See"
        " the artifacts of [this run](https://github.com/octo/server/actions/runs/77) for all.*"
    )


def test_characters_are_counted_and_not_bytes(github: FakeGithub, run: Run) -> None:
    text = "\N{GREEK SMALL LETTER MU}s\n" * 21_000

    assert run(text=text).exit_code == 0

    assert github.bodies() == [f"<!-- traceattr:default -->\n\n{text}"]


def test_a_server_that_takes_less_gets_less(github: FakeGithub, run: Run) -> None:
    reply = Reply(
        422, {"message": "Validation Failed", "errors": [{"message": "Body is too long"}]}
    )
    github.replies = [("POST comments", reply)] * 2

    assert run(text="word\n\n" * 9_000).exit_code == 0

    [body] = github.bodies()
    assert 16_000 < len(body) <= 16_384
    assert "takes 16,384 characters, and it has 54,000" in body


def test_what_would_be_posted_is_printed_without_any_request(
    github: FakeGithub, run: Run, tmp_path: Path
) -> None:
    summary = tmp_path / "summary.md"

    result = run("--dry-run", "--summary", GITHUB_STEP_SUMMARY=str(summary))

    assert result.exit_code == 0
    assert result.stdout == f"<!-- traceattr:default -->\n\n{REPORT}"
    assert result.stderr == "Would put 55 characters on octo/server#12\n"
    assert (github.requests, summary.exists()) == ([], False)


def test_a_dry_run_needs_neither_token_nor_pull_request(tmp_path: Path) -> None:
    report = tmp_path / "report.md"
    report.write_text(REPORT, encoding="utf-8")
    nothing = dict.fromkeys(environment(FakeGithub()), None)

    result = CliRunner().invoke(app, ["comment", str(report), "--dry-run"], env=nothing)

    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, REPORT.strip())
    assert result.stderr == (
        "Would put 55 characters nowhere yet: which repository? name it with --repo OWNER/NAME"
        " --pr N\n"
    )


def test_the_summary_is_written_even_where_there_is_no_pull_request(
    run: Run, tmp_path: Path
) -> None:
    summary = tmp_path / "summary.md"

    result = run("--summary", GITHUB_STEP_SUMMARY=str(summary), GITHUB_REF="refs/heads/main")

    assert result.exit_code == 2
    assert "which pull request of octo/server?" in result.stderr
    assert summary.read_text(encoding="utf-8") == REPORT


def test_the_summary_stays_below_what_github_shows(run: Run, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("x" * 1_000_000, encoding="utf-8")

    text = "- 1 \N{MICRO SIGN}s\n" * 10_000
    assert run("--summary", text=text, GITHUB_STEP_SUMMARY=str(summary)).exit_code == 0

    assert 1_048_000 < summary.stat().st_size <= 1 << 20
    assert "The report is cut here" in summary.read_text(encoding="utf-8").splitlines()[-1]


def test_a_summary_that_is_full_stays_as_it_is(
    github: FakeGithub, run: Run, tmp_path: Path
) -> None:
    """One byte more than GitHub takes, and it would show nothing."""
    summary = tmp_path / "summary.md"
    summary.write_text("x" * ((1 << 20) - 10), encoding="utf-8")
    github.replies = [("POST comments", FORBIDDEN)]

    asked = run("--summary", GITHUB_STEP_SUMMARY=str(summary))
    forbidden = run(GITHUB_STEP_SUMMARY=str(summary))

    assert (asked.exit_code, forbidden.exit_code) == (2, 3)
    assert f"{summary}: is full (expected at most 1,048,576 bytes in a step)" in asked.stderr
    assert "step's summary" not in forbidden.stderr
    assert summary.stat().st_size == (1 << 20) - 10


def test_a_summary_needs_a_workflow(github: FakeGithub, run: Run) -> None:
    result = run("--summary")

    assert result.exit_code == 2
    assert "GITHUB_STEP_SUMMARY is not set" in result.stderr
    assert github.requests == []


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
    github: FakeGithub, run: Run, tmp_path: Path, event: Mapping[str, object]
) -> None:
    path = tmp_path / "event.json"
    path.write_text(json.dumps(event), encoding="utf-8")
    github.pulls = [
        pull(11, "alice:fix/launch", "0ld"),
        pull(12, "alice:fix/launch", "c0ffee"),
        pull(13, "bob:fix/launch", "c0ffee"),
    ]

    result = run(GITHUB_EVENT_PATH=str(path), GITHUB_REF="refs/heads/main")

    assert result.stderr == "Created the comment on octo/server#12\n"


def test_a_run_for_commits_that_are_not_the_newest_posts_nothing(
    github: FakeGithub, run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "event.json"
    path.write_text(json.dumps({"workflow_run": RUN}), encoding="utf-8")
    github.pulls = [pull(12, "alice:fix/launch", "newer")]

    result = run(GITHUB_EVENT_PATH=str(path))

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
    github: FakeGithub, run: Run, flags: tuple[str, ...], more: dict[str, str], message: str
) -> None:
    result = run(*flags, **more)

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert github.requests == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty (expected a report in Markdown)"),
        (b"SQLite format 3\0...", "is a trace (expected Markdown); make its report: traceattr"),
        (b"<!DOCTYPE html>", "is HTML (expected Markdown)"),
        (b'{"format": 1}', "is JSON (expected Markdown)"),
        (b"\xff\xfe", "is no text in UTF-8"),
        (b"a" * (16 << 20) + b"a", "is larger than 16 MiB"),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_a_file_that_is_no_report_is_refused(
    data: bytes | None, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    if data is not None:
        file.write_bytes(data)

    result = CliRunner().invoke(app, ["comment", str(file), "--dry-run"])

    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {file}: {message}")


def test_a_token_never_shows(github: FakeGithub, run: Run, tmp_path: Path) -> None:
    """Not even where a server or a report repeats it."""
    summary = tmp_path / "summary.md"
    text = f"leaked {TOKEN}\n"
    github.replies = [
        ("POST comments", Reply(400, {"message": f"bad header: Bearer {TOKEN}"})),
        ("GET /user", Reply(302, None, {"Location": f"http://{TOKEN}.example/"})),
        ("GET comments", Reply(404, {"message": "gone"})),
    ]

    results = [
        run("--summary", text=text, GITHUB_STEP_SUMMARY=str(summary)),
        run("--dry-run", text=text),
        run(GITHUB_TOKEN=f"{TOKEN}\n{TOKEN}"),
        run(GITHUB_TOKEN=f"{TOKEN}\xff"),
        run("--timeout", "0", GITHUB_API_URL="http://127.0.0.1:1"),
        run(),
    ]

    shown = "".join(result.output for result in results) + summary.read_text(encoding="utf-8")
    assert TOKEN not in shown
    assert TOKEN[5:25] not in shown
    assert "leaked ***" in shown
    assert all(result.exit_code in (0, 2) for result in results)


def test_a_bug_shows_no_token(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise RuntimeError(f"a bug with {arguments}")

    monkeypatch.setattr("traceattr.cli.github.api.Api._follow", fail)

    error = run().exception

    assert isinstance(error, RuntimeError)
    shown = "".join(traceback.format_exception(error))
    assert "a bug with (<traceattr.cli.github.api.Api" in shown
    assert TOKEN not in shown
    assert TOKEN not in repr(find_token({"GITHUB_TOKEN": TOKEN}))


def test_a_limit_is_waited_for_and_a_cut_is_told(github: FakeGithub, run: Run) -> None:
    github.replies = [("GET /user", Reply(429, {}, {"Retry-After": "0"}))]
    waited = run()
    github.replies = [("PATCH comments", Reply(None))]
    cut = run("--timeout", "0.5")

    assert (waited.exit_code, cut.exit_code) == (0, 2)
    host = github.url.removeprefix("http://")
    assert cut.stderr == (
        f"error: {host}: the connection was cut; the next attempt would be in 1 s, beyond"
        " --timeout 0.5\n"
    )


def test_another_server_never_gets_the_token(github: FakeGithub, run: Run) -> None:
    with running(FakeGithub()) as other:
        github.replies = [("GET comments", Reply(307, None, {"Location": f"{other.url}/user"}))]

        result = run()

    assert result.exit_code == 2
    assert "redirects to another server, which the token is not for" in result.stderr
    assert other.requests == []


def test_a_proxy_gets_no_token_in_the_clear(github: FakeGithub, run: Run) -> None:
    with running(FakeGithub()) as proxy:
        assert run(HTTP_PROXY=proxy.url, http_proxy=proxy.url).exit_code == 0
        encrypted = run(
            "--timeout", "0", GITHUB_API_URL="https://github.invalid", HTTPS_PROXY=proxy.url,
            https_proxy=proxy.url,
        )  # fmt: skip

    assert proxy.requests == []
    assert "github.invalid: the proxy of HTTPS_PROXY does not connect" in encrypted.stderr
