"""What DeepEval's graphs, decision models, classifiers and expectations give on the conversations of `talks`.

Run by `python -m tests.differential deepeval_conversations`, in an environment that has DeepEval; prints the golden
file. What writes is its own client; what decides is a model of its interface `DeepEvalBaseSystemOneModel`, since its
own is a service with a client of its maker.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from importlib.metadata import version
from typing import Any

import decisions
import deepeval.metrics as metrics
import talks
from deepeval.classifiers import Classifier, ResolutionClassifier
from deepeval.dataset.expectations import Expectations
from deepeval.evaluate.expectations import _ConversationExpectations
from deepeval.metrics.conversational_dag import (
    ConversationalBinaryJudgementNode,
    ConversationalNonBinaryJudgementNode,
    ConversationalTaskNode,
)
from deepeval.metrics.dag import DeepAcyclicGraph
from deepeval.metrics.jev_eval.questions import Choice, Noul, Score
from deepeval.models import DeepEvalBaseSystemOneModel, OpenAIModel
from deepeval.models.system_one.schema import ChoiceAnswer, NoulAnswer, ScoreAnswer, SystemOneAnswers
from deepeval.test_case import (
    ConversationalTestCase,
    LLMTestCase,
    MultiTurnParams,
    SingleTurnParams,
    ToolCall,
    Turn,
)
from server import Likely, Server

PARAMS = [MultiTurnParams.CONTENT, MultiTurnParams.ROLE]
_talk: talks.Talk
_labels: tuple[str, tuple[str, ...]] = ("", ())
_judge: OpenAIModel


def reply(schema: str, prompt: str) -> dict[str, Any]:
    """The world's answer; which question it is, is told by the schema of the answer."""
    if schema == "TaskNodeOutput":
        return {"output": "a list"}
    if schema == "BinaryJudgementVerdict":
        return {"verdict": decisions.has_source(_talk), "reason": "-"}
    if schema == "NonBinaryJudgementVerdict":
        return {"verdict": decisions.tone(prompt), "reason": "-"}
    if schema == "TurnRelevancyVerdict":
        return {"verdict": "yes" if talks.yes("relevant", prompt) else "no", "reason": "-"}
    if schema == "ClassificationResult":
        return {"label": decisions.label(*_labels, prompt), "reason": "-"}
    if schema == "_Verdicts":
        status = {"kept": "pass", "broken": "fail", "undecided": "unable_to_evaluate"}
        demands = {f"must[{n}]": one for n, one in enumerate(decisions.MUST)}
        demands |= {f"must_not[{n}]": one for n, one in enumerate(decisions.MUST_NOT)}
        return {
            "verdicts": [
                {"id": name, "status": status[decisions.keeps(one, prompt)], "reason": "-", "evidence": ""}
                for name, one in demands.items()
            ]
        }
    return {"reason": "-"}


def said(prompt: str, body: dict[str, Any]) -> str | dict[str, Any] | Likely:
    if "response_format" in body:
        return reply(body["response_format"]["json_schema"]["name"], prompt)
    assert body["logprobs"]  # the rating of G-Eval, asked for with the probabilities of its tokens
    level = decisions.written(_talk)
    return Likely({"reason": "-", "score": level}, str(level), dict(decisions.tokens(_talk)))


class Decider(DeepEvalBaseSystemOneModel):
    def load_model(self) -> Any:
        return self

    def get_model_name(self) -> str:
        return "scripted"

    def decide(self, state: Any, questions: dict[str, Any]) -> Any:
        text = json.dumps(state)
        nouls, scores, choices = {}, {}, {}
        for key, question in questions.items():
            asked = question.instructions
            if asked == decisions.STATEMENT:
                nouls[key] = NoulAnswer(probability=decisions.odds(asked, ("yes", "no"), text)["yes"])
            elif asked == decisions.SCALE:
                found = list(decisions.odds(asked, decisions.LEVELS, text).values())
                mean = sum(level * odd for level, odd in enumerate(found))
                scores[key] = ScoreAnswer(score=mean, probabilities=dict(enumerate(found)), confidence=1.0)
            else:
                odds = decisions.odds(asked, tuple(decisions.CREDITS), text)
                choices[key] = ChoiceAnswer(choice=max(odds, key=odds.__getitem__), probabilities=odds, confidence=1.0)
        return SystemOneAnswers(nouls=nouls, scores=scores, choices=choices), None

    async def a_decide(self, state: Any, questions: dict[str, Any]) -> Any:
        return self.decide(state, questions)


