"""The small numbers that ragas adds below its shares, exactly; what stands beside a number; what a metric asks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.ragas.answer_correctness import AnswerCorrectness
from assay.metrics.ragas.context_relevancy import ContextRelevancy
from assay.prompts import Extraction, Similarity
from tests.metrics.systems.ragas_sample import FULL, score


@pytest.mark.parametrize("name", ["context_precision", "context_utilization", "context_precision_0_0_22"])
def test_average_precision_is_exact_and_guarded_by_1e_10_in_the_original_alone(name: str) -> None:
    def useful(question: str, passage: str) -> bool:
        return "Rome" in passage

    assert score(f"ragas:{name}", usefulness=useful).value == 1.0  # (1/1) / 1
    assert score(f"ragas:{name}@original", usefulness=useful).value == 1.0 / (1 + 1e-10) < 1.0


def test_entity_recall_is_exact_and_guarded_by_1e_8_in_the_original_alone() -> None:
    def entities(text: str) -> list[str]:
        return [word for word in ("Rome", "old") if word in text]

    sample = replace(FULL, reference="Rome is old, and Rome is large.", contexts=FULL.contexts)
    ours, theirs = (score(f"ragas:context_entity_recall{end}", sample, entities=entities) for end in ("", "@original"))
    assert (ours.value, theirs.value) == (1.0, 2 / (2 + 1e-8))
    assert ours.texts["shared"] == ("Rome", "old")
    less = score("ragas:context_entity_recall", replace(FULL, contexts=FULL.contexts[1:]), entities=entities)
    assert (less.value, less.texts["shared"]) == (0.0, ())


def test_answer_correctness_shows_both_readings_and_sentences_without_a_claim() -> None:
    sample = replace(FULL, answer="It is in Rome. Well?")
    found = score(
        "ragas:answer_correctness",
        sample,
        claims={sample.answer: ["It is in Rome."], FULL.reference: ["It is in Rome.", "It is old."]},
        support=lambda claim, text: "supported" if claim in text else "not_mentioned",
        similarity=lambda a, b: 1.0,
    )
    assert [len(found.verdicts[name]) for name in ("answer/reference", "reference/answer")] == [1, 2]
    assert AnswerCorrectness((1.0, 0.0)).asks == AnswerCorrectness((2.0, 0.0)).asks
    assert Similarity in AnswerCorrectness().asks
    assert Similarity not in AnswerCorrectness((1.0, 0.0)).asks


def test_context_relevancy_asks_for_similarities_only_where_several_extractions_are_compared_by_them() -> None:
    assert ContextRelevancy().asks == ContextRelevancy(strictness=3).asks == (Extraction, Similarity)
    assert ContextRelevancy(strictness=1).asks == (Extraction,)
    assert ContextRelevancy(agreement="jaccard").asks == ContextRelevancy(1, "jaccard").asks == (Extraction,)


def test_context_relevancy_shows_the_judge_the_question_and_numbered_passages() -> None:
    asked: list[Extraction] = []

    class Keeping(ScriptedJudge):
        async def answer(self, prompts):  # type: ignore[no-untyped-def]
            asked.extend(one for one in prompts if isinstance(one, Extraction))
            return await super().answer(prompts)

    import asyncio

    for strictness in (1, 2):
        judge = Keeping(extraction=lambda what, texts: ["It is old."], similarity=lambda a, b: 1.0)
        asyncio.run(ContextRelevancy(strictness).score(FULL, judge))
    assert [one.vote for one in asked] == [0, 1, 2]  # one reply, which other metrics may share; then two of its own
    assert asked[0].material == (
        ("PASSAGE P1", "It is in Rome. It is old."),
        ("PASSAGE P2", "Nothing else."),
        ("QUESTION", "Where is it?"),
    )
