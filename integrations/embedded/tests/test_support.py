"""From logits to probabilities: arithmetic that can be checked by hand."""

from __future__ import annotations

import math

import pytest
from assay_embedded.errors import FileCorrupt
from assay_embedded.features import FEATURES, Passage
from assay_embedded.support import ProbabilityMap, Regression, combined, judged, margin
from hypothesis import given
from hypothesis import strategies as st

PLAIN = ProbabilityMap(reader=1.0, words=0.0, shift=0.0, against=1.0, against_shift=0.0)
LOGIT = st.floats(-30, 30)
LOGITS = st.tuples(LOGIT, LOGIT, LOGIT)


def flat(intercept: float) -> Regression:
    """A regression that says `intercept` of everything."""
    zeros = (0.0,) * len(FEATURES)
    return Regression(
        low=zeros, high=zeros, mean=zeros, scale=(1.0,) * len(FEATURES), weights=zeros, intercept=intercept
    )


def test_the_margin_is_the_log_odds_of_the_softmax() -> None:
    # softmax of (ln 6, ln 3, ln 1) is 0.6, 0.3, 0.1; the odds of supported are 6 to 4
    assert margin((math.log(6), math.log(3), 0.0)) == pytest.approx(math.log(6 / 4))
    yes, against = PLAIN.probabilities((math.log(6), math.log(3), 0.0), 0.0)
    assert (yes, against) == (pytest.approx(0.6), pytest.approx(0.3))  # of the other 0.4, 3 in 4 is against


def test_the_regression_has_its_say() -> None:
    both = ProbabilityMap(reader=0.5, words=2.0, shift=-1.0, against=1.0, against_shift=0.0)
    # margin of (0, 0, 0) is -ln 2; 0.5 * -ln 2 + 2 * 0.75 - 1
    expected = 1 / (1 + math.exp(-(0.5 * -math.log(2) + 2 * 0.75 - 1)))
    words = Passage("A passage.").compare("A claim.")
    assert judged((0.0, 0.0, 0.0), words, flat(0.75), both).probability == pytest.approx(expected)


@given(LOGITS, LOGIT)
def test_the_three_probabilities_make_one(logits: tuple[float, float, float], words: float) -> None:
    yes, against = ProbabilityMap(0.7, 0.3, 0.1, 1.2, -0.2).probabilities(logits, words)
    assert 0 <= yes <= 1
    assert 0 <= against <= 1 - yes


@given(LOGITS, st.floats(0.01, 20))
def test_more_of_a_logit_is_more_of_its_class(logits: tuple[float, float, float], more: float) -> None:
    yes, against, silent = logits
    assert margin((yes + more, against, silent)) > margin(logits)
    assert PLAIN.probabilities((yes, against + more, silent), 0)[0] <= PLAIN.probabilities(logits, 0)[0]


def test_the_best_window_of_the_worst_part_counts() -> None:
    sure, unsure, no = (4.0, 0.0, 0.0), (1.0, 0.0, 0.0), (-4.0, 0.0, 0.0)
    assert combined([[no, sure]]) == sure
    assert combined([[no, sure], [unsure, no]]) == unsure
    assert combined([[sure], []]) == sure
    assert combined([]) is None


def test_nothing_to_read_is_not_supported() -> None:
    found = judged(None, Passage("").compare("A claim about Berlin."), flat(5.0), PLAIN)
    assert (found.probability, found.contradiction, found.unsupported) == (0.0, 0.0, ((2, 20),))


def test_a_regression_over_other_features_is_refused() -> None:
    with pytest.raises(FileCorrupt, match="features"):
        Regression.of({"features": ["something_else"]})
