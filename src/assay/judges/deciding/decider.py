"""Sends the questions of verdict inquiries to a decision endpoint, and makes findings of the probabilities."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.errors import Cause, JudgeFailure
from assay.inquiries import Inquiry
from assay.inquiries.base import Section
from assay.judges import fences
from assay.judges.base import SPENDING, Answer
from assay.judges.deciding.plan import DecisionPlan, Group, tokens_of
from assay.judges.deciding.wire import Asked, Outcome, Wire
from assay.judges.endpoints.endpoint import Body, Endpoint, Reserve
from assay.judges.planning import Leaf
from assay.judges.writing.chat import usage_of
from assay.judges.writing.judge import Patience, together
from assay.records import Usage

#: Tokens that are set aside for one answer; endpoints count few or none.
ANSWER_TOKENS = 32

#: A request with several inquiries fails so where one of them is at fault: each is then asked alone, once.
_APART = frozenset({Cause.REFUSED, Cause.CONTENT_FILTER})


@dataclass(frozen=True, slots=True)
class Decider:
    """Decides inquiries of one model at one endpoint. `post` sends a body; for the rest see `DecisionJudge`."""

    model: str
    wire: Wire
    endpoint: Endpoint
    post: Callable[[Any, Body], Awaitable[Any]]
    window_tokens: int
    max_questions: int
    deadline: float
    mask: fences.Mask | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    async def decide(self, inquiries: Sequence[Inquiry[Any]]) -> list[Answer]:
        """One answer per inquiry, in order. Requests run concurrently; cancelling this cancels them."""
        plan = DecisionPlan(self.window_tokens, self.max_questions)
        trees = [plan.tree(inquiry) for inquiry in inquiries]
        await together([self._group(plan, group) for group in plan.groups(trees)])
        return [tree.joined() for tree in trees]

    async def _group(self, plan: DecisionPlan, group: Group) -> None:
        """Answer all leaves of a group; a leaf that was turned away together with others is asked alone, once."""
        spent = await self._answer(plan, group)
        if len(group.leaves) > 1:
            refused = [leaf for leaf in group.leaves if _turned_away(leaf.answer)]
            alone = [Group(group.sections) for _ in refused]
            for single, leaf in zip(alone, refused, strict=True):
                single.add(leaf)
            spent += sum(await together([self._answer(plan, single) for single in alone]), Usage())
        # the first of them carries the cost: sums over answers stay exact
        first = group.leaves[0]
        first.answer = Answer(first.answer.finding, first.answer.failure, spent)

    async def _answer(self, plan: DecisionPlan, group: Group) -> Usage:
        found: dict[str, Outcome] = {}
        spent = Usage()
        for outcomes, usage in await together([self._ask(group.sections, some) for some in plan.requests(group)]):
            found |= outcomes
            spent += usage
        for leaf in group.leaves:
            leaf.answer = _read(leaf, {name: found[asked] for name, asked in group.named(leaf).items()})
        return spent

    async def _ask(self, sections: Sequence[Section], asked: Sequence[Asked]) -> tuple[dict[str, Outcome], Usage]:
        """The outcomes of one request, and of a second one for answers that could not be used."""
        found: dict[str, Outcome] = {}
        spent = Usage()
        for _ in range(2):
            try:
                body = await self._send(sections, asked)
            except JudgeFailure as failure:
                return {**found, **{one.name: failure for one in asked}}, spent
            spent += usage_of(body.get("usage"))
            found |= self.wire.read(body, asked)
            asked = [one for one in asked if _unusable(found[one.name])]
            if not asked:
                break
        return found, spent

    async def _send(self, sections: Sequence[Section], asked: Sequence[Asked]) -> Body:
        body = self.body(sections, asked)

        async def send(client: Any, reserve: Reserve) -> Any:
            if SPENDING.get() is not None:
                reserve(fences.tokens_in(json.dumps(body, ensure_ascii=False)), ANSWER_TOKENS * len(asked))
            return await self.post(client, body)

        patience, tokens = Patience(), tokens_of(sections, asked)
        try:
            async with asyncio.timeout(self.deadline) as timeout:
                patience = Patience(timeout)
                return await self.endpoint.call(self.model, send, tokens=tokens, patience=patience, expected="answers")
        except TimeoutError:
            pass
        trouble = f"; last: {patience.trouble}" if patience.trouble else ""
        raise JudgeFailure(Cause.TIMEOUT, f"no decisions within the deadline of {self.deadline:g} s{trouble}")

    def body(self, sections: Sequence[Section], asked: Sequence[Asked]) -> Body:
        """The body of the request for these questions on these texts."""
        texts = "\n\n".join(fences.enclose(sections, self.mask))
        return {**self.wire.body(self.model, texts, [self._masked(one) for one in asked]), **self.extra}

    def _masked(self, asked: Asked) -> Asked:
        # questions hold claims, and so pieces of judged texts
        question = asked.question
        instructions = fences.clean(self.mask(question.instructions) if self.mask else question.instructions)
        return Asked(asked.name, type(question)(question.name, instructions, question.labels, question.ordered))


def _read(leaf: Leaf, outcomes: Mapping[str, Outcome]) -> Answer:
    """The finding from the outcomes of all its questions, or the first failure among them."""
    for outcome in outcomes.values():
        if isinstance(outcome, JudgeFailure):
            return Answer(failure=outcome)
    decided: Callable[[Any], Any] = leaf.inquiry.decided
    try:
        return Answer(finding=decided(outcomes))
    except Exception as error:  # an inquiry of a user's own may be wrong
        failure = JudgeFailure(Cause.BUG, f"{type(error).__name__}: {error}")
        failure.__cause__ = error
        return Answer(failure=failure)


def _unusable(outcome: Outcome) -> bool:
    return isinstance(outcome, JudgeFailure) and outcome.cause in (Cause.PARSE, Cause.AMBIGUOUS)


def _turned_away(answer: Answer) -> bool:
    """Whether the request was refused as a whole; a refusal of one question has no status."""
    failure = answer.failure
    return failure is not None and failure.cause in _APART and "status" in failure.detail
