"""What a forward pass can be for."""

from collections.abc import Iterable
from enum import StrEnum

from traceattr.errors import OptionError


class PieceKind(StrEnum):
    """What a graph replay or an eager pass is for."""

    VERIFY = "verify"
    DECODE = "decode"
    DRAFT = "draft"
    DRAFT_EXTEND = "draft_extend"
    PREFILL = "prefill"
    PREFILL_PIECE = "prefill_piece"
    OTHER = "other"


GRAPH_KINDS = tuple(kind for kind in PieceKind if kind is not PieceKind.PREFILL)
"""What a graph can be for."""

TARGETS = (PieceKind.VERIFY, PieceKind.DECODE)


def parse_graph_kinds(texts: Iterable[str]) -> dict[int, PieceKind]:
    """Return the kind given for each graph id in texts such as ``17=draft``.

    Raises:
        OptionError: A text is not of that form, or names no kind.
    """
    kinds: dict[int, PieceKind] = {}
    for text in texts:
        graph_id, _, kind = text.partition("=")
        if not graph_id.isdecimal() or kind not in GRAPH_KINDS:
            raise OptionError(
                f"--graph-kind {text!r}: not ID=KIND (expected a graph id and one of"
                f" {', '.join(GRAPH_KINDS)})"
            )
        kinds[int(graph_id)] = PieceKind(kind)
    return kinds
