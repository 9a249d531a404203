"""Names of traces: paths of files here, and URLs of files that lie elsewhere.

The part of a URL before its host and the one behind its path may be secrets, such as a password or
the signature that lets its holder in: neither is shown or stored.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from traceattr.errors import OptionError

_URL = re.compile(r"(?i)[a-z][a-z0-9+.-]+://")
_ONE_SLASH = re.compile(r"(?i)https?:/(?!/)")
_USER = re.compile(r"(?i)([a-z][a-z0-9+.-]+://)[^\s/?#]*@")
_QUERY = re.compile(r"(?i)([a-z][a-z0-9+.-]+://[^\s?#'\"]*)[?#][^\s'\"]*")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file that lies elsewhere.

    Attributes:
        url: Where, with all secrets.
        is_kept: Whether what is fetched of it may be kept for the next time.
    """

    url: str = field(repr=False)
    is_kept: bool = True

    @property
    def name(self) -> str:
        """The last part of its path."""
        last = str(self).rstrip("/").rpartition("/")[2]
        return unquote(last) if self.is_http else last

    @property
    def is_http(self) -> bool:
        """Whether a web server has it."""
        return self.url.lower().startswith(("http://", "https://"))

    def __str__(self) -> str:
        return without_secrets(self.url)


TracePath = Path | RemoteFile
"""What a user may name a trace by."""


def trace_path(text: str) -> TracePath:
    """Return what a word on the command line names.

    Raises:
        OptionError: It looks like a URL and is none.
    """
    if _URL.match(text) is None and _ONE_SLASH.match(text) is None:
        return Path(text)
    try:
        parts = urlsplit(text)
        has_host = parts.scheme not in ("http", "https") or (parts.hostname and parts.port != 0)
    except ValueError:
        has_host = False
    if not has_host:
        raise OptionError("a URL was given that is none (expected https://HOST/PATH)")
    if parts.scheme != "file":
        return RemoteFile(text)
    if parts.netloc not in ("", "localhost"):
        raise OptionError(f"{without_secrets(text)}: names another host (expected file:///PATH)")
    from urllib.request import url2pathname  # which would be a fifth of the time of --help

    return Path(url2pathname(parts.path))


def without_secrets(text: str) -> str:
    """Return text whose URLs have lost what may be secret in them."""
    return _QUERY.sub(r"\1", _USER.sub(r"\1", text))


def name_here(path: TracePath) -> Path:
    """Return the path, or what a file that lies elsewhere is called when it was downloaded."""
    return path if isinstance(path, Path) else Path(path.name)
