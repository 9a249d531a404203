"""What is wrong with a trace that lies elsewhere is one line, without secrets."""

import socket
import ssl
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.remote_files import FileServer, in_memory, serving
from traceattr.cli import app
from traceattr.errors import ExportError
from traceattr.ingest.export import open_export
from traceattr.ingest.remote.errors import remote_failure
from traceattr.ingest.remote.name import RemoteFile, trace_path, without_secrets

DEMO = Path(__file__).parent.parent / "traces" / "demo.sqlite"
NAME = "demo.sqlite"


@pytest.fixture
def server() -> Iterator[FileServer]:
    with serving(demo=DEMO.read_bytes()) as server:
        yield server


@pytest.fixture
def memory() -> Iterator[Any]:
    with in_memory() as files:
        yield files


def said(*arguments: str | Path) -> str:
    """Return the one line about what is wrong."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 2
    [line] = result.stderr.splitlines()
    return line


DENIED = "access denied; are credentials missing, or has the URL or a token expired?"


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (400, "the server refuses (400); is the URL right, and has it expired?"),
        (401, DENIED),
        (403, DENIED),
        (503, "the server fails (503); run this again later"),
    ],
)
def test_what_a_server_refuses_is_said(server: FileServer, status: int, why: str) -> None:
    server.status = status
    with pytest.raises(ExportError) as caught, open_export(RemoteFile(server.named(NAME))):
        pass
    assert str(caught.value) == f"{server.named(NAME)}: {why}"


class ClientError(Exception):
    """As botocore has it."""

    def __init__(self, status: int) -> None:
        super().__init__("An error occurred")
        self.response = {"ResponseMetadata": {"HTTPStatusCode": status}}


class NoSuchBucketError(ClientError):
    """botocore makes classes of its errors while it runs."""


class NoCredentialsError(Exception):
    """As botocore has it."""


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (caused(FileNotFoundError("x"), NoSuchBucketError(404)), "no such file (404)"),
        (caused(PermissionError("x"), ClientError(400)), DENIED),
        (ClientError(403), DENIED),
        (NoCredentialsError("x"), "no credentials found; log in, or set them in the environment"),
        (caused(OSError("x"), socket.gaierror(-2, "x")), "no such host, or no network"),
        (caused(OSError("x"), ssl.SSLError(1, "x")), "no secure connection (x)"),
        (TimeoutError(), "no answer in time; run this again"),
        (OSError(5, "Input/output error"), "cannot be read (Input/output error)"),
        (OSError("https://jo:pw@host/a?sig=geheim"), "cannot be read (https://host/a)"),
        (ValueError(" ".join(["long"] * 99)), f"cannot be read ({'long ' * 23}[...])"),
    ],
)
def test_what_libraries_raise_is_told_in_one_line(error: Exception, why: str) -> None:
    assert str(remote_failure(RemoteFile("s3://b/a"), error)) == f"s3://b/a: {why}"


def test_what_is_no_trace_is_said(server: FileServer, memory: Any) -> None:
    memory.pipe_file("/run/a.nsys-rep", b"NVIDIA Tegra Profiler Report" + bytes(600))
    memory.pipe_file("/run/a.zip", b"PK\3\4" + bytes(600))
    memory.pipe_file("/run/empty.sqlite", b"")
    memory.pipe_file("/run/short.sqlite", DEMO.read_bytes()[:9000])
    server.files["/"] = b"<HTML>a list of files</HTML>"
    server.files["/a.txt"] = b"notes"

    assert said("report", server.named("x.sqlite")).endswith("/x.sqlite: no such file (404)")
    assert "a web page, such as a list of files" in said("report", server.named(""))
    assert "text, not an SQLite database; download it" in said("report", server.named("a.txt"))
    assert said("report", "memory://run") == (
        "error: memory://run: a directory (expected the URL of a .sqlite file)"
    )
    assert said("report", "memory://run/a.nsys-rep") == (
        "error: memory://run/a.nsys-rep: an nsys report; download it, then run:"
        " nsys export --type sqlite --output a.sqlite a.nsys-rep"
    )
    assert said("report", "memory://run/a.zip").endswith(
        "a zip archive; download it, then run: unzip a.zip"
    )
    assert "empty file" in said("report", "memory://run/empty.sqlite")
    assert "truncated (9000 bytes" in said("report", "memory://run/short.sqlite")
    assert "no such file" in said("report", "memory://run/missing.sqlite")
    assert "nobody answers there" in said("report", "http://127.0.0.1:1/a.sqlite")
    assert "Protocol not known: nowhere" in said("report", "nowhere://a.sqlite")
    for url in ("http://[jo:hunter2@/a", "http:/jo:hunter2@host/a.sqlite"):
        assert "a URL was given that is none" in said("report", url)


def test_a_library_that_is_missing_is_named(
    server: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert said("report", "s3://bucket/a.sqlite") == (
        "error: s3://bucket/a.sqlite: needs s3fs for s3://; install it: pip install s3fs"
    )
    monkeypatch.setitem(sys.modules, "fsspec", None)
    assert said("report", server.named(NAME)).endswith(
        "needs fsspec and aiohttp; install them: pip install 'traceattr[remote]'"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://jo:pw@host:1/a/b.sqlite?x=y#z", "https://host:1/a/b.sqlite"),
        (
            "not read: 's3://key@bucket/a?x' and https://b/c",
            "not read: 's3://bucket/a' and https://b/c",
        ),
        ("zip://a.sqlite::https://jo@host/b.zip?x", "zip://a.sqlite::https://host/b.zip"),
        ("is it here? jo@example.com", "is it here? jo@example.com"),
    ],
)
def test_what_may_be_secret_is_cut_out_of_urls(text: str, shown: str) -> None:
    assert without_secrets(text) == shown


def test_a_url_of_a_file_here_is_that_file() -> None:
    assert trace_path(DEMO.as_uri()) == DEMO
    assert trace_path("file://localhost/a%20b") == Path("/a b")
    assert said("report", "file://elsewhere/a.sqlite") == (
        "error: file://elsewhere/a.sqlite: names another host (expected file:///PATH)"
    )
