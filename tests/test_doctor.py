"""``traceattr doctor``: what it finds wrong, and what it says would mend it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from typer.testing import CliRunner, Result

from tests.decoding import ALL_REDUCE, ATTENTION, GEMM
from tests.fake_nsys import OPTIONS, write_nsys
from tests.loading import PID, SECOND_PID
from traceattr.checks import Check, Status, failed, passed
from traceattr.cli import app
from traceattr.recording.machine import check_machine
from traceattr.report.checks_text import ChecksFormat, render_checks
from traces.export_writer import ExportWriter

DEMO = Path(__file__).parent.parent / "traces" / "demo.sqlite"

Build = Callable[[ExportWriter], None]


def doctor(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["doctor", *map(str, arguments)])


def checks(path: Path, *options: str) -> dict[str, Any]:
    result = doctor(path, "--format", "json", *options)
    document = json.loads(result.stdout)
    failed = [check for check in document["checks"] if check["status"] == "fail"]
    assert (result.exit_code, document["failed"]) == (1 if failed else 0, len(failed))
    return {check["code"]: check for check in document["checks"]}


def work(export: ExportWriter, pid: int = PID) -> None:
    """Write a pass of a server that launches kernel by kernel."""
    for correlation, name in enumerate((GEMM, ATTENTION, GEMM), start=1):
        start = correlation * 1_000
        export.api("cudaLaunchKernel_v7000", start, start + 10, pid=pid, correlation=correlation)
        export.kernel(name, start + 20, start + 900, pid=pid, correlation=correlation)


def made(folder: Path, *parts: Build) -> Path:
    path = folder / "trace.sqlite"
    with ExportWriter(path) as export:
        for part in parts:
            part(export)
    return path


def test_a_good_trace_passes_and_says_what_it_lacks() -> None:
    found = checks(DEMO, "--model", "Qwen3.6-27B")

    assert {code for code, check in found.items() if check["status"] != "pass"} == {
        "rounds",
        "nvtx",
    }
    assert found["rounds"]["remedy"].startswith("traceattr profile --delay 120 --duration 5 -- ")
    assert found["nvtx"]["remedy"].startswith("SGLANG_ENABLE_NVTX_SCHEDULER=1 traceattr profile")


def no_ranks(export: ExportWriter) -> None:
    export.process(PID, "sglang::scheduler_TP0")
    export.process(SECOND_PID, "sglang::scheduler_TP1")


def a_gap_in_ranks(export: ExportWriter) -> None:
    export.process(PID, "sglang::scheduler_TP0")
    export.process(SECOND_PID, "sglang::scheduler_TP2")
    work(export, SECOND_PID)


def a_collective(export: ExportWriter) -> None:
    export.kernel(ALL_REDUCE, 10_000, 11_000, pid=PID)


def envelopes(export: ExportWriter) -> None:
    export.graph_trace(10_000, 900_000, pid=PID, graph=3)


def a_short_envelope(export: ExportWriter) -> None:
    export.graph_trace(10_000, 10_900, pid=PID, graph=3)


def launches_in_vain(export: ExportWriter) -> None:
    for correlation in range(50, 60):
        export.api("cudaGraphLaunch_v10000", 20_000, 20_100, pid=PID, correlation=correlation)


def lost_events(export: ExportWriter) -> None:
    export.diagnostic("Not all CUDA events might have been collected.", 2, PID)


def start_up(export: ExportWriter) -> None:
    export.api("cudaGraphInstantiateWithFlags_v11040", 100, 900, pid=PID, correlation=40)


def one_early_kernel(export: ExportWriter) -> None:
    export.api("cudaLaunchKernel_v7000", 20_000, 20_010, pid=PID, correlation=70)
    export.kernel(GEMM, 19_500, 20_900, pid=PID, correlation=70)


def newer(export: ExportWriter) -> None:
    export.metadata("EXPORT_SCHEMA_VERSION", "4.1.0")


def partial(export: ExportWriter) -> None:
    export.metadata("EXPORT_PARAM_TABLES_TO_EXPORT", "CUPTI.*")


def shifted(export: ExportWriter) -> None:
    export.metadata("EXPORT_CONFIG_TIME_SHIFT", "250")


def reversed_row(export: ExportWriter) -> None:
    export.kernel(GEMM, 30_000, 29_000, pid=PID)


def an_unknown_kernel(export: ExportWriter) -> None:
    export.kernel("fused_recurrent_gated_dolta_rule_pocked_docode_kornel", 40_000, 41_000, pid=PID)


Expected = tuple[str, str, str, str]
"""Code, status, and parts of text and remedy."""


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param(
            (work,),
            (
                ("os-calls", "warn", "were not recorded", "--trace cuda,nvtx,osrt"),
                ("rounds", "warn", "No rounds", "traceattr profile"),
                ("gpu-model", "warn", "does not say", "--gpu GPU"),
            ),
            id="what is always told",
        ),
        pytest.param(
            (work, no_ranks, envelopes, start_up, newer),
            (
                ("ranks", "fail", "sglang::scheduler_TP1", "traceattr profile"),
                ("graph-mode", "fail", "99.7 % of busy time", "traceattr profile"),
                ("start-up", "warn", "1 calls", "--delay 300"),
                ("schema", "warn", "schema 4.1.0", "pip install --upgrade"),
            ),
            id="graph mode, a rank missing, start-up",
        ),
        pytest.param(
            (work, a_gap_in_ranks, launches_in_vain, partial, shifted),
            (
                ("ranks", "fail", "are not in the trace: 1.", "traceattr profile"),
                ("graph-mode", "fail", "10 of 10 CUDA graph", "traceattr profile"),
                ("dropped-events", "warn", "10 of 10 graph launches left", "--duration 2"),
                ("schema", "warn", "left out tables", "nsys export"),
                ("wall-clock", "warn", "250 ns", "nsys export"),
            ),
            id="graphs without work, a part of the export",
        ),
        pytest.param(
            (work, a_collective, a_short_envelope, lost_events, one_early_kernel, reversed_row),
            (
                ("ranks", "warn", "only one GPU", "traceattr profile"),
                ("graph-mode", "warn", "17.9 % of busy time", "traceattr profile"),
                ("dropped-events", "fail", "lost events", "--duration 2"),
                ("clocks", "fail", "1 of 4 operations begin", "traceattr profile"),
                ("rows", "warn", "could not be taken", "nsys export"),
            ),
            id="events lost, clocks apart",
        ),
        pytest.param(
            (work, an_unknown_kernel),
            (
                ("unclassified", "fail", "27.5 % of busy time", "--unclassified"),
                ("rule-drift", "warn", "renamed: 1", "rules explain fused_recurrent"),
            ),
            id="a name that no rule knows",
        ),
    ],
)
def test_what_is_wrong_is_found_with_its_remedy(
    tmp_path: Path, parts: tuple[Build, ...], expected: tuple[Expected, ...]
) -> None:
    found = checks(made(tmp_path, *parts))

    for code, status, text, remedy in expected:
        assert (code, found[code]["status"]) == (code, status)
        assert text in found[code]["text"]
        assert remedy in found[code]["remedy"]
    if an_unknown_kernel in parts:
        [line] = found["rule-drift"]["details"]
        assert line.startswith("27.5 % fused_recurrent_gated_dolta")
        assert "like fused_recurrent_gated_delta_rule" in line
        assert line.endswith("(gdn)")


def test_categories_of_the_model_must_take_time(tmp_path: Path) -> None:
    path = made(tmp_path, work)
    found = checks(path, "--model", "Qwen3.6-27B")["expected-categories"]
    assert (found["status"], "No time of gdn" in found["text"]) == ("fail", True)
    assert checks(path, "--model", "Qwen3-8B")["expected-categories"]["status"] == "pass"


def test_graphs_may_hide_what_is_expected(tmp_path: Path) -> None:
    found = checks(made(tmp_path, work, envelopes), "--model", "Qwen3.6-27B")

    assert found["expected-categories"]["status"] == "warn"


def test_a_trace_without_cuda_events_fails_with_the_remedy(tmp_path: Path) -> None:
    def nothing(export: ExportWriter) -> None:
        export.nvtx("range", 10, 20, pid=PID)
        export.diagnostic("No CUDA events collected. Does the process use CUDA?", 2, PID)

    path = made(tmp_path, nothing)

    check = checks(path)["cuda-events"]

    assert check["status"] == "fail"
    assert check["text"].startswith("No CUDA events: no CUDA kernel, copy or graph was recorded")
    assert check["details"] == ["No CUDA events collected. Does the process use CUDA?"]
    assert check["remedy"].startswith("traceattr profile")


def test_a_remedy_stays_on_one_line_at_any_width() -> None:
    command = "traceattr profile --delay 120 --duration 5 -- python -m sglang.launch_server ..."
    found = [passed("schema", "known " * 20), failed("graph-mode", "hidden " * 20, command)]

    text = render_checks(found, ChecksFormat.TERMINAL, file="a.sqlite", version="1", width=40)

    lines = text.splitlines()
    assert lines[0] == "a.sqlite is not fit for attribution. 2"
    assert max(len(line) for line in lines if command not in line) <= 40
    assert f"      $ {command}" in lines
    assert [line[:6] for line in lines if line[:1].strip()][-2:] == ["FAIL  ", "pass  "]


def test_markdown_is_inert() -> None:
    name = "evil\x1b[31m|<img src=x>`@me #12"
    found = [failed("rule-drift", f"Unknown: {name}", f"traceattr rules explain '{name}'", (name,))]

    text = render_checks(found, ChecksFormat.MARKDOWN, file=name, version="1", width=80)

    assert "\x1b" not in text
    assert "<img" not in MarkdownIt("commonmark").render(text)
    assert "@<!-- -->me" in text


def test_a_file_that_is_no_trace_is_a_usage_error(tmp_path: Path) -> None:
    result = doctor(tmp_path / "nope.sqlite")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1


def machine(folder: Path, environment: dict[str, str] | None = None, **files: str) -> list[Check]:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(check_machine(environment or {"PATH": ""}, folder, None, folder))


def by_code(found: list[Check]) -> dict[str, Check]:
    return {check.code: check for check in found}


def test_a_machine_that_can_record_passes(tmp_path: Path) -> None:
    program = write_nsys(tmp_path / "nsys")

    found = machine(
        tmp_path,
        {"PATH": str(program.parent)},
        proc__driver__nvidia__version="NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05\n",
        proc__sys__kernel__perf_event_paranoid="2\n",
    )

    good = [check for check in found if check.code != "temporary-space"]
    assert {check.status for check in good} == {Status.PASS}
    assert by_code(found)["nsys"].text == f"nsys 2026.2.1.210 is {program}."
    assert by_code(found)["driver"].text.endswith("580.95.05")


@pytest.mark.parametrize(
    ("options", "version", "status", "text"),
    [
        (
            OPTIONS.replace("--cuda-graph-trace", "--x"),
            "2026.2.1.210",
            Status.FAIL,
            "does not know",
        ),
        (OPTIONS, "2022.4.2.1", Status.WARN, "exports nothing of CUDA graphs"),
    ],
)
def test_an_nsys_that_cannot_do_it_is_told(
    tmp_path: Path, options: str, version: str, status: Status, text: str
) -> None:
    said = f"NVIDIA Nsight Systems version {version}-1v0"
    program = write_nsys(tmp_path / "nsys", options=options, version=said)

    check = by_code(machine(tmp_path, {"PATH": str(program.parent)}))["nsys-version"]

    assert check.status is status
    assert text in check.text


@pytest.mark.parametrize(
    ("environment", "files", "code", "status"),
    [
        ({}, {}, "nsys", Status.FAIL),
        ({}, {}, "driver", Status.WARN),
        ({"CUDA_INJECTION64_PATH": "/x.so"}, {}, "other-profiler", Status.WARN),
        ({}, {"proc__sys__kernel__perf_event_paranoid": "4"}, "perf-events", Status.WARN),
        ({}, {".dockerenv": ""}, "container", Status.WARN),
        ({}, {"proc__1__cgroup": "0::/kubepods/pod1"}, "container", Status.WARN),
    ],
)
def test_known_problems_of_a_machine_are_told(
    tmp_path: Path, environment: dict[str, str], files: dict[str, str], code: str, status: Status
) -> None:
    check = by_code(machine(tmp_path, {"PATH": "", **environment}, **files))[code]

    assert check.status is status
    assert check.remedy or code in ("driver",)


def test_a_directory_without_room_is_told(tmp_path: Path) -> None:
    [space] = [
        check
        for check in check_machine({"PATH": ""}, tmp_path / "missing", None, tmp_path)
        if check.code == "temporary-space"
    ]

    assert (space.status, space.remedy) == (Status.FAIL, "export TMPDIR=DIRECTORY")


def test_without_a_trace_the_machine_is_looked_at(tmp_path: Path) -> None:
    program = write_nsys(tmp_path / "nsys")

    found = doctor("--nsys", program, "--format", "json")
    missing = doctor("--nsys", tmp_path / "other", "--format", "json")

    document = json.loads(found.stdout)
    assert (document["trace"], document["checks"][0]["status"]) == (None, "pass")
    assert missing.exit_code == 1
    assert "no such program" in json.loads(missing.stdout)["checks"][0]["text"]
