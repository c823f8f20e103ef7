"""Pictures in prompts: what is sent, by whom it is seen, and what addresses hold."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.base import BaseJudge
from assay.judges.cache import JudgementCache
from assay.judges.cascade.judge import CascadeJudge
from assay.judges.llm.openai import OpenAIJudge, estimate_tokens
from assay.judges.scripted_judge import ScriptedJudge
from assay.judges.splitting import PICTURE_TOKENS
from assay.prompts import Criterion, JudgePrompt, Question, Support, Usefulness
from assay.records import Claim, Span
from assay.records.images import Image, load
from tests._support.servers import sight
from tests._support.servers.openai_server import Behaviour, OpenAIServer

BRIDGE = sight.drawn("The bridge opened in 1931.")
TOWER = sight.drawn("The tower was sold in 1974.")
CLAIM = Claim(text="The bridge opened in 1931.", span=Span(0, 26))


def picture(data: bytes = BRIDGE) -> Image:
    return Image(digest=hashlib.sha256(data).hexdigest(), kind="image/png", data=data)


def support(*shown: tuple[str, Image]) -> Support:
    return Support((CLAIM,), ("The river is long.", "[picture]"), "When?", images=shown)


def find(judge: BaseJudge, prompt: JudgePrompt[Any]) -> Any:
    async def asked() -> Any:
        try:
            return await JudgementCache(judge).find(prompt)
        finally:
            await judge.release()

    return asyncio.run(asked())


def judge_at(server: OpenAIServer, **how: Any) -> OpenAIJudge:
    return OpenAIJudge("fake", base_url=server.base_url, max_attempts=1, **how)


def test_a_judge_that_sees_gets_the_bytes_in_the_fence_of_their_section() -> None:
    with OpenAIServer(Behaviour(sees=True)) as server:
        (verdict,) = find(judge_at(server), support(("PASSAGE P2", picture())))
        (call,) = server.chats
    assert verdict.label == "supported"
    assert [cell.label for cell in verdict.cells] == ["not_mentioned", "supported"]
    assert verdict.unlocated == 0  # the words stand on the picture, where no search finds them
    assert call.pictures == [hashlib.sha256(BRIDGE).hexdigest()]
    first, image, rest = call.body["messages"][1]["content"]
    assert first["text"].endswith('title="PASSAGE P2">\n[picture]')
    assert image["image_url"]["url"].startswith("data:image/png;base64,iVBORw0KGgo")
    assert rest["text"].startswith("\n</data-")
    assert "CLAIM C1" in rest["text"]


def test_quotes_that_stand_nowhere_still_count_where_there_is_no_picture() -> None:
    reply = {
        "items": [
            {
                "id": "C1",
                "reason": "r",
                "label": "supported",
                "quotes": [
                    {"passage": "P1", "label": "supported", "quote": "nowhere at all"},
                    {"passage": "P2", "label": "supported", "quote": "nowhere at all"},
                    {"passage": "P1", "label": "supported", "quote": "The river is long."},
                ],
            }
        ]
    }
    assert support(("PASSAGE P2", picture())).read(reply)[0].unlocated == 1
    assert support().read(reply)[0].unlocated == 2


def test_an_endpoint_that_refuses_pictures_fails_by_name() -> None:
    with OpenAIServer() as server, pytest.raises(JudgeFailure) as raised:
        find(judge_at(server), support(("PASSAGE P2", picture())))
    assert raised.value.cause is Cause.NEEDS_VISION
    assert "image_url is only supported by certain models" in raised.value.message


def test_another_error_with_a_picture_keeps_its_name() -> None:
    with OpenAIServer(blind="Too many requests in this file.") as server, pytest.raises(JudgeFailure) as raised:
        find(judge_at(server), support(("PASSAGE P2", picture())))
    assert raised.value.cause is Cause.BAD_REQUEST


@pytest.mark.parametrize("how", [{"vision": False}, {"mask": str.upper}])
def test_a_judge_that_must_not_show_pictures_is_not_asked(how: dict[str, Any]) -> None:
    with OpenAIServer(sees=True) as server:
        with pytest.raises(JudgeFailure) as raised:
            find(judge_at(server, **how), support(("PASSAGE P2", picture())))
        assert server.calls == []
    assert raised.value.cause is Cause.NEEDS_VISION
    assert "PASSAGE P2" in raised.value.message


def test_of_a_batch_only_what_has_pictures_fails_a_judge_that_does_not_see() -> None:
    judge = ScriptedJudge(criterion=lambda question, vote: True)
    plain = Criterion("Is it so?", (("ANSWER", "x"),))
    shown = replace(plain, images=(("ANSWER", picture()),))

    async def both() -> list[Any]:
        cache = JudgementCache(judge)
        return await asyncio.gather(cache.find(shown), cache.find(plain), return_exceptions=True)

    failed, found = asyncio.run(both())
    assert isinstance(failed, JudgeFailure)
    assert failed.cause is Cause.NEEDS_VISION
    assert found.label == "yes"


def test_a_cascade_shows_pictures_to_its_second_judge() -> None:
    first = ScriptedJudge(criterion=lambda question, vote: False)
    with OpenAIServer(sees=True) as server:
        cascade = CascadeJudge(first, judge_at(server), band=(0.0, 1.0))
        assert cascade.sees
        (verdict,) = find(cascade, support(("PASSAGE P2", picture())))
        assert len(server.chats) == 1
    assert verdict.label == "supported"


def test_addresses_hold_the_bytes_and_not_where_they_were(tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_bytes(BRIDGE)
    keys = {support(("PASSAGE P2", load(str(tmp_path / name)))).key("j") for name in ("a.png", "b.png")}
    assert len(keys) == 1
    assert support(("PASSAGE P2", picture(TOWER))).key("j") not in keys
    assert support().key("j") not in keys
    assert support(("PASSAGE P1", picture())).key("j") not in keys


def test_prompts_without_pictures_keep_their_addresses() -> None:
    assert "images" not in repr(support(("PASSAGE P2", picture())))
    assert Question("Is it so?", {"ANSWER": "x"}).key("j") == Question("Is it so?", {"ANSWER": "x"}, images=()).key("j")


def test_a_picture_of_a_section_that_is_not_there_is_an_error() -> None:
    with pytest.raises(InputError, match="no section 'PASSAGE P9'"):
        support(("PASSAGE P9", picture())).key("j")


def test_a_part_of_the_passages_keeps_their_pictures() -> None:
    passages = ("one", "[picture]", "three")
    whole = Usefulness("When?", passages, images=(("PASSAGE P2", picture()),))
    assert whole.part([1, 2]).images == (("PASSAGE P1", picture()),)
    assert whole.part([0, 2]).images == ()
    long = Usefulness("When?", ("x " * 300, "[picture]"), images=(("PASSAGE P2", picture()),))
    division = long.fit(250)
    assert division is not None
    assert [part.images for part in division.parts] == [(), (("PASSAGE P1", picture()),)]


def test_a_picture_takes_room_in_the_window_and_in_the_estimate() -> None:
    plain, shown = support().full_content, support(("PASSAGE P2", picture())).full_content
    assert plain is not None
    assert shown is not None
    assert estimate_tokens(shown) == estimate_tokens(plain) + PICTURE_TOKENS


def test_the_address_of_a_picture_is_sent_as_it_is() -> None:
    at = Image(digest="d", url="https://example.org/bridge.png")
    with OpenAIServer(sees=True) as server:
        find(judge_at(server), support(("PASSAGE P2", at)))
        (call,) = server.chats
    assert sight.images_of(call.body) == ["https://example.org/bridge.png"]
    assert call.pictures == []
