"""What DeepEval gives on the samples of `worlds` (single turn), driven through its own client.

Run by `python -m tests.differential deepeval_single`, in an environment that has deepeval; prints the golden file.
Its model for OpenAI's API asks for one object of a schema: what it asks is told by the schema's fields. One question
is asked after the other (`async_mode=False`), so that those with the same fields are told apart by their order.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from importlib.metadata import version
from typing import Any

import deepeval.classifiers as classifiers
import deepeval.metrics as metrics
import deepeval_world as world
import worlds
from deepeval.dataset.expectations import Expectations
from deepeval.evaluate.expectations import _SingleTurnExpectations
from deepeval.metrics import community, ragas
from deepeval.metrics.community import CitationFaithfulnessMetric
from deepeval.metrics.dag import (
    BinaryJudgementNode,
    DeepAcyclicGraph,
    NonBinaryJudgementNode,
    TaskNode,
)
from deepeval.metrics.g_eval.utils import Rubric
from deepeval.metrics.jev_eval.questions import Choice, Noul, Score
from deepeval.metrics.jev_eval.utils import aggregate, value_from_answer
from deepeval.models import OpenAIModel
from deepeval.models.system_one.schema import ChoiceAnswer, NoulAnswer, ScoreAnswer, SystemOneAnswers
from deepeval.test_case import LLMTestCase, SingleTurnParams
from pydantic import BaseModel
from server import Server

PARAMS = [SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT]


class Script:
    """Says what the world says of the case in hand, for the metric in hand."""

    case: worlds.Case
    metric: str
    chunk = 0
    answers = 0

    def __call__(self, prompt: str, body: dict[str, Any]) -> dict[str, Any]:
        form = body.get("response_format")
        if form is None:  # the rating of G-Eval, asked for with the probabilities of its tokens, which are not served
            assert body["logprobs"], prompt
            return self.reply({"score"}, prompt)
        return self.reply(set(form["json_schema"]["schema"]["properties"]), prompt)

    def reply(self, fields: set[str], prompt: str) -> dict[str, Any]:
        case, metric = self.case, self.metric
        if fields == {"reason"}:
            return {"reason": "-"}
        for name in ("statements", "claims"):
            if name in fields:
                return {name: list(case.said)}
        if "truths" in fields:
            return {"truths": list(case.contexts)}
        for name in ("opinions", "extracted_pii", "misuses", "role_violations", "advices"):
            if name in fields:
                return {name: list(world.listed(case))}
        if "questions" in fields:
            return {"questions": list(world.questions(case))}
        if "answers" in fields:
            self.answers += 1
            of = "text" if self.answers == 1 else "summary"
            return {"answers": ["yes" if world.said_yes(of, one, case) else "no" for one in world.questions(case)]}
        if "verdicts" in fields:
            return {"verdicts": self.verdicts(metric)}
        if "steps" in fields:
            return {"steps": ["Read.", "Judge."]}
        if "score" in fields:
            return {"reason": "-", "score": world.level(case, metric)}
        if "reasoning" in fields:
            return {"verdict": "faithful" if world.cited_right(case) else "unfaithful", "reasoning": "-"}
        if "output" in fields:
            return {"output": "a list"}
        if "label" in fields:
            return {"label": world.label(metric, case), "reason": "-"}
        if "verdict" in fields:  # judgements of the graph
            tone = "what is the tone" in prompt.lower()
            said = world.tone(case) if tone else world.has_source(case)
            return {"verdict": said, "reason": "-"}
        raise ValueError(f"{metric}: {fields}")

    def verdicts(self, metric: str) -> list[dict[str, Any]]:
        case = self.case

        def rows(labels: list[str]) -> list[dict[str, Any]]:
            return [{"verdict": label, "reason": "-"} for label in labels]

        three = {"supported": "yes", "contradicted": "no", "not_mentioned": "borderline"}
        if metric == "answer_relevancy":
            three = {"relevant": "yes", "irrelevant": "no", "borderline": "borderline"}
            return rows([three[world.relevance(one, case)] for one in case.said])
        if metric.startswith("faithfulness"):
            return rows([three[world.together(one, case.contexts)] for one in case.said])
        if metric == "summarization":
            return rows([three[world.together(one, (world.text(case),))] for one in case.said])
        if metric == "contextual_precision":
            return rows(["yes" if worlds.useful(case.question, one) else "no" for one in case.contexts])
        if metric == "contextual_recall":
            return rows(["yes" if worlds.supported(one, case.contexts) else "no" for one in case.known])
        if metric == "contextual_relevancy":
            chunk = case.contexts[self.chunk]
            self.chunk += 1
            return [
                {"statement": one, "verdict": "yes" if worlds.useful(case.question, one) else "no"}
                for one in world.sentences(chunk)
            ]
        if metric == "hallucination":
            return rows(["yes" if world.agrees(case, one) else "no" for one in case.contexts])
        if metric == "prompt_alignment":
            return rows(["yes" if world.follows(one, case) else "no" for one in world.INSTRUCTIONS])
        if metric == "expectations":
            names = [f"must[{n}]" for n in range(2)] + ["must_not[0]"]
            status = {"kept": "pass", "broken": "fail", "undecided": "unable_to_evaluate"}
            return [
                {"id": name, "status": status[world.keeps(one, case)], "reason": "-", "evidence": ""}
                for name, one in zip(names, (*world.MUST, *world.MUST_NOT), strict=True)
            ]
        return rows(["yes" if world.bad(metric, one) else "no" for one in world.listed(case)])


SCRIPT = Script()


def graph() -> DeepAcyclicGraph:
    task = TaskNode(instructions="List the sources", output_label="SOURCES", evaluation_params=PARAMS)
    source = BinaryJudgementNode(criteria="Is there a source?")
    tone = NonBinaryJudgementNode(criteria="What is the tone?", evaluation_params=PARAMS)
    task.add_node(source)
    source.add_verdict(True, then=tone)
    source.add_verdict(False, score=0)
    tone.add_verdict("friendly", score=10)
    tone.add_verdict("plain", score=7)
    tone.add_verdict("rude", then=metrics.ExactMatchMetric())
    return DeepAcyclicGraph(root_nodes=[task])


class Shape(BaseModel):
    name: str
    age: int


def made(judge: OpenAIModel) -> dict[str, Any]:
    """The metrics by the names of their values."""
    plain: dict[str, Any] = {"model": judge, "async_mode": False}
    model: dict[str, Any] = {**plain, "include_reason": False}
    rubric = [Rubric(score_range=(2, 5), expected_outcome="low"), Rubric(score_range=(6, 8), expected_outcome="high")]
    steps: dict[str, Any] = {"evaluation_steps": ["Read."], "evaluation_params": PARAMS, **plain}
    found = {
        "answer_relevancy": metrics.AnswerRelevancyMetric(**model),
        "answer_relevancy_strict": metrics.AnswerRelevancyMetric(strict_mode=True, **model),
        "faithfulness": metrics.FaithfulnessMetric(**model),
        "faithfulness_penalized": metrics.FaithfulnessMetric(penalize_ambiguous_claims=True, **model),
        "contextual_precision": metrics.ContextualPrecisionMetric(**model),
        "contextual_recall": metrics.ContextualRecallMetric(**model),
        "contextual_relevancy": metrics.ContextualRelevancyMetric(**model),
        "hallucination": metrics.HallucinationMetric(**model),
        "summarization": metrics.SummarizationMetric(**model),
        "bias": metrics.BiasMetric(**model),
        "toxicity": metrics.ToxicityMetric(**model),
        "pii_leakage": metrics.PIILeakageMetric(**model),
        "misuse": metrics.MisuseMetric(domain="bridges", **model),
        "non_advice": metrics.NonAdviceMetric(advice_types=["financial"], **model),
        "role_violation": metrics.RoleViolationMetric(role="guide", **model),
        "prompt_alignment": metrics.PromptAlignmentMetric(prompt_instructions=list(world.INSTRUCTIONS), **model),
        "exact_match": metrics.ExactMatchMetric(),
        "pattern_match": metrics.PatternMatchMetric(pattern=world.PATTERN),
        "json_correctness": metrics.JsonCorrectnessMetric(expected_schema=Shape, **model),
        "citation_faithfulness": CitationFaithfulnessMetric(**model),
        "g_eval": metrics.GEval(name="g", criteria="Is it good?", evaluation_params=PARAMS, **plain),
        "g_eval_rubric": metrics.GEval(name="g", rubric=rubric, **steps),
        "g_eval_strict": metrics.GEval(name="g", strict_mode=True, **steps),
        "dag": metrics.DAGMetric(name="d", dag=graph(), **model),
        "expectations": _SingleTurnExpectations(
            Expectations(must=list(world.MUST), must_not=list(world.MUST_NOT), model=judge)
        ),
    }
    return found


def case_of(name: str, case: worlds.Case) -> LLMTestCase:
    answer = {"json_correctness": world.shape(case), "citation_faithfulness": world.citing(case)}.get(name, case.answer)
    given: dict[str, Any] = {"expected_output": case.reference or None}
    if name == "expectations":
        given["expectations"] = Expectations(must=list(world.MUST), must_not=list(world.MUST_NOT))
    return LLMTestCase(
        input=world.text(case) if name == "summarization" else case.question,
        actual_output=answer,
        retrieval_context=list(case.contexts),
        context=list(case.contexts),
        **given,
    )


def jev(case: worlds.Case) -> float:
    """JevEval's equation on the answers of a judge that is certain; its own model is a service."""
    answers = SystemOneAnswers(
        nouls={"n": NoulAnswer(probability=float(world.has_source(case)))},
        scores={"s": ScoreAnswer(score=float(world.level(case, "jev") % 3), probabilities={}, confidence=1.0)},
        choices={"c": ChoiceAnswer(choice=world.tone(case), probabilities={world.tone(case): 1.0}, confidence=1.0)},
    )
    asked = {
        "n": Noul("-", weight=2.0),
        "s": Score("-", levels=["a", "b", "c"]),
        "c": Choice("-", options=dict(world.CREDITS), weight=0.5),
    }
    return aggregate([value_from_answer(question, answers, key) for key, question in asked.items()])


