"""What ``traceattr comment`` posts: from which files, how long, and into the step summary."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.commenting import FORBIDDEN, REPORT, RunComment, environment
from tests.fake_github import FakeGithub, Reply
from traceattr.cli import app


def test_a_report_that_is_too_long_is_cut_before_it_is_sent(
    github: FakeGithub, run_comment: RunComment
) -> None:
    rows = "".join(f"| kernel {number:,} | {number} |\n" for number in range(5_000))
    table = f"| a | b |\n| - | - |\n{rows}"
    text = f"**Verdict**\n\n<details><summary>All</summary>\n\n{table}\n</details>\n"

    result = run_comment(text=text, GITHUB_SERVER_URL="https://github.com", GITHUB_RUN_ID="77")

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


def test_characters_are_counted_and_not_bytes(github: FakeGithub, run_comment: RunComment) -> None:
    text = "\N{GREEK SMALL LETTER MU}s\n" * 21_000

    assert run_comment(text=text).exit_code == 0

    assert github.bodies() == [f"<!-- traceattr:default -->\n\n{text}"]


def test_a_server_that_takes_less_gets_less(github: FakeGithub, run_comment: RunComment) -> None:
    reply = Reply(
        422, {"message": "Validation Failed", "errors": [{"message": "Body is too long"}]}
    )
    github.replies = [("POST comments", reply)] * 2

    assert run_comment(text="word\n\n" * 9_000).exit_code == 0

    [body] = github.bodies()
    assert 16_000 < len(body) <= 16_384
    assert "takes 16,384 characters, and it has 54,000" in body


def test_what_would_be_posted_is_printed_without_any_request(
    github: FakeGithub, run_comment: RunComment, tmp_path: Path
) -> None:
    summary = tmp_path / "summary.md"

    result = run_comment("--dry-run", "--summary", GITHUB_STEP_SUMMARY=str(summary))

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
    run_comment: RunComment, tmp_path: Path
) -> None:
    summary = tmp_path / "summary.md"

    result = run_comment(
        "--summary", GITHUB_STEP_SUMMARY=str(summary), GITHUB_REF="refs/heads/main"
    )

    assert result.exit_code == 2
    assert "which pull request of octo/server?" in result.stderr
    assert summary.read_text(encoding="utf-8") == REPORT


def test_the_summary_stays_below_what_github_shows(run_comment: RunComment, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("x" * 1_000_000, encoding="utf-8")

    text = "- 1 \N{MICRO SIGN}s\n" * 10_000
    assert run_comment("--summary", text=text, GITHUB_STEP_SUMMARY=str(summary)).exit_code == 0

    assert 1_048_000 < summary.stat().st_size <= 1 << 20
    assert "The report is cut here" in summary.read_text(encoding="utf-8").splitlines()[-1]


def test_a_summary_that_is_full_stays_as_it_is(
    github: FakeGithub, run_comment: RunComment, tmp_path: Path
) -> None:
    """One byte more than GitHub takes, and it would show nothing."""
    summary = tmp_path / "summary.md"
    summary.write_text("x" * ((1 << 20) - 10), encoding="utf-8")
    github.replies = [("POST comments", FORBIDDEN)]

    asked = run_comment("--summary", GITHUB_STEP_SUMMARY=str(summary))
    forbidden = run_comment(GITHUB_STEP_SUMMARY=str(summary))

    assert (asked.exit_code, forbidden.exit_code) == (2, 3)
    assert f"{summary}: is full (expected at most 1,048,576 bytes in a step)" in asked.stderr
    assert "step's summary" not in forbidden.stderr
    assert summary.stat().st_size == (1 << 20) - 10


def test_a_summary_needs_a_workflow(github: FakeGithub, run_comment: RunComment) -> None:
    result = run_comment("--summary")

    assert result.exit_code == 2
    assert "GITHUB_STEP_SUMMARY is not set" in result.stderr
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
