"""What is drawn from a sample and its scores: refusals, questions without an answer, claims with all readings."""

from __future__ import annotations

import pytest

from assay.analysis.diagnosis.facts import abstains, facts_of
from assay.evaluation.stored_facts import is_answerable
from assay.records import Cell, Claim, Context, Evidence, Sample, Score, Span, Verdict


@pytest.mark.parametrize(
    ("answer", "language", "expected"),
    [
        ("", None, True),
        (" \n", None, True),
        ("I don't know.", None, True),
        ("Sorry, I cannot help with that.", None, True),
        ("The passages do not mention the year. It was 1967.", None, False),
        ("1967", None, False),
        ("No", None, False),
        ("Das weiß ich nicht.", "de", True),
        ("Es regnet in Wales sehr oft.", "de", False),
        ("対応する情報はありません。それだけです。", "ja", None),
        (None, None, None),
    ],
)
def test_refusals(answer: str | None, language: str | None, expected: bool | None) -> None:
    assert abstains(Sample(question="Which year?", answer=answer, language=language), []) is expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (True, True),
        (0, False),
        ("1.0", True),
        (" UNANSWERABLE ", False),
        ("perhaps", None),
        (["no"], None),
        ("x" * 10**6, None),
    ],
)
def test_what_a_column_says(said: object, expected: bool | None) -> None:
    assert is_answerable(Sample(metadata={"answerable": said})) is expected


def test_without_a_column_the_reference_says_it() -> None:
    assert is_answerable(Sample(reference="Paris.")) is True
    assert is_answerable(Sample(reference="I do not know.")) is False
    assert is_answerable(Sample(reference="Paris.", metadata={"answerable": "no"})) is False
    assert is_answerable(Sample()) is None


CLAIM = Claim(text="It rained.", span=Span(0, 10))
SAMPLE = Sample(
    question="Q?",
    answer="It rained.",
    reference="It snowed all day in Wales.",
    contexts=(Context(text="a"), Context(text="b")),
)


def score(name: str, **verdicts: Verdict) -> Score:
    return Score(metric=name, value=0.0, verdicts={key.replace("_", "/"): (one,) for key, one in verdicts.items()})


def test_readings_of_several_metrics_are_one_claim() -> None:
    cells = (Cell(label="not_mentioned"), Cell(label="contradicted"))
    scores = {
        "b": score("b", answer_contexts=Verdict(label="contradicted", claim=CLAIM, cells=cells)),
        "a": score("a", answer_contexts=Verdict(label="contradicted", claim=CLAIM)),
        "c": score("c", answer_reference=Verdict(label="not_mentioned", claim=CLAIM)),
    }
    for order in (scores, dict(reversed(scores.items()))):
        (one,) = facts_of(SAMPLE, order, {"c": 0.0}).claims("answer")
        assert (one.passages, one.cells, one.other, one.blamed) == (
            "contradicted", ("not_mentioned", "contradicted"), "not_mentioned", True,
        )  # fmt: skip
    (one,) = facts_of(SAMPLE, {"a": scores["a"]}, {}).claims("answer")
    assert (one.cells, one.blamed) == (None, False)


def test_a_quote_says_which_passage_is_used() -> None:
    quote = Evidence(passage=1, span=Span(0, 1), text="b")
    verdict = Verdict(label="supported", claim=CLAIM, evidence=(quote,))
    (one,) = facts_of(SAMPLE, {"a": score("a", answer_contexts=verdict)}, {}).claims("answer")
    assert one.quoted == (2,)


def test_a_reference_of_a_few_words_is_given_or_not_as_a_whole() -> None:
    sample = Sample(question="When?", answer="It was in 1968.", reference="1967", contexts=(Context(text="In 1967."),))
    given = Verdict(label="not_mentioned", claim=Claim(text="When? 1967", span=Span(0, 4)))
    read = Verdict(label="supported", claim=Claim(text="1967", span=Span(0, 4)))
    scores = {"correct": score("correct", reference_answer=given), "recall": score("recall", reference_contexts=read)}
    (one,) = facts_of(sample, scores, {"correct": 0.0}).claims("reference")
    assert (one.text, one.passages, one.other, one.blamed) == ("1967", "supported", "not_mentioned", True)
