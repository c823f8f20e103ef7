"""A trained reader's logits as probabilities, and its training: arithmetic that can be checked by hand."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))
from prepare_reader import CONTRADICTED, SUPPORTED, UNSUPPORTED, Pair, by_sentence, detokenised, even, held_out
from reader import Calibration, combined, margin

PLAIN = Calibration(reader=1.0, words=0.0, shift=0.0, against=1.0, against_shift=0.0)
LOGIT = st.floats(-30, 30)
LOGITS = st.tuples(LOGIT, LOGIT, LOGIT)


def test_the_margin_is_the_log_odds_of_the_softmax() -> None:
    # softmax of (ln 6, ln 3, ln 1) is 0.6, 0.3, 0.1; the odds of supported are 6 to 4
    assert margin((math.log(6), math.log(3), 0.0)) == pytest.approx(math.log(6 / 4))
    yes, against = PLAIN.probabilities((math.log(6), math.log(3), 0.0), 0.0)
    assert (yes, against) == (pytest.approx(0.6), pytest.approx(0.3))  # of the other 0.4, 3 in 4 is against


def test_the_regression_has_its_say() -> None:
    both = Calibration(reader=0.5, words=2.0, shift=-1.0, against=1.0, against_shift=0.0)
    # margin of (0, 0, 0) is -ln 2; 0.5 * -ln 2 + 2 * 0.75 - 1
    expected = 1 / (1 + math.exp(-(0.5 * -math.log(2) + 2 * 0.75 - 1)))
    assert both.probabilities((0.0, 0.0, 0.0), 0.75)[0] == pytest.approx(expected)
    assert both.probabilities(None, 0.75) == (0.0, 0.0)  # nothing to read is not supported


@given(LOGITS, LOGIT)
def test_the_three_probabilities_make_one(logits: tuple[float, float, float], words: float) -> None:
    yes, against = Calibration(0.7, 0.3, 0.1, 1.2, -0.2).probabilities(logits, words)
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


def test_sentences_of_summaries_get_the_label_that_follows_from_the_others() -> None:
    right = "Ada was born in London. She wrote the first program."
    wrong = "Ada was born in London. She wrote the last program."
    pairs = [Pair("text", right, SUPPORTED, "bump"), Pair("text", wrong, UNSUPPORTED, "bump")]
    found = {(pair.claim, pair.label) for pair in by_sentence(pairs)}
    assert found == {
        ("Ada was born in London.", SUPPORTED),
        ("She wrote the first program.", SUPPORTED),
        ("She wrote the last program.", UNSUPPORTED),
    }
    assert by_sentence([Pair("text", wrong, UNSUPPORTED, "bump")]) == []  # either sentence may be the wrong one
    assert by_sentence([Pair("text", right, SUPPORTED, "snli")]) == []


def test_no_side_of_a_source_outweighs_the_other_by_much() -> None:
    import random

    pairs = [Pair(f"p{i}", "c", SUPPORTED if i < 10 else CONTRADICTED, "a") for i in range(100)]
    found = even(pairs, random.Random(0))
    assert sum(pair.label == SUPPORTED for pair in found) == 10
    assert sum(pair.label == CONTRADICTED for pair in found) == 17  # 1.6 times 10, and one


def test_rows_of_one_document_are_kept_out_together() -> None:
    kept = {held_out(Pair("a passage", f"claim {i}", SUPPORTED, "a"), 2) for i in range(20)}
    assert len(kept) == 1
    share = sum(held_out(Pair(f"passage {i}", "claim", SUPPORTED, "a"), 20) for i in range(2000)) / 2000
    assert share == pytest.approx(1 / 20, abs=0.02)  # four standard deviations of 2,000 draws


def test_spaces_around_punctuation_go() -> None:
    assert detokenised("Ada -LRB- born 1815 -RRB- , of London .") == "Ada (born 1815), of London."
