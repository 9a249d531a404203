"""Finding the local nsys."""

from pathlib import Path

import pytest

from tests.fake_nsys import write_nsys
from traceattr.errors import NsysError
from traceattr.ingest.nsys import find_nsys


def test_it_is_found_on_the_path_with_its_version_and_options(tmp_path: Path) -> None:
    program = write_nsys(tmp_path / "nsys", options="--delay=  --cuda-graph-trace=")

    nsys = find_nsys(None, {"PATH": str(tmp_path)})

    assert (nsys.command, nsys.version) == (str(program), "2026.2.1.210")
    assert nsys.knows("--delay")
    assert not nsys.knows("--duration")


def test_the_one_that_is_named_wins_over_the_environment_and_that_over_the_path(
    tmp_path: Path,
) -> None:
    for name in ("named", "environment", "path"):
        (tmp_path / name).mkdir()
        write_nsys(tmp_path / name / "nsys")
    environment = {"TRACEATTR_NSYS": str(tmp_path / "environment" / "nsys")}
    path = {"PATH": str(tmp_path / "path")}

    found = [
        find_nsys(str(tmp_path / "named" / "nsys"), environment | path),
        find_nsys(None, environment | path),
        find_nsys(None, {"TRACEATTR_NSYS": ""} | path),
    ]

    assert [Path(nsys.command).parent.name for nsys in found] == ["named", "environment", "path"]


@pytest.mark.parametrize("version", ["2022.4.2.1-df9881f", "2026.4", "2021.5.1.118-f89f9cd"])
def test_the_version_is_that_of_the_product(tmp_path: Path, version: str) -> None:
    write_nsys(tmp_path / "nsys", version=f"NVIDIA Nsight Systems version {version}")

    assert find_nsys(None, {"PATH": str(tmp_path)}).version == version.partition("-")[0]


def test_one_that_does_not_list_its_options_is_taken_to_know_all(tmp_path: Path) -> None:
    write_nsys(tmp_path / "nsys", options="see the web site")

    assert find_nsys(None, {"PATH": str(tmp_path)}).knows("--cuda-graph-trace")


def test_without_any_the_message_says_how_to_name_one(tmp_path: Path) -> None:
    with pytest.raises(NsysError, match=r"^nsys: not found on PATH; .*--nsys"):
        find_nsys(None, {"PATH": str(tmp_path)})


def test_what_cannot_be_run_is_named_with_the_reason(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.touch()
    nothing = {"PATH": ""}

    for named, reason in (
        (tmp_path / "none", "no such program"),
        (tmp_path, "is a directory"),
        (plain, "cannot be run by you"),
    ):
        with pytest.raises(NsysError) as caught:
            find_nsys(str(named), nothing)
        assert str(caught.value) == f"{named}: {reason} (expected the program nsys)"


def test_another_program_of_that_name_is_refused_in_its_own_words(tmp_path: Path) -> None:
    program = write_nsys(tmp_path / "nsys", version="nsys - Nagios system checks 1.2")

    with pytest.raises(NsysError, match="its answer to --version: 'nsys - Nagios") as caught:
        find_nsys(None, {"PATH": str(tmp_path)})

    assert str(caught.value).startswith(str(program))
