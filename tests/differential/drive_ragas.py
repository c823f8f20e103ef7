"""What ragas gives on the samples of `worlds`, driven through its own client by a scripted server.

Run by `python -m tests.differential ragas`, in an environment that has ragas; prints the golden file.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Any

import ragas_world as world
import worlds
from openai import AsyncOpenAI
from ragas import metrics as legacy
from ragas.dataset_schema import SingleTurnSample
from ragas.embeddings.base import BaseRagasEmbedding
from ragas.llms import llm_factory
from ragas.metrics import AspectCritic, SimpleCriteriaScore
from ragas.metrics import collections as ragas
from server import Server

_case: worlds.Case
_metric: str
_calls: int  # of the judge, for this metric and case
UNKNOWN: list[str] = []  # what the script did not know how to answer


def reply(text: str, body: dict[str, Any]) -> dict[str, Any]:
    """The world's answer to a prompt of ragas: what it is about is the JSON at its end."""
    global _calls
    _calls += 1
    try:
        return answer_to(text)
    except Exception as error:
        UNKNOWN.append(f"{_metric}, {_case.id}: {type(error).__name__}: {error}")
        raise


def answer_to(text: str) -> dict[str, Any]:
    start = text.rfind("input: {") + len("input: ")
    asked, _ = json.JSONDecoder().raw_decode(text[start:])
    return ANSWERS[frozenset(asked)](asked) if frozenset(asked) in ANSWERS else holistic(asked)


def verdicts(asked: dict[str, Any]) -> dict[str, Any]:
    context = asked["context"]
    passages = _case.contexts if context == "\n".join(_case.contexts) else (context,)
    found = [(one, worlds.supported(one, passages)) for one in asked["statements"]]
    return {"statements": [{"statement": one, "reason": "-", "verdict": int(yes)} for one, yes in found]}


def passage_or_recall(asked: dict[str, Any]) -> dict[str, Any]:
    if _metric != "context_recall":
        return {"reason": "-", "verdict": int(worlds.useful(asked["question"], asked["context"], asked["answer"]))}
    found = [(one, worlds.supported(one, _case.contexts)) for one in _case.known]
    return {"classifications": [{"statement": one, "reason": "-", "attributed": int(yes)} for one, yes in found]}


def classes(asked: dict[str, Any]) -> dict[str, Any]:
    return world.classes(_case, asked["answer"], asked["ground_truth"])


def relevant_question(asked: dict[str, Any]) -> dict[str, Any]:
    question, flagged = world.back_question(_case, _calls)
    return {"question": question, "noncommittal": int(flagged)}


