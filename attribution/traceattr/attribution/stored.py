"""How an analysis is kept in a file and read back; reading imports neither DuckDB nor numpy."""

from typing import Any, TypeVar

import msgspec

from traceattr.attribution.analysis import Analysis
from traceattr.errors import StoredAnalysisError

FORMAT = 1
"""Format number of stored analyses.

1: first version.  Attributes with a default may be added to an analysis under the same number;
whatever else changes in it needs another.
"""

KIND = "traceattr analysis"

_T = TypeVar("_T")


class _Envelope(msgspec.Struct):
    """What is around an analysis of any format."""

    kind: str
    format: int
    analysis: msgspec.Raw


def dump_analysis(analysis: Analysis) -> bytes:
    """Return an analysis as JSON on one line."""
    raw = msgspec.Raw(msgspec.json.encode(analysis, enc_hook=_no_other_type))
    return msgspec.json.encode(_Envelope(KIND, FORMAT, raw))


def _no_other_type(value: Any) -> Any:
    """Refuse what is no plain value, such as numbers of arrays: it would not come back the same."""
    raise TypeError(f"an analysis holds a {type(value)}")


def load_analysis(stored: bytes) -> Analysis:
    """Return the analysis that `dump_analysis` stored.

    Raises:
        StoredAnalysisError: It is something else, damaged, or of another format.
    """
    envelope = _decoded(stored, _Envelope)
    if envelope.kind != KIND:
        raise StoredAnalysisError(f"not a stored analysis (expected kind {KIND!r})")
    if envelope.format != FORMAT:
        raise StoredAnalysisError(
            f"a stored analysis of format {envelope.format}, and this version of traceattr reads"
            f" format {FORMAT}; store it again from its trace"
        )
    return _decoded(envelope.analysis, Analysis)


def _decoded(stored: bytes | msgspec.Raw, type_: type[_T]) -> _T:
    try:
        return msgspec.json.decode(stored, type=type_)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise StoredAnalysisError(f"not a stored analysis ({error})") from error
