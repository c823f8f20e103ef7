"""The driver around `generate`: parts, corrections, deadlines, cost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from assay.errors import Cause, JudgeFailure
from assay.judges.llm.judge import Reply, Request
from assay.prompts import BackQuestions, Claims, Entities, JudgePrompt, Support, Usefulness, UsefulSentences
from assay.prompts.base import MOST_ITEMS, PromptContent, PromptSection
from assay.prompts.schemas import TEXT, record
from assay.records import Usage
from tests._support.servers import brain
from tests.judges.conftest import PASSAGES, Says, ask, claims


def honest(request: Request) -> str:
    """What the fake endpoint's model would say."""
    user = Says(lambda r: "").messages(request)[1]["content"]
    body = {"messages": [{"role": "user", "content": user}]}
    return json.dumps(brain.think(brain.read(body)))


def causes(answers: Sequence[Any]) -> list[str | None]:
    return [answer.failure.cause if answer.failure else None for answer in answers]


async def test_no_prompt_is_read_in_view_of_another() -> None:
    """Equal passages, equal question: each still has a request of its own, and its cost with it."""
    judge = Says(honest)
    answers = await ask(
        judge,
        Support(claims("The bridge opened in 1889."), PASSAGES),
        Support(claims("Cats bark.", "The bridge is 330 metres long."), PASSAGES),
        Claims("It opened.", "When?"),
        Claims("It closed.", "When?"),
    )
    assert len(judge.requests) == 4
    assert [answer.usage.calls for answer in answers] == [1, 1, 1, 1]
    assert [verdict.label for verdict in answers[1].judgement] == ["not_mentioned", "supported"]
    shown = [judge.user(request) for request in judge.requests]
    assert sum("Cats bark" in text for text in shown) == sum("It closed" in text for text in shown) == 1


async def test_a_text_that_no_model_writes_is_not_read() -> None:
    judge = Says(lambda request: "```json\n{" * 100_000)
    (answer,) = await ask(judge, Claims("It opened.", "When?"))
    assert answer.failure is not None
    assert answer.failure.cause is Cause.TOO_LARGE
    assert answer.failure.message == "the reply has 900,000 characters, more than 524,288"
    assert len(answer.failure.raw or "") == 4000
    assert (len(judge.requests), answer.usage.calls) == (1, 1)


async def test_requests_stay_within_what_a_model_can_count() -> None:
    judge = Says(honest)
    (answer,) = await ask(judge, Support(claims(*(f"Claim {k}." for k in range(95))), PASSAGES))
    assert len(answer.judgement) == 95
    listed = [brain.SECTION.findall(judge.user(request)) for request in judge.requests]
    assert max(sum(title.startswith("CLAIM") for _, title, _ in sections) for sections in listed) <= MOST_ITEMS
    sentences = " ".join(f"Fact {n}." for n in range(300))
    (answer,) = await ask(judge, UsefulSentences.of("Fact?", (sentences,)))
    assert len(answer.judgement) == 300
    last = judge.requests[-1].content.material[-1].text
    assert len(last.splitlines()) <= UsefulSentences.most_items


@pytest.mark.long
async def test_many_claims_and_a_small_limit_all_get_verdicts() -> None:
    """200 claims, long passages, a reply of at most 1,024 tokens, a window of 8,000: parts, and nothing lost."""
    passages = tuple(f"Fact {n} is that item {n} weighs {n} grams. " * 40 for n in range(60))
    wanted = claims(*(f"Item {n % 60} weighs {n % 60} grams." for n in range(200)))
    judge = Says(honest, window_tokens=8000, max_output_tokens=1024)
    (answer,) = await ask(judge, Support(wanted, passages))
    assert answer.failure is None
    assert len(answer.judgement) == 200
    assert {verdict.label for verdict in answer.judgement} == {"supported"}
    assert {len(verdict.cells) for verdict in answer.judgement} == {60}
    assert answer.usage.calls == len(judge.requests)
    for verdict in answer.judgement:
        for quote in verdict.evidence:
            assert quote.span.of(passages[quote.passage]) == quote.text


async def test_long_texts_are_split_into_claims_by_windows() -> None:
    text = " ".join(f"Sentence number {n} says that item {n} is red." for n in range(400))
    judge = Says(honest, window_tokens=4000)
    (answer,) = await ask(judge, Claims(text, "Q?"))
    assert [claim.span.of(text) for claim in answer.judgement] == [claim.text for claim in answer.judgement]
    assert len(answer.judgement) == 400
    assert len(judge.requests) > 1


async def test_what_must_not_be_cut_is_too_long() -> None:
    judge = Says(honest, window_tokens=2000)
    (answer,) = await ask(judge, BackQuestions("word " * 5000))
    assert answer.failure is not None
    assert answer.failure.cause is Cause.TOO_LONG
    assert "window_tokens" in answer.failure.message
    assert judge.requests == []


async def test_dense_scripts_count_for_more() -> None:
    judge = Says(honest, window_tokens=4000)
    text = "その橋は一八八九年に開通した。" * 200  # 3,000 characters, about 3,600 tokens
    (answer,) = await ask(judge, Entities((text,)))
    assert answer.failure is None
    assert len(judge.requests) > 1


async def test_a_cut_reply_is_asked_for_in_halves() -> None:
    def cut_if_long(request: Request) -> Reply | str:
        text = honest(request)
        return Reply(text[:100], truncated=True) if text.count('"id"') > 1 else text

    judge = Says(cut_if_long)
    (answer,) = await ask(judge, Support(claims("The bridge opened in 1889.", "It sank.", "Cats sleep."), PASSAGES))
    assert [verdict.label for verdict in answer.judgement] == ["supported", "not_mentioned", "supported"]
    assert answer.usage.calls == len(judge.requests) == 5  # three, (one, two), two are cut again: one and one


