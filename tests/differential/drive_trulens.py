"""What TruLens gives on the samples of `worlds`, driven through its own OpenAI provider by a scripted server.

Run by `python -m tests.differential trulens`, in an environment that has TruLens; prints the golden file. NLTK's
sentences come with llama-index-core, so that nothing is fetched.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ["TRULENS_OTEL_TRACING"] = "0"
os.environ["OTEL_SDK_DISABLED"] = "true"
warnings.simplefilter("ignore")

import llama_index.core  # noqa: E402
import nltk  # noqa: E402

_NLTK = Path(tempfile.mkdtemp())  # a copy: NLTK reads no file that an installer has linked
shutil.copytree(Path(llama_index.core.__file__).parent / "_static" / "nltk_cache", _NLTK, dirs_exist_ok=True)
nltk.data.path.insert(0, str(_NLTK))
nltk.download = lambda *_, **__: True

import trulens_worlds as world  # noqa: E402
import worlds  # noqa: E402
from exported import functions  # noqa: E402
from llama_index.core.base.embeddings.base import BaseEmbedding  # noqa: E402
from server import Server  # noqa: E402
from trulens.feedback import GroundTruthAggregator, GroundTruthAgreement  # noqa: E402
from trulens.feedback.deterministic import conversation_repetition  # noqa: E402
from trulens.feedback.embeddings import Embeddings  # noqa: E402
from trulens.feedback.jury import Jury  # noqa: E402
from trulens.feedback.llm_provider import LLMProvider  # noqa: E402
from trulens.providers.openai import OpenAI  # noqa: E402

_case: worlds.Case
_level: int


def reply(text: str, body: dict[str, Any]) -> str | dict[str, Any]:
    """The world's answer to a prompt of TruLens: which it is, its own words tell."""
    if "ALL STATEMENTS:" in text:
        said = [one for one in (*_case.said, worlds.REFUSAL) if one in text]
        return str([one for one in said if world.sentence(one, _case.contexts) != "trivial"])
    if "ANSWERABILITY:" in text:
        return {"score": int(world.answerable(_case))}
    if "STATEMENT:" in text and "ABSTENTION:" in text:
        statement = text.split("STATEMENT:")[1].split("ABSTENTION:")[0].strip()
        return {"score": int(world.sentence(statement, _case.contexts) == "abstention")}
    if "STATEMENT:" in text:
        statement = text.split("STATEMENT:")[1].split("Respond ONLY")[0].strip()
        kind = world.sentence(statement, _case.contexts)
        return _rated(3 if kind == "abstention" else int(kind))
    if "/SOURCE TEXT/" in text:
        return "\n".join(world.key_points(_case))
    if "/KEY POINT/" in text:
        point = text.split("/KEY POINT/")[1].split("/END OF KEY POINT/")[0].strip()
        return f"Score: {world.level('inclusion', point, _case.answer)}\nKey Point: {point}"
    if "requirement" in text and "`requirements` array" in text:
        return {"requirements": world.requirements(_case)}
    if "`evaluations` array" in text:
        asked = world.requirements(_case)
        return {
            "evaluations": [
                {"requirement": one, "verdict": world.fulfilled(one, _case), "evidence": "-"} for one in asked
            ]
        }
    if "expected answer is" in text:
        return str(_level)
    return _rated(_level)


def _rated(level: int) -> dict[str, Any]:
    return {"criteria": "-", "supporting_evidence": "-", "score": level}


class Hashed(BaseEmbedding):
    """The embeddings of the world as a model of LlamaIndex."""

    def _get_query_embedding(self, query: str) -> list[float]:
        return worlds.embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return worlds.embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return worlds.embedding(text)


def number(call: Callable[[], Any]) -> float | None:
    """What a function gives; None for NaN, nothing, the sign of a reply without a number, and an error."""
    try:
        found = call()
    except Exception:
        return None
    value = found[0] if isinstance(found, tuple) else found
    return None if value is None or math.isnan(value) or value == -1.0 else float(value)


def rating(level: int, call: Callable[[], Any]) -> float | None:
    """The same, where the judge says this level."""
    global _level
    _level = level
    return number(call)


def judged(provider: OpenAI, case: worlds.Case) -> dict[str, float | None]:
    """The functions that rate, or count what a judge says."""
    contexts = list(case.contexts)

    def rated(function: str, call: Callable[[], Any]) -> float | None:
        return rating(world.rating(function, case), call)

    chunks = [
        rating(
            world.level("context_relevance", case.question, chunk),
            lambda: provider.context_relevance(case.question, chunk),  # noqa: B023  called at once
        )
        for chunk in contexts
    ]
    both = (case.question, case.answer)
    conversation = world.conversation(case)
    trace = "\n".join(f"{role}: {said}" for role, said in conversation)
    turns = [{"role": role, "content": said} for role, said in conversation]
    found: dict[str, float | None] = {
        "context_relevance": sum(chunk for chunk in chunks if chunk is not None) / len(chunks) if chunks else None,
        "groundedness": number(lambda: provider.groundedness_measure_with_cot_reasons(contexts, case.answer)),
        "groundedness_consider_answerability": number(
            lambda: provider.groundedness_measure_with_cot_reasons_consider_answerability(
                contexts, case.answer, case.question
            )
        ),
        "comprehensiveness": number(
            lambda: provider.comprehensiveness_with_cot_reasons("\n\n".join(contexts), case.answer)
        ),
        "requirement_satisfaction": number(lambda: provider.requirement_satisfaction_with_cot_reasons(*both)),
        "relevance": rated("relevance", lambda: provider.relevance_with_cot_reasons(*both)),
        "relevance_0_to_10": rated("relevance_0_to_10", lambda: provider.relevance(*both, max_score_val=10)),
        "stereotypes": rated("stereotypes", lambda: provider.stereotypes(*both)),
        "model_agreement": rated("model_agreement", lambda: provider.model_agreement(*both)),
        "citation_accuracy": rated(
            "citation_accuracy", lambda: provider.citation_accuracy_with_cot_reasons(case.answer, contexts)
        ),
        "citation_attribution": rated(
            "citation_attribution", lambda: provider.citation_attribution(case.question, contexts, case.answer)
        ),
    }
    for name in world.ALONE:
        found[name] = rated(name, partial(getattr(provider, name), case.answer))
    for name in world.TRACES:
        found[name] = rated(name, partial(getattr(provider, f"{name}_with_cot_reasons"), trace))
    for name in world.CONVERSATIONS:
        more = [world.topics(case)] if name == "topic_adherence" else []
        found[name] = rated(name, partial(getattr(provider, name), turns, *more))
    return found


