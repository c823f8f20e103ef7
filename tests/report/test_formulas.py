"""Formulas with their numbers filled in give the score, or are not shown as formulas."""

from __future__ import annotations

import re

import pytest

from assay.records import Claim, Score, ScoreError, Span, Verdict
from assay.report.formulas import filled_in

CLAIM = Claim(text="A.", span=Span(0, 2))


def claims(*labels: str) -> tuple[Verdict, ...]:
    return tuple(Verdict(label=label, claim=CLAIM) for label in labels)


def read(*labels: str) -> dict[str, tuple[Verdict, ...]]:
    return {"answer/contexts": claims(*labels)}


def passages(*useful: bool) -> tuple[Verdict, ...]:
    return tuple(Verdict(label="useful" if one else "not_useful", passage=n) for n, one in enumerate(useful))


@pytest.mark.parametrize(
    ("score", "said"),
    [
        (Score(metric="faithfulness", value=2 / 3, verdicts=read("supported", "contradicted", "supported")),
         "2 supported / 3 claims = 0.667"),
        (Score(metric="faithfulness", value=0.0, verdicts={"answer/contexts": claims("not_mentioned")}),
         "0 supported / 1 claim = 0"),
        (Score(metric="hallucination", value=0.5, verdicts=read("not_mentioned", "supported"), direction="lower"),
         "1 not supported / 2 claims = 0.500"),
        (Score(metric="hallucination", value=1 / 3, verdicts=read("not_mentioned", "contradicted", "supported")),
         "1 contradicted / 3 claims = 0.333"),
        (Score(metric="context_precision", value=5 / 6, verdicts={"question/contexts": passages(True, False, True)}),
         "(1/1 + 2/3) / 2 = 0.833"),
        (Score(metric="context_precision", value=0.0, verdicts={"question+reference/contexts": passages(False)}),
         "no passage is useful = 0"),
        (Score(metric="context_relevance", value=0.5, verdicts={"question/sentences": passages(True, False)}),
         "1 useful / 2 sentences = 0.500"),
        (Score(metric="answer_relevancy", value=0.75, low=-1.0, parts={"cosine_1": 0.5, "cosine_2": 1.0}),
         "(0.500 + 1) / 2 = 0.750"),
        (Score(metric="answer_directness", value=0.9, parts={"probability": 0.9}),
         "probability that the answer is direct = 0.900"),
    ],
)  # fmt: skip
def test_the_formula_is_shown_with_its_numbers(score: Score, said: str):
    assert filled_in(score) == said


def test_a_formula_that_does_not_give_the_value_is_not_shown():
    score = Score(metric="faithfulness", value=0.9, verdicts={"answer/contexts": claims("supported", "not_mentioned")})
    assert filled_in(score) == "0.900 from answer/contexts: 1 supported, 1 not_mentioned"


def test_of_other_metrics_the_counts_and_parts_are_shown():
    score = Score(metric="mine:x", value=0.25, parts={"some_part": 0.5}, verdicts={"a/b": claims("yes", "no", "no")})
    assert filled_in(score) == "0.250 from a/b: 2 no, 1 yes; some part 0.500"
    assert filled_in(Score(metric="mine:x", value=1.0)) == "1"
    assert filled_in(Score(metric="mine:x", error=ScoreError(cause="parse", message="m"))) == ""  # type: ignore[arg-type]
    assert filled_in(Score(metric="mine:x", value=1.0, convention="no claims")) == "1 by convention: no claims"


def test_the_numbers_of_a_share_make_its_value():
    for n in range(1, 7):
        score = Score(
            metric="context_recall",
            value=n / 7,
            verdicts={"reference/contexts": claims(*["supported"] * n, *["contradicted"] * (7 - n))},
        )
        top, bottom, value = map(float, re.findall(r"[\d.]+", filled_in(score)))
        assert (top / bottom, value) == (pytest.approx(n / 7), pytest.approx(n / 7, abs=5e-4))
