"""A headless Chromium for pages that we make; nothing in it reaches the network."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

_NAMES = ("chromium", "google-chrome", "chromium-browser")


def _find() -> str | None:
    """Return a browser of the system that starts; some names are stubs that install one."""
    for path in filter(None, map(shutil.which, _NAMES)):
        if subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0:
            return path
    return None


CHROMIUM = _find()
"""A browser of the system: Playwright's own would have to be downloaded."""

_QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-lcd-text",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start the browser, and stop it when the block ends."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_QUIET))
        yield browser
        browser.close()