def rated(levels: tuple[int, ...]) -> dict[str, Any]:
    level = world.rating(_metric, _case, min(_calls, 2) if not _first_fails(levels) else 1 + _calls // 6, levels)
    return {"rating": 7 if level is None else level}


def _first_fails(levels: tuple[int, ...]) -> bool:
    """Whether judge 1 gives no level: it is then asked five times before judge 2 is."""
    return world.rating(_metric, _case, 1, levels) is None


def holistic(asked: dict[str, Any]) -> dict[str, Any]:
    score = world.level(_metric, _case, RANGES.get(_metric, (1, 2, 3, 4, 5)))
    return {"reason": "-", "feedback": "-", "verdict": int(world.holds(_metric, _case)), "score": score}


def listed(asked: dict[str, Any]) -> dict[str, Any]:
    return {"entities": world.entities(asked["text"]), "keyphrases": ["a phrase"]}


def said(key: str, as_key: str = "statements") -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda asked: {as_key: list(world.statements(_case, asked[key]))}


RANGES = {"simple_criteria": (0, 1, 2, 3, 4, 5), "instance_specific_rubrics": (0, 2, 4)}
ANSWERS: dict[frozenset[str], Callable[[dict[str, Any]], dict[str, Any]]] = {
    frozenset({"context", "statements"}): verdicts,
    frozenset({"question", "answer"}): said("answer"),
    frozenset({"question", "text"}): said("text"),
    frozenset({"response", "atomicity", "coverage"}): said("response", "claims"),
    frozenset({"question", "answer", "ground_truth"}): classes,
    frozenset({"question", "context", "answer"}): passage_or_recall,
    frozenset({"text"}): listed,
    frozenset({"text", "keyphrases"}): lambda asked: {"questions": world.key_questions(asked["text"])},
    frozenset({"summary", "questions"}): lambda asked: {
        "answers": [str(int(world.answered(_case, question))) for question in asked["questions"]]
    },
    frozenset({"response"}): relevant_question,
    frozenset({"query", "user_answer", "reference_answer"}): lambda asked: rated((0, 2, 4)),
    frozenset({"user_input", "context"}): lambda asked: rated((0, 1, 2)),
    frozenset({"response", "context"}): lambda asked: rated((0, 1, 2)),
}


class Embeddings(BaseRagasEmbedding):
    """The world's vectors, without the rounding of a transport."""

    def embed_text(self, text: str, **more: Any) -> list[float]:
        return worlds.embedding(text)

    async def aembed_text(self, text: str, **more: Any) -> list[float]:
        return worlds.embedding(text)


Measure = Callable[[worlds.Case], Awaitable[Any]]


def measures(llm: Any) -> dict[str, Measure]:
    """How each metric is asked about a case."""
    near = Embeddings()

    def of(metric: Any, *fields: str) -> Measure:
        def ask(case: worlds.Case) -> Awaitable[Any]:
            values = {
                "user_input": case.question,
                "response": case.answer,
                "reference": case.reference,
                "retrieved_contexts": list(case.contexts),
                "reference_contexts": list(case.contexts),
                "rubrics": world.RUBRIC,
            }
            return metric.ascore(**{field: values[field] for field in fields})  # type: ignore[no-any-return]

        return ask

    def older(metric: Any) -> Measure:
        return lambda case: metric.single_turn_ascore(SingleTurnSample(user_input=case.question, response=case.answer))

    asked, told, right, found = "user_input", "response", "reference", "retrieved_contexts"
    return {
        "faithfulness": of(ragas.Faithfulness(llm=llm), asked, told, found),
        "response_relevancy": of(ragas.AnswerRelevancy(llm=llm, embeddings=near), asked, told),
        "context_precision": of(ragas.ContextPrecision(llm=llm), asked, right, found),
        "context_utilization": of(ragas.ContextUtilization(llm=llm), asked, told, found),
        "context_recall": of(ragas.ContextRecall(llm=llm), asked, found, right),
        "context_entity_recall": of(ragas.ContextEntityRecall(llm=llm), right, found),
        "noise_sensitivity": of(ragas.NoiseSensitivity(llm=llm), asked, told, right, found),
        "noise_sensitivity_irrelevant": of(
            ragas.NoiseSensitivity(llm=llm, mode="irrelevant"), asked, told, right, found
        ),
        "factual_correctness": of(ragas.FactualCorrectness(llm=llm), told, right),
        "factual_correctness_precision": of(ragas.FactualCorrectness(llm=llm, mode="precision"), told, right),
        "factual_correctness_recall": of(ragas.FactualCorrectness(llm=llm, mode="recall"), told, right),
        "answer_correctness": of(ragas.AnswerCorrectness(llm=llm, embeddings=near), asked, told, right),
        "semantic_similarity": of(ragas.SemanticSimilarity(embeddings=near), right, told),
        "answer_accuracy": of(ragas.AnswerAccuracy(llm=llm), asked, told, right),
        "context_relevance": of(ragas.ContextRelevance(llm=llm), asked, found),
        "response_groundedness": of(ragas.ResponseGroundedness(llm=llm), told, found),
        "summarization_score": of(ragas.SummaryScore(llm=llm), "reference_contexts", told),
        "domain_specific_rubrics": of(ragas.DomainSpecificRubrics(llm=llm), asked, told),
        "rubrics_score_without_reference": of(ragas.RubricsScoreWithoutReference(llm=llm), asked, told),
        "rubrics_score_with_reference": of(ragas.RubricsScoreWithReference(llm=llm), asked, told, right),
        "instance_specific_rubrics": of(ragas.InstanceSpecificRubrics(llm=llm), "rubrics", asked, told),
        "aspect_critic": older(AspectCritic("aspect_critic", "A definition", llm=llm)),
        **{name: older(AspectCritic(name, "A definition", llm=llm)) for name in world.ASPECTS},
        "simple_criteria": older(SimpleCriteriaScore("simple_criteria", "A definition", llm=llm)),
        # with other parameters than the defaults; ours are in tests/metrics/systems/test_ragas.py
        "factual_correctness/beta": of(ragas.FactualCorrectness(llm=llm, beta=2.0), told, right),
        "answer_correctness/weights": of(
            ragas.AnswerCorrectness(llm=llm, embeddings=near, weights=[2.0, 1.0], beta=0.5), asked, told, right
        ),
        "semantic_similarity/threshold": of(ragas.SemanticSimilarity(embeddings=near, threshold=0.7), right, told),
        "summarization_score/coeff": of(ragas.SummaryScore(llm=llm, coeff=0.2), "reference_contexts", told),
        "summarization_score/plain": of(ragas.SummaryScore(llm=llm, length_penalty=False), "reference_contexts", told),
    }


async def value_of(measure: Measure, case: worlds.Case) -> float | None:
    """The number that ragas gives; None where it gives none, or raises."""
    global _case, _calls
    _case, _calls = case, 0
    try:
        found = await measure(case)
    except Exception:
        return None
    number = float(getattr(found, "value", found))
    return None if math.isnan(number) else number


async def main() -> None:
    global _metric
    values: dict[str, dict[str, float | None]] = {}
    with Server(reply) as server:
        llm = llm_factory("scripted", client=AsyncOpenAI(base_url=server.url, api_key="none", max_retries=0))
        for name, measure in measures(llm).items():
            _metric = name.partition("/")[0]
            values[name] = {case.id: await value_of(measure, case) for case in world.all_cases()}
    if UNKNOWN:
        raise SystemExit("\n".join(UNKNOWN[:20]))
    exports = sorted({*ragas.__all__, *legacy.__all__, *legacy._DEPRECATED_METRICS})
    print(json.dumps({"versions": {"ragas": version("ragas")}, "exports": exports, "values": values}))


asyncio.run(main())
