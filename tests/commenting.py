"""What tests of ``traceattr comment`` share."""

import os
from pathlib import Path
from typing import Protocol

from typer.testing import CliRunner, Result

from tests.fake_github import FakeGithub, Reply
from traceattr.cli import app

TOKEN = "ghs_abcdefghijklmnopqrstuvwxyz0123456789"
REPORT = "**A round takes 11.1 ms.**\n"
FORBIDDEN = Reply(403, {"message": "Resource not accessible by integration"})


def environment(github: FakeGithub, **more: str) -> dict[str, str | None]:
    """Return the environment of a workflow, and nothing of the one the tests run in."""
    ours: dict[str, str | None] = {name: None for name in os.environ if name.startswith("GITHUB_")}
    ours |= {"GH_TOKEN": None, "GITHUB_TOKEN": TOKEN, "GITHUB_API_URL": github.url}
    return ours | {"GITHUB_REPOSITORY": "octo/server", "GITHUB_REF": "refs/pull/12/merge"} | more


class RunComment(Protocol):
    """Puts a text on the pull request of a server, from a workflow with more in its environment."""

    def __call__(self, *arguments: str, text: str = REPORT, **more: str) -> Result: ...


def runner_for(github: FakeGithub, report: Path) -> RunComment:
    """Return what comments on the pull request of a server."""

    def run(*arguments: str, text: str = REPORT, **more: str) -> Result:
        report.write_text(text, encoding="utf-8")
        given = environment(github, **more)
        return CliRunner().invoke(app, ["comment", str(report), *arguments], env=given)

    return run
