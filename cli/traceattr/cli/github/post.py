"""From a report to the text of a comment, and from that to GitHub."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from traceattr.cli.github.comments import Comments, Posted, TooLongError, put_comment
from traceattr.cli.github.marker import marker
from traceattr.errors import NotAllowedError
from traceattr.report.markdown_cut import cut_markdown

LIMITS = (65_536, 32_768, 16_384)
"""Characters that GitHub takes in a comment, and what to try where a server takes fewer."""


@dataclass(frozen=True, slots=True)
class Report:
    """A report on its way: its text, the key of its comment, and where all of it can be found."""

    text: str
    key: str
    whereabouts: str

    def body(self, most: int = LIMITS[0]) -> str:
        """Return the text of the comment, of at most so many characters."""
        note = (
            f"*The report is cut here: a comment takes {most:,} characters, and it has"
            f" {len(self.text):,}. {self.whereabouts}*"
        )
        first = f"{marker(self.key)}\n\n"
        return first + cut_markdown(self.text, most - len(first), note)


def whereabouts(environment: Mapping[str, str]) -> str:
    """Return where a workflow keeps the whole of a report that is cut."""
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
    server, repository, run = (environment.get(name, "") for name in names)
    if not (server and repository and run):
        return "The commands that made it print the whole."
    return f"See the artifacts of [this run]({server}/{repository}/actions/runs/{run}) for all."


def post(comments: Comments, report: Report, author: str) -> Posted:
    """Put the report on the pull request, shorter if GitHub asks for that.

    Raises:
        GithubError: GitHub does not take it.
    """
    *limits, last = LIMITS
    for most in limits:
        try:
            return put_comment(comments, report.key, author, report.body(most))
        except TooLongError:
            continue
    return put_comment(comments, report.key, author, report.body(last))


def not_allowed(error: NotAllowedError, file: Path, *, is_in_summary: bool) -> NotAllowedError:
    """Return the error with what to do about it."""
    name = "the report" if str(file) == "-" else file
    where = "; the report is in the step's summary" if is_in_summary else ""
    return NotAllowedError(
        f"{error}; let the job write (permissions: pull-requests: write), or, as the tokens of"
        f" pull requests from forks are read-only, upload {name} as an artifact and run traceattr"
        f" comment in a workflow_run job (docs/pull-requests.md){where}"
    )
