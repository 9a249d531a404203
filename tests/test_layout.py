"""Promises of the repository's layout."""

import tomllib
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SOURCE_ROOTS: list[str] = PYPROJECT["tool"]["hatch"]["build"]["dev-mode-dirs"]


def test_no_source_root_closes_the_namespace() -> None:
    assert list(ROOT.glob("*/traceattr/__init__.py")) == []


@pytest.mark.parametrize("name", SOURCE_ROOTS)
def test_each_directory_holds_its_own_package(name: str) -> None:
    module = import_module(f"traceattr.{name}")

    assert module.__file__ is not None
    assert Path(module.__file__) == ROOT / name / "traceattr" / name / "__init__.py"
    assert (ROOT / name / "traceattr" / name / "py.typed").exists()


def test_every_source_root_is_packed_and_checked() -> None:
    tool = PYPROJECT["tool"]

    assert tool["hatch"]["build"]["targets"]["wheel"]["packages"] == [
        f"{name}/traceattr" for name in SOURCE_ROOTS
    ]
    assert set(SOURCE_ROOTS) <= set(tool["mypy"]["files"])
    assert tool["coverage"]["run"]["source_dirs"] == SOURCE_ROOTS
    assert tool["importlinter"]["root_packages"] == [f"traceattr.{name}" for name in SOURCE_ROOTS]


def test_each_source_root_says_what_it_is_for() -> None:
    for name in (*SOURCE_ROOTS, "traces"):
        lines = (ROOT / name / "README.md").read_text(encoding="utf-8").splitlines()
        assert lines[0] == f"# {name}"
        assert len(lines) <= 40


def test_the_locks_are_hashed_and_name_no_address() -> None:
    for name in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "://" not in text
        pins = [line for line in text.splitlines() if line[:1].isalnum()]
        assert all("==" in pin for pin in pins)
        assert text.count("--hash=sha256:") >= len(pins)
