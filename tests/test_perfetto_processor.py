"""The timeline for Perfetto, read by Perfetto itself."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.browser import CHROMIUM
from tests.trace_processor import ask_trace_processor
from traceattr.attribution.analyze import analyze
from traceattr.cli import app
from traceattr.ingest.trace import open_trace
from traceattr.rules.rule_set import load_rules

DEMO = Path(__file__).parent.parent / "traces" / "demo.sqlite"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")


def test_perfetto_shows_the_figures_of_the_report(tmp_path: Path) -> None:
    path = tmp_path / "timeline.pftrace"
    arguments = ["export", str(DEMO), "--perfetto", str(path)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    with open_trace(DEMO) as trace:
        analysis = analyze(trace, load_rules())

    errors, tracks, rounds, [flows], arrows = ask_trace_processor(
        path,
        (
            "SELECT name, value FROM stats WHERE value > 0 AND severity IN ('error', 'data_loss')",
            "SELECT parent.name AS gpu, track.name AS track, sum(dur) AS ns, max(depth) AS depth"
            " FROM slice JOIN track ON slice.track_id = track.id"
            " JOIN track AS parent ON track.parent_id = parent.id"
            " WHERE track.name IN ('idle', 'time by category') GROUP BY 1, 2 ORDER BY 1, 2",
            "SELECT slice.name AS name, ts, dur FROM slice JOIN track ON slice.track_id = track.id"
            " WHERE track.name = 'rounds' AND depth = 0 ORDER BY ts, name LIMIT 1",
            "SELECT count(*) AS flows FROM flow",
            "SELECT launch.name AS launch, work.category AS category, count(*) AS number FROM flow"
            " JOIN slice AS launch ON flow.slice_out = launch.id"
            " JOIN slice AS work ON flow.slice_in = work.id"
            " WHERE launch.name = 'cudaGraphLaunch' GROUP BY 1, 2 ORDER BY 1, 2",
        ),
    )

    assert errors == []
    assert tracks == [
        row
        for gpu, time in zip(analysis.gpus, analysis.per_gpu, strict=True)
        for title in [f"GPU {gpu.gpu}: NVIDIA RTX A6000, rank {gpu.rank}, pid {gpu.pid}"]
        for row in (
            (title, "idle", time.idle.total_ns, 0),
            (title, "time by category", time.busy_ns, 0),
        )
    ]
    assert analysis.rounds.wall is not None
    assert rounds == [
        ("speculative 0", analysis.window.start_ns, analysis.rounds.wall.min),
    ]
    assert flows == (300,)
    assert sum(number for _, _, number in arrows) == 18
