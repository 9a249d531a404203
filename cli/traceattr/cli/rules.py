"""``traceattr rules``: list, check, explain and try the kernel-name rules."""

import json
import shutil
import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from traceattr.cli.options import one_of, rule_file
from traceattr.cli.output import print_text, printable
from traceattr.errors import OptionError
from traceattr.rules.categories import RULE_CATEGORIES, UNCLASSIFIED, group_of

if TYPE_CHECKING:
    from traceattr.rules.explanation import Explanation
    from traceattr.rules.rule import Classification, Rule

app = typer.Typer(no_args_is_help=True, help="List, check, explain and try the kernel-name rules.")

_RulesFile = Annotated[
    Path | None,
    typer.Option(
        "--rules",
        callback=rule_file,
        metavar="FILE",
        help="Rules that are tried before the shipped ones.",
    ),
]


class _Format(StrEnum):
    """How ``classify`` prints."""

    TSV = "tsv"
    JSON = "json"


@app.command("list")
def list_rules(
    rules: _RulesFile = None,
    category: Annotated[
        str | None, typer.Option(metavar="CATEGORY", help="Only the rules of this category.")
    ] = None,
) -> None:
    """List the rules in the order they are tried."""
    from traceattr.rules.rule_set import load_rules

    if category is not None and category not in RULE_CATEGORIES:
        raise typer.BadParameter(
            f"{category!r} is no category (expected one of {', '.join(RULE_CATEGORIES)})",
            param_hint="--category",
        )
    numbered = list(enumerate(load_rules(rules).rules, 1))
    chosen = [(n, rule) for n, rule in numbered if category in (None, rule.category)]
    print_text(_table(chosen, shutil.get_terminal_size().columns) + "\n")


@app.command()
def check(
    file: Annotated[
        Path | None,
        typer.Argument(
            callback=rule_file, metavar="[FILE]", help="Rule file; the shipped one if absent."
        ),
    ] = None,
) -> None:
    """Check a rule file; print one line for each problem and exit with 1 if there is any."""
    from traceattr.report.figures import counted
    from traceattr.rules.check import check_rules
    from traceattr.rules.rule_set import SHIPPED, decode, read_rule_file, shipped_rules

    name = SHIPPED if file is None else str(file)
    data = shipped_rules() if file is None else read_rule_file(file)
    rules, problems = check_rules(decode(data, name), name)
    print_text("".join(f"{printable(str(problem))}\n" for problem in problems))
    if problems:
        raise typer.Exit(1)
    examples = sum(len(rule.matches) for rule in rules)
    print_text(f"{counted(len(rules), 'rule')}, {counted(examples, 'example')}: no problem found\n")


@app.command()
def explain(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Kernel name, demangled, mangled or short.")
    ],
    rules: _RulesFile = None,
) -> None:
    """Say which rule decides a kernel name, and which others would match."""
    from traceattr.rules.explanation import explain as explain_name
    from traceattr.rules.rule_set import load_rules

    lines = _explanation_lines(explain_name(name, load_rules(rules)))
    print_text("".join(f"{label:<14}{printable(text)}\n" for label, text in lines))


@app.command()
def classify(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Kernel names.")
    ] = None,
    from_file: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Read one name from each line; - is standard input."),
    ] = None,
    output: Annotated[
        _Format,
        typer.Option(
            "--format", parser=one_of(_Format), help="Name, category, subcategory and rule as ..."
        ),
    ] = _Format.TSV,
    rules: _RulesFile = None,
) -> None:
    """Print the category of each kernel name, in the order given."""
    from traceattr.rules.rule_set import load_rules

    if not names and from_file is None:
        raise typer.BadParameter("nothing to classify (expected NAME or --from-file FILE)")
    wanted = [*(names or []), *(_lines(from_file) if from_file is not None else [])]
    found = load_rules(rules).classify_many((name, "") for name in wanted)
    render = _json if output is _Format.JSON else _tsv
    text = render(list(zip(wanted, found, strict=True)))
    if text:
        print_text(f"{text}\n")


def _lines(file: str) -> list[str]:
    """Return the lines of ``file`` without their ends; an empty line is a name too."""
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise OptionError(f"{file}: cannot be read: {reason} (expected a list of names)") from error
    text = data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
    return text.removesuffix("\n").split("\n") if text else []


def _json(classified: Iterable[tuple[str, "Classification"]]) -> str:
    entries = [
        json.dumps(
            {
                "name": name,
                "category": found.category,
                "subcategory": found.subcategory,
                "rule": found.rule,
            }
        )
        for name, found in classified
    ]
    return "[\n" + ",\n".join(entries) + "\n]" if entries else "[]"


def _tsv(classified: Iterable[tuple[str, "Classification"]]) -> str:
    return "\n".join(
        "\t".join((printable(name), found.category, found.subcategory or "", found.rule or ""))
        for name, found in classified
    )


def _table(rules: list[tuple[int, "Rule"]], width: int) -> str:
    """Return one line for each numbered rule; the pattern takes what ``width`` leaves."""
    rows = [("#", "rule", "category", "subcategory", "names", "pattern")]
    for number, rule in rules:
        examples = str(len(rule.matches))
        subcategory = rule.subcategory or ""
        rows.append((str(number), rule.name, rule.category, subcategory, examples, rule.pattern))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    left = max(width - sum(widths) - 2 * len(widths), len("pattern"))
    return "\n".join(_row(row, widths, left) for row in rows)


def _row(row: tuple[str, ...], widths: list[int], left: int) -> str:
    padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
    pattern = printable(row[-1])
    return "  ".join([*padded, pattern if len(pattern) <= left else pattern[: left - 3] + "..."])


def _explanation_lines(explanation: "Explanation") -> Iterable[tuple[str, str]]:
    """Yield the label and text of each line of an explanation."""
    winner = explanation.winner
    yield "seen as", explanation.normalised
    if winner is None:
        yield "category", f"{UNCLASSIFIED}: no rule matches"
        if explanation.nearest is not None:
            example, rule = explanation.nearest
            yield "nearest", f"{example} (rule {rule.name}, category {rule.category})"
        return
    subcategory = f", subcategory {winner.subcategory}" if winner.subcategory else ""
    yield "category", f"{winner.category} (group {group_of(winner.category)}){subcategory}"
    yield "rule", f"{winner.name} ({winner.file}:{winner.line})"
    yield "pattern", winner.pattern
    if winner.why:
        yield "why", winner.why
    for rule in explanation.others:
        yield "also matches", f"{rule.name} ({rule.file}:{rule.line}), category {rule.category}"
