"""Runs of different judges, linked by answers that both have scored."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from assay import ScriptedJudge, evaluate
from assay.analysis.comparison.compare import compare
from assay.analysis.comparison.linking import link
from assay.cli.main import app
from assay.errors import InputError
from assay.evaluation.result import Result
from assay.stats import difference
from assay.stats.linking import without_offset


def run(store: Path, name: str, answers: list[str], strict: bool, metrics: str = "faithfulness") -> Result:
    """The strict judge supports no claim that says "maybe", the other one does."""
    judge = ScriptedJudge(
        claims=lambda text: [text],
        support=lambda c, p: "not_mentioned" if "false" in c or (strict and "maybe" in c) else "supported",
        usefulness=lambda q, p: True,
        name="strict" if strict else "mild",
    )
    rows: list[dict[str, Any]] = [
        {"id": f"r{n}", "question": f"Q{n}?", "contexts": ["It is so."], "answer": answer}
        for n, answer in enumerate(answers)
    ]
    return evaluate(rows, metrics, judge, store=store, run=name, progress=False)


TRUE, MAYBE, FALSE = "It is true.", "It is maybe so.", "It is false."
ANCHORS = [TRUE] * 15 + [MAYBE] * 5  # 1.0 by the mild judge, 0.75 by the strict one


def test_what_the_judges_differ_by_is_taken_off(tmp_path: Path) -> None:
    """Monday 20 answers, 1.0 by the mild judge; Tuesday the same by the strict one, 0.75: -0.25, all the judges'."""
    monday, tuesday = run(tmp_path, "monday", ANCHORS, False), run(tmp_path, "tuesday", ANCHORS, True)
    with pytest.raises(InputError, match=r"different judges.*link the judges.*\(--anchors\)"):
        compare(monday, tuesday)
    linked = link(run(tmp_path, "old", ANCHORS, False), run(tmp_path, "new", ANCHORS, True))
    offset = linked.offsets["faithfulness"]
    assert (linked.anchors, offset.mean, offset.n) == (20, pytest.approx(-0.25), 20)
    assert offset.high < 0
    one = compare(monday, tuesday, link=linked).metrics["faithfulness"]
    assert one.difference is not None
    assert one.difference.estimate.mean == pytest.approx(0.0)
    assert (one.difference.first, one.difference.second) == (1.0, 0.75)
    assert (one.verdict, one.p) == ("inconclusive", pytest.approx(1.0))
    assert f"without the judges' difference, -0.250 ({offset.low:+.3f}" in str(one)
    back = compare(tuesday, monday, link=linked).metrics["faithfulness"]
    assert back.offset is not None
    assert (back.offset.mean, back.offset.low) == (pytest.approx(0.25), -offset.high)


def test_a_real_change_is_still_seen_and_less_sure(tmp_path: Path) -> None:
    """Half of the answers got false besides: 1.0 by the mild judge before, 0.5 by the strict one after; the judges
    differ by -0.1 on anchors: -0.4.
    """
    many = [TRUE] * 54 + [MAYBE] * 6
    monday = run(tmp_path, "monday", [TRUE] * 60, False)
    tuesday = run(tmp_path, "tuesday", [FALSE] * 30 + [TRUE] * 30, True)
    linked = link(run(tmp_path, "old", many, False), run(tmp_path, "new", many, True))
    found = compare(monday, tuesday, link=linked)
    one, bare = found.metrics["faithfulness"], compare(monday, tuesday, any_judge=True).metrics["faithfulness"]
    assert one.difference is not None
    assert bare.difference is not None
    assert one.difference.estimate.mean == pytest.approx(-0.4)
    assert one.verdict == "worse"
    wide, narrow = one.difference.estimate, bare.difference.estimate
    assert wide.high - wide.low > narrow.high - narrow.low
    assert one.bounds == (pytest.approx(-0.4), pytest.approx(-0.4))
    assert any("linked by 60 answers" in note for note in found.notes)
    assert not any("part of this is theirs" in note for note in found.notes)


