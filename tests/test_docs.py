"""Promises of the documentation."""

from pathlib import Path

import pytest
import typer.main

from tests.documents import COMMANDS, printed_by
from traceattr.cli import app

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


def commands() -> set[tuple[str, ...]]:
    """Return every command of the application, however deep."""
    found: set[tuple[str, ...]] = set()

    def visit(path: tuple[str, ...], group: typer.core.TyperGroup) -> None:
        found.add(path)
        for name, command in group.commands.items():
            if isinstance(command, typer.core.TyperGroup):
                visit((*path, name), command)
            else:
                found.add((*path, name))

    root = typer.main.get_command(app)
    assert isinstance(root, typer.core.TyperGroup)
    visit((), root)
    return found


def test_every_command_is_in_the_reference() -> None:
    assert commands() == set(COMMANDS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    import re

    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))

    missing = [link for link in links if not (page.parent / link).exists()]
    assert missing == []


def test_every_page_is_linked_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    linked = readme + (ROOT / "traces" / "README.md").read_text(encoding="utf-8")

    assert [page.name for page in PAGES[1:] if page.name not in linked] == []


def test_generating_the_pages_leaves_the_cache_of_the_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACEATTR_CACHE_DIR", str(tmp_path / "mine"))

    printed_by("report", "traces/demo.sqlite")

    assert not (tmp_path / "mine").exists()
