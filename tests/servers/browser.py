"""A browser for tests: the Chromium of this machine, or else the one that Playwright brings.

with browser() as chromium:
    page = chromium.new_page()
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_INSTALL = 600.0  # seconds


def executable() -> str | None:
    """The path of a Chromium; None where Playwright has its own. Raises where there is neither."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        command = [sys.executable, "-m", "playwright", "install", "chromium"]
        subprocess.run(command, check=True, capture_output=True, timeout=_INSTALL)
    return found


def make_ready() -> None:
    """Raises where a page cannot be opened."""
    with browser() as opened:
        opened.new_page().close()


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=executable(), args=["--no-sandbox"])
        try:
            yield opened
        finally:
            opened.close()
