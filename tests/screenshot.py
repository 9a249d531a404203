"""Make the picture of an HTML report that the documentation shows."""

import sys
import tempfile
from pathlib import Path

from typer.testing import CliRunner

from tests.browser import open_browser
from traceattr.cli import app

ROOT = Path(__file__).parent.parent
ROOFLINE = (
    *("--model", "Qwen3.6-27B", "--gpu", "RTX_A6000", "--batch", "1", "--context", "500"),
    *("--draft-steps", "3", "--accept-length", "3"),
)
"""What the simulated sample is of."""

_WITHOUT_NOTES = (
    "document.querySelectorAll('#groups > :not(h2, .scroll)').forEach((one) => one.hidden = true)"
)
"""Makes room for the timeline."""


def write_sample_page(target: Path) -> None:
    """Write the report on the sample as a page."""
    trace = str(ROOT / "traces" / "demo.sqlite")
    arguments = ["report", trace, *ROOFLINE, "--format", "html", "-o", str(target)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output


def take(target: Path) -> None:
    """Write the top of the report on the sample as a PNG."""
    with tempfile.TemporaryDirectory() as folder, open_browser() as browser:
        page_file = Path(folder) / "report.html"
        write_sample_page(page_file)
        page = browser.new_page(viewport={"width": 1020, "height": 1250}, color_scheme="light")
        page.goto(page_file.as_uri())
        page.evaluate(_WITHOUT_NOTES)
        page.screenshot(path=target)


if __name__ == "__main__":
    take(Path(sys.argv[1]))
