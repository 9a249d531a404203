"""Required values of a document, with errors that name the file and the field."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from traceattr.errors import TraceattrError


@dataclass(frozen=True, slots=True)
class Fields:
    """A table of a document, and what errors call it.

    Attributes:
        values: The table.
        file: What errors call the document.
        path: Where the table is in the document, with a dot at its end; empty at the top.
        error: What is raised.
    """

    values: Mapping[str, Any]
    file: str
    error: type[TraceattrError]
    path: str = ""

    def has(self, key: str) -> bool:
        """Return whether ``key`` is there and is not null."""
        return self.values.get(key) is not None

    def whole(self, key: str, *, least: int = 1) -> int:
        """Return the integer ``key``, which must be at least ``least``."""
        value = self._required(key, f"an integer of at least {least}")
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self.wrong(key, f"an integer of at least {least}")
        return value

    def optional_whole(self, key: str, *, least: int = 1) -> int | None:
        """Return the integer ``key``, None when it is absent or null."""
        return self.whole(key, least=least) if self.has(key) else None

    def number(self, key: str) -> float:
        """Return the positive number ``key``."""
        value = self._required(key, "a positive number")
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 < value < math.inf:
            raise self.wrong(key, "a positive number")
        return float(value)

    def flag(self, key: str) -> bool:
        """Return the truth value ``key``."""
        value = self._required(key, "true or false")
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def text(self, key: str) -> str:
        """Return the text ``key``."""
        value = self._required(key, "a text")
        if not isinstance(value, str) or not value:
            raise self.wrong(key, "a text")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the list of texts ``key``."""
        value = self._required(key, "a list of texts")
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.wrong(key, "a list of texts")
        return tuple(value)

    def wholes(self, key: str) -> tuple[int, ...]:
        """Return the list of integers ``key``."""
        value = self._required(key, "a list of integers")
        if not isinstance(value, list) or not all(type(item) is int for item in value):
            raise self.wrong(key, "a list of integers")
        return tuple(value)

    def table(self, key: str) -> "Fields":
        """Return the table ``key``."""
        value = self._required(key, "a table")
        if not isinstance(value, dict):
            raise self.wrong(key, "a table")
        return Fields(value, self.file, self.error, f"{self.path}{key}.")

    def only(self, known: Sequence[str]) -> None:
        """Raise when there is a key that is not ``known``."""
        for key in self.values:
            if key not in known:
                what = f"unknown field '{self.path}{key}'"
                raise self.error(f"{self.file}: {what} (expected one of {', '.join(known)})")

    def wrong(self, key: str, expected: str) -> TraceattrError:
        """Return the error of a value that is not what was ``expected``."""
        what = f"field '{self.path}{key}' is {self.values[key]!r}"
        return self.error(f"{self.file}: {what} (expected {expected})")

    def _required(self, key: str, expected: str) -> Any:
        if not self.has(key):
            what = f"field '{self.path}{key}' is missing"
            raise self.error(f"{self.file}: {what} (expected {expected})")
        return self.values[key]
