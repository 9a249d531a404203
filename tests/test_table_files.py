"""Exports that are not SQLite: directories of Parquet or Arrow files, and Arrow streams."""

import io
import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner, Result

from tests.loading import PID, rows
from traceattr.cli import app
from traceattr.errors import ExportError
from traceattr.ingest.export import open_export
from traceattr.ingest.scan import ColumnType, scan_table
from traces.export_writer import ExportWriter

DEMO = Path(__file__).parent.parent / "traces" / "demo.sqlite"

# As an Arrow export of nsys 2022.4.2 has them.
UINT64 = re.compile(r"global\w*|graphNodeId|bytes|contextId|streamId|nameId|textId|rangeId")
UINT32 = re.compile(r"correlationId|deviceId|eventClass|returnValue|launchType|copyKind|eventType")


def tables_of(export: Path) -> Iterator[tuple[str, pa.Table]]:
    """Yield the tables of an SQLite export in the types that nsys gives them elsewhere."""
    with closing(sqlite3.connect(export)) as connection:
        connection.text_factory = bytes
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in names:
            table = name.decode()
            cursor = connection.execute(f"SELECT * FROM {table}")  # noqa: S608
            columns = [column for column, *_ in cursor.description]
            values = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(columns)
            typed = [typed_column(c, v) for c, v in zip(columns, values, strict=True)]
            yield table, pa.table(typed, names=columns)


def typed_column(name: str, values: tuple[object, ...]) -> pa.Array:
    if any(isinstance(value, bytes) for value in values):
        return pa.array(values, pa.binary())
    if any(isinstance(value, float) for value in values):
        return pa.array(values, pa.float64())
    if UINT64.fullmatch(name):
        return pa.array(values, pa.int64()).view(pa.uint64())
    return pa.array(values, pa.uint32() if UINT32.fullmatch(name) else pa.int64())


def write_parquet(table: pa.Table, path: Path) -> None:
    parquet.write_table(table, path, row_group_size=500)


def write_arrow_file(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table, max_chunksize=500)


