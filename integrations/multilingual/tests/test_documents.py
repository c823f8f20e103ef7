"""What the documents say of the reader is what the card has, and the README's example prints what stands below it."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "embedded" / "training"))
import tables

HERE = Path(__file__).parents[1]
FILES = HERE / "src" / "assay_embedded_multilingual" / "files"
CARD = json.loads((FILES / "card.json").read_text(encoding="utf-8"))
README = (HERE / "README.md").read_text(encoding="utf-8")
JUDGES = (HERE.parents[1] / "docs" / "evidence" / "embedded-judge.md").read_text(encoding="utf-8")


def test_the_table_is_that_of_the_card() -> None:
    lines = tables.languages(CARD)
    assert len(lines) == 2 + len(CARD["languages"])
    for text in (README, JUDGES):
        assert "\n".join(lines) in text


def test_the_figures_by_set_are_those_of_the_card() -> None:
    assert tables.sources(CARD) in " ".join(README.split())


def test_the_example_prints_what_it_says() -> None:
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert code is not None
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(code[1], {})
    assert f"# {said.getvalue().strip()}\n" in code[1]
