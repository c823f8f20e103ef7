"""Capture is exact on the oldest and the newest supported versions, and docs/evidence/capture.md says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests._support.versions import MATRICES, NEWEST, OLDEST, Versions, environment, marks
from tests.docs.capture_table import SHAPES, SIGNS, counts, line, name_of_test

DOCUMENT = Path(__file__).parents[1] / "docs" / "evidence" / "capture.md"
pytestmark = pytest.mark.long


@pytest.mark.timeout(900)
@pytest.mark.parametrize("framework", MATRICES)
@pytest.mark.parametrize("versions", [OLDEST, NEWEST], ids=lambda versions: versions.name)
def test_every_shape_is_captured_exactly(versions: Versions, framework: str) -> None:
    found = marks(environment(versions), MATRICES[framework])
    assert [name for name, mark in found.items() if mark == "failed"] == []
    expected = {name_of_test(shape) for shape in SHAPES[framework]}
    assert expected <= found.keys()
    skipped = sum(found[name] == "skipped" for name in expected)
    assert skipped <= len(expected) // 10  # shapes that the oldest version does not have yet
    if versions is NEWEST:
        assert skipped == 0


@pytest.mark.parametrize("framework", MATRICES)
def test_the_document_holds_every_shape_with_its_marks(framework: str) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert len({shape.name for shapes in SHAPES.values() for shape in shapes}) >= 40
    assert counts() in text, "make it anew: python -m tests.docs.capture_table > docs/evidence/capture.md"
    oldest = marks(environment(OLDEST), MATRICES[framework])
    for shape in SHAPES[framework]:
        signs = [SIGNS[oldest[name_of_test(shape)]], SIGNS["passed"]]  # of the newest none fails or is skipped
        assert line(shape, signs) in text, "make it anew: python -m tests.docs.capture_table > docs/evidence/capture.md"
