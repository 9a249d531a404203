"""The GitHub action: what its steps do, run as GitHub runs them."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.fake_github import FakeGithub, Reply, running
from tests.loading import PID
from traces.export_writer import ExportWriter

ROOT = Path(__file__).parent.parent
ACTION: dict[str, Any] = YAML(typ="safe").load(ROOT / "action.yml")
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
WORKFLOWS = sorted((ROOT / "docs" / "workflows").glob("*.yml"))
BASH = shutil.which("bash")

pytestmark = pytest.mark.skipif(BASH is None, reason="there is no bash")


class Runner:
    """Runs steps of the action in a directory, as a runner does."""

    def __init__(self, folder: Path, github: FakeGithub, **inputs: str) -> None:
        self.folder = folder
        self.inputs = {name: each["default"] for name, each in ACTION["inputs"].items()}
        self.inputs |= {"token": "ghs_0123456789"}
        self.inputs |= {name.replace("_", "-"): text for name, text in inputs.items()}
        self.outputs: dict[str, str] = {}
        commands = folder / "bin"
        commands.mkdir()
        (commands / "traceattr").write_text(
            f'#!/bin/sh\nexec "{sys.executable}" -m traceattr "$@"\n', encoding="utf-8"
        )
        (commands / "traceattr").chmod(0o755)
        self.environment = {
            "PATH": f"{commands}:{os.environ['PATH']}",
            "TRACEATTR_CACHE_DIR": os.environ["TRACEATTR_CACHE_DIR"],
            "GITHUB_API_URL": github.url,
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_REF": "refs/pull/12/merge",
            "GITHUB_REPOSITORY": "octo/server",
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        }

    def step(self, name: str) -> subprocess.CompletedProcess[str]:
        step = STEPS[name]
        ours = {key: self._value(text) for key, text in step["env"].items()}
        assert BASH is not None
        result = subprocess.run(
            [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.folder,
            env=self.environment | ours,
            capture_output=True,
            text=True,
            check=False,
        )
        output = self.folder / "output"
        lines = output.read_text(encoding="utf-8").splitlines() if output.exists() else []
        self.outputs |= dict(line.split("=", 1) for line in lines)
        return result

    def _value(self, text: str) -> str:
        """Return a value of a step's environment with its expression evaluated."""
        return re.sub(
            r"\$\{\{ (?:inputs|steps\.report\.outputs)\.([\w-]+) \}\}",
            lambda match: (self.inputs if "inputs." in match[0] else self.outputs)[match[1]],
            text,
        )


@pytest.fixture
def github() -> Iterator[FakeGithub]:
    with running(FakeGithub(user=None)) as github:
        yield github


