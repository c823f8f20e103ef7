"""What langchain-classic's evaluators give on the samples of `worlds` and `texts`, driven by a scripted server.

Run by `python -m tests.differential langchain`, in an environment that has langchain-classic; prints the golden file.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import texts
import worlds
from langchain_classic.evaluation import EvaluatorType, load_evaluator
from langchain_classic.evaluation.criteria.eval_chain import Criteria
from langchain_classic.evaluation.embedding_distance.base import EmbeddingDistance
from langchain_classic.evaluation.string_distance.base import StringDistance
from langchain_core.agents import AgentAction
from langchain_core.embeddings import Embeddings
from langchain_openai import ChatOpenAI
from server import Server

warnings.filterwarnings("ignore")
_said = ""


class Vectors(Embeddings):
    """The world's vectors, of length 1, without the rounding of the wire."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [worlds.embedding(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return worlds.embedding(text)


def reply(text: str, body: dict[str, Any]) -> str:
    """What the script has laid ready."""
    return f"For some reason.\n{_said}"


def number(call: Callable[..., dict[str, Any]], **given: Any) -> float | None:
    """The score of an evaluator; None for none and for an error."""
    try:
        score = call(**given)["score"]
    except Exception:
        return None
    return None if score is None or math.isnan(score) else float(score)


def judged(llm: Any) -> Iterator[tuple[str, str, float | None]]:
    """What the evaluators that ask a model give."""
    global _said
    kinds: dict[str, Any] = {
        name: load_evaluator(EvaluatorType(name), llm=llm) for name in ("qa", "cot_qa", "context_qa")
    }
    rated = {name: load_evaluator(EvaluatorType(name), llm=llm) for name in ("score_string", "labeled_score_string")}
    pairs = {
        name: load_evaluator(EvaluatorType(name), llm=llm) for name in ("pairwise_string", "labeled_pairwise_string")
    }
    criteria = {
        f"{kind}{'' if one is None else '_' + one.value}": load_evaluator(EvaluatorType(kind), llm=llm, criteria=one)
        for kind in ("criteria", "labeled_criteria")
        for one in (None, *Criteria)
        if (kind, one) != ("criteria", Criteria.CORRECTNESS)
    }
    way = load_evaluator(EvaluatorType.AGENT_TRAJECTORY, llm=llm)
    for case in worlds.cases():
        asked = {"prediction": case.answer, "input": case.question}
        for name, one in kinds.items():
            given = "\n".join(case.contexts) if name == "context_qa" else case.reference
            if not given.strip():
                continue  # ours is skipped: it asks nothing about nothing
            _said = f"GRADE: {'CORRECT' if worlds.share(name, case.id) < 0.5 else 'INCORRECT'}"
            yield name, case.id, number(one.evaluate_strings, **asked, reference=given)
        for name, one in criteria.items():
            labeled = {"reference": case.reference} if name.startswith("labeled") else {}
            if labeled and not case.reference:
                continue
            _said = "Y" if worlds.share(name, case.id) < 0.5 else "N"
            yield name, case.id, number(one.evaluate_strings, **asked, **labeled)
        for name, one in rated.items():
            labeled = {"reference": case.reference} if name.startswith("labeled") else {}
            if labeled and not case.reference:
                continue
            _said = f"Rating: [[{1 + int(worlds.share(name, case.id) * 10)}]]"
            yield name, case.id, number(one.evaluate_strings, **asked, **labeled)
        for name, one in pairs.items():
            labeled = {"reference": case.reference} if name.startswith("labeled") else {}
            if labeled and not case.reference:
                continue
            _said = f"[[{worlds.pick('ABC', name, case.id)}]]"
            other = texts.second(case)
            yield name, case.id, number(one.evaluate_string_pairs, **asked, prediction_b=other, **labeled)
        _said = f"Score: {1 + int(worlds.share('trajectory', case.id) * 5)}"
        steps = [(AgentAction(tool="search", tool_input=case.question, log=""), " ".join(case.contexts))]
        yield "trajectory", case.id, number(way.evaluate_agent_trajectory, **asked, agent_trajectory=steps)


