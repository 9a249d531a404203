"""A drawing area of characters: lines of Braille dots, and text put upon them.

Places are shares of the area: x from 0 at the left to 1 at the right, y from 0 at the bottom to 1
at the top.
"""

from math import ceil, floor

Place = tuple[float, float]
"""Across and up."""

_BLANK = 0x2800
"""The Braille character without dots; each dot is a bit more."""

_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of the dots, row by row from the top."""

_DOWN, _ACROSS = len(_BITS), len(_BITS[0])


class Canvas:
    """Characters that are drawn upon, empty at first."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self._dots: dict[tuple[int, int], int] = {}
        self._text: dict[tuple[int, int], str] = {}

    def row(self, y: float) -> int:
        """Return the row of a height, counted from the top."""
        return min(max(int((1 - y) * self.rows), 0), self.rows - 1)

    def column(self, x: float) -> int:
        """Return the column of a place."""
        return min(max(int(x * self.columns), 0), self.columns - 1)

    def line(self, start: Place, end: Place) -> None:
        """Draw a line that is not upright, without gaps, as far as it is inside the area."""
        (x, y), (right, top) = start, end
        rise = (top - y) / (right - x)
        wide, high = self.columns * _ACROSS, self.rows * _DOWN
        last = None
        for across in range(max(floor(x * wide), 0), min(ceil(right * wide), wide)):
            down = floor((1 - y - rise * ((across + 0.5) / wide - x)) * high)
            near = down if last is None else last + (down > last) - (down < last)
            for each in range(min(near, down), max(near, down) + 1):
                self._dot(each, across)
            last = down

    def _dot(self, down: int, across: int) -> None:
        cell = (down // _DOWN, across // _ACROSS)
        bit = _BITS[down % _DOWN][across % _ACROSS]
        self._dots[cell] = self._dots.get(cell, 0) | bit

    def put(self, row: int, column: int, text: str) -> None:
        """Write over what is there."""
        for offset, character in enumerate(text):
            self._text[row, column + offset] = character

    def lines(self) -> list[str]:
        """Return what was drawn, from the top."""
        return [
            "".join(self._character((row, column)) for column in range(self.columns))
            for row in range(self.rows)
        ]

    def _character(self, cell: tuple[int, int]) -> str:
        dots = self._dots.get(cell)
        return self._text.get(cell) or (chr(_BLANK + dots) if dots else " ")
