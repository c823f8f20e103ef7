"""Metrics whose range has no end: no figure is invented for the end, and every output is JSON."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Gate, GateRule, Result, check, compare, evaluate
from assay.errors import Cause
from assay.evaluation.summary import Summary
from assay.extension import report_run
from assay.metrics.langchain.string_distance import StringDistance
from assay.records import Score, ScoreError

EDITS = StringDistance("levenshtein", normalize_score=False)
NAME = EDITS.label
ROWS: list[dict[str, Any]] = [
    {"id": str(n), "question": "q", "answer": "abc" + "d" * (n % 3), "reference": "abc"} for n in range(20)
]
GAP = {"id": "gap", "question": "q", "answer": "abc"}


def test_the_interval_is_that_of_the_values_and_a_gap_bounds_nothing(tmp_path: Path) -> None:
    """Edits of 20 rows: 7 times 0, 7 times 1, 6 times 2, mean 19 / 20; 19 / 21 were the edits of the gap none."""
    result = evaluate([*ROWS, GAP], [EDITS], store=tmp_path, progress=False)
    summary = result.metrics[NAME]
    assert summary.mean == pytest.approx(0.95)
    assert summary.interval is not None
    assert 0.5 < summary.interval.low < 0.95 < summary.interval.high < 1.4
    assert summary.bounds == (pytest.approx(19 / 21), math.inf)
    again = Result.load("last", tmp_path)
    assert (again.metrics[NAME].low, again.metrics[NAME].high) == (0.0, math.inf)
    assert again.metrics[NAME].bounds == summary.bounds


@pytest.mark.parametrize("rows", [ROWS, [*ROWS, GAP]], ids=["whole", "with a gap"])
def test_every_output_is_json(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    first = evaluate(rows, [EDITS], store=tmp_path, progress=False)
    second = evaluate([{**row, "answer": row["answer"] + "e"} for row in rows], [EDITS], store=tmp_path, progress=False)
    decision = check(Gate((GateRule(NAME, "at_most", 5.0), GateRule(NAME, "max_drop", 2.0))), second, first)
    report_run(second, tmp_path / "report.json")
    second.to_jsonl(tmp_path / "rows.jsonl")
    written = [*(tmp_path / "rows.jsonl").read_text().splitlines(), (tmp_path / "report.json").read_text()]
    plain = [second.to_dict(), compare(first, second).to_dict(), decision.to_dict()]
    for text in [*written, *(json.dumps(one, allow_nan=False) for one in plain)]:
        json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_a_score_is_read_as_it_was_written() -> None:
    score = Score(metric="m", value=3.0, low=-math.inf, high=math.inf)
    assert score.to_dict()["high"] is None
    assert Score.from_dict(json.loads(json.dumps(score.to_dict(), allow_nan=False))) == score
    assert (
        Score.from_dict({"metric": "m", "value": 0.5}).low,
        Score.from_dict({"metric": "m", "value": 0.5}).high,
    ) == (
        0.0,
        1.0,
    )


SCORES = st.builds(
    lambda high, share: Score(metric="m", high=high, value=None if share is None else share * high,
                              error=ScoreError(cause=Cause.NO_CONTEXT, message="-") if share is None else None),
    st.sampled_from([1.0, 2.0, 5.0]), st.none() | st.sampled_from([0.0, 0.5, 1.0]),
)  # fmt: skip


@given(st.lists(SCORES, min_size=1, max_size=6), st.randoms(), st.integers(0, 6))
def test_bounds_do_not_depend_on_the_order_of_rows(scores: list[Score], rng: Any, cut: int) -> None:
    """Ranges differ by row (a hit rate over as many passages as were retrieved): the widest counts for the gaps."""
    forward, shuffled = Summary("m"), list(scores)
    rng.shuffle(shuffled)
    for score in scores:
        forward.add(score)
    parts = [Summary("m"), Summary("m")]
    for place, score in enumerate(shuffled):
        parts[place < cut].add(score)
    parts[0].merge(parts[1])
    assert parts[0].bounds == pytest.approx(forward.bounds)
    gaps = sum(score.value is None for score in scores)
    total = sum(score.value or 0.0 for score in scores)
    assert forward.bounds is not None
    assert forward.bounds[1] == pytest.approx((total + gaps * max(score.high for score in scores)) / len(scores))