def main(judge: OpenAIModel) -> dict[str, dict[str, float | None]]:
    values: dict[str, dict[str, float | None]] = {}
    for case in worlds.cases():
        SCRIPT.case = case
        for name, metric in made(judge).items():
            SCRIPT.metric, SCRIPT.chunk, SCRIPT.answers = name.removesuffix("_strict"), 0, 0
            if name == "g_eval_strict":
                SCRIPT.metric = name
            try:
                number: float | None = float(metric.measure(case_of(name, case), _show_indicator=False))
            except Exception as error:
                print(f"{name} {case.id}: {error!r}"[:300], file=sys.stderr)
                number = None
            values.setdefault(name, {})[case.id] = number
        for name, labels in world.LABELS.items():
            SCRIPT.metric = name
            title = "".join(word.capitalize() for word in name.split("_")) + "Classifier"
            classifier = getattr(classifiers, title)(model=judge, async_mode=False)
            assert [str(label) for label in classifier.labels] == list(labels), (name, classifier.labels)
            classifier.classify(case_of(name, case), _show_indicator=False)
            values.setdefault(name, {})[case.id] = float(classifier.is_successful(world.expected(name, case)))
        values.setdefault("jev_eval", {})[case.id] = jev(case)
    return values


with Server(SCRIPT) as server, contextlib.redirect_stdout(io.StringIO()):
    found = main(OpenAIModel(model="gpt-4o", base_url=server.url, api_key="none"))
bases = ("Classifier", "BaseClassifier")
exports = sorted(name for name in metrics.__all__ if name.endswith(("Metric", "Eval")) and not name.startswith("Base"))
exports += sorted(name for name in dir(community) if name.endswith("Metric"))
exports += sorted(name for name in dir(ragas) if name.endswith("Metric") and not name.startswith("Base"))
exports += sorted(name for name in classifiers.__all__ if name.endswith("Classifier") and name not in bases)
print(json.dumps({"versions": {"deepeval": version("deepeval")}, "exports": exports, "values": found}))