def test_intervals_are_put_together_from_both() -> None:
    """d = 0.3 and o = 0.1 with their own ends: low = 0.2 - sqrt((0.3 - its low)² + (o's high - 0.1)²)."""
    found = difference([0.0] * 10, [1.0] * 3 + [0.0] * 7)
    other = difference([0.0] * 20, [1.0] * 2 + [0.0] * 18)
    assert found is not None
    assert other is not None
    by, off = found.estimate, other.estimate
    left = without_offset(found, off, 1.0)
    assert left.estimate.mean == pytest.approx(0.2)
    assert left.estimate.low == pytest.approx(0.2 - math.sqrt((0.3 - by.low) ** 2 + (off.high - 0.1) ** 2))
    assert left.estimate.high == pytest.approx(0.2 + math.sqrt((by.high - 0.3) ** 2 + (0.1 - off.low) ** 2))
    assert left.estimate.error == pytest.approx(math.hypot(by.error or 0, off.error or 0))
    single = difference([0.0], [1.0])
    assert single is not None
    alone = without_offset(single, off, 1.0)
    assert (alone.p, alone.detectable, alone.estimate.low, alone.estimate.high) == (1.0, None, -1.0, 1.0)


def test_links_that_cannot_be_are_refused(tmp_path: Path) -> None:
    old, new = run(tmp_path, "old", ANCHORS, False), run(tmp_path, "new", ANCHORS, True)
    with pytest.raises(InputError, match="are both by"):
        link(old, run(tmp_path, "again", ANCHORS, False))
    with pytest.raises(InputError, match="have 9 answers in common; at least 10"):
        link(old, run(tmp_path, "few", ANCHORS[:9], True))
    with pytest.raises(InputError, match="have 0 answers in common"):
        link(old, run(tmp_path, "other", [FALSE] * 20, True))
    linked = link(old, new)
    with pytest.raises(InputError, match="the runs are by"):
        compare(old, run(tmp_path, "same", ANCHORS, False), link=linked)


def test_metrics_without_anchors_are_not_compared_and_named(tmp_path: Path) -> None:
    both = "faithfulness,context_utilization"
    monday, tuesday = run(tmp_path, "m", ANCHORS, False, both), run(tmp_path, "t", ANCHORS, True, both)
    linked = link(run(tmp_path, "old", ANCHORS, False), run(tmp_path, "new", ANCHORS, True))
    found = compare(monday, tuesday, link=linked)
    assert list(found.metrics) == ["faithfulness"]
    assert "Not linked, and not compared: context_utilization." in found.notes
    with pytest.raises(InputError, match="context_utilization is not linked; the anchors have faithfulness"):
        compare(monday, tuesday, both.split(","), link=linked)


def test_the_command(tmp_path: Path) -> None:
    for name, strict in (("monday", False), ("tuesday", True), ("old", False), ("new", True)):
        run(tmp_path, name, ANCHORS, strict)
    arguments = ["compare", "monday", "tuesday", "--anchors", "old", "new", "--store", str(tmp_path)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "without the judges' difference, -0.250" in done.output


@pytest.mark.long
def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    """The new judge says 0 in place of 1 on one answer of ten; 80 rows of which a tenth got worse, 60 anchors. 2,000
    times, at least 92.5 %, and p is below 0.05 where nothing changed in at most 5 %, each with 1.2 points for chance.
    """
    rng = np.random.default_rng(9)

    def read(true: Any, strict: bool) -> list[float]:
        return (true * (rng.random(true.size) >= (0.1 if strict else 0.0))).astype(float).tolist()  # type: ignore[no-any-return]

    held = wrong = 0
    for _ in range(2000):
        rows, anchors = rng.random(80) < 0.8, (rng.random(60) < 0.8) * 1.0
        worse = rows & (rng.random(80) >= 0.1)
        found = difference(read(rows * 1.0, False), read(worse * 1.0, True))
        alike = difference(read(rows * 1.0, False), read(rows * 1.0, True))
        offset = difference(read(anchors, False), read(anchors, True))
        assert found is not None
        assert alike is not None
        assert offset is not None
        left = without_offset(found, offset.estimate, 1.0).estimate
        # of true scores 0.08 are lost; the judge sees 0.9 of that
        held += left.low <= -0.08 * 0.9 <= left.high
        wrong += without_offset(alike, offset.estimate, 1.0).p < 0.05
    assert held / 2000 >= 0.925 - 0.012
    assert wrong / 2000 <= 0.05 + 0.012
