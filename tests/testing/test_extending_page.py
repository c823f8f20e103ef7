"""docs/extending.md is true: its code runs from top to bottom."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")


def test_the_code_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) >= 10
    exec(compile("\n".join(blocks), "docs/extending.md", "exec", dont_inherit=True), {"__name__": "page"})
    out = capsys.readouterr().out
    assert "polite = 1.000" in out
    assert "short" in out
    assert "faithfulness" in out


def test_the_page_names_every_check_of_the_kit() -> None:
    from assay import testing

    assert all(name in PAGE for name in testing.__all__ if name.startswith("check"))