async def test_a_reply_that_is_always_cut_is_truncated_and_kept() -> None:
    judge = Says(lambda request: Reply('{"items": [', truncated=True))
    (answer,) = await ask(judge, Support(claims("A.", "B."), PASSAGES))
    assert answer.failure is not None
    assert answer.failure.cause is Cause.TRUNCATED
    assert answer.failure.raw == '{"items": ['


async def test_an_unusable_reply_is_asked_for_again_with_the_reason() -> None:
    judge = Says(lambda request: honest(request) if request.correction else '{"items": []}')
    (answer,) = await ask(judge, Support(claims("Cats sleep."), PASSAGES))
    assert answer.judgement[0].label == "supported"
    assert answer.usage.calls == 2
    correction = judge.requests[1].correction
    assert correction is not None
    assert "No claim for C1" in correction.message
    roles = [message["role"] for message in judge.messages(judge.requests[1])]
    assert roles == ["system", "user", "assistant", "user"]
    assert '"items"' in judge.messages(judge.requests[1])[-1]["content"]  # the schema, whatever the endpoint enforces


async def test_unusable_three_times_is_given_up_with_the_reply() -> None:
    judge = Says(lambda request: "no idea" if "BBB" in str(request.content.material) else honest(request))
    good, bad = await ask(judge, Support(claims("Cats sleep."), PASSAGES), Support(claims("BBB."), PASSAGES))
    assert good.judgement[0].label == "supported"
    assert (bad.failure.cause, bad.failure.raw) == (Cause.PARSE, "no idea")
    assert (good.usage.calls, bad.usage.calls) == (1, 3)


async def test_contradicting_answers_are_ambiguous_and_not_asked_again() -> None:
    judge = Says(lambda request: honest(request) + honest(request).replace('"supported"', '"contradicted"'))
    (answer,) = await ask(judge, Support(claims("Cats sleep."), PASSAGES))
    assert answer.failure is not None
    assert answer.failure.cause is Cause.AMBIGUOUS
    assert answer.failure.raw
    assert len(judge.requests) == 1


async def test_one_failing_group_leaves_the_others_alone() -> None:
    def refuse_questions(request: Request) -> Any:
        if "noncommittal" in str(request.content.schema):
            return JudgeFailure(Cause.REFUSED, "no", raw="I will not")
        return ValueError("broken client") if "entities" in str(request.content.schema) else honest(request)

    answers = await ask(Says(refuse_questions), BackQuestions("A."), Entities(("B",)), Usefulness("Cats?", PASSAGES))
    assert causes(answers) == [Cause.REFUSED, Cause.BUG, None]
    assert "broken client" in answers[1].failure.message  # type: ignore[union-attr]


async def test_a_judge_that_never_answers_meets_the_deadline() -> None:
    class Silent(Says):
        async def generate(self, request: Request) -> Reply:
            request.deadline.note("HTTP 503")
            await asyncio.Event().wait()
            raise AssertionError

    (answer,) = await asyncio.wait_for(ask(Silent(honest, deadline=0.1), Support(claims("A."), PASSAGES)), 2)
    assert answer.failure is not None
    assert answer.failure.cause is Cause.TIMEOUT
    assert "HTTP 503" in answer.failure.message


async def test_waiting_for_a_turn_does_not_count() -> None:
    class Queued(Says):
        async def generate(self, request: Request) -> Reply:
            with request.deadline.stopped():
                await asyncio.sleep(0.3)
            return await super().generate(request)

    (answer,) = await ask(Queued(honest, deadline=0.15), Support(claims("Cats sleep."), PASSAGES))
    assert answer.failure is None


async def test_cancelling_cancels_the_calls() -> None:
    running: set[int] = set()

    class Slow(Says):
        async def generate(self, request: Request) -> Reply:
            running.add(id(request))
            try:
                await asyncio.sleep(60)
            finally:
                running.discard(id(request))
            raise AssertionError

    task = asyncio.create_task(ask(Slow(honest), *(Support(claims("A."), (f"P{n}",)) for n in range(5))))
    await asyncio.sleep(0.05)
    assert len(running) == 5
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert running == set()


@dataclass(frozen=True)
class Greeting(JudgePrompt[str]):
    """A prompt of a user's own."""

    name: ClassVar[str] = "greeting"
    judgement: ClassVar[Any] = str

    who: str

    def content(self) -> PromptContent:
        return PromptContent((PromptSection("WHO", self.who),), "Greet.", record(greeting=TEXT), 20)

    def read(self, reply: Mapping[str, Any]) -> str:
        return str(reply["greeting"])


async def test_prompts_of_ones_own_are_answered() -> None:
    judge = Says(lambda request: json.dumps({"greeting": f"Hello, {request.content.material[0].text}"}))
    answers = await ask(judge, Greeting("Ann"), Greeting("Bob"))
    assert [answer.judgement for answer in answers] == ["Hello, Ann", "Hello, Bob"]
    assert await judge.find(Greeting("Cy")) == "Hello, Cy"


async def test_unknown_cost_stays_unknown() -> None:
    (answer,) = await ask(Says(lambda request: Reply(honest(request))), Support(claims("A."), PASSAGES))
    assert answer.usage == Usage(calls=1, prompt_tokens=None, completion_tokens=None, cached_tokens=None)
