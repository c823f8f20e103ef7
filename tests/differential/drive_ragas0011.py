"""What ragas 0.0.11 gives for the metrics that are gone since, driven through its own client by a scripted server.

Run by `python -m tests.differential ragas0011`, in an environment that has ragas 0.0.11; prints the golden file. The
cross-encoder, whose weights are not here, is the world's cosine.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
from importlib.metadata import version
from typing import Any

import ragas_world as world
import worlds
from datasets import Dataset
from langchain.chat_models import ChatOpenAI
from ragas import metrics as ragas
from ragas.evaluation import Result
from ragas.metrics.context_relevance import SentenceAgreement
from server import Server

_case: worlds.Case
_metric: str


class Choices(Server):
    """A server that says something of its own in each of `n` choices."""

    def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        found = [super(Choices, self).chat({**body, "n": 1, "choice": n}) for n in range(1, (body.get("n") or 1) + 1)]
        choices = [{**one["choices"][0], "index": n} for n, one in enumerate(found)]
        return {**found[0], "choices": choices}


def reply(text: str, body: dict[str, Any]) -> str:
    choice = body["choice"]
    if _metric == "context_recall_attributed":
        found = [(one, worlds.supported(one, _case.contexts)) for one in _case.known]
        return "\n".join(f"{one} [{'Attributed' if yes else 'Not Attributed'}]" for one, yes in found)
    if _metric.startswith("answer_relevancy"):
        return world.back_question(_case, choice)[0]
    if _metric.startswith("context_relevancy"):
        return " ".join(world.extraction(_case, choice))
    return "Because.\n\n" + ("Yes" if world.holds(_metric, _case, choice) else "No")


class CrossEncoder:
    """The world in the place of the model."""

    def predict(self, pairs: list[tuple[str, str]], convert_to_numpy: bool) -> Any:
        import numpy

        return numpy.array([worlds.cosine(*pair) for pair in pairs])


def agreement(metric: str) -> SentenceAgreement:
    made: SentenceAgreement = SentenceAgreement.__new__(SentenceAgreement)
    made.metric, made.cross_encoder = metric, CrossEncoder()
    return made


def relevancy(llm: Any, metric: str, strictness: int = 2) -> Any:
    made = ragas.ContextRelevancy(llm=llm, agreement_metric=metric, strictness=strictness)
    made.sent_agreement = agreement(metric)
    return made


class Embeddings:
    """The world's vectors, without the rounding of a transport."""

    def embed_query(self, text: str) -> list[float]:
        return worlds.embedding(text)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [worlds.embedding(text) for text in texts]


def answer_relevancy(llm: Any) -> Any:
    made = ragas.AnswerRelevancy(llm=llm)
    made.embedding = Embeddings()
    return made


def value_of(metric: Any, case: worlds.Case) -> float | None:
    """The number that ragas gives; None where it gives none, or raises."""
    global _case
    _case = case
    row = {
        "question": case.question,
        "answer": case.answer,
        "contexts": list(case.contexts),
        "ground_truths": [case.reference],
    }
    try:
        number = float(metric.score_single(row))
    except Exception:
        return None
    return None if math.isnan(number) else number


def overall(case: worlds.Case) -> float | None:
    """The ragas_score of three means, which are the world's; one of them is 0 now and then."""
    means = world.means(case)
    scores = Dataset.from_dict({**{name: [value] for name, value in means.items()}, "a critique": [1]})
    return float(Result(scores=scores, binary_columns=["a critique"])["ragas_score"])


def main() -> None:
    global _metric
    values: dict[str, dict[str, float | None]] = {}
    with Choices(reply) as server, contextlib.redirect_stdout(io.StringIO()):
        llm = ChatOpenAI(model_name="scripted", openai_api_base=server.url, openai_api_key="none", max_retries=1)
        metrics = {
            "context_relevancy": relevancy(llm, "bert_score"),
            "context_relevancy_jaccard": relevancy(llm, "jaccard"),
            "context_relevancy/once": relevancy(llm, "bert_score", 1),
            "context_relevancy_jaccard/thrice": relevancy(llm, "jaccard", 3),
            "answer_relevancy_0_0_11": answer_relevancy(llm),
            "context_recall_attributed": ragas.ContextRecall(llm=llm),
            "aspect_critique": ragas.AspectCritique(name="aspect_critique", definition="A definition", llm=llm),
            "aspect_critique/thrice": ragas.AspectCritique(
                name="aspect_critique", definition="A definition", llm=llm, strictness=3
            ),
        }
        for name, metric in metrics.items():
            _metric = name.partition("/")[0]
            values[name] = {case.id: value_of(metric, case) for case in world.all_cases()}
        values["ragas_score"] = {case.id: overall(case) for case in world.all_cases()}
    exports = sorted(ragas.__all__)
    print(json.dumps({"versions": {"ragas": version("ragas")}, "exports": exports, "values": values}))


main()
