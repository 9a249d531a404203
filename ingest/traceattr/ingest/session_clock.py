"""What a wall clock showed during a capture, to find that time in other files."""

from dataclasses import dataclass
from datetime import datetime

from traceattr.ingest.capture import read_capture
from traceattr.ingest.export import Export, open_export
from traceattr.ingest.remote.name import TracePath
from traceattr.ingest.small_tables import read_rows

_NS = 1_000_000_000
_TABLE = "TARGET_INFO_SESSION_START_TIME"


@dataclass(frozen=True, slots=True)
class SessionClock:
    """How times of a trace become times of the machine's own clock.

    Attributes:
        zero_ns: UTC, in ns since 1970, of time 0 of the trace.
        local_offset_s: Local time of the machine minus UTC, in seconds.
    """

    zero_ns: int
    local_offset_s: int

    def local_s(self, time_ns: int) -> float:
        """Return the local time of a time in the trace, in seconds as if that were UTC."""
        return (self.zero_ns + time_ns) / _NS + self.local_offset_s


def read_session_clock(path: TracePath) -> SessionClock | None:
    """Return the clock of an export; None where that does not say when it began.

    Raises:
        ExportError: The export cannot be read.
    """
    with open_export(path) as export:
        capture = read_capture(export)
        offset_s = _local_offset_s(export)
        if capture.is_time_normalised:
            return SessionClock(-capture.time_shift_ns, offset_s)
        if capture.utc_epoch_ns is None:
            return None
        return SessionClock(capture.utc_epoch_ns - capture.time_shift_ns, offset_s)


def _local_offset_s(export: Export) -> int:
    """Return local time minus UTC; 0, as in containers, where the export does not say."""
    for row in read_rows(export, _TABLE):
        try:
            local, utc = (
                datetime.fromisoformat(row[name] or "").replace(tzinfo=None)
                for name in ("localTime", "utcTime")
            )
        except ValueError:
            continue
        return round((local - utc).total_seconds())
    return 0