def test_a_pull_request_gets_a_report_a_comment_and_a_summary(
    github: FakeGithub, tmp_path: Path
) -> None:
    with ExportWriter(tmp_path / "change.sqlite") as export:
        export.kernel("a", 1_000, 2_000, pid=PID)
    rule = '[[rule]]\nname = "mine"\ncategory = "gdn"\npattern = "^a$"\nmatches = ["a"]\n'
    (tmp_path / "my rules.toml").write_text(rule, encoding="utf-8")
    options = "\n--window=0.0000015:\n\n--rules=my rules.toml\n"
    hostile = "A6000 $(touch hacked)"
    runner = Runner(tmp_path, github, trace="change.sqlite", options=options, sticky=hostile)

    results = [runner.step("Report"), runner.step("Comment")]

    assert [result.returncode for result in results] == [0, 0], results
    report = (tmp_path / "traceattr-report" / "report.md").read_text(encoding="utf-8")
    assert github.bodies() == [f"<!-- traceattr:{hostile} -->\n\n{report}"]
    assert (tmp_path / "summary.md").read_text(encoding="utf-8") == f"{report.rstrip()}\n"
    document = json.loads((tmp_path / "traceattr-report" / "report.json").read_text("utf-8"))
    assert document["window"]["wall_ns"] == 500
    assert [each["category"] for each in document["per_gpu"][0]["categories"]] == ["gdn"]
    page = (tmp_path / "traceattr-report" / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert not (tmp_path / "hacked").exists()


STAND_IN = """#!/bin/sh
[ "$1" = comment ] && exec "$REAL" -m traceattr "$@"
echo "$*" >> "$CALLS"
[ "$1 $2" = "baseline show" ] && exit $((1 - HAS_BASELINE))
while [ $# -gt 0 ]; do [ "$1" = -o ] && echo "**Fine.**" > "$2"; shift; done
exit $EXIT_CODE
"""
"""Says what it was asked, writes a report, and really comments."""


def stand_in(runner: Runner, *, exit_code: int = 0, has_baseline: bool = True) -> None:
    (runner.folder / "bin" / "traceattr").write_text(STAND_IN, encoding="utf-8")
    runner.environment |= {
        "REAL": sys.executable,
        "CALLS": str(runner.folder / "calls"),
        "EXIT_CODE": str(exit_code),
        "HAS_BASELINE": str(int(has_baseline)),
    }


def calls(runner: Runner) -> list[str]:
    return (runner.folder / "calls").read_text(encoding="utf-8").splitlines()


def test_a_gate_that_fails_does_so_after_the_comment(github: FakeGithub, tmp_path: Path) -> None:
    runner = Runner(tmp_path, github, trace="new.sqlite", baseline="main", fail_on="round>1%\nx>2%")
    stand_in(runner, exit_code=1)

    results = [runner.step(name) for name in ("Report", "Comment", "Gate")]

    assert [result.returncode for result in results] == [0, 0, 1], results
    assert github.bodies() == ["<!-- traceattr:default -->\n\n**Fine.**\n"]
    asked = "diff --against=main --fail-on=round>1% --fail-on=x>2%"
    assert calls(runner) == [
        "baseline show -- main",
        f"{asked} --format json -o traceattr-report/report.json -- new.sqlite",
        f"{asked} --format html -o traceattr-report/report.html -- new.sqlite",
        f"{asked} --format markdown -o traceattr-report/report.md -- new.sqlite",
    ]


def test_gates_may_only_advise_on_two_traces(github: FakeGithub, tmp_path: Path) -> None:
    inputs = {"base": "old.sqlite", "fail_on": "round>1%", "advisory": "true"}
    runner = Runner(tmp_path, github, trace="new.sqlite", **inputs)
    stand_in(runner)

    assert runner.step("Report").returncode == 0

    assert runner.outputs["code"] == "0"
    assert calls(runner)[0] == (
        "diff --fail-on=round>1% --advisory --format json -o traceattr-report/report.json"
        " -- old.sqlite new.sqlite"
    )


def test_without_a_baseline_yet_the_trace_is_reported_and_may_become_one(
    github: FakeGithub, tmp_path: Path
) -> None:
    inputs = {"baseline": "main", "save_baseline": "main", "fail_on": "round>1%"}
    runner = Runner(tmp_path, github, trace="new.sqlite", **inputs)
    stand_in(runner, has_baseline=False)

    result = runner.step("Report")

    assert "::notice::there is no baseline to compare with yet" in result.stdout
    assert [line.split(" --format")[0] for line in calls(runner)] == [
        "baseline show -- main",
        *["report"] * 3,
        "baseline save --force -- main new.sqlite",
    ]


def test_a_pull_request_from_a_fork_is_no_failure(github: FakeGithub, tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text("**Fine.**\n", encoding="utf-8")
    github.replies = [("POST comments", Reply(403, {"message": "Resource not accessible"}))]
    runner = Runner(tmp_path, github, report="report.md")

    results = [runner.step("Report"), runner.step("Comment")]

    assert [result.returncode for result in results] == [0, 0], results
    assert "workflow_run" in results[1].stderr
    assert (tmp_path / "summary.md").read_text(encoding="utf-8") == "**Fine.**\n"


def test_a_failure_of_github_fails_the_step(github: FakeGithub, tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text("**Fine.**\n", encoding="utf-8")
    github.replies = [("GET comments", Reply(404, {"message": "Not Found"}))]
    runner = Runner(tmp_path, github, report="report.md")

    runner.step("Report")

    assert runner.step("Comment").returncode != 0


def test_a_push_gets_a_summary_and_no_comment(github: FakeGithub, tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text("**Fine.**\n", encoding="utf-8")
    runner = Runner(tmp_path, github, report="report.md")
    runner.environment["GITHUB_EVENT_NAME"] = "push"

    runner.step("Report")
    runner.step("Comment")

    assert (tmp_path / "summary.md").read_text(encoding="utf-8") == "**Fine.**\n"
    assert github.requests == []


def test_a_link_in_an_artifact_is_not_followed(github: FakeGithub, tmp_path: Path) -> None:
    (tmp_path / "report.md").symlink_to("/etc/hostname")
    runner = Runner(tmp_path, github, report="report.md")

    assert runner.step("Report").returncode == 2


def test_a_trace_that_cannot_be_read_fails_the_step(github: FakeGithub, tmp_path: Path) -> None:
    result = Runner(tmp_path, github, trace="none.sqlite").step("Report")

    assert result.returncode == 2
    assert result.stderr.startswith("error: none.sqlite: no such file")
    assert result.stderr.count("\n") == 1


def test_inputs_reach_scripts_only_through_the_environment() -> None:
    """An expression in a script would be pasted into it before bash reads it."""
    assert [name for name, step in STEPS.items() if "${{" in step.get("run", "")] == []


@pytest.mark.parametrize("path", [ROOT / "action.yml", *WORKFLOWS], ids=lambda path: path.name)
def test_actions_are_named_by_the_hash_of_a_commit(path: Path) -> None:
    used = re.findall(r"uses: (\S+)", path.read_text(encoding="utf-8"))

    assert used
    assert [name for name in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", name)] == []


def test_workflows_give_inputs_that_the_action_has() -> None:
    for path in WORKFLOWS:
        for job in YAML(typ="safe").load(path)["jobs"].values():
            for step in job["steps"]:
                if step.get("uses", "").startswith("OWNER/traceattr@"):
                    assert set(step["with"]) <= set(ACTION["inputs"])
