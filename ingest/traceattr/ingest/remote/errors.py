"""What went wrong with a file that lies elsewhere, in one line without secrets.

File systems of fsspec raise errors of the libraries they are made of; all of them are told here.
"""

import sys
from collections.abc import Iterator
from textwrap import shorten

from traceattr.errors import ExportError
from traceattr.ingest.remote.name import RemoteFile, without_secrets

SILENCE_S = 30
"""How long a server may say nothing."""

_LONGEST_WORDS = 120
"""Characters of a library's own words in a message; some list all that they tried."""

_FOREIGN = (
    ("aiohttp", "ClientError"),
    ("azure.core.exceptions", "AzureError"),
    ("botocore.exceptions", "BotoCoreError"),
    ("botocore.exceptions", "ClientError"),
    ("gcsfs.retry", "HttpError"),
    ("google.auth.exceptions", "GoogleAuthError"),
)
_CREDENTIALS = ("NoCredentialsError", "PartialCredentialsError", "DefaultCredentialsError")


def foreign_errors() -> tuple[type[Exception], ...]:
    """Return what file systems raise, and the libraries that are loaded.

    Which of Python's own errors a file system makes of a URL that it does not like is up to it.
    """
    loaded = ((sys.modules.get(module), name) for module, name in _FOREIGN)
    found = [getattr(module, name, None) for module, name in loaded]
    own = (OSError, ValueError, LookupError, TypeError, RuntimeError)
    return (*own, *(each for each in found if each is not None))


def remote_failure(file: RemoteFile, error: BaseException) -> ExportError:
    """Return what to tell the user."""
    return ExportError(f"{file}: {_reason(tuple(_causes(error)))}")


def is_final(error: BaseException) -> bool:
    """Return whether asking again would give the same answer."""
    causes = tuple(_causes(error))
    status = _status(causes)
    return isinstance(error, FileNotFoundError | PermissionError) or (
        status is not None and 400 <= status < 500 and status not in (408, 429)
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _status(causes: tuple[BaseException, ...]) -> int | None:
    """Return the answer of an HTTP server; aiohttp, gcsfs and botocore each put it elsewhere."""
    for each in causes:
        kinds = {kind.__name__ for kind in type(each).__mro__}
        told = None
        if "ClientResponseError" in kinds:
            told = getattr(each, "status", None)
        elif "HttpError" in kinds:
            told = getattr(each, "code", None)
        elif "ClientError" in kinds:
            response = getattr(each, "response", {})
            told = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        if isinstance(told, int):
            return told
    return None


def _reason(causes: tuple[BaseException, ...]) -> str:
    import socket  # both take long, and whoever raised has them
    import ssl

    def has(kind: type[BaseException]) -> bool:
        return any(isinstance(each, kind) for each in causes)

    status = _status(causes)
    if has(PermissionError) or status in (401, 403):
        return "access denied; are credentials missing, or has the URL or a token expired?"
    if status is not None:
        return _reason_of_status(status)
    if any(type(each).__name__ in _CREDENTIALS for each in causes):
        return "no credentials found; log in, or set them in the environment"
    if has(ConnectionRefusedError):
        return "nobody answers there (connection refused)"
    if has(socket.gaierror):
        return "no such host, or no network"
    if has(ssl.SSLError):
        return f"no secure connection ({_words(causes[-1])})"
    if has(TimeoutError):
        return "no answer in time; run this again"
    if has(IsADirectoryError):
        return "a directory (expected the URL of a .sqlite file)"
    if isinstance(causes[-1], FileNotFoundError):
        return "no such file"
    return f"cannot be read ({_words(causes[-1])})"


def _reason_of_status(status: int) -> str:
    if status in (404, 410):
        return f"no such file ({status})"
    if status < 500:
        return f"the server refuses ({status}); is the URL right, and has it expired?"
    return f"the server fails ({status}); run this again later"


def _words(error: BaseException) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return shorten(without_secrets(str(text)), _LONGEST_WORDS)
