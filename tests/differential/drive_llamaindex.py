"""What LlamaIndex' evaluators give on the samples of `worlds`, and its retrieval metrics on ids, also repeated ones.

Run by `python -m tests.differential llamaindex`, in an environment that has llama-index-core; prints the golden file.
The evaluators ask a scripted server; the embeddings are those of the world.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import answers
import worlds
from llama_index.core import evaluation
from llama_index.core.base.embeddings.base import BaseEmbedding, SimilarityMode
from llama_index.core.evaluation import (
    AnswerRelevancyEvaluator,
    ContextRelevancyEvaluator,
    CorrectnessEvaluator,
    FaithfulnessEvaluator,
    GuidelineEvaluator,
    PairwiseComparisonEvaluator,
    RelevancyEvaluator,
    SemanticSimilarityEvaluator,
)
from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY
from llama_index.llms.openai_like import OpenAILike
from server import Server


class Embeddings(BaseEmbedding):
    """The world's."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return worlds.embedding(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return worlds.embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return worlds.embedding(query)


MODES = {"": SimilarityMode.DEFAULT, "_dot_product": SimilarityMode.DOT_PRODUCT, "_euclidean": SimilarityMode.EUCLIDEAN}
VOTES = {"first": "[[A]]", "second": "[[B]]", "tie": "[[C]]"}


def said(metric: str, case: worlds.Case, text: str) -> str:
    """The world's answer to a prompt of one of the evaluators."""
    told = answers.told(case)
    if metric in ("faithfulness", "relevancy"):
        return "YES" if told[metric] else "NO"
    if metric == "answer_relevancy":
        return f"Feedback.\n[RESULT] {told['subject'] + told['focus']}"
    if metric == "context_relevancy":
        return f"Feedback.\n[RESULT] {told['subject_level'] + told['answering_level']}"
    if metric == "correctness":
        return f"{told['level']}\nBecause."
    if metric == "guideline":
        return json.dumps({"passing": told["guideline"], "feedback": "-"})
    own_first = text.index(case.answer) < text.index(case.reference)
    return VOTES[told["vote"] if own_first else told["flipped_vote"]]


async def value(make: Callable[[], Any], passing: bool = False, **arguments: Any) -> float | None:
    try:
        found = await make().aevaluate(**arguments)
    except Exception:
        return None
    number = found.passing if passing else found.score
    return None if number is None else float(number)


async def evaluated(server: Server, case: worlds.Case, ask: dict[str, str]) -> dict[str, float | None]:
    """The numbers of all evaluators on one case."""
    llm = OpenAILike(model="scripted", api_base=server.url, api_key="none", is_chat_model=True, max_retries=0)
    makes: dict[str, Callable[[], Any]] = {
        "faithfulness": lambda: FaithfulnessEvaluator(llm=llm),
        "relevancy": lambda: RelevancyEvaluator(llm=llm),
        "answer_relevancy": lambda: AnswerRelevancyEvaluator(llm=llm),
        "context_relevancy": lambda: ContextRelevancyEvaluator(llm=llm),
        "correctness": lambda: CorrectnessEvaluator(llm=llm),
        "guideline": lambda: GuidelineEvaluator(llm=llm),
        "pairwise": lambda: PairwiseComparisonEvaluator(llm=llm),
        "pairwise without consensus": lambda: PairwiseComparisonEvaluator(llm=llm, enforce_consensus=False),
    }
    given = {"query": case.question, "response": case.answer, "contexts": list(case.contexts)}
    found: dict[str, float | None] = {}
    for name, make in makes.items():
        ask["metric"], arguments = name.partition(" ")[0], dict(given)
        if name == "correctness":
            arguments["reference"] = case.reference or None
            found["correctness passing"] = await value(make, passing=True, **arguments)
        if ask["metric"] == "pairwise":
            if not case.reference or case.reference == case.answer:
                continue  # the two answers cannot be told apart
            arguments["second_response"] = case.reference
        found[name] = await value(make, **arguments)
    for name, mode in MODES.items() if case.reference else ():
        texts = {"response": case.answer, "reference": case.reference}

        def near(mode: SimilarityMode = mode) -> Any:
            return SemanticSimilarityEvaluator(embed_model=Embeddings(), similarity_mode=mode)

        found[f"semantic_similarity{name}"] = await value(near, **texts)
        found[f"semantic_similarity{name} passing"] = await value(near, passing=True, **texts)
    return found


def retrieved(case: answers.Ranking) -> dict[str, float | None]:
    """The numbers of all retrieval metrics on one ranking."""
    kinds: dict[str, Any] = {name: kind for name, kind in METRIC_REGISTRY.items() if name != "cohere_rerank_relevancy"}
    makes: dict[str, Callable[[], Any]] = {
        **kinds,
        "hit_rate_granular": lambda: kinds["hit_rate"](use_granular_hit_rate=True),
        "mrr_granular": lambda: kinds["mrr"](use_granular_mrr=True),
        "ndcg exponential": lambda: kinds["ndcg"](mode="exponential"),
    }
    found: dict[str, float | None] = {}
    for name, make in makes.items():
        try:
            score = make().compute(expected_ids=list(case.expected), retrieved_ids=list(case.retrieved)).score
        except ValueError:
            score = None
        found[name] = None if score is None else float(score)
    return found


async def main() -> None:
    values: dict[str, dict[str, float | None]] = {}
    asked: dict[str, Any] = {"metric": "", "case": None}

    def reply(text: str, body: dict[str, Any]) -> str:
        return said(asked["metric"], asked["case"], text)

    with Server(reply) as server:
        for case in worlds.cases():
            asked["case"] = case
            for name, number in (await evaluated(server, case, asked)).items():
                values.setdefault(name, {})[case.id] = number
    for ranking in answers.rankings():
        for name, number in retrieved(ranking).items():
            values.setdefault(name, {})[ranking.id] = number
    versions = {"llama-index-core": version("llama-index-core")}
    exports = sorted({*METRIC_REGISTRY, *evaluation.__all__})
    print(json.dumps({"versions": versions, "exports": exports, "values": values}, indent=1, sort_keys=True))


asyncio.run(main())
