"""``traceattr profile --attach-server``: real HTTP, and programs that answer like nsys."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.fake_nsys import MAGIC, NO_SESSION, SESSION, exports, write_nsys
from tests.fake_server import INFO, FakeServer, running
from tests.loading import PID
from traceattr.cli import app
from traceattr.errors import ServerError
from traceattr.recording.server import Server, server_at
from traces.export_writer import ExportWriter


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with running() as state:
        yield state


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory that commands run in, beside an nsys with a session."""
    programs = tmp_path / "bin"
    programs.mkdir()
    with ExportWriter(tmp_path / "export.sqlite") as export:
        export.kernel("gemm", 1_000, 2_000, pid=PID)
    install(tmp_path, SESSION)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("TRACEATTR_NSYS", raising=False)
    monkeypatch.delenv("TRACEATTR_SERVER_KEY", raising=False)
    monkeypatch.setattr(import_module("traceattr.recording.attach"), "POLL_S", 0.02)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


def install(folder: Path, sessions: str) -> None:
    asked = folder / "nsys.log"
    write_nsys(
        folder / "bin" / "nsys",
        export=exports(folder / "export.sqlite"),
        sessions=sessions,
        other=f"open({str(asked)!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')",
    )


def told(folder: Path) -> list[str]:
    """Return what nsys was told."""
    log = folder.parent / "nsys.log"
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


def attach(server: FakeServer, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["profile", "--attach-server", server.url, *arguments])


def records(folder: Path, server: FakeServer) -> None:
    """Let nsys write its report once the server starts profiling."""
    server.on_start = lambda: (folder / "profile.nsys-rep").write_bytes(MAGIC)


def test_a_running_server_is_recorded_for_some_steps(folder: Path, server: FakeServer) -> None:
    records(folder, server)

    result = attach(server, "--steps", "30", "--format", "json")

    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["trace"]["file"] == "profile.sqlite"
    assert server.asked[-1] == (
        "POST",
        "/start_profile",
        {"activities": ["CUDA_PROFILER"], "num_steps": 30},
    )
    assert told(folder) == [
        "start --session=server --sample=none --cpuctxsw=none --capture-range=cudaProfilerApi"
        " --capture-range-end=stop --output=profile",
        "stop --session=server",
    ]


def test_what_it_says_is_kept_as_a_deployment_without_its_secrets(
    folder: Path, server: FakeServer
) -> None:
    records(folder, server)

    attach(server)

    text = (folder / "profile.deployment.json").read_text(encoding="utf-8")
    assert json.loads(text) == {
        "model": "Qwen/Qwen3.6-27B",
        "tp": 2,
        "ep": 1,
        "draft_steps": 3,
        "draft_tokens": 4,
        "accept_length": 2.84,
    }
    report = CliRunner().invoke(
        app,
        "roofline --deployment profile.deployment.json --gpu RTX_A6000 --batch 1 --context 500",
    )
    assert report.exit_code == 0, report.stderr


def test_without_steps_it_is_stopped_after_a_time(folder: Path, server: FakeServer) -> None:
    attach(server, "--steps", "0", "--duration", "0.3")

    assert server.asked[-2:] == [
        ("POST", "/start_profile", {"activities": ["CUDA_PROFILER"]}),
        ("POST", "/stop_profile", None),
    ]


def test_steps_that_do_not_come_to_an_end_are_stopped(folder: Path, server: FakeServer) -> None:
    result = attach(server, "--duration", "0.3")

    assert result.exit_code == 2
    assert "profile.nsys-rep: nothing was recorded: cudaProfilerStart was not called" in (
        result.stderr
    )
    assert server.asked[-1] == ("POST", "/stop_profile", None)
    assert told(folder)[-1] == "stop --session=server"


def test_without_a_session_another_nsys_records(folder: Path, server: FakeServer) -> None:
    install(folder.parent, NO_SESSION)

    result = attach(server, "--steps", "5")

    assert (result.exit_code, result.stdout) == (0, "")
    assert "the nsys that runs" in result.stderr
    assert server.asked[-1][1] == "/start_profile"
    assert [path.name for path in folder.iterdir()] == ["profile.deployment.json"]


def test_older_servers_have_an_older_name_for_what_they_say(
    folder: Path, server: FakeServer
) -> None:
    records(folder, server)
    server.answers["/get_server_info"] = server.answers.pop("/server_info")
    server.answers["/get_server_info"] = (
        200,
        json.dumps({k: v for k, v in INFO.items() if k != "model_path"}).encode(),
    )

    attach(server)

    kept = json.loads((folder / "profile.deployment.json").read_text(encoding="utf-8"))
    assert kept["model"] == "Qwen/Qwen3.6-27B"


