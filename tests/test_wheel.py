"""What is shipped."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Build the wheel from the working tree and return the names in it."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT],
        check=True,
        capture_output=True,
    )
    [path] = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return archive.namelist()


def test_the_wheel_holds_every_file_of_the_source_roots(wheel: list[str]) -> None:
    sources = {
        path.relative_to(path.parents[len(path.relative_to(ROOT).parts) - 2]).as_posix()
        for path in ROOT.glob("*/traceattr/**/*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert sources == {name for name in wheel if name.startswith("traceattr/")}


def test_the_wheel_has_one_top_level_name(wheel: list[str]) -> None:
    assert {name.split("/")[0].split("-")[0] for name in wheel} == {"traceattr"}
    assert any(name.endswith("licenses/LICENSE") for name in wheel)
