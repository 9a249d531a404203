"""Analyses kept in files."""

import json
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.round_analyses import speculative, speculative_two_gpus
from traceattr.attribution.stored import FORMAT, dump_analysis, load_analysis
from traceattr.errors import StoredAnalysisError

STORED = dump_analysis(speculative_two_gpus())


def test_the_same_analysis_is_the_same_bytes_and_read_back_the_same() -> None:
    assert dump_analysis(speculative_two_gpus()) == STORED
    assert load_analysis(STORED) == speculative_two_gpus()


def test_another_format_is_an_error_that_names_both() -> None:
    document = json.loads(STORED)
    document["format"] = FORMAT + 1

    with pytest.raises(StoredAnalysisError, match=rf"of format {FORMAT + 1}, .* format {FORMAT}"):
        load_analysis(json.dumps(document).encode())


def test_other_json_is_no_stored_analysis() -> None:
    for stored in (b"{}", b"[]", b"1", b"", b'{"kind":"x","format":1,"analysis":{}}', b"\xff\xfe"):
        with pytest.raises(StoredAnalysisError, match="not a stored analysis"):
            load_analysis(stored)


def test_an_attribute_of_another_type_is_named() -> None:
    document = json.loads(STORED)
    document["analysis"]["window"]["start_ns"] = "soon"

    with pytest.raises(StoredAnalysisError, match=r"Expected `int`, got `str` - at `\$.window"):
        load_analysis(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("start_ns", "wall_ns", "seams_from", "reason"),
    [
        ([1], [1, 2], 0, "different lengths"),
        ([1], [1], 1, "no round that seams are told of"),
        ([], [], 0, "no round that seams are told of"),
        ([1], [-1], 0, "below 0 or beyond 100 days"),
        ([1], [10**30], 0, "below 0 or beyond 100 days"),
    ],
)
def test_series_that_make_no_sense_are_refused(
    start_ns: list[int], wall_ns: list[int], seams_from: int, reason: str
) -> None:
    document = json.loads(STORED)
    series = {"gpu": 0, "start_ns": start_ns, "wall_ns": wall_ns, "seams_from": seams_from}
    document["analysis"]["series"] = [series | dict.fromkeys(("categories", "groups", "seams"), ())]

    with pytest.raises(StoredAnalysisError, match=reason):
        load_analysis(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("kernels", "median_ns", "reason"),
    [([0], [1, 2], "more kernels than durations"), ([1], [1], "without a name")],
)
def test_sequences_that_make_no_sense_are_refused(
    kernels: list[int], median_ns: list[int], reason: str
) -> None:
    document = json.loads(STORED)
    graph = {
        "gpu": 0,
        "kind": "verify",
        "replays": 1,
        "of_replays": 1,
        "kernels": kernels,
        "median_ns": median_ns,
    }
    names = [{"name": "f", "category": "norm"}]
    document["analysis"]["sequences"] = {"kernels": names, "graphs": [graph]}

    with pytest.raises(StoredAnalysisError, match=reason):
        load_analysis(json.dumps(document).encode())


@given(at=st.integers(0, len(STORED) - 1), damage=st.binary(max_size=6))
def test_damage_is_an_error_or_changes_a_value_and_never_a_crash(at: int, damage: bytes) -> None:
    with suppress(StoredAnalysisError):
        load_analysis(STORED[:at] + damage + STORED[at + len(damage) :])


def test_deep_nesting_is_an_error() -> None:
    with pytest.raises(StoredAnalysisError):
        load_analysis(b"[" * 1_000_000)


def test_numbers_of_arrays_are_refused_as_they_would_not_come_back_the_same() -> None:
    analysis = speculative()
    trace = replace(analysis.trace, opaque_replays=np.int64(3))  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="int64"):
        dump_analysis(replace(analysis, trace=trace))


def test_a_stored_analysis_is_rendered_without_what_reads_traces(tmp_path: Path) -> None:
    path = tmp_path / "analysis.json"
    path.write_bytes(STORED)
    program = """
import sys
from pathlib import Path
from traceattr.attribution.stored import load_analysis
from traceattr.report.render import ReportFormat, render
analysis = load_analysis(Path(sys.argv[1]).read_bytes())
for format in ReportFormat:
    assert render(analysis, format, width=80, color=False)
print({"duckdb", "numpy", "pyarrow"} & set(sys.modules))
"""

    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.stderr) == ("set()\n", "")
