"""Replies with fewer verdicts than items, or for other items: refused, and what is missing is never filled in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from assay.errors import Cause, InvalidReply
from assay.judges.prompt_rendering import render
from assay.prompts import Classification, JudgePrompt, QuestionBatch, Support, Usefulness, UsefulSentences
from assay.prompts.criterion import Checklist
from assay.prompts.item_verdicts import ItemVerdicts
from assay.records import Claim, Span
from tests._support.servers import brain
from tests._support.servers.openai_server import Call, OpenAIServer
from tests.judges.conftest import ask, judge_at, nothing_learned

__all__ = ["judge_at", "nothing_learned"]

PASSAGES = ("The bridge opened in 1889.", "It is 330 metres long.", "Cats sleep most of the day.")
ANSWER = (("ANSWER", "The bridge opened in 1889. It is long."),)
CLAIMS = tuple(Claim(text=text, span=Span(0, len(text))) for text in PASSAGES)


@dataclass(frozen=True)
class Case:
    """A prompt of several items, and where its reply has them."""

    prompt: JudgePrompt[Any]
    items: str
    id: str


SUPPORT = Support(CLAIMS, PASSAGES, "When did it open?")
CASES = {
    "support": Case(SUPPORT, "items", "id"),
    "usefulness": Case(Usefulness("When did it open?", PASSAGES, "In 1889."), "items", "id"),
    "checklist": Case(Checklist(("Is it short?", "Is it true?", "Is it kind?"), ANSWER), "answers", "question"),
    "classification": Case(
        Classification("known", "Is it said?", PASSAGES, (("yes", "so"), ("no", "not")), ANSWER), "verdicts", "item"
    ),
    "batch": Case(QuestionBatch((SUPPORT, Usefulness("When did it open?", PASSAGES, None))), "items", "id"),
}


def honest(prompt: JudgePrompt[Any]) -> dict[str, Any]:
    content = prompt.full_content
    assert content is not None
    body = {"messages": [{"role": "user", "content": render(content, show_schema=True)}]}
    return brain.think(brain.read(body))


def wrongs(case: Case) -> dict[str, Mapping[str, Any]]:
    """The honest reply with each item left out, given to another, or given twice."""
    reply = honest(case.prompt)
    items = reply[case.items]
    found: dict[str, Any] = {"nothing": [], "null": None}
    for n, item in enumerate(items):
        rest = items[:n] + items[n + 1 :]
        found[f"without {n}"] = rest
        found[f"{n} of another"] = [*rest, {**item, case.id: "X99"}]
        found[f"{n} beside another"] = [*items, {**item, case.id: "X99"}]
        found[f"{n} under the id of a neighbour"] = [*rest, {**item, case.id: items[n - 1][case.id]}]
        found[f"{n} without an id"] = [*rest, {key: value for key, value in item.items() if key != case.id}]
    return {name: {**reply, case.items: changed} for name, changed in found.items()}


def test_every_prompt_of_several_items_is_here() -> None:
    # useful sentences are a list of numbers: one that is not in it is not useful
    kinds = {kind for kind in ItemVerdicts.__subclasses__() if kind.__module__.startswith("assay.")}
    assert kinds - {UsefulSentences} == {type(case.prompt) for case in CASES.values()} - {QuestionBatch}


@pytest.mark.parametrize("name", CASES)
def test_a_reply_that_lacks_an_item_is_refused_and_not_filled_in(name: str) -> None:
    case = CASES[name]
    assert case.prompt.check(case.prompt.read(honest(case.prompt))) is None
    tried = wrongs(case)
    assert len(tried) >= 2 + 5 * 3
    for reply in tried.values():
        with pytest.raises(InvalidReply):
            case.prompt.read(reply)


@pytest.mark.parametrize("name", CASES)
async def test_a_judge_that_keeps_leaving_one_out_gives_no_verdicts(name: str, judge_at: Any) -> None:
    case = CASES[name]

    def without_the_last(call: Call) -> str:
        reply = json.loads(call.honest)
        return json.dumps({**reply, case.items: reply[case.items][:-1]})

    with OpenAIServer(plan=without_the_last) as server:
        (answer,) = await ask(judge_at(server), case.prompt)
        assert len(server.calls) == 3
    assert answer.failure is not None
    assert answer.failure.cause is Cause.PARSE