def graph() -> DeepAcyclicGraph:
    task = ConversationalTaskNode(instructions="List the sources", output_label="SOURCES", evaluation_params=PARAMS)
    source = ConversationalBinaryJudgementNode(criteria="Is there a source?")
    tone = ConversationalNonBinaryJudgementNode(
        criteria="What is the tone?", evaluation_params=PARAMS, turn_window=decisions.WINDOW
    )
    task.add_node(source)
    source.add_verdict(True, then=tone)
    source.add_verdict(False, score=0)
    for label, score in decisions.TONES.items():
        tone.add_verdict(label, score=score)
    tone.add_verdict("rude", then=metrics.TurnRelevancyMetric(model=_judge, async_mode=False, include_reason=False))
    return DeepAcyclicGraph(root_nodes=[task])


def jev(**more: Any) -> Any:
    questions = [
        Noul(decisions.STATEMENT, weight=decisions.WEIGHTS[decisions.STATEMENT]),
        Score(decisions.SCALE, levels=list(decisions.LEVELS)),
        Choice(decisions.CHOICE, options=decisions.CREDITS, weight=decisions.WEIGHTS[decisions.CHOICE]),
    ]
    return metrics.ConversationalJevEval(
        "j", list(PARAMS), questions, system_one_model=Decider("scripted"), async_mode=False, **more
    )


def turn(one: talks.Said) -> Turn:
    more: dict[str, Any] = {}
    if one.role == "assistant":
        tools = [
            ToolCall(name=call["name"], input_parameters=call["args"], output=call["output"]) for call in one.calls
        ]
        more = {"retrieval_context": list(one.contexts), "tools_called": tools}
    return Turn(role=one.role, content=one.text, **more)


def case_of(talk: talks.Talk) -> ConversationalTestCase:
    return ConversationalTestCase(
        turns=[turn(one) for one in talk.said],
        expectations=Expectations(must=list(decisions.MUST), must_not=list(decisions.MUST_NOT), model=_judge),
    )


def weighted(talk: talks.Talk) -> float:
    """G-Eval on log-probabilities that are made up."""
    metric = metrics.GEval("g", [SingleTurnParams.INPUT], evaluation_steps=["Look."], model=_judge, async_mode=False)
    return float(metric.measure(LLMTestCase(input=talk.id, actual_output="-"), _show_indicator=False))


def classified(classifier: Any, labels: tuple[str, ...], talk: talks.Talk) -> float:
    global _labels
    assert [str(one) for one in classifier.labels] == list(labels)
    _labels = (classifier.name, labels)
    classifier.classify(case_of(talk), _show_indicator=False)
    return float(classifier.is_successful(decisions.expected(classifier.name, labels, talk)))


def measured(name: str, talk: talks.Talk) -> float:
    own: dict[str, Any] = {"model": _judge, "async_mode": False}
    if name == "g_eval/weighted":
        return weighted(talk)
    if name == "conversational_classifier":
        return classified(Classifier("mood", list(decisions.MOODS), **own), decisions.MOODS, talk)
    if name == "conversational_classifier/resolution":
        return classified(ResolutionClassifier(**own), decisions.RESOLUTIONS, talk)
    case = case_of(talk)
    metric: Any = {
        "conversational_dag": lambda: metrics.ConversationalDAGMetric("d", graph(), include_reason=False, **own),
        "conversational_dag/strict": lambda: metrics.ConversationalDAGMetric(
            "d", graph(), include_reason=False, strict_mode=True, **own
        ),
        "conversational_jev_eval": jev,
        "conversational_jev_eval/strict": lambda: jev(strict_mode=True),
        "conversational_expectations": lambda: _ConversationExpectations(case.expectations),
    }[name]()
    return float(metric.measure(case, _show_indicator=False))


NAMES = (
    "conversational_dag",
    "conversational_dag/strict",
    "conversational_jev_eval",
    "conversational_jev_eval/strict",
    "conversational_expectations",
    "conversational_classifier",
    "conversational_classifier/resolution",
    "g_eval/weighted",
)


def main() -> dict[str, dict[str, float | None]]:
    global _talk
    values: dict[str, dict[str, float | None]] = {}
    for name in NAMES:
        for talk in talks.talks():
            _talk = talk
            try:
                number: float | None = measured(name, talk)
            except Exception as error:  # what the original has no number for
                print(f"{name} {talk.id}: {error!r}"[:300], file=sys.stderr)
                number = None
            values.setdefault(name, {})[talk.id] = number
    return values


with Server(said) as server, contextlib.redirect_stdout(io.StringIO()):
    _judge = OpenAIModel(model="gpt-4o", base_url=server.url, api_key="none")
    found = main()
exports = ["Classifier", "ConversationalDAGMetric", "ConversationalGEval", "ConversationalJevEval"]
print(json.dumps({"versions": {"deepeval": version("deepeval")}, "exports": exports, "values": found}))
