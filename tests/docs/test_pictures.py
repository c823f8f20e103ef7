"""The picture of the README is the one that its script draws."""

from __future__ import annotations

import runpy

from tests.docs.pages import ROOT

IMAGES = ROOT / "docs" / "images"


def test_the_picture_is_current() -> None:
    """Renew it with `python docs/images/flow.py`."""
    drawn = runpy.run_path(str(IMAGES / "flow.py"))["draw"]()
    assert (IMAGES / "flow.svg").read_text(encoding="utf-8") == drawn
