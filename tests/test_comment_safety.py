"""``traceattr comment`` keeps its token to itself, and gives up in time."""

import traceback
from pathlib import Path

import pytest

from tests.commenting import TOKEN, RunComment
from tests.fake_github import FakeGithub, Reply, running
from traceattr.cli.github.token import find_token


def test_a_token_never_shows(github: FakeGithub, run_comment: RunComment, tmp_path: Path) -> None:
    """Not even where a server or a report repeats it."""
    summary = tmp_path / "summary.md"
    text = f"leaked {TOKEN}\n"
    github.replies = [
        ("POST comments", Reply(400, {"message": f"bad header: Bearer {TOKEN}"})),
        ("GET /user", Reply(302, None, {"Location": f"http://{TOKEN}.example/"})),
        ("GET comments", Reply(404, {"message": "gone"})),
    ]

    results = [
        run_comment("--summary", text=text, GITHUB_STEP_SUMMARY=str(summary)),
        run_comment("--dry-run", text=text),
        run_comment(GITHUB_TOKEN=f"{TOKEN}\n{TOKEN}"),
        run_comment(GITHUB_TOKEN=f"{TOKEN}\xff"),
        run_comment("--timeout", "0", GITHUB_API_URL="http://127.0.0.1:1"),
        run_comment(),
    ]

    shown = "".join(result.output for result in results) + summary.read_text(encoding="utf-8")
    assert TOKEN not in shown
    assert TOKEN[5:25] not in shown
    assert "leaked ***" in shown
    assert all(result.exit_code in (0, 2) for result in results)


def test_a_bug_shows_no_token(run_comment: RunComment, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise RuntimeError(f"a bug with {arguments}")

    monkeypatch.setattr("traceattr.cli.github.api.Api._follow", fail)

    error = run_comment().exception

    assert isinstance(error, RuntimeError)
    shown = "".join(traceback.format_exception(error))
    assert "a bug with (<traceattr.cli.github.api.Api" in shown
    assert TOKEN not in shown
    assert TOKEN not in repr(find_token({"GITHUB_TOKEN": TOKEN}))


def test_a_limit_is_waited_for_and_a_cut_is_told(
    github: FakeGithub, run_comment: RunComment
) -> None:
    github.replies = [("GET /user", Reply(429, {}, {"Retry-After": "0"}))]
    waited = run_comment()
    github.replies = [("PATCH comments", Reply(None))]
    cut = run_comment("--timeout", "0.5")

    assert (waited.exit_code, cut.exit_code) == (0, 2)
    host = github.url.removeprefix("http://")
    assert cut.stderr == (
        f"error: {host}: the connection was cut; the next attempt would be in 1 s, beyond"
        " --timeout 0.5\n"
    )


def test_another_server_never_gets_the_token(github: FakeGithub, run_comment: RunComment) -> None:
    with running(FakeGithub()) as other:
        github.replies = [("GET comments", Reply(307, None, {"Location": f"{other.url}/user"}))]

        result = run_comment()

    assert result.exit_code == 2
    assert "redirects to another server, which the token is not for" in result.stderr
    assert other.requests == []


def test_a_proxy_gets_no_token_in_the_clear(github: FakeGithub, run_comment: RunComment) -> None:
    with running(FakeGithub()) as proxy:
        assert run_comment(HTTP_PROXY=proxy.url, http_proxy=proxy.url).exit_code == 0
        encrypted = run_comment(
            "--timeout", "0", GITHUB_API_URL="https://github.invalid", HTTPS_PROXY=proxy.url,
            https_proxy=proxy.url,
        )  # fmt: skip

    assert proxy.requests == []
    assert "github.invalid: the proxy of HTTPS_PROXY does not connect" in encrypted.stderr
