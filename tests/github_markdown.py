"""Markdown as GitHub shows it: its own renderer, and what it makes of plain text afterwards."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

from cmarkgfm import github_flavored_markdown_to_html
from cmarkgfm.cmark import Options

OPTIONS = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_FOOTNOTES
"""GitHub lets HTML through and cleans it afterwards."""

AUTOMATIC = {
    "mention": r"(?<![\w`])@\w[\w/-]*",
    "issue": r"(?i)#\d+|\bgh-\d+",
    "commit": r"(?i)\b(?=\d*[a-f])[\da-f]{7,40}\b",
    "emoji": r":[\w+-]+:",
    "mathematics": r"\$[^\s$](?:[^$]*[^\s$])?\$",
}
"""What GitHub replaces in text that is no code, by what it makes of it."""


@dataclass
class Shown(HTMLParser):
    """What a reader of some Markdown sees.

    Attributes:
        tags: Elements in the order they begin in, and where code and folded parts end.
        links: Addresses of links and images.
        runs: Text outside code, each run of it up to the next tag or comment.
        codes: Text of each piece of code.
        text: All text.
    """

    tags: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in {"href", "src"}]
        if tag == "code":
            self.codes.append("")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.is_code:
            self.codes[-1] += data
        else:
            self.runs.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in {"code", "details"}:
            self.tags.append(f"/{tag}")

    @property
    def is_code(self) -> bool:
        """Whether the text that comes next is inside code."""
        return self.tags.count("code") > self.tags.count("/code")

    @property
    def automatic(self) -> dict[str, str]:
        """What GitHub would replace in the text outside code."""
        return {
            name: found[0]
            for name, pattern in AUTOMATIC.items()
            for run in self.runs
            if (found := re.search(pattern, run))
        }


def html_of(markdown: str) -> str:
    """Return the HTML that GitHub's renderer makes."""
    return str(github_flavored_markdown_to_html(markdown, OPTIONS))


def shown(markdown: str) -> Shown:
    """Return what a reader sees."""
    page = Shown()
    page.feed(html_of(markdown))
    page.close()
    return page
