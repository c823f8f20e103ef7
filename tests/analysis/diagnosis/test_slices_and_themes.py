"""Causes counted by columns, and failed rows grouped by what they are about."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from assay.analysis.diagnosis import Causes, find_causes
from assay.analysis.diagnosis.slices import CauseSlice, CauseSlices
from assay.analysis.diagnosis.themes import find_themes
from assay.cli.main import app
from assay.errors import InputError
from tests.analysis.diagnosis.test_finding import FISH, RAIN, SNOW, SUN, row, scored


def test_slices_are_counted_with_the_worst_first(tmp_path: Path) -> None:
    """A: 2 of 3 rows failed; B: 0 of 1; rows without the column: 1 of 1."""
    rows = [
        row(SUN, [SUN], topic="A"),
        row(RAIN, [SNOW], topic="A"),
        row(FISH, [SUN, SNOW], topic="A"),
        row(SUN, [SUN], topic="B"),
        row(RAIN, [SNOW]),
    ]
    found = find_causes(scored(tmp_path, rows), by="topic")
    assert [(one.value, one.failed, one.rows) for one in found.slices.of("topic")] == [
        ("–", 1, 1),
        ("A", 2, 3),
        ("B", 0, 1),
    ]
    assert found.slices.of("topic")[1].counts == {"not retrieved": 1, "context not used": 1}
    assert found.to_dict()["slices"]["topic"][1]["counts"] == {"not retrieved": 1, "context not used": 1}
    assert "A: 2 of 3, 67% (21% to 94%): not retrieved 1, context not used 1" in str(found)
    with pytest.raises(InputError, match="by: no row has the column 'tpic'"):
        find_causes(scored(tmp_path, rows), by=["topic", "tpic"])


def test_the_interval_of_a_slice_is_wilsons() -> None:
    """0 of 10: 0 to z² / (10 + z²) = 3.8415 / 13.8415; 5 of 10 is symmetric."""
    none = CauseSlice("a", 10)
    assert none.interval == pytest.approx((0.0, 3.8415 / 13.8415), abs=1e-4)
    half = CauseSlices(("c",))
    for n in range(10):
        half.add({"c": "x"}, "truncated" if n % 2 else None)
    low, high = half.of("c")[0].interval
    assert low + high == pytest.approx(1.0)


def test_the_command_takes_slices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    scored(tmp_path, [row(RAIN, [SNOW], topic=f"t{n}") for n in range(15)])
    done = CliRunner().invoke(app, ["causes", "one", "--store", str(tmp_path), "--slice", "topic", "--no-read"])
    assert done.exit_code == 0, done.output
    assert "t0: 1 of 1, 100% (21% to 100%): not retrieved 1" in done.output
    assert "and 3 more" in done.output
    assert max(map(len, done.output.splitlines())) <= 80


def by_first_word(texts: Sequence[str]) -> NDArray[np.float32]:
    """A vector of length 1 for each text; texts with one first word have the same."""
    known = sorted({text.split()[0] for text in texts})
    return np.eye(len(known), dtype=np.float32)[[known.index(text.split()[0]) for text in texts]]


def test_failed_rows_about_one_thing_are_a_theme_with_its_own_words() -> None:
    """Three questions on refunds, four on parking; two on nothing else belong to no theme."""
    refunds = ["Refund for a lamp?", "Refund after thirty days?", "Refund lamp broken?"]
    parking = ["Parking price at night?", "Parking price for a van?", "Parking ticket lost?", "Parking price?"]
    questions = dict(enumerate([*refunds, *parking, "Opening hours?", "Dogs allowed?"], 1))
    labels = dict.fromkeys(questions, "not retrieved") | {4: "truncated"}
    parks, lamps = find_themes(questions, labels, by_first_word)
    assert (parks.rows, parks.counts) == ((4, 5, 6, 7), {"not retrieved": 3, "truncated": 1})
    assert parks.terms[:2] == ("parking", "price")
    assert (lamps.rows, lamps.terms[:2]) == ((1, 2, 3), ("refund", "lamp"))
    (alike,) = find_themes(dict.fromkeys(range(1, 7), "q"), dict.fromkeys(range(1, 7), "unclear"), by_first_word)
    assert (alike.rows, alike.terms) == ((1, 2, 3, 4, 5, 6), ())  # no word has three letters
    assert "  one question: 6 rows (1, 2, 3, 4, 5, …): unclear 6" in str(Causes("r", themes=(alike,)))
    assert find_themes(questions, labels, None) == ()
    assert find_themes({1: "Refund?", 2: " "}, labels, by_first_word) == ()


@pytest.mark.long
def test_themes_of_the_embedder_in_the_box(tmp_path: Path) -> None:
    pytest.importorskip("assay_embedded")
    rows = [
        {**row(RAIN, [SNOW]), "question": one}
        for one in (
            "How do I return a broken lamp?",
            "Can I send back a lamp that I don't like?",
            "Who pays for returning a lamp?",
            "How many days of holiday do I have?",
            "Can I take my holiday in August?",
            "Do unused holidays lapse?",
        )
    ]
    found = find_causes(scored(tmp_path, rows), themes=True)
    assert [theme.rows for theme in found.themes] == [(1, 2, 3), (4, 5, 6)]
    assert "lamp" in found.themes[0].terms
    assert "lamp" in str(found)
