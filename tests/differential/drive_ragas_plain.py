"""What ragas' metrics that ask little or nothing give on `ragas_cases`: texts, ids, tables, tool calls, conversations.

Run by `python -m tests.differential ragas_plain`, in an environment that has ragas; prints the golden file.
"""

from __future__ import annotations

import asyncio
import json
import math
import warnings
from collections.abc import Awaitable, Callable, Iterator
from importlib.metadata import version
from typing import Any

import ragas_cases
from openai import AsyncOpenAI
from ragas import SingleTurnSample
from ragas.llms import llm_factory
from ragas.messages import AIMessage, HumanMessage, ToolCall
from ragas.metrics import (
    IDBasedContextPrecision,
    IDBasedContextRecall,
    NonLLMContextPrecisionWithReference,
    NonLLMContextRecall,
)
from ragas.metrics import collections as new
from server import Server

warnings.simplefilter("ignore")
_case: ragas_cases.More


def reply(text: str, body: dict[str, Any]) -> dict[str, Any]:
    """The case's answer to a prompt of ragas: which it is, is told by the schema of the answer."""
    case = _case
    if '"refused_to_answer"' in text:
        topic = case.topics[_asked["topics"] % len(case.topics)]
        _asked["topics"] += 1
        return {"refused_to_answer": not case.answered[case.topics.index(topic)]}
    if '"classifications"' in text:
        return {"classifications": list(case.inside)}
    if '"topics"' in text:
        return {"topics": list(case.topics)}
    if '"user_goal"' in text:
        return {"user_goal": "-", "end_state": "-"}
    if '"verdict"' in text:
        return {"reason": "-", "verdict": str(int(case.verdict))}
    return {"response_explanation": "-", "reference_explanation": "-", "equivalent": case.verdict}


_asked = {"topics": 0}


def told(case: ragas_cases.More) -> list[Any]:
    called = [ToolCall(name=name, args=args) for name, args in case.called]
    return [HumanMessage(content=case.question), AIMessage(content="I shall see.", tool_calls=called or None)]


def measured(case: ragas_cases.More, llm: Any) -> Iterator[tuple[str, Callable[[], Awaitable[Any]]]]:
    """Each metric's name with what measures the case."""
    pair = {"reference": case.reference, "response": case.answer}
    yield "bleu_score", lambda: new.BleuScore().ascore(**pair)
    for kind in ("rouge1", "rougeL"):
        for mode in ("fmeasure", "precision", "recall"):
            made = new.RougeScore(rouge_type=kind, mode=mode)
            yield f"rouge_score rouge_type={kind} mode={mode}", lambda made=made: made.ascore(**pair)
    yield "chrf_score", lambda: new.CHRFScore().ascore(**pair)
    yield "exact_match", lambda: new.ExactMatch().ascore(**pair)
    yield "string_presence", lambda: new.StringPresence().ascore(**pair)
    for measure in new.DistanceMeasure:
        like = new.NonLLMStringSimilarity(distance_measure=measure)
        name = f"non_llm_string_similarity distance_measure={measure.value}"
        yield name, lambda like=like: like.ascore(**pair)
    texts = SingleTurnSample(
        retrieved_contexts=list(case.contexts), reference_contexts=list(case.reference_contexts),
        retrieved_context_ids=list(case.ids), reference_context_ids=list(case.reference_ids),
    )  # fmt: skip
    for old in (
        NonLLMContextPrecisionWithReference,
        NonLLMContextRecall,
        IDBasedContextPrecision,
        IDBasedContextRecall,
    ):
        yield old().name, lambda old=old: old().single_turn_ascore(texts)
    contexts = list(case.contexts)
    spans = new.QuotedSpansAlignment()
    yield "quoted_spans_alignment", lambda: spans.ascore(response=case.quoting, retrieved_contexts=contexts)
    for mode in ("rows", "columns"):
        for metric in ("precision", "recall", "f1"):
            table = new.DataCompyScore(mode=mode, metric=metric)
            name = f"data_compy_score mode={mode} metric={metric}"
            yield name, lambda table=table: table.ascore(reference=case.reference_table, response=case.table)
    wanted = [ToolCall(name=name, args=args) for name, args in case.wanted]
    for strict in (True, False):
        made = new.ToolCallAccuracy(strict_order=strict)
        name = f"tool_call_accuracy strict_order={strict}"
        yield name, lambda made=made: made.ascore(user_input=told(case), reference_tool_calls=wanted)
    yield "tool_call_f1", lambda: new.ToolCallF1().ascore(user_input=told(case), reference_tool_calls=wanted)
    for mode in ("precision", "recall", "f1"):
        topic = new.TopicAdherence(llm=llm, mode=mode)
        name = f"topic_adherence mode={mode}"
        yield name, lambda topic=topic: topic.ascore(user_input=told(case), reference_topics=list(case.scope))
    yield "llm_sql_equivalence", lambda: new.SQLSemanticEquivalence(llm=llm).ascore(**pair)
    goal = new.AgentGoalAccuracyWithReference(llm=llm)
    yield "agent_goal_accuracy_with_reference", lambda: goal.ascore(user_input=told(case), reference=case.reference)
    free = new.AgentGoalAccuracyWithoutReference(llm=llm)
    yield "agent_goal_accuracy_without_reference", lambda: free.ascore(user_input=told(case))


async def number_of(measure: Callable[[], Awaitable[Any]]) -> float | None:
    try:
        found = await measure()
    except (AssertionError, ValueError, TypeError, ZeroDivisionError):
        return None
    value = float(getattr(found, "value", found))
    return None if math.isnan(value) else value


async def main() -> None:
    global _case
    values: dict[str, dict[str, float | None]] = {}
    with Server(reply) as server:
        llm = llm_factory("scripted", client=AsyncOpenAI(base_url=server.url, api_key="none"))
        for case in ragas_cases.cases():
            _case = case
            for name, measure in measured(case, llm):
                _asked["topics"] = 0
                values.setdefault(name, {})[case.id] = await number_of(measure)
        dates = {}
        for name, (table, reference) in ragas_cases.dated().items():
            ours = new.DataCompyScore()
            dates[name] = await number_of(lambda o=ours, t=table, r=reference: o.ascore(reference=r, response=t))
    exports = sorted(name for name in vars(new) if name[0].isupper())
    versions = {name: version(name) for name in ("ragas", "sacrebleu", "rapidfuzz", "rouge-score", "datacompy")}
    print(json.dumps({"versions": versions, "exports": exports, "values": values, "dates": dates}))


asyncio.run(main())