def test_a_dry_run_asks_the_server_nothing(folder: Path, server: FakeServer) -> None:
    result = attach(server, "--dry-run")

    assert result.exit_code == 0
    assert "num_steps" in result.stdout
    assert server.asked == []
    assert list(folder.iterdir()) == []


def test_the_key_is_sent_and_not_shown(
    folder: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    records(folder, server)
    monkeypatch.setenv("TRACEATTR_SERVER_KEY", "sk-mine")

    result = attach(server)

    assert set(server.keys) == {"Bearer sk-mine"}
    assert "sk-mine" not in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("path", "answer", "message"),
    [
        ("/server_info", (500, b"boom\nat line 1"), '/server_info: HTTP 500: "boom at line 1"'),
        ("/server_info", (200, b"<html>"), "/server_info: the answer is not JSON (is it SGLang?)"),
        ("/server_info", (200, b"[1]"), "/server_info: the answer is no object"),
        (
            "/server_info",
            (401, b""),
            "/server_info: wants a key (put it into TRACEATTR_SERVER_KEY)",
        ),
        ("/server_info", (404, b""), ": has neither /server_info nor /get_server_info"),
        ("/server_info", (302, b""), "/server_info: HTTP 302"),
        ("/start_profile", (400, b"Profiling is already in progress"), "/start_profile: HTTP 400"),
    ],
)
def test_what_the_server_does_not_do_is_one_line(
    folder: Path, server: FakeServer, path: str, answer: tuple[int, bytes], message: str
) -> None:
    server.answers[path] = answer

    result = attach(server)

    assert (result.exit_code, result.stdout) == (2, "")
    [line] = [each for each in result.stderr.splitlines() if each.startswith("error: ")]
    assert line.startswith(f"error: {server.url}{message}")


@pytest.mark.parametrize("is_recorded", [True, False])
def test_ctrl_c_stops_the_recording_and_names_what_there_is(
    folder: Path, server: FakeServer, is_recorded: bool
) -> None:
    command = [sys.executable, "-m", "traceattr", "profile", "--attach-server", server.url]
    process = subprocess.Popen([*command, "-o", "a b"], stderr=subprocess.PIPE, text=True)

    def stop() -> None:
        if is_recorded:
            (folder / "a b.nsys-rep").write_bytes(MAGIC)
        process.send_signal(signal.SIGINT)

    server.on_start = stop
    _, said = process.communicate(timeout=60)

    kept = "'a b.deployment.json'" if is_recorded else "a b.deployment.json"
    assert process.returncode == 130
    assert said.splitlines()[-1].endswith(kept)
    assert ("traceattr report 'a b.nsys-rep' --deployment" in said) == is_recorded
    assert told(folder)[-1] == "stop --session=server"


def test_a_session_is_stopped_when_the_server_refuses(folder: Path, server: FakeServer) -> None:
    server.answers["/start_profile"] = (400, b"no")

    attach(server)

    assert told(folder)[-1] == "stop --session=server"


def test_nobody_there_and_nobody_answering_are_told_apart(server: FakeServer) -> None:
    server.delay_s = 1.0

    with pytest.raises(ServerError, match=r"/server_info: no answer in time$"):
        Server(server.url, timeout_s=0.1).info()
    with pytest.raises(ServerError, match=r"/server_info: nothing answers there"):
        Server("http://127.0.0.1:1").info()


@pytest.mark.parametrize("key", ["hush-hush\nX-More: 1", "hush-hush-\N{POUND SIGN}"])
def test_a_key_that_cannot_be_sent_is_not_shown(key: str) -> None:
    with pytest.raises(ServerError, match=r"^TRACEATTR_SERVER_KEY: is no key \(expected [^-]*\)$"):
        server_at("localhost", key, 1.0)


def test_a_key_that_the_server_repeats_is_hidden(server: FakeServer) -> None:
    server.answers["/server_info"] = (500, b"hush-hush is no key of mine")

    with pytest.raises(ServerError, match=r'HTTP 500: "\*\*\* is no key of mine"$'):
        server_at(server.url, "hush-hush\n", 1.0).info()


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("localhost:30000", "http://localhost:30000"),
        ("https://user:password@host/base/", "https://host/base"),
    ],
)
def test_an_address_is_taken_as_people_write_it(address: str, url: str) -> None:
    assert server_at(address, None, 1.0).url == url


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--attach-server", "ftp://x"], "no address of a server (expected http://HOST:PORT)"),
        (["--attach-server", "x", "--", "true"], "--attach-server: records a server that runs"),
        (["--attach-server", "x", "--session", "b"], "nsys has no session b (there are: server)"),
    ],
)
def test_a_mistake_is_one_line(folder: Path, arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(app, ["profile", *arguments])

    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {message}")
