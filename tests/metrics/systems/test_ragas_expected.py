"""What probabilities lead one to expect of ragas' counts of claims."""

from __future__ import annotations

import pytest

from assay.metrics.systems import named
from tests._support.unsure import SAMPLE, Unsure, expects


@pytest.mark.parametrize(
    ("name", "value", "part", "expected"),
    [
        # answer: 2 of 3 by the reference; reference: 1 of 1. F1 = 2 * 2 / (2 * 2 + 1); 2 * 1.8 / (2 * 1.8 + 1.2 + 0.1)
        ("factual_correctness", 4 / 5, "expected", 3.6 / 4.9),
        ("factual_correctness_precision", 2 / 3, "expected", 0.6),
        ("answer_correctness", 4 / 5, "expected_factual", 3.6 / 4.9),
    ],
)
async def test_what_probabilities_lead_one_to_expect(name: str, value: float, part: str, expected: float) -> None:
    await expects(named(f"ragas:{name}"), value, part, expected)


async def test_faithfulness_of_probabilities_tells_them_before_they_are_rounded() -> None:
    score = await named("ragas:faithfulness_with_hhem").score(SAMPLE, Unsure(0.9, 0.6, 0.3))
    assert (score.value, score.parts["mean_probability"]) == (pytest.approx(2 / 3), pytest.approx(0.6))
