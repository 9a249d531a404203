"""The token that GitHub is asked with, and that is never shown."""

from collections.abc import Mapping

from traceattr.errors import OptionError

VARIABLES = ("GITHUB_TOKEN", "GH_TOKEN")
"""Where the token is looked for, in this order."""

_SHORTEST_HIDDEN = 8
"""Shorter ones are no tokens of GitHub, and hiding them would garble words."""


class Token:
    """A token; only `header` has its text."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return "Token(***)"

    @property
    def header(self) -> str:
        """The value of the Authorization header."""
        return f"Bearer {self._text}"

    def hide(self, text: str) -> str:
        """Return the text with stars wherever the token is in it."""
        return text.replace(self._text, "***") if len(self._text) >= _SHORTEST_HIDDEN else text


def hide_tokens(text: str, environment: Mapping[str, str]) -> str:
    """Return the text with stars wherever a token of the environment is in it."""
    for name in VARIABLES:
        if token := environment.get(name, "").strip():
            text = Token(token).hide(text)
    return text


def find_token(environment: Mapping[str, str]) -> Token:
    """Return the token of the environment.

    Raises:
        OptionError: There is none, or it cannot be one.
    """
    for name in VARIABLES:
        if text := environment.get(name, "").strip():
            if not text.isascii() or not text.isprintable() or " " in text:
                # The text is not repeated: it may be a secret with a stray character.
                raise OptionError(f"{name}: is no token (expected letters and digits on one line)")
            return Token(text)
    raise OptionError(
        "no token (expected GITHUB_TOKEN or GH_TOKEN in the environment; in a workflow:"
        " env: GITHUB_TOKEN: ${{ github.token }})"
    )
