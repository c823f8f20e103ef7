"""The picture in docs/live.md: python -m tests.docs.make_screenshot docs/phoenix.png

Starts a real Phoenix server, runs the cookbook's service against it, and takes a picture of an annotated trace with a
headless browser. Needs the `playwright` package and a Chromium on the PATH.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests._support.servers.stores import phoenix

ROOT = Path(__file__).parents[2]
PROJECT = "lighthouses"
QUESTION = "upper part"


def trace_page(base_url: str) -> str:
    """The address of the trace of the agent's second answer, which has a detail that no passage holds."""
    from phoenix.client import Client

    client = Client(base_url=base_url)
    spans = client.spans.get_spans(project_identifier=PROJECT, limit=1000)
    root: Any = next(
        span for span in spans if not span.get("parent_id") and QUESTION in str(span["attributes"].get("input.value"))
    )
    project = next(project["id"] for project in client.projects.list() if project["name"] == PROJECT)
    return f"{base_url}/projects/{project}/traces/{root['context']['trace_id']}"


def take(url: str, path: str) -> None:
    """A picture of the page with the annotations open."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 2200, "height": 1300}, color_scheme="light")
        page.goto(url)
        page.get_by_role("heading", name="Annotations").click(timeout=60_000)
        page.get_by_text("Table", exact=True).click()
        page.get_by_text("Table", exact=True).locator("xpath=preceding::button[2]").click()  # whole explanations
        page.get_by_text("not_mentioned").first.wait_for(timeout=60_000)
        page.wait_for_timeout(1000)
        page.screenshot(path=path)
        browser.close()


def main(path: str) -> None:
    base_url = phoenix()
    subprocess.run([sys.executable, str(ROOT / "cookbook" / "live_service.py"), base_url], check=True)
    take(trace_page(base_url), path)


if __name__ == "__main__":
    main(sys.argv[1])
