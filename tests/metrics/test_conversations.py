"""A fact found in an earlier turn is evidence in this one; what the model said in an earlier turn is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from assay import Context, EmbeddedJudge, Sample
from assay._util.sync import run_sync
from assay.evaluation.display.explanation import score_in_words
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics._context_precision import ContextPrecision
from assay.metrics._context_relevance import ContextRelevance
from assay.metrics._context_utilization import ContextUtilization
from assay.metrics._faithfulness import Faithfulness
from assay.metrics._hallucination import Hallucination
from assay.metrics.base import Metric
from assay.records import Score, Turn

FOUND_EARLIER = "The bridge was opened in 1932 and is 503 metres long."
FOUND_NOW = "The bridge was painted grey because grey paint was there in quantity."


def sample(answer: str, *, contexts: tuple[Context, ...] | None = (Context(text=FOUND_NOW),)) -> Sample:
    said = "The bridge was opened in 1932. Its architect was Maria Lopez."
    earlier = Turn(question="When was it opened?", answer=said, contexts=(Context(text=FOUND_EARLIER),))
    return Sample(question="And why is it grey?", contexts=contexts, answer=answer, history=(earlier,))


def score(metric: Metric, of: Sample) -> Score:
    judge = EmbeddedJudge()
    return run_sync(lambda: metric.score(of, judge))


def test_a_fact_of_an_earlier_turn_is_faithful_and_its_evidence_says_where_it_is_from() -> None:
    found = score(Faithfulness(), sample("The bridge was opened in 1932."))
    assert found.value == 1.0
    (verdict,) = found.verdicts["answer/conversation"]
    assert found.texts["conversation"] == (FOUND_NOW, FOUND_EARLIER)
    quote = verdict.evidence[0]
    assert quote.passage == 1
    assert found.texts["conversation"][1][quote.span.start : quote.span.end] == quote.text
    assert found.parts == {"earlier_turns": 1.0, "mean_probability": verdict.probability}
    assert "passage 1 of earlier turns" in score_in_words(found, sample("The bridge was opened in 1932."))


def test_a_fact_of_neither_is_not_even_though_the_model_said_it_before() -> None:
    found = score(Faithfulness(), sample("Its architect was Maria Lopez."))
    assert found.value == 0.0
    assert score(Hallucination(), sample("Its architect was Maria Lopez.")).value == 1.0


def test_a_turn_that_retrieved_nothing_is_measured_by_what_earlier_turns_found() -> None:
    for contexts in (None, ()):
        found = score(Faithfulness(), sample("The bridge is 503 metres long.", contexts=contexts))
        assert found.value == 1.0
        assert found.texts["conversation"] == (FOUND_EARLIER,)


@pytest.mark.parametrize("history", [(), (Turn(question="q", answer="a"),)])
def test_without_earlier_contexts_nothing_changes(history: tuple[Turn, ...]) -> None:
    plain = Sample(question="q", contexts=(Context(text=FOUND_NOW),), answer="The bridge is grey.", history=history)
    found = score(Faithfulness(), plain)
    assert list(found.verdicts) == ["answer/contexts"]
    assert list(found.parts) == ["mean_probability"]
    without = Sample(question="q", answer="The bridge is grey.", history=history)
    missing = score(Faithfulness(), without).error
    assert missing is not None
    assert missing.cause == "missing_input"


@pytest.mark.parametrize(
    "metric", [ContextRelevance(), ContextRelevance(unit="passage"), ContextPrecision(), ContextUtilization()]
)
async def test_the_question_before_is_asked_along(metric: Metric) -> None:
    """It is in the prompt, and in the address of the judgement; where there is none both are what they were."""
    place = (Context(text="It is in Ulm."),)
    last = Sample(question="And where is it?", answer="In Ulm.", reference="It is in Ulm.", contexts=place)
    before = Turn(question="Which bridge is the oldest?", answer="The Stone Bridge.")
    asked: list[Any] = []

    class Asked(ScriptedJudge):
        async def answer(self, prompts: Sequence[Any]) -> Sequence[Any]:
            asked.extend(prompts)
            return await super().answer(prompts)

    for one in (last, replace(last, history=(before,))):
        assert (await metric.score(one, Asked(usefulness=lambda *_: True))).value == 1.0
    alone, after = asked
    titles = [section.title for section in after.content().material]
    assert titles[titles.index("EARLIER QUESTION") :][:2] == ["EARLIER QUESTION", "QUESTION"]
    assert "EARLIER QUESTION" not in [section.title for section in alone.content().material]
    assert alone.key("j") != after.key("j")
    assert "earlier" not in repr(alone)


def test_a_last_turn_is_understood_by_the_question_before() -> None:
    place = (Context(text="The Golden Gate Bridge stands in San Francisco, and was opened in 1937."),)
    last = Sample(question="I mean the opening year.", contexts=place)
    before = Turn(question="When was the Golden Gate Bridge opened?", answer="Which date do you mean?")
    metric = ContextRelevance(unit="passage")
    alone, after = score(metric, last), score(metric, replace(last, history=(before,)))
    probabilities = [one.verdicts["question/contexts"][0].probability or 0.0 for one in (alone, after)]
    assert probabilities[0] < 0.5 < probabilities[1]
