"""What of one sample may be asked together, and a judge that is asked so.

    both_ways  the claims of the answer against the reference, and those of the reference against the answer
    answer     the claims of the answer against the contexts, and which contexts helped to give that answer
    reference  the claims of the reference against the contexts, and which contexts help to give the reference

Nothing leaks in these: each group shows a judge the texts that its members are about anyhow, so no verdict is given in
view of a text that is foreign to it. The sentences that a question alone needs (`UsefulSentences`) are in no group, and
no claims of answer and reference stand together before the contexts.

A group follows from the sample alone. A metric that needs one member asks for all of the group, so that its
judgement is the same whatever else is measured. What fails in common is asked one by one, under the addresses that
have always been those of single judgements.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

from assay.errors import Cause, JudgeFailure
from assay.judges.protocol import Around, Group, Judge
from assay.metrics.shared_prompts import ask, claims_of
from assay.prompts import JudgePrompt, QuestionBatch, Support, Usefulness
from assay.prompts.question_batch import Member
from assay.records import Claim, Sample
from assay.text import split_sentences

F = TypeVar("F")

#: What a reply can be at fault for, or a request be too much for: members alone may still be answered.
OF_THE_REPLY = frozenset(
    {Cause.PARSE, Cause.AMBIGUOUS, Cause.TRUNCATED, Cause.TOO_LONG, Cause.REFUSED, Cause.CONTENT_FILTER}
    | {Cause.PROMPT_TRUNCATED, Cause.BAD_REQUEST, Cause.BUG}
)


@dataclass(frozen=True, slots=True)
class BatchingJudge(Around):
    """The judge of one sample, who is asked the groups in `groups` together."""

    judge: Judge
    sample: Sample
    groups: Collection[Group]

    async def find(self, prompt: JudgePrompt[F]) -> F:
        """The judgement, from the group that the prompt is in. Raises JudgeFailure."""
        members = await self._members(prompt)
        if members is None:
            return await self.judge.find(prompt)
        try:
            found = await self.judge.find(QuestionBatch(members))
        except JudgeFailure as failure:
            if failure.cause not in OF_THE_REPLY:
                raise
            return await self.judge.find(prompt)
        judgement: F = found[members.index(prompt)]  # type: ignore[assignment]
        return judgement

    async def _members(self, prompt: JudgePrompt[F]) -> tuple[Member, ...] | None:
        if type(prompt) not in (Support, Usefulness) or prompt.images:
            return None
        for group in self.groups:
            if may_hold(self.sample, group, prompt):
                members = await members_of(self.sample, group, self.judge)
                if prompt in members:
                    return members
        return None


def may_hold(sample: Sample, group: Group, prompt: JudgePrompt[F]) -> bool:
    """Whether it can be in the group, as far as is known without asking for claims."""
    answer, reference = sample.answer or "", sample.reference or ""
    if isinstance(prompt, Usefulness):
        return group != "both_ways" and prompt == _useful(sample, reference if group == "reference" else answer)
    if not isinstance(prompt, Support):
        return False
    if group == "both_ways":
        return prompt.passages in ((reference,), (answer,))
    return prompt.passages == sample.passages and _may_make(
        reference if group == "reference" else answer, prompt.claims, sample.spoken
    )


def _may_make(text: str, claims: Sequence[Claim], language: str) -> bool:
    """Whether these can be claims of the text, by the sentences that they stand in."""
    return {claim.span for claim in claims} <= set(split_sentences(text, language))


async def members_of(sample: Sample, group: Group, judge: Judge) -> tuple[Member, ...]:
    """What is asked in a group; () where fewer than two things are, or it is not known what the texts claim."""
    answer, reference, passages = sample.answer or "", sample.reference or "", sample.passages
    try:
        if group == "both_ways":
            if not answer.strip() or not reference.strip():
                return ()
            said, right = await ask(judge, claims_of(sample, "answer"), claims_of(sample, "reference"))
            return _support(sample, said, (reference,)) + _support(sample, right, (answer,)) if said and right else ()
        text = reference if group == "reference" else answer
        if not text.strip() or not sample.question or not any(passage.strip() for passage in passages):
            return ()
        claims = await judge.find(claims_of(sample, group))
        return (*_support(sample, claims, passages), _useful(sample, text)) if claims else ()
    except JudgeFailure:
        return ()


def _support(sample: Sample, claims: tuple[Claim, ...], passages: tuple[str, ...]) -> tuple[Support, ...]:
    return (Support(claims, passages, sample.question, sample.spoken),)


def _useful(sample: Sample, given: str) -> Usefulness:
    return Usefulness(sample.question or "", sample.passages, given, sample.spoken, sample.earlier_question)
