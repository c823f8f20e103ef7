"""What the documents say of the judge is what the card has."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))
import tables

HERE = Path(__file__).parents[1]
CARD = json.loads((HERE / "src" / "assay_embedded" / "files" / "card.json").read_text(encoding="utf-8"))
README = (HERE / "README.md").read_text(encoding="utf-8")
JUDGES = (HERE.parents[1] / "docs" / "evidence" / "embedded-judge.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("text", "with_f1"), [(README, True), (JUDGES, False)], ids=["README", "docs"])
def test_the_table_is_that_of_the_card(text: str, with_f1: bool) -> None:
    lines = tables.table(CARD, with_f1)
    assert len(lines) == 2 + len(tables.ROWS)
    assert "\n".join(lines) in text


@pytest.mark.parametrize("over", ["word overlap", "regression over words (the first judge)"])
def test_the_gains_are_those_of_the_card(over: str) -> None:
    told = " ".join(README.split())  # wherever lines break
    for gain in tables.gains(CARD, over):
        assert gain in told


def test_the_grades_are_those_of_the_card() -> None:
    told = " ".join(JUDGES.split())
    for grade in tables.grades(CARD):
        assert grade in told
