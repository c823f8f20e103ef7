"""Numbers of any kind that somebody hands over: the same float by every way in, or none by any."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay import Context, Sample, Score, evaluate
from assay._util.normalise import finite, real_number
from assay.analysis.judges.alignment.labels import _value
from assay.capture.passages import passages_by_type
from assay.data.rows import passages
from assay.errors import InputError
from assay.evaluation.imports.scored_samples import parse_value
from assay.live.feedback import feedback_of

ROW = {"question": "q", "answer": "a", "contexts": ["c"]}


def of_a_metric(value: Any) -> Any:
    def scored(answer: str) -> Any:
        return value

    result = evaluate([ROW], [scored], store=None, progress=False)
    return result.row(1).scores["scored"].value


def of_a_whole_score(value: Any) -> Any:
    @assay.metric(name="whole")
    def whole(answer: str) -> Any:
        return Score(metric="whole", value=value, parts={"part": value})

    score = evaluate([ROW], [whole], store=None, progress=False).row(1).scores["whole"]
    return score.value if not score.parts else json.loads(json.dumps(score.to_dict()))["parts"]["part"]


#: Ways in: what each makes of a number, and None of what is none.
WAYS: dict[str, Callable[[Any], Any]] = {
    "a metric": of_a_metric,
    "a whole score": of_a_whole_score,
    "the score of a context": lambda value: Context(text="c", score=value).score,
    "the score in a dict": lambda value: (passages([{"text": "c", "score": value}]) or ())[0].score,
    "metadata": lambda value: Sample(question="q", metadata={"a": value}).metadata.get("a"),
    "a list in metadata": lambda value: [*Sample(question="q", metadata={"a": [value]}).metadata["a"], None][0],
    "feedback": lambda value: (feedback_of(value) or {"value": None})["value"],
    "an import": lambda value: found if isinstance(found := parse_value(value).value, float) else None,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "value",
    [Fraction(1, 2), Decimal("0.5"), np.float32(0.5), np.float64(0.5), 0.5],
    ids=lambda value: type(value).__name__,
)
def test_half_is_half_by_every_way_in(way: str, value: Any) -> None:
    found = WAYS[way](value)
    assert (found, type(found)) == (0.5, float)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "value",
    [Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("1e400"), Fraction(10**400), math.nan, 0.5j],
    ids=str,
)
def test_what_is_no_number_is_none_by_any_way_in(way: str, value: Any) -> None:
    assert WAYS[way](value) is None


@pytest.mark.parametrize("value", [Fraction(1, 2), Decimal("0.5")], ids=str)
def test_a_pair_of_a_passage_and_any_number_is_scored(value: Any) -> None:
    found = passages([("c d", value), ("e f", value)]) or ()
    assert [(context.text, context.score) for context in found] == [("c d", 0.5), ("e f", 0.5)]
    captured = passages_by_type([({"text": "c d", "url": "u"}, value)]) or []
    assert [one.metadata["score"] for one in captured] == [0.5]


@pytest.mark.parametrize("value", [Fraction(1, 2), Decimal("0.5")], ids=str)
def test_a_label_may_be_any_number(value: Any) -> None:
    assert _value(value, "label", "sample") == (0.5, False)


def test_a_score_says_what_is_no_number() -> None:
    with pytest.raises(InputError, match="Score: value: expected a number, found str"):
        Score(metric="m", value="0.5")  # type: ignore[arg-type]


@given(st.fractions() | st.decimals() | st.integers() | st.floats() | st.booleans() | st.text() | st.complex_numbers())
def test_any_value_is_a_finite_float_or_none(value: Any) -> None:
    number, found = real_number(value), finite(value)
    assert found is None or (type(found) is float and math.isfinite(found) and found == number)
    if isinstance(value, (bool, str, complex)):
        assert number is None