def measured(embeddings: Any) -> Iterator[tuple[str, str, float | None]]:
    """What those give that compare texts or vectors."""
    alone = {
        "exact_match": load_evaluator(EvaluatorType.EXACT_MATCH),
        "exact_match ignoring": load_evaluator(
            EvaluatorType.EXACT_MATCH, ignore_case=True, ignore_punctuation=True, ignore_numbers=True
        ),
        "regex_match": load_evaluator(EvaluatorType.REGEX_MATCH),
        "string_distance": load_evaluator(EvaluatorType.STRING_DISTANCE),
        **{
            f"{one.value}_distance": load_evaluator(EvaluatorType.STRING_DISTANCE, distance=one)
            for one in StringDistance
        },
        **{
            f"{one.value}_distance counted": load_evaluator(
                EvaluatorType.STRING_DISTANCE, distance=one, normalize_score=False
            )
            for one in StringDistance
        },
    }
    for name, one in alone.items():
        for case, (answer, reference) in texts.text_pairs().items():
            yield name, case, number(one.evaluate_strings, prediction=answer, reference=reference)
    vectors = {
        "embedding_distance": load_evaluator(EvaluatorType.EMBEDDING_DISTANCE, embeddings=embeddings),
        **{
            f"embedding_{one.value}_distance": load_evaluator(
                EvaluatorType.EMBEDDING_DISTANCE, embeddings=embeddings, distance_metric=one
            )
            for one in EmbeddingDistance
        },
    }
    twice = {
        "pairwise_string_distance": load_evaluator(EvaluatorType.PAIRWISE_STRING_DISTANCE),
        "pairwise_embedding_distance": load_evaluator(EvaluatorType.PAIRWISE_EMBEDDING_DISTANCE, embeddings=embeddings),
        **{
            f"pairwise_{one.value}_distance": load_evaluator(EvaluatorType.PAIRWISE_STRING_DISTANCE, distance=one)
            for one in StringDistance
        },
        **{
            f"pairwise_embedding_{one.value}_distance": load_evaluator(
                EvaluatorType.PAIRWISE_EMBEDDING_DISTANCE, embeddings=embeddings, distance_metric=one
            )
            for one in EmbeddingDistance
        },
    }
    for case in worlds.cases():
        for name, one in vectors.items():
            if case.reference:
                given = {"prediction": case.answer, "reference": case.reference}
                yield name, case.id, number(one.evaluate_strings, **given)
        for name, one in twice.items():
            given = {"prediction": case.answer, "prediction_b": texts.second(case)}
            yield name, case.id, number(one.evaluate_string_pairs, **given)
    for name in ("json_validity", "json_equality", "json_edit_distance"):
        one = load_evaluator(EvaluatorType(name))
        for case, (answer, right) in texts.json_pairs().items():
            more = {} if name == "json_validity" else {"reference": right}
            yield name, case, number(one.evaluate_strings, prediction=answer, **more)
    one = load_evaluator(EvaluatorType.JSON_SCHEMA_VALIDATION)
    for case, (answer, _) in texts.json_pairs().items():
        given = {"prediction": answer, "reference": texts.SCHEMA}
        yield "json_schema_validation", case, number(one.evaluate_strings, **given)


def main() -> None:
    values: dict[str, dict[str, float | None]] = {}
    with Server(reply) as server:
        llm = ChatOpenAI(model="gpt-4", base_url=server.url, api_key="none")
        for found in (judged(llm), measured(Vectors())):
            for name, case, value in found:
                values.setdefault(name, {})[case] = value
    exports = sorted(one.value for one in EvaluatorType)
    print(
        json.dumps(
            {"versions": {"langchain-classic": version("langchain-classic")}, "exports": exports, "values": values}
        )
    )


main()
