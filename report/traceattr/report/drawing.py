"""What stands for drawings of dots and bars in a terminal that has ASCII only."""

_TOP, _UPPER, _LOWER = 0x09, 0x12, 0x24
"""Dots of a Braille character in its first, second and third row; the rest is in the fourth."""

_BARS = {"█": "#", "▉": "#", "▊": "#", "▋": "#", "▌": "#", "▍": "-", "▎": "-", "▏": "-", "░": "-"}
"""Full and partial blocks, of which less than half is as good as light ones."""


def in_ascii(text: str) -> str:
    """Return the text with Braille dots and blocks drawn in ASCII, as high as they stand."""
    return text.translate(_TABLE)


def _dots_in_ascii(dots: int) -> str:
    if not dots:
        return " "
    if dots & _TOP:
        return "'"
    return "-" if dots & _UPPER else "." if dots & _LOWER else "_"


_TABLE = str.maketrans(_BARS | {chr(0x2800 + dots): _dots_in_ascii(dots) for dots in range(0x100)})
