"""A browser for tests: the Chromium of this machine, or else the one that Playwright brings, or that of Debian.

with browser() as chromium:
    page = chromium.new_page()
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_INSTALL = 600.0  # seconds


def executable() -> str | None:
    """The path of a Chromium; None where Playwright has its own. Raises where none can be had."""
    found = _installed()
    if found is None:
        try:
            _run(sys.executable, "-m", "playwright", "install", "chromium")
        except subprocess.CalledProcessError:
            if os.geteuid() != 0 or shutil.which("apt-get") is None:
                raise
            _run("apt-get", "update")  # Playwright's downloads are not reached from everywhere
            _run("apt-get", "install", "-y", "--no-install-recommends", "chromium")
            found = _installed()
    return found


def _installed() -> str | None:
    return next(filter(None, map(shutil.which, _NAMES)), None)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=_INSTALL)


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
