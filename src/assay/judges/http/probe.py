"""What an endpoint can do, found out by asking it: the part of `assay judge check` that needs a judge."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from assay.errors import Cause, JudgeFailure
from assay.prompts import Similarity, Support
from assay.records import Claim, Span

if TYPE_CHECKING:
    from assay.judges.http.endpoint import Endpoint
    from assay.judges.llm.capabilities import Dialect
    from assay.judges.protocol import Answer
    from assay.prompts.base import JudgePrompt


class EndpointJudge(Protocol):
    """A judge behind one endpoint."""

    model: str

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint that it asks."""

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        """One answer per prompt, in order."""


class ChatJudge(EndpointJudge, Protocol):
    """A judge that asks a chat model, and where it can a model of embeddings."""

    @property
    def dialect(self) -> Dialect:
        """What the endpoint was found to accept."""

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure | None:
        """See `Judge.cannot`."""


#: A passage, and claims that it settles beyond doubt: what every judge must get right.
PASSAGE = "The library opened in 1911. It holds 40,000 books and is closed on Mondays."
CLAIMS = {"The library opened in 1911.": "supported", "The library opened in 1950.": "contradicted"}

#: The model was there, and wrote something.
_REPLIED = frozenset(
    {Cause.PARSE, Cause.AMBIGUOUS, Cause.TRUNCATED, Cause.PROMPT_TRUNCATED, Cause.REFUSED, Cause.CONTENT_FILTER}
)


async def probe(judge: ChatJudge) -> dict[str, Any]:
    """What works, at the price of one or two chat calls and one for embeddings. Never raises for what does not.

    Args:
        judge: The judge. Its address is asked, with its key.

    Returns:
        `endpoint`, `model_name`: as configured. `reachable`, `model`, `embeddings`: True, or a text that says what is
        wrong. `structured`: how the schema is enforced: json_schema, json_object or plain (in the prompt only).
        `logprobs`: whether label probabilities come; None when that was not asked. `latency`: seconds for one small
        verdict with all attempts; None without one. `verdict`: "right"; "wrong: ..."; or why there is none.
    """
    report = await _one_verdict(judge, {"structured": None, "logprobs": None})
    if report["latency"] is not None:
        report["structured"] = judge.dialect.structured
        report["logprobs"] = judge.dialect.logprobs
    report["embeddings"] = await _embeddings(judge)
    return report


async def probe_decisions(judge: EndpointJudge) -> dict[str, Any]:
    """What works at a decision endpoint, at the price of one request: `probe` without what only a writer has."""
    return await _one_verdict(judge, {})


async def _one_verdict(judge: EndpointJudge, unknown: dict[str, Any]) -> dict[str, Any]:
    report: dict[str, Any] = {"endpoint": judge.endpoint.name, "model_name": judge.model}
    report |= {"reachable": True, "model": True, **unknown, "latency": None}
    claims = tuple(Claim(text=text, span=Span(0, len(text))) for text in CLAIMS)
    started = time.monotonic()
    (answer,) = await judge.answer([Support(claims, (PASSAGE,))])
    if answer.failure is None:
        report["latency"] = time.monotonic() - started
        report["verdict"] = _compared([verdict.label for verdict in answer.judgement])
    else:
        failure = answer.failure
        report["verdict"] = f"none: {failure.message}"
        if failure.cause not in _REPLIED:
            report["model"] = failure.message
            if "status" not in failure.detail:
                report["reachable"] = failure.message
    return report


def _compared(labels: list[str]) -> str:
    wrong = [
        f"{claim!r} is {right}, the judge says {label}"
        for (claim, right), label in zip(CLAIMS.items(), labels, strict=True)
        if label != right
    ]
    return "wrong: " + "; ".join(wrong) if wrong else "right"


async def _embeddings(judge: ChatJudge) -> bool | str:
    cannot: JudgeFailure | None = judge.cannot(Similarity)
    if cannot is None:
        (answer,) = await judge.answer([Similarity("a library", ("a place with books",))])
        cannot = answer.failure
    return True if cannot is None else cannot.message