def write_arrow_stream(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_stream(path, table.schema) as file:
        file.write_table(table, max_chunksize=500)


def write_directory(
    export: Path, folder: Path, suffix: str, write: Callable[[pa.Table, Path], None]
) -> Path:
    folder.mkdir()
    for name, table in tables_of(export):
        write(table, folder / f"{name}{suffix}")
    return folder


def write_streams(export: Path, path: Path) -> Path:
    """Write what ``nsys export --type arrow`` does: one stream after the other."""
    data = io.BytesIO()
    for name, table in tables_of(export):
        named = table.replace_schema_metadata({"table_name": name})
        with pa.ipc.new_stream(data, named.schema) as stream:
            stream.write_table(named)
    path.write_bytes(data.getvalue())
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def report(path: Path) -> dict[str, object]:
    document = json.loads(run("report", path, "--format", "json").stdout)
    assert document["trace"].pop("file") == path.name
    return dict(document)


@pytest.fixture(scope="module")
def of_sqlite() -> dict[str, object]:
    return report(DEMO)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.sqlite"
    with ExportWriter(path) as export:
        export.kernel("gemm", 1_000, 2_000, pid=PID)
    return path


@pytest.mark.parametrize(
    ("suffix", "write"),
    [(".parquet", write_parquet), (".arrow", write_arrow_file), (".arrow", write_arrow_stream)],
)
def test_a_directory_gives_the_report_of_the_sqlite_export(
    tmp_path: Path,
    of_sqlite: dict[str, object],
    suffix: str,
    write: Callable[[pa.Table, Path], None],
) -> None:
    folder = write_directory(DEMO, tmp_path / "demo_pqtdir", suffix, write)

    assert report(folder) == of_sqlite


def test_a_file_of_streams_gives_the_report_of_the_sqlite_export(
    tmp_path: Path, of_sqlite: dict[str, object]
) -> None:
    assert report(write_streams(DEMO, tmp_path / "demo.arrow")) == of_sqlite


def test_columns_of_any_type_become_integers_and_bytes(tmp_path: Path, small: Path) -> None:
    folder = write_directory(small, tmp_path / "odd", ".parquet", write_parquet)
    odd = pa.table(
        {
            "unsigned": pa.array([2**64 - 1, None, 5], pa.uint64()),
            "time": pa.array([1, 2, 3], pa.duration("ns")),
            "real": pa.array([1.0, 1.5, None]),
            "digits": pa.array(["12", "x", None]),
            "flag": pa.array([True, None, False]),
            "text": pa.array(["a", "b", "a"]).dictionary_encode(),
            "number": pa.array([7, 8, None]),
        }
    )
    parquet.write_table(odd, folder / "Odd.parquet")
    integers = ("unsigned", "time", "real", "digits", "flag", "missing")
    wanted = dict.fromkeys(integers, ColumnType.INTEGER) | dict.fromkeys(
        ("text", "number"), ColumnType.TEXT
    )

    with open_export(folder) as export:
        scan = scan_table(export, "ODD", wanted)
        read = scan.batches.read_all()

    assert read.to_pydict() == {
        "unsigned": [-1, None, 5],
        "time": [1, 2, 3],
        "real": [1, None, None],
        "digits": [12, None, None],
        "flag": [1, None, 0],
        "missing": [None, None, None],
        "text": [b"a", b"b", b"a"],
        "number": [b"7", b"8", None],
    }
    assert scan.unreadable == 2


def test_columns_that_hold_no_text_do_not_matter_unless_read(tmp_path: Path, small: Path) -> None:
    """NVTX_EVENTS.binaryData says that it is UTF-8, and holds bytes."""
    folder = write_directory(small, tmp_path / "small_pqtdir", ".parquet", write_parquet)
    bytes_as_text = pa.Array.from_buffers(
        pa.string(), 1, pa.array([b"\xff\xfe"], pa.binary()).buffers()
    )
    parquet.write_table(
        pa.table({"start": [1], "end": [2], "text": bytes_as_text, "binaryData": bytes_as_text}),
        folder / "NVTX_EVENTS.parquet",
    )

    assert rows(folder, "SELECT count(*) FROM gpu_op") == [(1,)]


def refusal(path: Path) -> str:
    with pytest.raises(ExportError) as caught:
        rows(path, "SELECT count(*) FROM gpu_op")
    return str(caught.value)


@pytest.mark.parametrize("missing", ["StringIds", "META_DATA_EXPORT"])
def test_what_an_interrupted_export_leaves_is_refused(
    tmp_path: Path, small: Path, missing: str
) -> None:
    folder = write_directory(small, tmp_path / "a.parquetdir", ".parquet", write_parquet)
    (folder / f"{missing}.parquet").unlink()

    assert refusal(folder) == (
        f"{folder}: incomplete: it has no {missing}.parquet; export again: nsys export --type"
        f" parquetdir --force-overwrite true --output {folder} {tmp_path / 'a.nsys-rep'}"
    )


@pytest.mark.parametrize(
    ("suffix", "write"),
    [(".parquet", write_parquet), (".arrow", write_arrow_file), (".arrow", write_arrow_stream)],
)
@pytest.mark.parametrize("kept", [0, 5, 0.5])
def test_a_table_that_was_cut_off_is_damaged(
    tmp_path: Path, small: Path, suffix: str, write: Callable[[pa.Table, Path], None], kept: float
) -> None:
    folder = write_directory(small, tmp_path / "a", suffix, write)
    cut = folder / f"CUPTI_ACTIVITY_KIND_KERNEL{suffix}"
    whole = cut.read_bytes()
    cut.write_bytes(whole[: kept if isinstance(kept, int) else int(len(whole) * kept)])

    message = refusal(folder)

    assert message.startswith(f"{folder}: ")
    assert "damaged" in message or "cannot be read" in message
    assert "\n" not in message


def test_one_table_leads_to_its_directory(tmp_path: Path, small: Path) -> None:
    folder = write_directory(small, tmp_path / "a", ".parquet", write_parquet)

    result = run("report", folder / "StringIds.parquet")

    assert result.stderr == (
        f"error: {folder}/StringIds.parquet: a Parquet file, not an export; if it is one table of"
        f" an nsys export, name its directory instead: {folder}\n"
    )


def test_nothing_is_written_into_an_export(tmp_path: Path, small: Path) -> None:
    folder = write_directory(small, tmp_path / "a", ".parquet", write_parquet)
    before = sorted(folder.iterdir())

    result = run("report", folder, "-o", folder / "StringIds.parquet", "--force")

    assert result.exit_code == 2
    assert "is inside the input" in result.stderr
    assert sorted(folder.iterdir()) == before
