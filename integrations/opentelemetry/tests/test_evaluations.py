"""Evaluators in traces judge answers: neither they nor what they ask is an exchange of the application."""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
from typing import Any

import pytest
from assay_opentelemetry import spans_to_samples
from assay_opentelemetry.evaluations import is_evaluation, is_evaluator_span
from llama_index.core import evaluation
from llama_index.core.evaluation import (
    AnswerRelevancyEvaluator,
    ContextRelevancyEvaluator,
    CorrectnessEvaluator,
    FaithfulnessEvaluator,
    GuidelineEvaluator,
    PairwiseComparisonEvaluator,
    RelevancyEvaluator,
)
from llama_index.core.prompts import BasePromptTemplate

from assay.capture import Run, Trace
from assay.records import Sample
from integrations.llama_index.tests.fakes import ANSWER, PASSAGES, QUESTION, FakeLLM, engine
from integrations.opentelemetry.tests.conftest import Exported

GIVEN: Any = {"query": QUESTION, "response": ANSWER, "contexts": list(PASSAGES)}
JUDGE = FakeLLM(tokens=["[RESULT] 2\nYES"])


def prompts_of_evaluators() -> dict[str, str]:
    """The default prompts of all evaluators that are installed."""
    found = {}
    for module in pkgutil.walk_packages(evaluation.__path__, f"{evaluation.__name__}."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, BasePromptTemplate) and name.endswith(("EVAL_TEMPLATE", "REFINE_TEMPLATE")):
                given = dict.fromkeys(value.template_vars, "Why?")
                found[f"{module.name.rpartition('.')[2]}.{name}"] = value.format(**given)
    return found


PROMPTS = prompts_of_evaluators()


def trace_of(*prompts: str) -> Trace:
    made = Trace(Run("r", None, "chain", inputs="Why?", outputs="YES"))
    for number, prompt in enumerate(prompts):
        made.add(Run(f"c{number}", "r", "llm", trace=made, prompt=(prompt,)), made.root)
    return made


def test_there_are_prompts() -> None:
    assert len(PROMPTS) >= 10


@pytest.mark.parametrize("name", PROMPTS)
def test_the_prompts_of_the_installed_evaluators_are_known(name: str) -> None:
    assert is_evaluation(trace_of(PROMPTS[name]))
    assert not is_evaluation(trace_of(PROMPTS[name], "Answer from: ..."))  # an answer that was checked, and given
    assert not is_evaluation(trace_of(f"What does this mean? {PROMPTS[name]}"))


def test_without_a_model_nothing_is_an_evaluation() -> None:
    assert not is_evaluation(trace_of())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("FaithfulnessEvaluator.aevaluate", True),
        ("Mine.evaluate", True),
        ("Mine.aevaluate_response", True),
        ("Engine.aquery", False),
        ("evaluate", False),
        ("my.app.evaluate_order", False),
    ],
)
def test_spans_of_evaluators_are_known_by_name(name: str, expected: bool) -> None:
    assert is_evaluator_span(name) is expected


async def evaluate_all(response: Any) -> None:
    """In one event loop: `evaluate` makes one for each call, and leaves it open."""
    for kind in (FaithfulnessEvaluator, RelevancyEvaluator):
        assert (await kind(llm=JUDGE).aevaluate_response(QUESTION, response)).passing
    for made in (AnswerRelevancyEvaluator(llm=JUDGE), ContextRelevancyEvaluator(llm=JUDGE)):
        await made.aevaluate(**GIVEN)
    graded = CorrectnessEvaluator(llm=FakeLLM(tokens=["4\nGood."]))
    await graded.aevaluate(query=QUESTION, response=ANSWER, reference=ANSWER)
    guided = GuidelineEvaluator(llm=FakeLLM(tokens=['{"passing": true, "feedback": "Good."}']), guidelines="Be short.")
    await guided.aevaluate(query=QUESTION, response=ANSWER)
    pairs = PairwiseComparisonEvaluator(llm=FakeLLM(tokens=["[[A]]"]), enforce_consensus=False)
    await pairs.aevaluate(query=QUESTION, response=ANSWER, second_response="No.")


def test_only_the_query_beside_its_evaluators_is_a_sample(llama_index_spans: Exported) -> None:
    llama_index_spans.clear()
    response = engine().query(QUESTION)
    asyncio.run(evaluate_all(response))
    found = list(spans_to_samples(llama_index_spans.spans))
    assert [(one.question, one.answer) for one in found if isinstance(one, Sample)] == [(QUESTION, ANSWER)]
