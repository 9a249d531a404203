"""What a file that is not an SQLite database is instead, and the command that makes it one."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from traceattr.ingest.remote.name import RemoteFile, TracePath, name_here

HEAD_BYTES = 512
SQLITE_MAGIC = b"SQLite format 3\0"
REPORT_MAGIC = b"NVIDIA Tegra Profiler Report"

# Remedies may use {file} (what the user named), {directory} (where it lies), {unpacked} (its name
# without the packing suffix), {report} (the .nsys-rep beside it) and {output} (the .sqlite to
# make); all are shell-quoted.
_EXPORT_AGAIN = "make one with: nsys export --type sqlite --output {output} {report}"
_DIRECTORY = "if it is one table of an nsys export, name its directory instead: {directory}"
_PACKING_SUFFIXES = frozenset({".gz", ".zst", ".xz", ".bz2", ".lz4"})


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file people hand over instead of an SQLite export."""

    offset: int
    magic: bytes
    what: str
    remedy: str


_FORMATS = (
    Format(
        0,
        b"U3w[END]NVIDIA Nsight Systems Stream",
        "an unfinished nsys capture (.qdstrm)",
        "import it with the QdstrmImporter of the nsys that recorded it: "
        "QdstrmImporter --input-file {file}, then: "
        "nsys export --type sqlite --output {output} {report}",
    ),
    Format(0, b"\x1f\x8b", "compressed with gzip", "run: gzip -dc {file} > {unpacked}"),
    Format(0, b"\x28\xb5\x2f\xfd", "compressed with zstd", "run: zstd -d {file} -o {unpacked}"),
    Format(0, b"\xfd7zXZ\0", "compressed with xz", "run: xz -dc {file} > {unpacked}"),
    Format(0, b"BZh", "compressed with bzip2", "run: bzip2 -dc {file} > {unpacked}"),
    Format(0, b"\x04\x22\x4d\x18", "compressed with lz4", "run: lz4 -d {file} {unpacked}"),
    Format(0, b"PK\x03\x04", "a zip archive", "run: unzip {file}"),
    Format(0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", "run: 7z x {file}"),
    Format(257, b"ustar", "a tar archive", "run: tar -xf {file}"),
    Format(0, b"ARROW1", "an Arrow file, not an export", _DIRECTORY),
    Format(0, b"PAR1", "a Parquet file, not an export", _DIRECTORY),
    Format(0, b"\x89HDF\r\n\x1a\n", "an HDF5 file, which is not supported", _EXPORT_AGAIN),
    Format(8, b"DUCK", "a DuckDB database, not an nsys export", _EXPORT_AGAIN),
    Format(
        0,
        b"version https://git-lfs.github.com/spec/",
        "a Git LFS pointer, not the file itself",
        "run: git lfs pull --include {file}",
    ),
)
_UNKNOWN = Format(0, b"", "not an SQLite database", _EXPORT_AGAIN)


def wrong_remote_format(path: RemoteFile, head: bytes) -> str:
    """What is wrong with a remote file that does not start like an SQLite database."""
    if head.startswith(REPORT_MAGIC):
        return f"an nsys report; download it, then run: {export_command(name_here(path))}"
    if head.lstrip().lower().startswith((b"<!doctype html", b"<html")):
        return "a web page, such as a list of files or a log-in (expected the URL of a .sqlite)"
    what, _, remedy = wrong_format(name_here(path), head).partition("; ")
    return f"{what}; download it, then {remedy}" if remedy else what


def wrong_format(path: Path, head: bytes) -> str:
    """What is wrong with a file that does not start like an SQLite database, and the remedy.

    Args:
        path: The file as the user named it.
        head: Its first `HEAD_BYTES` bytes, or all of it.
    """
    found = next(
        (known for known in _FORMATS if head.startswith(known.magic, known.offset)),
        _textual(head) or _UNKNOWN,
    )
    return f"{found.what}; {_fill(found.remedy, path)}"


def export_again(path: TracePath) -> str:
    """The command that replaces a damaged export."""
    path = name_here(path)
    if path.suffix in (".nsys-rep", ".qdrep"):
        return "remove its export from the cache of traceattr, and run this again"
    kind = "parquetdir" if path.is_dir() else "sqlite"
    command = f"nsys export --type {kind} --force-overwrite true --output {{file}} {{report}}"
    return f"export again: {_fill(command, path)}"


def export_first(path: TracePath) -> str:
    """The command that makes the export that is not there yet."""
    return _fill("nsys export --type sqlite --output {file} {report}", name_here(path))


def export_command(report: Path) -> str:
    """The command that exports a report."""
    return _fill("nsys export --type sqlite --output {output} {file}", report)


def shell_word(path: TracePath) -> str:
    """The path as one argument of a POSIX shell command, never read as an option."""
    text = str(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


def _fill(template: str, path: Path) -> str:
    if path.name in ("", ".."):
        path = path / "export"
    packed = path.suffix.lower() in _PACKING_SUFFIXES
    output = path.with_suffix(".sqlite")
    if output == path:
        output = path.with_suffix(".export.sqlite")
    unpacked = path.with_suffix("") if packed else path.with_name(path.name + ".unpacked")
    return template.format(
        directory=shell_word(path.parent),
        file=shell_word(path),
        output=shell_word(output),
        report=shell_word(path.with_suffix(".nsys-rep")),
        unpacked=shell_word(unpacked),
    )


def _textual(head: bytes) -> Format | None:
    stripped = b"".join(head.removeprefix(b"\xef\xbb\xbf").split())
    if stripped.startswith((b'{"', b"[{")):
        return Format(0, b"", "JSON, which is not supported", _EXPORT_AGAIN)
    if stripped and not any(byte < 9 or 13 < byte < 32 for byte in head):
        return Format(0, b"", "text, not an SQLite database", _EXPORT_AGAIN)
    return None
