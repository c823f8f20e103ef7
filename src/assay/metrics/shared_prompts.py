"""Readings that metrics share: what is asked of a judge about one sample, always in the same words.

Equal prompts have equal keys, so two metrics that read the same texts pay once, and their numbers cannot contradict
each other. Everything that can be asked at the same time is, so that it meets in one call.

The keys of `Score.verdicts` say what was read against what: "answer/contexts" are verdicts on the claims of the
answer, with evidence in the contexts. Equal keys mean the same reading.

What no claim comes from is named: `Score.texts["not_judged"]` holds the sentences that nobody looked at.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, overload

from assay.judges.protocol import Judge
from assay.metrics.tool_calls import tool_evidence
from assay.prompts import Claims, JudgePrompt, Similarity, Support, SupportCells
from assay.records import Cell, Claim, Sample, Verdict
from assay.text import split_sentences

Field = Literal["answer", "reference"]
_LONGEST_LEAD = 200  # characters of a line of which only the end may be a lead-in

F = TypeVar("F")
A = TypeVar("A")
B = TypeVar("B")


@overload
async def gather(first: Awaitable[A], second: Awaitable[B], /) -> tuple[A, B]: ...
@overload
async def gather(*work: Awaitable[F]) -> tuple[F, ...]: ...
async def gather(*work: Awaitable[Any]) -> tuple[Any, ...]:
    """The results of all, run at the same time. When some raise, the others end first; then the first is raised."""
    results = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return tuple(results)


async def ask(judge: Judge, *prompts: JudgePrompt[F]) -> tuple[F, ...]:
    """The judgements on several prompts, asked at the same time."""
    return await gather(*(judge.find(prompt) for prompt in prompts))


def claims_of(sample: Sample, field: Field) -> Claims:
    """The prompt for the claims of the answer or of the reference."""
    return Claims(getattr(sample, field) or "", sample.question, sample.spoken)


def not_judged(text: str, claims: Sequence[Claim], language: str = "en") -> tuple[str, ...]:
    """The sentences of `text`, in order, that have a word in them and that no claim speaks of.

    A claim speaks of the sentences that its span meets, and of a lead-in that its own text begins with ("Members
    get: 30 days"). All sentences with a word for no claims; `()` for a blank text.
    """
    spans = sorted((claim.span.start, claim.span.end) for claim in claims)
    leads = {_bare(claim.text.partition(":")[0]).lower() for claim in claims if ":" in claim.text}
    left: list[str] = []
    reach, n = 0, 0  # the end of the farthest span that begins before the end of the sentence
    for sentence in split_sentences(text, language):
        while n < len(spans) and spans[n][0] < sentence.end:
            reach, n = max(reach, spans[n][1]), n + 1
        words = sentence.of(text)
        if reach <= sentence.start and any(map(str.isalnum, words)) and not _leads(words, leads):
            left.append(words)
    return tuple(left)


def _leads(sentence: str, leads: Set[str]) -> bool:
    """Whether it ends with one of these lead-ins: "Based on the text, members get:" with "members get"."""
    line = _bare(sentence).lower()
    if len(line) > _LONGEST_LEAD:
        return line in leads
    return any(line[at:] in leads for at in range(len(line)) if at == 0 or line[at - 1].isspace())


def _bare(line: str) -> str:
    """A lead-in or heading without its marks."""
    return line.strip(" \t\n*#_:")


def texts_not_judged(sample: Sample, claims: Sequence[Claim], field: Field = "answer") -> dict[str, tuple[str, ...]]:
    """What was `not_judged` of a text of the sample, as `Score.texts` has it; empty where nothing was left out."""
    left = not_judged(getattr(sample, field) or "", claims, sample.spoken)
    return {"not_judged": left} if left else {}


def both_not_judged(sample: Sample, answer: Sequence[Claim], reference: Sequence[Claim]) -> dict[str, tuple[str, ...]]:
    """The same where answer and reference are read: the sentences of the answer, then those of the reference."""
    left = [texts_not_judged(sample, answer), texts_not_judged(sample, reference, "reference")]
    sentences = tuple(sentence for one in left for sentence in one.get("not_judged", ()))
    return {"not_judged": sentences} if sentences else {}


async def support(
    claims: tuple[Claim, ...], passages: Sequence[str], sample: Sample, judge: Judge
) -> tuple[Verdict, ...]:
    """The verdict of the passages on each claim. Nothing supports a claim where there is no text, so none is asked.

    Some judges say nothing of each passage alone, because that costs them a reading each: see `with_cells`.
    """
    if not claims:
        return ()
    if not any(passage.strip() for passage in passages):
        return not_mentioned(claims, passages)
    return await judge.find(Support(claims, tuple(passages), sample.question, sample.spoken))


async def with_cells(
    verdicts: Sequence[Verdict], passages: Sequence[str], sample: Sample, judge: Judge
) -> tuple[Verdict, ...]:
    """The verdicts with what each passage alone says, which is asked for those that the judge left without it."""
    bare = tuple(verdict.claim for verdict in verdicts if verdict.claim is not None and not verdict.cells)
    if not bare or not passages:
        return tuple(verdicts)
    prompt = SupportCells(bare, tuple(passages), sample.question, sample.spoken)
    cells = dict(zip(bare, (found.cells for found in await judge.find(prompt)), strict=True))
    return tuple(
        verdict if verdict.cells or verdict.claim is None else replace(verdict, cells=cells[verdict.claim])
        for verdict in verdicts
    )


def not_mentioned(claims: Sequence[Claim], passages: Sequence[str]) -> tuple[Verdict, ...]:
    """The verdicts of texts that say nothing."""
    cells = tuple(Cell(label="not_mentioned") for _ in passages)
    return tuple(Verdict(label="not_mentioned", claim=claim, cells=cells) for claim in claims)


@dataclass(frozen=True, slots=True)
class Reading:
    """Verdicts on the claims of a text, under which names they go into a score, and what was not judged of the text."""

    verdicts: tuple[Verdict, ...]
    evidence: Mapping[str, Any]
    not_judged: Mapping[str, tuple[str, ...]]

    def with_parts(self, **parts: float) -> dict[str, Any]:
        """The evidence, with more parts."""
        return {**self.evidence, "parts": {**self.evidence.get("parts", {}), **parts}}


def expected_share(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """The share of supported claims that their probabilities lead one to expect: `parts["mean_probability"]`.

    Where the counted share says how many claims are on which side of the threshold, it says how far. In [0, 1]; empty
    where a judge gave no probability, and for no verdicts.
    """
    known = probabilities(verdicts)
    return {"mean_probability": math.fsum(known) / len(known)} if known else {}


def probabilities(verdicts: Sequence[Verdict | Cell]) -> list[float] | None:
    """The probability of each; None where the judge gave one of them none."""
    known = [verdict.probability for verdict in verdicts if verdict.probability is not None]
    return known if len(known) == len(verdicts) else None


async def answer_against_conversation(sample: Sample, judge: Judge) -> Reading:
    """The verdict on each claim of the answer of the contexts of this turn and, where there are any, of earlier ones.

    Without earlier contexts the reading is "answer/contexts". With them it is "answer/conversation": the passages of
    this turn come first, then those of earlier turns, the newest turn first; `earlier_turns` counts the claims that
    are supported, though by no passage of this turn alone. Where neither are known and tools gave something back, it
    is "answer/tools": their outputs are the passages.
    """
    claims = await judge.find(claims_of(sample, "answer"))
    left = texts_not_judged(sample, claims)
    earlier = sample.earlier_passages
    tools = () if earlier else tool_evidence(sample)
    if tools:
        verdicts = await support(claims, tools, sample, judge)
        return Reading(verdicts, {"verdicts": {"answer/tools": verdicts}, "texts": {"tools": tools, **left}}, left)
    if not earlier:
        verdicts = await support(claims, sample.passages, sample, judge)
        return Reading(verdicts, {"verdicts": {"answer/contexts": verdicts}, "texts": left}, left)
    passages = (*sample.passages, *earlier)
    verdicts = await support(claims, passages, sample, judge)
    own = len(sample.passages)
    supported = await with_cells([v for v in verdicts if v.label == "supported"], passages, sample, judge)
    only_earlier = sum(all(cell.label != "supported" for cell in verdict.cells[:own]) for verdict in supported)
    evidence = {
        "verdicts": {"answer/conversation": verdicts},
        "texts": {"conversation": passages, **left},
        "parts": {"earlier_turns": float(only_earlier)},
    }
    return Reading(verdicts, evidence, left)


async def reference_against_contexts(sample: Sample, judge: Judge) -> Reading:
    """The verdict of the contexts on each claim of the reference."""
    claims = await judge.find(claims_of(sample, "reference"))
    verdicts = await support(claims, sample.passages, sample, judge)
    left = texts_not_judged(sample, claims, "reference")
    return Reading(verdicts, {"verdicts": {"reference/contexts": verdicts}, "texts": left}, left)


async def cosines(text: str, others: Sequence[str], judge: Judge) -> tuple[float, ...]:
    """The cosine of `text` with each of the others, in [-1, 1]; rounding may put a judge's own just outside."""
    found = await judge.find(Similarity(text, tuple(others)))
    return tuple(min(1.0, max(-1.0, cosine)) for cosine in found)


def same_text(sample: Sample) -> bool:
    """Answer and reference are one text, character for character, but for white space at the ends."""
    return (sample.answer or "").strip() == (sample.reference or "").strip()
