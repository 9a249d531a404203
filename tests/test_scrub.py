"""``traceattr scrub``: what is left behind, and what stays the same."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from tests.loading import PID, SECOND_PID
from tests.recordings import recorded
from traceattr.cli import app
from traceattr.ingest.residue import residue
from traceattr.ingest.scrub_text import REMOVED, public_message, public_title, public_value
from traces.description import Simulation
from traces.eras import ERAS
from traces.export_writer import ExportWriter
from traces.identity import global_pid, global_tid
from traces.surroundings import FAKE_SECRETS, UTC_EPOCH_NS

SHARED = Path(__file__).parent.parent.parent / "shared" / "traces"
SECRET = "hunter2-planted-{}-token"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def scrub(path: Path, out: Path, *options: str) -> Result:
    return run("scrub", path, out, *options)


def report(path: Path, *options: str | Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(run("report", path, "--format", "json", *options).stdout)
    del document["trace"]["file"]
    return document


def contains_secret(path: Path) -> bool:
    data = path.read_bytes()
    words = ("hunter2", "planted", *FAKE_SECRETS)
    return any(
        word.encode(encoding) in data
        for word in words
        for encoding in ("utf-8", "utf-16-le", "utf-16-be")
    )


def write(path: Path, era: str = "3.25") -> None:
    """Write a trace with a secret wherever an export of its era has room for one."""
    with ExportWriter(path, era, lazy=False) as export:
        export.process(PID, "sglang::scheduler_TP0")
        export.process(SECOND_PID, f"/home/{SECRET.format('user')}/run_TP1 --key=x")
        export.process(999, SECRET.format("stranger"))
        for pid, rank in ((PID, 0), (SECOND_PID, 1)):
            export.api("cudaLaunchKernel_v7000", 50, 60, pid=pid, correlation=1)
            export.kernel("ampere_bf16_s16816gemm_bf16_64x64_tn", 100, 200, pid=pid, correlation=1)
            export.kernel("void acme::our_own<7>(float *)", 300, 400 + rank, pid=pid)
            export.osrt("poll", 210, 290, pid=pid)
            export.nvtx("scheduler.run_batch", 90, 500, pid=pid)
            export.nvtx(f"prompt: {SECRET.format('prompt')}", 100, 400, pid=pid)
            export.row(
                "NVTX_EVENTS",
                start=120,
                end=130,
                eventType=59,
                globalTid=global_tid(pid),
                textId=export.string(SECRET.format("registered")),
                jsonText=json.dumps({"payload": SECRET.format("payload")}),
                jsonTextId=export.string(SECRET.format("json")),
            )
        export.osrt("poll", 210, 290, pid=999)
        name = export.string(SECRET.format("thread"))
        export.row("ThreadNames", nameId=name, priority=1, globalTid=global_tid(PID))
        export.string(f"HF_TOKEN={SECRET.format('environment')}\0HOME=/home/alice")
        if export.has("ProcessStreams"):
            text = export.string(SECRET.format("console"))
            export.row(
                "ProcessStreams",
                globalPid=global_pid(PID),
                filenameId=text,
                contentId=text,
            )
        for table, key in (
            ("TARGET_INFO_SYSTEM_ENV", "DeviceEnvironment"),
            ("META_DATA_CAPTURE", "PROCESS_0:ENVIRONMENT_VARIABLE_0"),
            ("META_DATA_CAPTURE", "PROCESS_0:ARGUMENT_1"),
        ):
            if export.has(table):
                export.row(table, name=key, value=f"A={SECRET.format('metadata')}")
        export.metadata("EXPORT_HOST", SECRET.format("host"))
        export.metadata("EXPORT_USER", SECRET.format("user"))
        export.metadata("TRACEATTR_SIMULATED", "simulated by traceattr: a test")
        if export.has("DIAGNOSTIC_EVENT"):
            export.diagnostic(f"Cannot open /tmp/{SECRET.format('path')}", 2, PID, 100)
            export.diagnostic(
                f"Not all CUDA events might have been collected. {SECRET.format('tail')}", 2, PID, 1
            )
        if export.has("TARGET_INFO_SESSION_START_TIME"):
            export.row(
                "TARGET_INFO_SESSION_START_TIME",
                utcEpochNs=UTC_EPOCH_NS,
                utcTime="2026-04-24T03:06:40",
                localTime="2026-04-24T11:06:40",
            )
        export.gpu(0, name="NVIDIA RTX A6000", ordinals={PID: 0, SECOND_PID: 0})
    with closing(sqlite3.connect(path)) as connection, connection:
        # Text where a number belongs, and a table that somebody added.
        connection.execute(
            "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET contextId = ? WHERE start = 300",
            [SECRET.format("context")],
        )
        connection.execute("CREATE TABLE notes (text)")
        connection.execute("INSERT INTO notes VALUES (?)", [SECRET.format("notes").encode()])
        connection.execute("CREATE TABLE gone (text)")
        connection.execute("INSERT INTO gone VALUES (?)", [SECRET.format("deleted")])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TABLE gone")


def in_utf16(path: Path, copy: Path) -> None:
    with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(copy)) as new:
        new.execute("PRAGMA encoding = 'UTF-16le'")
        new.executescript("\n".join(old.iterdump()))


@pytest.mark.parametrize("era", ERAS)
def test_no_planted_secret_survives_in_any_era(tmp_path: Path, era: str) -> None:
    path, out = tmp_path / "trace.sqlite", tmp_path / "out.sqlite"
    write(path, era)
    before = path.read_bytes()
    assert contains_secret(path)

    result = scrub(path, out, *(("--verify",) if era in (ERAS[0], ERAS[-1]) else ()))

    assert (result.exit_code, result.stderr) == (0, f"Wrote {out}\n")
    assert not contains_secret(out)
    assert path.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out.sqlite", "trace.sqlite"]


def test_the_report_stays_the_same_but_for_names_that_are_reduced(tmp_path: Path) -> None:
    path, out = tmp_path / "trace.sqlite", tmp_path / "out.sqlite"
    write(path)
    scrub(path, out)

    original, copy = report(path), report(out)

    assert [gpu["process"] for gpu in copy["gpus"]] == ["sglang::scheduler_TP0", "process_TP1"]
    assert [each["text"] for each in copy["trace"]["diagnostics"]] == [
        REMOVED,
        "Not all CUDA events might have been collected.",
    ]
    for document in (original, copy):
        del document["trace"]["diagnostics"]
        for gpu in document["gpus"]:
            del gpu["process"]
    assert copy == original


def test_the_log_of_the_server_is_matched_to_the_copy_as_to_the_trace(tmp_path: Path) -> None:
    """Its times are local ones, eight hours ahead."""
    path, out, log = (tmp_path / name for name in ("trace.sqlite", "out.sqlite", "server.log"))
    write(path)
    line = (
        "[2026-04-24 {}] Decode batch, #running-req: {}, #token: 900, gen throughput (token/s): 50"
    )
    log.write_text(
        f"{line.format('03:06:40', 2)}\n{line.format('11:06:40', 3)}\n", encoding="utf-8"
    )

    assert scrub(path, out, "--verify").exit_code == 0

    said, of_copy = (report(each, "--server-log", log)["token_cost"] for each in (path, out))
    assert (said["server"]["in_window"], said["server"]["requests"]) == (True, 3)
    assert of_copy == said


def test_times_that_say_more_than_the_time_are_left_out(tmp_path: Path) -> None:
    path, out = tmp_path / "trace.sqlite", tmp_path / "out.sqlite"
    write(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        text = f"2026-04-24T11:06:40 {SECRET.format('zone')}"
        connection.execute("UPDATE TARGET_INFO_SESSION_START_TIME SET localTime = ?", [text])

    assert scrub(path, out, "--verify").exit_code == 0

    assert not contains_secret(out)


def test_names_that_no_rule_knows_can_be_hidden(tmp_path: Path) -> None:
    path, out = tmp_path / "trace.sqlite", tmp_path / "out.sqlite"
    write(path)

    assert scrub(path, out, "--hash-names", "--verify").exit_code == 0

    names = {kernel["name"]: kernel["category"] for kernel in report(out)["kernels"]}
    assert sorted(names.values()) == ["unclassified", "weight_gemm"]
    [hidden] = [name for name, category in names.items() if category == "unclassified"]
    assert hidden.startswith("private_kernel_")
    assert b"our_own" in path.read_bytes()
    assert b"our_own" not in out.read_bytes()


def test_gaps_keep_their_causes_and_scheduler_ranges(tmp_path: Path) -> None:
    path, out = tmp_path / "trace.sqlite", tmp_path / "out.sqlite"
    write(path)
    scrub(path, out)

    def gaps(trace: Path) -> Any:
        document = json.loads(run("gaps", trace, "--format", "json").stdout)
        return [gpu["seams"] for gpu in document["per_gpu"]]

    assert gaps(out) == gaps(path)
    names = run("sql", out, "SELECT DISTINCT name FROM host_range", "--format", "csv").stdout
    assert names == "name\nscheduler.run_batch\n"


def test_a_file_in_utf_16_is_scrubbed(tmp_path: Path) -> None:
    plain, path, out = (tmp_path / name for name in ("plain", "trace.sqlite", "out.sqlite"))
    write(plain)
    in_utf16(plain, path)

    result = scrub(path, out, "--verify", "--hash-names")

    assert (result.exit_code, result.stderr) == (0, f"Wrote {out}\n")
    assert not contains_secret(out)


def test_what_lies_in_a_write_ahead_log_is_scrubbed_too(tmp_path: Path) -> None:
    path, out = tmp_path / "in" / "trace.sqlite", tmp_path / "out.sqlite"
    path.parent.mkdir()
    write(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL").fetchall()
        writer.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
        writer.execute("INSERT INTO notes VALUES (?)", [SECRET.format("log")])
        writer.execute('UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET "end" = 450 WHERE start = 300')
        before = {each.name: each.read_bytes() for each in path.parent.iterdir()}

        result = scrub(path, out, "--verify")

        assert result.exit_code == 0, result.stderr
        assert {each.name: each.read_bytes() for each in path.parent.iterdir()} == before
    assert not contains_secret(out)
    assert report(out)["window"]["end_ns"] == 450
    assert [each.name for each in tmp_path.iterdir() if "out" in each.name] == ["out.sqlite"]


def test_an_export_without_strings_keeps_its_report(tmp_path: Path) -> None:
    path, out = tmp_path / "trace.sqlite", tmp_path / "out.sqlite"
    write(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TABLE StringIds")
        connection.execute("DROP TABLE NVTX_EVENTS")
        connection.execute("DROP TABLE PROCESSES")

    result = scrub(path, out, "--verify", "--hash-names")

    assert (result.exit_code, result.stderr) == (0, f"Wrote {out}\n")
    assert not contains_secret(out)


def test_a_trace_without_gpu_work_can_be_shared(tmp_path: Path) -> None:
    path, out = tmp_path / "trace.sqlite", tmp_path / "out.sqlite"
    with ExportWriter(path) as export:
        export.nvtx(SECRET.format("text"), 10, 20, pid=PID)
        export.diagnostic("No CUDA events collected. Does the process use CUDA?", 2, PID)

    assert scrub(path, out, "--verify").exit_code == 0

    assert not contains_secret(out)
    assert "No CUDA events collected" in run("report", out).stderr


def test_a_copy_that_does_not_fit_is_named_as_it_was_given(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path, out = tmp_path / "trace.sqlite", tmp_path / "copy.sqlite"
    write(path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        result = scrub(path, out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {out}: cannot be written (")
    assert [each.name for each in tmp_path.iterdir()] == ["trace.sqlite"]


def test_the_copy_holds_no_free_page_and_only_what_is_read(tmp_path: Path) -> None:
    path, out = tmp_path / "trace.sqlite", tmp_path / "out.sqlite"
    write(path)
    scrub(path, out)

    with closing(sqlite3.connect(out)) as connection:
        assert connection.execute("PRAGMA freelist_count").fetchall() == [(0,)]
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        strings = {text for (text,) in connection.execute("SELECT value FROM StringIds")}
    assert not tables & {"notes", "ThreadNames", "ProcessStreams"}
    assert strings == {
        "cudaLaunchKernel_v7000",
        "poll",
        "ampere_bf16_s16816gemm_bf16_64x64_tn",
        "void acme::our_own<7>(float *)",
        "our_own",
    }


def test_a_part_of_the_time_can_be_shared(tmp_path: Path) -> None:
    path, out = tmp_path / "trace.sqlite", tmp_path / "out.sqlite"
    write(path)

    result = scrub(path, out, "--verify", "--window", "0:0.00000025")

    assert result.exit_code == 0, result.stderr
    assert "what the window decides is the same" in result.stdout
    assert [kernel["category"] for kernel in report(out)["kernels"]] == ["weight_gemm"]


@pytest.mark.parametrize(
    "simulation",
    [
        pytest.param(Simulation(rounds=2, before=("prefill",), nvtx=True), id="node"),
        pytest.param(
            Simulation(rounds=2, era="2.7", plain_titles=True, correlation_zero=True), id="2021"
        ),
    ],
)
def test_the_report_of_a_simulated_server_is_equal(simulation: Simulation, tmp_path: Path) -> None:
    path, _ = recorded(simulation)
    out = tmp_path / "trace.sqlite"

    assert scrub(path, out, "--hash-names").exit_code == 0

    assert report(out) == report(path)
    assert not contains_secret(out)


@pytest.mark.parametrize("path", sorted(SHARED.glob("[!hm]*.sqlite")), ids=lambda path: path.stem)
def test_real_exports_keep_their_report(path: Path, tmp_path: Path) -> None:
    result = scrub(path, tmp_path / "out.sqlite", "--verify", "--hash-names")

    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "out.sqlite").stat().st_size * 3 < path.stat().st_size


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            'UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET "end" = "end" + 1',
            "the report of the copy differs",
        ),
        (
            "UPDATE TARGET_INFO_SESSION_START_TIME SET localTime = utcTime",
            "logs would be matched to another time",
        ),
        ("INSERT INTO StringIds VALUES (99, 'hunter2-planted-console-token')", "1 texts"),
        ("UPDATE NVTX_EVENTS SET text = 'prompt: hunter2-planted-prompt-token'", "2 texts"),
    ],
)
def test_verification_notices_what_is_wrong(
    tmp_path: Path, change: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out = tmp_path / "trace.sqlite", tmp_path / "out.sqlite"
    write(path)
    good = tmp_path / "good.sqlite"
    scrub(path, good)
    with closing(sqlite3.connect(good)) as connection, connection:
        connection.execute(change)

    def spoiled(_export: object, target: Path, *_: object) -> tuple[()]:
        shutil.copy(good, target)
        return ()

    monkeypatch.setattr("traceattr.ingest.scrub.scrub", spoiled)
    result = scrub(path, out, "--verify")

    assert result.exit_code == 1
    assert message in result.stderr
    assert not out.exists()


def test_an_export_in_parquet_is_refused_with_the_command_that_makes_sqlite(
    tmp_path: Path,
) -> None:
    folder, out = tmp_path / "run.parquetdir", tmp_path / "out.sqlite"
    folder.mkdir()
    strings = pa.table({"id": [1], "value": ["f"]})
    pq.write_table(strings, folder / "StringIds.parquet")
    made = pa.table({"name": ["EXPORT_SCHEMA_VERSION"], "value": ["3.25.0"]})
    pq.write_table(made, folder / "META_DATA_EXPORT.parquet")
    times = {"start": [1], "end": [2], "globalPid": [global_pid(PID)], "demangledName": [1]}
    pq.write_table(pa.table(times), folder / "CUPTI_ACTIVITY_KIND_KERNEL.parquet")

    result = scrub(folder, out)

    assert result.exit_code == 2
    assert result.stderr.endswith(f"nsys export --type sqlite {tmp_path / 'run.nsys-rep'}\n")
    assert not out.exists()


@given(st.binary(max_size=60), st.binary(min_size=8, max_size=20), st.integers(0, 60))
def test_a_text_is_found_at_every_offset(data: bytes, text: bytes, at: int) -> None:
    planted = data[:at] + text + data[at:]

    assert residue(planted, [text], b"") == (text,)
    assert residue(planted, [text], b"before" + text + b"after") == ()
    assert text in data or residue(data, [text], b"") == ()


def test_texts_are_found_in_utf_16() -> None:
    data = b"\x01" + "hunter2-token".encode("utf-16-be")

    assert residue(data, [b"hunter2-token", b"hunter2-other"], b"") == (b"hunter2-token",)


@pytest.mark.parametrize(
    ("title", "public"),
    [
        ("sglang::scheduler_DP1_TP0", "sglang::scheduler_DP1_TP0"),
        ("python3.11", "python3.11"),
        ("/home/alice/venv/bin/python3", "process"),
        ("alice-job_TP12", "process_TP12"),
        ("sglang::alice", "process"),
        ("", ""),
    ],
)
def test_titles_keep_the_rank_and_no_name(title: str, public: str) -> None:
    assert public_title(title) == public


def test_only_known_words_of_messages_and_metadata_are_kept() -> None:
    assert public_message("Number of CUDA events collected: \t12.").endswith("12.")
    assert public_message("Process alice crashed") == REMOVED
    assert public_value("EXPORT_PRODUCT_VERSION", "2026.2.1.210-265237v0 alice") == (
        "EXPORT_PRODUCT_VERSION",
        "2026.2.1.210-265237v0",
    )
    assert public_value("PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE", "Node") == (
        "CUDA_GRAPH_TRACE_OPTIONS:MODE",
        "Node",
    )
    assert public_value("EXPORT_PARAM_TABLES_TO_EXPORT", "alice.*") == (
        "EXPORT_PARAM_TABLES_TO_EXPORT",
        "some",
    )
    assert public_value("EXPORT_HOST", "alice-laptop") is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("TRACE", "TRACE"), "is the same file as the input"),
        (("TRACE", "TRACE-journal"), "SQLite's -journal file of the input"),
        (("nope.sqlite", "out"), "nope.sqlite: no such file"),
        (("TRACE", "nowhere/out"), "mkdir -p nowhere"),
        (("TRACE", "out", "--window", "7:9"), "nothing was recorded there"),
    ],
)
def test_a_mistake_writes_nothing(
    tmp_path: Path, arguments: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "trace.sqlite"
    write(path)

    result = run("scrub", *(text.replace("TRACE", str(path)) for text in arguments))

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert [each.name for each in tmp_path.iterdir()] == ["trace.sqlite"]
