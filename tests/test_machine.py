"""A container may have less than the machine."""

from pathlib import Path

import pytest

from traceattr.ingest.machine import cores, memory_bytes

PLENTY = cores(Path("/nowhere"))


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, PLENTY),
        ({"cpu.max": "max 100000"}, PLENTY),
        ({"cpu.max": "100000 100000"}, 1),
        ({"cpu.max": "20000 100000"}, 1),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, PLENTY),
        ({"cpu/cpu.cfs_quota_us": "100000", "cpu/cpu.cfs_period_us": "100000"}, 1),
    ],
)
def test_cores_are_those_of_the_quota(tmp_path: Path, files: dict[str, str], expected: int) -> None:
    write(tmp_path, files)
    assert cores(tmp_path) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"memory.max": "1000000"}, 1_000_000),
        ({"memory/memory.limit_in_bytes": "2000000"}, 2_000_000),
        ({"memory.max": "max"}, memory_bytes(Path("/nowhere"))),
        (
            {"memory/memory.limit_in_bytes": "9223372036854771712"},
            memory_bytes(Path("/nowhere")),
        ),
    ],
)
def test_memory_is_that_of_the_limit(tmp_path: Path, files: dict[str, str], expected: int) -> None:
    write(tmp_path, files)
    assert memory_bytes(tmp_path) == expected


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(f"{text}\n")
