"""``traceattr comment``."""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from traceattr.cli.github.marker import sticky_key
from traceattr.cli.options import named_file
from traceattr.cli.output import print_text, printable, say
from traceattr.errors import NotAllowedError, OptionError

if TYPE_CHECKING:
    from traceattr.cli.github.post import Report
    from traceattr.cli.github.target import Head, PullRequest


def comment(
    report: Annotated[
        Path,
        typer.Argument(
            callback=named_file,
            metavar="REPORT",
            help="Report in Markdown; - is standard input.",
            show_default=False,
        ),
    ],
    sticky: Annotated[
        str,
        typer.Option(
            metavar="KEY",
            parser=sticky_key,
            help="Which of the comments this is; each key has one.",
        ),
    ] = "default",
    repo: Annotated[
        str | None,
        typer.Option(metavar="OWNER/NAME", help="Repository.", show_default="the workflow's"),
    ] = None,
    pr: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Pull request.", show_default="the workflow's"),
    ] = None,
    author: Annotated[
        str | None,
        typer.Option(
            metavar="LOGIN",
            help="Whose comment to update; for tokens of apps, which cannot tell.",
            show_default="whose token it is",
        ),
    ] = None,
    summary: Annotated[
        bool, typer.Option("--summary", help="Show the report in the workflow's summary too.")
    ] = False,
    timeout: Annotated[
        float,
        typer.Option(metavar="S", min=0, help="Seconds after which nothing is tried again."),
    ] = 120,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the comment; ask and write nothing.")
    ] = False,
) -> None:
    """Put a report on a GitHub pull request as one comment, which later runs update.

    The token comes from GITHUB_TOKEN or GH_TOKEN. Exit code 3: GitHub does not let it comment, as
    in pull requests from forks; in a workflow the step's summary then has the report.

    Example: traceattr comment report.md --repo octo/server --pr 12
    """
    from traceattr.cli.github.post import Report, whereabouts
    from traceattr.cli.github.report_file import read_report
    from traceattr.cli.github.token import hide_tokens

    text = hide_tokens(read_report(report), os.environ)
    ready = Report(text, sticky, whereabouts(os.environ))
    if dry_run:
        _show(ready, repo, pr)
        return
    if summary and not _add_to_summary(ready):
        raise OptionError("--summary: GITHUB_STEP_SUMMARY is not set (expected a workflow's step)")
    try:
        _post(ready, _target(repo, pr), author, timeout)
    except NotAllowedError as error:
        from traceattr.cli.github.post import not_allowed

        is_in_summary = summary
        with suppress(OptionError):  # a summary that cannot be written is the lesser trouble
            is_in_summary = summary or _add_to_summary(ready)
        raise not_allowed(error, report, is_in_summary=is_in_summary) from error


def _post(
    report: "Report", target: "PullRequest | Head", author: str | None, timeout_s: float
) -> None:
    """Put the report on the pull request and print where it is."""
    from traceattr.cli.github.address import find_address
    from traceattr.cli.github.api import Api
    from traceattr.cli.github.comments import Comments, who_am_i
    from traceattr.cli.github.post import post
    from traceattr.cli.github.target import find_pull_request
    from traceattr.cli.github.token import find_token, hide_tokens

    api = Api(find_address(os.environ), find_token(os.environ), timeout_s)
    pull_request = find_pull_request(api, target)
    me = author.lower() if author else who_am_i(api)
    posted = post(Comments(api, pull_request), report, me)
    say(f"{'Created' if posted.is_new else 'Updated'} the comment on {pull_request}")
    print_text(f"{printable(hide_tokens(posted.url, os.environ))}\n")


def _target(repository: str | None, number: int | None) -> "PullRequest | Head":
    from traceattr.cli.github.target import find_target

    return find_target(os.environ, repository, number)


def _show(report: "Report", repository: str | None, number: int | None) -> None:
    """Print what would be posted, and where as far as that is known without asking."""
    body = report.body()
    print_text(body if body.endswith("\n") else f"{body}\n")
    try:
        where = f"on {_target(repository, number)}"
    except OptionError as error:
        where = f"nowhere yet: {error}"
    say(f"Would put {len(body):,} characters {where}")


def _add_to_summary(report: "Report") -> bool:
    """Add the report to the step's summary, and return whether there is one."""
    from traceattr.cli.github.summary import add_to_summary, summary_file

    file = summary_file(os.environ)
    if file is not None:
        add_to_summary(file, report.text, report.whereabouts)
    return file is not None
