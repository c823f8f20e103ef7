"""Which of the retriever's documents a verdict on a passage is for."""

from __future__ import annotations

from typing import Any

from assay_phoenix.documents import document_annotations
from hypothesis import given
from hypothesis import strategies as st

from assay.records import Context, Sample, Score, ScoredSample, Verdict
from assay.sinks.annotations import annotations_of

WORDS = st.text("abc. \n", min_size=1, max_size=4)


def attributes_of(documents: list[str]) -> dict[str, Any]:
    return {f"retrieval.documents.{n}.document.content": text for n, text in enumerate(documents)}


def annotated(passages: list[str], documents: list[str], useful: list[bool], reading: str) -> list[dict[str, Any]]:
    verdicts = tuple(Verdict(label="useful" if yes else "not_useful", passage=n) for n, yes in enumerate(useful))
    sample = Sample(contexts=tuple(Context(text=text) for text in passages), ids={"otel_span_id": "ab"})
    score = Score(metric="m", value=0.5, verdicts={reading: verdicts}, judge="openai/m")
    annotations = annotations_of(ScoredSample(sample=sample, scores={"m": score}))
    return document_annotations(annotations, sample, "cd", attributes_of(documents))


@given(
    st.lists(st.tuples(WORDS, st.booleans()), max_size=12, unique_by=lambda pair: pair[0]), st.lists(WORDS, max_size=15)
)
def test_a_verdict_stands_at_the_first_document_with_the_text_of_its_passage(judged, documents):
    passages, useful = [text for text, _ in judged], [yes for _, yes in judged]
    found = annotated(passages, documents, useful, "question/contexts")
    expected = {documents.index(text): yes for text, yes in judged if text in documents}
    assert {one["document_position"]: one["result"]["score"] == 1.0 for one in found} == expected
    assert len(found) == len(expected)


def test_verdicts_on_sentences_are_not_taken_for_verdicts_on_passages():
    assert annotated(["a", "b"], ["a", "b"], [True, False], "question/sentences") == []
    assert len(annotated(["a", "b"], ["a", "b"], [True, False], "question+reference/contexts")) == 2


def test_more_documents_than_ten_keep_their_numbers():
    texts = [f"document {n}" for n in range(25)]
    found = annotated(texts[::-1], texts, [True] * 25, "question/contexts")
    assert [one["document_position"] for one in found] == list(range(24, -1, -1))
