"""Deep agents, supervisors, swarms and tools of a real MCP server are captured exactly, live and from their spans."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests._support.versions import AGENTS, LIBRARIES, ROOT, environment, marks

#: Shapes that pass, at the least.
ENOUGH = 19


@pytest.mark.needs(name="agents")
@pytest.mark.timeout(900)
def test_every_shape_of_these_libraries_is_captured_exactly() -> None:
    found = marks(environment(AGENTS), LIBRARIES)
    assert [name for name, mark in found.items() if mark != "passed"] == []
    assert len(found) >= ENOUGH


def test_the_matrix_is_where_the_test_looks_for_it() -> None:
    assert Path(ROOT, LIBRARIES).is_file()
