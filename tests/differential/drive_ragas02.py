"""What ragas 0.2.15 gives where it parts from 0.4.3, driven as that is in `drive_ragas`.

Run by `python -m tests.differential ragas02`, in an environment that has ragas 0.2.15; prints the golden file.
"""

from __future__ import annotations

import asyncio
import json
import math
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import ragas_world as world
import worlds
from langchain_openai import ChatOpenAI
from ragas import metrics as ragas
from ragas.dataset_schema import SingleTurnSample
from ragas.embeddings.base import BaseRagasEmbeddings
from ragas.llms import LangchainLLMWrapper
from ragas.run_config import RunConfig
from server import Server

_case: worlds.Case
_metric: str
_calls: int  # of the judge, for this metric and case
UNKNOWN: list[str] = []  # what the script did not know how to answer


def reply(text: str, body: dict[str, Any]) -> str | dict[str, Any]:
    """The world's answer to a prompt of ragas: what it is about is the JSON at its end, where there is one."""
    global _calls
    _calls += 1
    try:
        if _metric == "nv_response_groundedness":
            level = world.rating(_metric, _case, min(_calls, 2), (0, 1, 2))
            return "no rating" if level is None else str(level)
        start = text.rfind("input: {") + len("input: ")
        asked, _ = json.JSONDecoder().raw_decode(text[start:])
        return answer_to(asked)
    except Exception as error:
        UNKNOWN.append(f"{_metric}, {_case.id}: {type(error).__name__}: {error}")
        raise


def answer_to(asked: dict[str, Any]) -> dict[str, Any]:
    if set(asked) == {"response"}:
        question, flagged = world.back_question(_case, _calls)
        return {"question": question, "noncommittal": int(flagged)}
    if set(asked) == {"question", "answer"}:
        return {"statements": list(world.statements(_case, asked["answer"]))}
    if set(asked) == {"question", "answer", "ground_truth"}:
        return world.classes(_case, asked["answer"], asked["ground_truth"])
    if set(asked) == {"question", "context", "answer"}:
        return {"reason": "-", "verdict": int(worlds.useful(asked["question"], asked["context"], asked["answer"]))}
    raise KeyError(sorted(asked))


class Embeddings(BaseRagasEmbeddings):
    """The world's vectors, without the rounding of a transport."""

    run_config = RunConfig()

    def embed_query(self, text: str) -> list[float]:
        return worlds.embedding(text)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [worlds.embedding(text) for text in texts]

    async def aembed_query(self, text: str) -> list[float]:
        return worlds.embedding(text)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        return [worlds.embedding(text) for text in texts]


class Tensor(list[float]):
    """What the classifier returns, as far as ragas looks at it."""

    def cpu(self) -> Tensor:
        return self

    detach = cpu

    def round(self) -> Tensor:
        return Tensor(float(round(value)) for value in self)  # a tensor too rounds halves to the even number

    def tolist(self) -> list[float]:
        return list(self)


class Classifier:
    """The world in the place of the model, whose weights are not here."""

    def predict(self, pairs: list[tuple[str, str]]) -> Tensor:
        return Tensor(world.probability(claim, contexts) for contexts, claim in pairs)


@dataclass
class Hhem(ragas.FaithfulnesswithHHEM):  # type: ignore[misc]
    def __post_init__(self) -> None:
        self.nli_classifier = Classifier()


async def value_of(metric: Any, case: worlds.Case) -> float | None:
    """The number that ragas gives; None where it gives none, or raises."""
    global _case, _calls
    _case, _calls = case, 0
    sample = SingleTurnSample(
        user_input=case.question,
        response=case.answer,
        reference=case.reference,
        retrieved_contexts=list(case.contexts),
    )
    try:
        number = float(await metric.single_turn_ascore(sample))
    except Exception:
        return None
    return None if math.isnan(number) else number


async def main() -> None:
    global _metric
    values: dict[str, dict[str, float | None]] = {}
    with Server(reply) as server:
        llm = LangchainLLMWrapper(ChatOpenAI(model="scripted", base_url=server.url, api_key="none", max_retries=0))
        metrics = {
            "answer_relevancy": ragas.ResponseRelevancy(llm=llm, embeddings=Embeddings()),
            "faithfulness_with_hhem": Hhem(llm=llm),
            "answer_correctness_0_2_15": ragas.AnswerCorrectness(
                llm=llm, answer_similarity=ragas.AnswerSimilarity(embeddings=Embeddings())
            ),
            "nv_response_groundedness": ragas.ResponseGroundedness(llm=llm),
        }
        for _metric, metric in metrics.items():
            values[_metric] = {case.id: await value_of(metric, case) for case in world.all_cases()}
    if UNKNOWN:
        raise SystemExit("\n".join(UNKNOWN[:20]))
    exports = sorted({*ragas.__all__})
    print(json.dumps({"versions": {"ragas": version("ragas")}, "exports": exports, "values": values}))


asyncio.run(main())