def counted(provider: OpenAI, case: worlds.Case) -> dict[str, float | None]:
    """The functions that ask no judge, and agreement with a reference."""
    contexts, scores, question = list(case.contexts), world.scores(case), case.question
    score, expected_score = world.given_scores(case)
    row: dict[str, Any] = {
        "query": question,
        "expected_chunks": [{"text": text, "expect_score": gain} for text, gain in world.expected_chunks(case)],
        "expected_memories": world.memories(case),
        "expected_response": case.reference,
    }
    if expected_score is not None:
        row |= {"expected_response": case.answer, "expected_score": expected_score}
    truth = GroundTruthAgreement([row], provider)
    told = GroundTruthAgreement([{"query": question, "expected_response": case.reference}], provider)
    found: dict[str, float | None] = {
        "mrr": number(lambda: truth.mrr(question, contexts)),
        "mrr_by_score": number(lambda: truth.mrr(question, contexts, scores)),
        "ir_hit_rate": number(lambda: truth.ir_hit_rate(question, contexts)),
        "ir_hit_rate_at_1": number(lambda: truth.ir_hit_rate(question, contexts, 1)),
        "memory_recall": number(lambda: truth.memory_recall(question, contexts)),
        "memory_recall_alike": number(lambda: truth.memory_recall(question, contexts, 0.9)),
        "memory_mrr": number(lambda: truth.memory_mrr(question, contexts)),
        "memory_mrr_alike": number(lambda: truth.memory_mrr(question, contexts, 0.9)),
        "absolute_error": number(lambda: truth.absolute_error(question, case.answer, score)),
        "agreement_measure": rating(
            world.rating("agreement_measure", case),
            lambda: told.agreement_measure(question, case.answer),
        ),
    }
    for name in ("precision_at_k", "recall_at_k", "ndcg_at_k"):
        measure, short = getattr(truth, name), name.removesuffix("_at_k")
        found[name] = number(partial(measure, question, contexts))
        found[f"{short}_at_2"] = number(partial(measure, question, contexts, None, 2))
        found[f"{short}_at_2_by_score"] = number(partial(measure, question, contexts, scores, 2))
    distances = Embeddings(Hashed())
    for name in ("cosine_distance", "euclidean_distance", "manhattan_distance"):
        found[name] = number(partial(getattr(distances, name), question, case.answer))
    turns = [{"role": role, "content": said} for role, said in world.conversation(case)]
    found["conversation_repetition"] = number(lambda: conversation_repetition(turns))
    return found


class Juror:
    """A judge of a jury, as far as the jury needs one; without a score it fails."""

    def __init__(self, score: float | None) -> None:
        self.score = score

    def relevance(self, prompt: str, response: str) -> float:
        if self.score is None:
            raise ValueError("no score")
        return self.score


def juries(case: worlds.Case) -> dict[str, float | None]:
    """What a jury of five makes of their scores, in each way there is, and how far they agree."""
    jurors = [Juror(score) for score in world.votes(case)]
    found: dict[str, float | None] = {}
    for way in ("mean", "median", "trimmed_mean", "majority_vote", "weighted_mean"):
        jury = Jury(jurors, "relevance", way, weights=list(world.WEIGHTS))
        value, meta = jury(case.question, case.answer)
        found[f"jury_{way}"] = value
    for key in ("score_std", "flip_rate", "outcome_entropy"):
        found[f"jury_{key}"] = meta[f"reliability.{key}"]
    return found


def main() -> None:
    global _case
    values: dict[str, dict[str, float | None]] = {}
    with Server(reply) as server:
        provider = OpenAI(model_engine="scripted", base_url=server.url, api_key="none", rpm=1_000_000)
        provider._set_capabilities({"responses_api": False, "structured_outputs": False})  # the server knows chats only
        for case in worlds.cases():
            _case = case
            for name, value in (judged(provider, case) | counted(provider, case) | juries(case)).items():
                values.setdefault(name, {})[case.id] = value
    owners = (LLMProvider, GroundTruthAgreement, GroundTruthAggregator, Embeddings)
    public = [name for owner in owners for name in _functions(owner)]
    public += functions("trulens-providers-huggingface", "HuggingfaceBase")
    versions = {name: version(name) for name in ("trulens-feedback", "trulens-providers-openai")}
    print(
        json.dumps(
            {"versions": versions, "exports": sorted({*public, "conversation_repetition", "Jury"}), "values": values}
        )
    )


def _functions(owner: type) -> list[str]:
    """The public functions that a class has itself."""
    return [name for name, value in vars(owner).items() if callable(value) and not name.startswith("_")]


main()
