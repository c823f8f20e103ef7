"""What LangSmith's `evaluate` makes of its yes-or-no evaluators on the samples of `worlds`.

The judges are those of openevals with LangSmith's ready-made prompts, asked through a scripted server; nothing is
uploaded. Run by `python -m tests.differential langsmith`; prints the golden file.
"""

from __future__ import annotations

import json
import os
import sys
import uuid
from contextlib import redirect_stdout
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

os.environ["LANGSMITH_TRACING"] = "false"

import worlds
from langsmith import Client, evaluate
from langsmith.schemas import Example
from openai import OpenAI
from openevals.llm import create_llm_as_judge
from openevals.prompts import (
    ANSWER_RELEVANCE_PROMPT,
    CONCISENESS_PROMPT,
    CORRECTNESS_PROMPT,
    HALLUCINATION_PROMPT,
    RAG_GROUNDEDNESS_PROMPT,
    RAG_RETRIEVAL_RELEVANCE_PROMPT,
)
from server import Server

#: The prompt of each metric, and the variables in it.
PROMPTS = {
    "correctness": (CORRECTNESS_PROMPT, ("inputs", "outputs", "reference_outputs")),
    "relevance": (ANSWER_RELEVANCE_PROMPT, ("inputs", "outputs")),
    "groundedness": (RAG_GROUNDEDNESS_PROMPT, ("context", "outputs")),
    "retrieval_relevance": (RAG_RETRIEVAL_RELEVANCE_PROMPT, ("inputs", "context")),
    "conciseness": (CONCISENESS_PROMPT, ("inputs", "outputs")),
    "hallucination": (HALLUCINATION_PROMPT, ("inputs", "outputs", "context", "reference_outputs")),
}
NOW = datetime(2026, 3, 1, tzinfo=UTC)

_case: worlds.Case


def reply(text: str, body: dict[str, Any]) -> dict[str, Any]:
    """The world's answer: which prompt it is, its first line tells."""
    opening = text.lstrip()[:100]
    metric = next(name for name, (prompt, _) in PROMPTS.items() if prompt.startswith(opening))
    return {"reasoning": "-", "score": worlds.share("langsmith", metric, _case.id) < 0.5}


def evaluators(client: OpenAI) -> list[Any]:
    """One evaluator per metric, as LangSmith's `evaluate` takes them."""

    def made(name: str) -> Any:
        prompt, variables = PROMPTS[name]
        judge = create_llm_as_judge(prompt=prompt, feedback_key=name, judge=client, model="scripted")

        def evaluator(inputs: dict[str, Any], outputs: dict[str, Any], reference_outputs: dict[str, Any]) -> Any:
            known = {
                "inputs": inputs["question"],
                "outputs": outputs["answer"],
                "context": "\n\n".join(outputs["contexts"]),
                "reference_outputs": (reference_outputs or {}).get("answer", ""),
            }
            if name == "correctness":
                known["reference_outputs"] = reference_outputs["answer"]  # an error without one, as in the tutorial
            return judge(**{variable: known[variable] for variable in variables})

        return evaluator

    return [made(name) for name in PROMPTS]


def main() -> None:
    global _case
    values: dict[str, dict[str, float | None]] = {name: {} for name in PROMPTS}
    client = Client(api_url="http://127.0.0.1:9", api_key="x", auto_batch_tracing=False)
    with Server(reply) as server:
        judges = evaluators(OpenAI(base_url=server.url, api_key="none"))
        for case in worlds.cases():
            _case = case
            told = {"answer": case.answer, "contexts": list(case.contexts)}
            row = Example(
                id=uuid.uuid4(),
                inputs={"question": case.question},
                outputs={"answer": case.reference} if case.reference else None,
                dataset_id=uuid.uuid4(),
                created_at=NOW,
            )
            with redirect_stdout(sys.stderr):  # it tells where the results would be seen
                found = evaluate(
                    lambda inputs, told=told: told, data=[row], evaluators=judges, client=client, upload_results=False
                )
                results = next(iter(found))["evaluation_results"]["results"]
            scores = {result.key: result.score for result in results}
            for name, found_of in values.items():
                found_of[case.id] = None if scores.get(name) is None else float(scores[name])
    versions = {name: version(name) for name in ("langsmith", "openevals")}
    print(json.dumps({"versions": versions, "exports": sorted(PROMPTS), "values": values}))


main()
