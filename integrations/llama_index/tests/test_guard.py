"""Guards in real query engines: nothing blocked goes out, nothing else changes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from assay_llama_index.guard import AssayNodeGuard, guarded_query_engine
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import ImageNode, NodeWithScore, QueryBundle, TextNode
from pydantic import BaseModel

from assay.errors import InputError
from assay.judges.embedded.judge import EmbeddedJudge
from assay.judges.scripted_judge import ScriptedJudge
from assay.live.guards import GuardBlocked, GuardDecision, guard

QUESTION, TRUE = "Why do cats purr?", "Cats purr when calm."
PASS: dict[str, Any] = {"on_timeout": "pass", "on_error": "pass", "on_skipped": "pass"}
PASSAGES = ("Cats purr when calm.", "Cats also purr to heal.")
FALSE_TOKENS = ["Dogs ", "were tamed ", "by Napoleon ", "in 1802."]
FALSE = "".join(FALSE_TOKENS)
NO = "I did not find that."


class Watched:
    """A guard that reads literally, and what it decided."""

    def __init__(self, **options: Any) -> None:
        self.decisions: list[GuardDecision] = []
        judge = options.pop("judge", None) or ScriptedJudge(
            support=lambda claim, passage: "supported" if claim in passage else "not_mentioned"
        )
        options = {"deadline": 30, "fallback": NO, **options}
        self.guard = guard("faithfulness", judge, on_decision=self.decisions.append, **{**PASS, **options})

    @property
    def decision(self) -> GuardDecision:
        (decision,) = self.decisions
        return decision

    @property
    def sample(self) -> Any:
        assert self.decision.scored is not None
        return self.decision.scored.sample


@pytest.fixture
def watched() -> Iterator[Callable[..., Watched]]:
    made: list[Watched] = []

    def make(**options: Any) -> Watched:
        made.append(Watched(**options))
        return made[-1]

    yield make
    for one in made:
        one.guard.close()


def ask(engine: Any, how: str) -> Any:
    return engine.query(QUESTION) if how == "sync" else asyncio.run(engine.aquery(QUESTION))


ways = pytest.mark.parametrize("how", ["sync", "async"])


def speaking(kit: Any, tokens: list[str] | None, **options: Any) -> Any:
    return kit.engine(llm=kit.FakeLLM(**({} if tokens is None else {"tokens": tokens})), **options)


# -- around a query engine -------------------------------------------------------------------------------------------


@ways
def test_an_allowed_answer_is_the_engines_own_response(kit: Any, watched: Any, how: str) -> None:
    it = watched()
    given: list[Any] = []

    class Kept(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Any:
            given.append(kit.engine().query(query_str))
            return given[0]

    assert ask(guarded_query_engine(Kept(), it.guard), how) is given[0]
    assert given[0].metadata.keys() == {"n1", "n2"}
    assert (it.sample.question, it.sample.answer, it.sample.passages) == (QUESTION, TRUE, PASSAGES)
    assert it.decision.outcome == "passed"


@ways
def test_a_blocked_answer_gives_way_to_the_fallback(kit: Any, watched: Any, how: str) -> None:
    it = watched()
    response = ask(guarded_query_engine(speaking(kit, FALSE_TOKENS), it.guard), how)
    assert type(response) is Response
    assert str(response) == NO
    assert response.metadata["assay"] is it.decision
    assert it.decision.headline == "blocked: faithfulness = 0.000, at least 0.5 wanted"
    assert it.sample.answer == FALSE
    assert [node.node.node_id for node in response.source_nodes] == ["n1", "n2"]


@pytest.mark.parametrize(("tokens", "out"), [(None, TRUE), (FALSE_TOKENS, NO)])
def test_with_the_embedded_judge(kit: Any, watched: Any, tokens: Any, out: str) -> None:
    it = watched(judge=EmbeddedJudge(), threshold=0.8, deadline=60)
    assert str(guarded_query_engine(speaking(kit, tokens), it.guard).query(QUESTION)) == out


@ways
def test_without_a_fallback_it_raises(kit: Any, watched: Any, how: str) -> None:
    with pytest.raises(GuardBlocked, match="blocked: faithfulness"):
        ask(guarded_query_engine(speaking(kit, FALSE_TOKENS), watched(fallback=None).guard), how)


@ways
def test_what_the_engine_raises_comes_through(kit: Any, watched: Any, how: str) -> None:
    it = watched()
    with pytest.raises(ConnectionError):
        ask(guarded_query_engine(kit.engine(llm=kit.FakeLLM(fail_after=0)), it.guard), how)
    assert it.decisions == []


@pytest.mark.parametrize(("tokens", "out"), [(None, ["Cats ", "purr ", "when ", "calm."]), (FALSE_TOKENS, [NO])])
def test_a_stream_is_checked_and_then_streamed(kit: Any, watched: Any, tokens: Any, out: list[str]) -> None:
    it = watched()
    response = guarded_query_engine(speaking(kit, tokens, streaming=True), it.guard).query(QUESTION)
    assert type(response) is StreamingResponse
    assert it.decision.allowed == (tokens is None)  # decided before the first token is read
    assert list(response.response_gen) == out
    assert len(response.source_nodes) == 2


@pytest.mark.parametrize(("tokens", "out"), [(None, TRUE), (FALSE_TOKENS, NO)])
async def test_an_async_stream_too(kit: Any, watched: Any, tokens: Any, out: str) -> None:
    it = watched()
    response = await guarded_query_engine(speaking(kit, tokens, streaming=True), it.guard).aquery(QUESTION)
    assert type(response) is AsyncStreamingResponse
    assert it.decision.allowed == (tokens is None)
    assert "".join([token async for token in response.async_response_gen()]) == out


@pytest.mark.parametrize("read", [str, lambda response: response.get_response().response])
def test_a_checked_stream_can_be_read_as_text(kit: Any, watched: Any, read: Any) -> None:
    assert read(guarded_query_engine(speaking(kit, None, streaming=True), watched().guard).query(QUESTION)) == TRUE


class Gives(CustomQueryEngine):
    """Answers with what it was given."""

    response: Any

    def custom_query(self, query_str: str) -> Any:
        return self.response


async def tokens(*texts: str) -> Any:
    for text in texts:
        yield text


def sync_tokens(*texts: str) -> Any:
    yield from texts


async def test_streams_that_come_the_other_way_round(watched: Any) -> None:
    nodes = [NodeWithScore(node=TextNode(text=PASSAGES[0]))]
    it = watched()
    from_async = guarded_query_engine(Gives(response=StreamingResponse(sync_tokens("Cats ", "lie."), nodes)), it.guard)
    assert str(await from_async.aquery(QUESTION)) == NO
    given = AsyncStreamingResponse(tokens("Cats ", "lie."), nodes)
    blocked = await asyncio.to_thread(guarded_query_engine(Gives(response=given), it.guard).query, QUESTION)
    assert [token async for token in blocked.response_gen] == [NO]
    assert [decision.outcome for decision in it.decisions] == ["blocked", "blocked"]


def test_a_structured_answer_is_judged_as_capture_reads_it(watched: Any) -> None:
    class Fact(BaseModel):
        says: str

    it = watched()
    given = PydanticResponse(Fact(says=FALSE), [NodeWithScore(node=TextNode(text=PASSAGES[0]))])
    assert str(guarded_query_engine(Gives(response=given), it.guard).query(QUESTION)) == NO
    assert it.sample.answer == FALSE


def test_a_fallback_may_be_a_response_of_its_own(kit: Any, watched: Any) -> None:
    own = Response("Ask a person.", metadata={"kind": "handover"})
    it = watched(fallback=lambda decision: own)
    assert guarded_query_engine(speaking(kit, FALSE_TOKENS), it.guard).query(QUESTION) is own


@pytest.mark.parametrize(("on_timeout", "out"), [("pass", TRUE), ("block", NO)])
@ways
def test_a_judge_that_blocks_goes_by_on_timeout(kit: Any, watched: Any, how: str, on_timeout: Any, out: str) -> None:
    free = threading.Event()
    judge = ScriptedJudge(support=lambda claim, passage: "supported" if free.wait() else "")
    it = watched(judge=judge, deadline=0.3, on_timeout=on_timeout)
    try:
        assert str(ask(guarded_query_engine(kit.engine(), it.guard), how)) == out
        assert it.decision.outcome == "timeout"
    finally:
        free.set()


def broken(*_: Any) -> str:
    raise ValueError("broken judge")


@pytest.mark.parametrize(("on_error", "out"), [("pass", TRUE), ("block", NO)])
@ways
def test_a_judge_that_raises_goes_by_on_error(kit: Any, watched: Any, how: str, on_error: Any, out: str) -> None:
    it = watched(judge=ScriptedJudge(support=broken), on_error=on_error)
    assert str(ask(guarded_query_engine(kit.engine(), it.guard), how)) == out
    assert it.decision.outcome == "error"


async def test_fifty_queries_at_once(kit: Any, watched: Any) -> None:
    it = watched(deadline=60)
    engines = [guarded_query_engine(speaking(kit, [None, FALSE_TOKENS][n % 2]), it.guard) for n in range(50)]
    responses = await asyncio.gather(*(engine.aquery(QUESTION) for engine in engines))
    assert [str(response) for response in responses] == [TRUE, NO] * 25
    assert (it.guard.health().passed, it.guard.health().blocked) == (25, 25)


def test_a_live_capture_hears_what_the_user_is_told(kit: Any, heard: Any, watched: Any) -> None:
    guarded_query_engine(speaking(kit, FALSE_TOKENS), watched().guard).query(QUESTION)
    assert (heard.one.question, heard.one.answer, heard.one.passages) == (QUESTION, NO, PASSAGES)


def test_it_can_retrieve_and_shows_the_engines_prompts(kit: Any, watched: Any) -> None:
    engine = kit.engine()
    safe = guarded_query_engine(engine, watched().guard)
    assert safe.retrieve(QueryBundle(QUESTION)) == engine.retrieve(QueryBundle(QUESTION))
    assert set(safe.get_prompts()) == {f"query_engine:{name}" for name in engine.get_prompts()}
    assert safe.get_prompts()


def test_a_wrong_guard_is_named(kit: Any) -> None:
    with pytest.raises(InputError, match="guard: expected a Guard"):
        guarded_query_engine(kit.engine(), 0.5)  # type: ignore[arg-type]


# -- what was found --------------------------------------------------------------------------------------------------


def found(*texts: str) -> list[NodeWithScore]:
    return [NodeWithScore(node=TextNode(id_=f"n{n}", text=text), score=1.0 - n / 10) for n, text in enumerate(texts)]


def ids(nodes: list[NodeWithScore]) -> list[str]:
    return [node.node.node_id for node in nodes]


def keep(
    post: AssayNodeGuard, nodes: list[NodeWithScore], how: str = "sync", query: str | None = QUESTION
) -> list[str]:
    if how == "sync":
        return ids(post.postprocess_nodes(nodes, query_str=query))
    return ids(asyncio.run(post.apostprocess_nodes(nodes, query_str=query)))


LITERAL = ScriptedJudge(usefulness=lambda question, passage: "purr" in passage)
THREE = ("Dogs bark.", "Cats purr when calm.", "Cats purr to heal.")


@ways
def test_nodes_that_do_not_help_are_dropped(how: str) -> None:
    nodes = found(*THREE)
    post = AssayNodeGuard(LITERAL, deadline=30, **PASS)
    assert keep(post, nodes, how) == ["n1", "n2"]
    assert ids(nodes) == ["n0", "n1", "n2"]
    assert post.health().passed == 1


@ways
def test_in_a_query_engine(kit: Any, how: str) -> None:
    nodes = [TextNode(id_=f"n{n}", text=text) for n, text in enumerate(THREE)]
    engine = kit.engine(kit.Shelf(*nodes), node_postprocessors=[AssayNodeGuard(LITERAL, deadline=30, **PASS)])
    assert ids(ask(engine, how).source_nodes) == ["n1", "n2"]


def test_the_embedded_judge_drops_what_is_off_the_question() -> None:
    post = AssayNodeGuard(deadline=60, **PASS)
    texts = ("Cats purr because they feel calm and safe.", "The Eiffel Tower was built in 1889.")
    assert keep(post, found(*texts)) == ["n0"]
    assert keep(post, found(*texts), query="When was the Eiffel Tower built?") == ["n1"]


def test_a_threshold_is_one_of_probabilities() -> None:
    texts = ("Cats purr because they feel calm and safe.", "The Eiffel Tower was built in 1889.")
    assert keep(AssayNodeGuard(threshold=0.0, deadline=60, **PASS), found(*texts)) == ["n0", "n1"]
    assert keep(AssayNodeGuard(threshold=1.0, deadline=60, keep_at_least=0, **PASS), found(*texts)) == []


@pytest.mark.parametrize(("keep_at_least", "kept"), [(0, []), (1, ["n0"]), (2, ["n0", "n1"]), (9, ["n0", "n1", "n2"])])
def test_some_are_kept_in_any_case(keep_at_least: int, kept: list[str]) -> None:
    nothing = ScriptedJudge(usefulness=lambda question, passage: False)
    assert keep(AssayNodeGuard(nothing, keep_at_least=keep_at_least, deadline=30, **PASS), found(*THREE)) == kept


def test_the_best_are_kept_in_the_order_they_came() -> None:
    post = AssayNodeGuard(threshold=1.0, keep_at_least=2, deadline=60, **PASS)
    texts = ("Cats purr because they feel calm.", "The Eiffel Tower.", "Why cats purr: they are calm and safe.")
    assert keep(post, found(*texts)) == ["n0", "n2"]


@pytest.mark.parametrize(("on_timeout", "kept"), [("pass", ["n0", "n1", "n2"]), ("block", ["n0"])])
@ways
def test_in_time_or_as_stated(how: str, on_timeout: Any, kept: list[str]) -> None:
    free = threading.Event()
    judge = ScriptedJudge(usefulness=lambda question, passage: free.wait())
    post = AssayNodeGuard(judge, deadline=0.3, **{**PASS, "on_timeout": on_timeout})
    try:
        assert keep(post, found(*THREE), how) == kept
        assert post.health().timeout == 1
    finally:
        free.set()


@pytest.mark.parametrize("on_error", ["pass", "block"])
@pytest.mark.parametrize("on_skipped", ["pass", "block"])
def test_a_broken_judge_goes_by_on_error_and_a_missing_question_by_on_skipped(on_error: Any, on_skipped: Any) -> None:
    kept = {"pass": ["n0", "n1", "n2"], "block": ["n0"]}
    post = AssayNodeGuard(
        ScriptedJudge(usefulness=broken), deadline=30, on_timeout="pass", on_error=on_error, on_skipped=on_skipped
    )
    assert keep(post, found(*THREE)) == kept[on_error]
    assert keep(post, found(*THREE), query=None) == kept[on_skipped]
    assert (post.health().error, post.health().skipped) == (1, 1)


def test_nodes_without_text_are_not_judged_and_stay() -> None:
    image = NodeWithScore(node=ImageNode(id_="image", text="", image_path="cat.png"))
    dogs, cats = found("Dogs bark.", "Cats purr.")
    post = AssayNodeGuard(LITERAL, deadline=30, **PASS)
    assert keep(post, [dogs, image, cats]) == ["image", "n1"]
    assert keep(post, [image]) == ["image"]
    assert keep(post, []) == []
    assert post.health().checks == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 2}, "threshold: expected a number from 0 to 1"),
        ({"keep_at_least": -1}, "keep_at_least: expected a number of nodes, got -1"),
        ({"keep_at_least": 1.5}, "keep_at_least"),
        ({"deadline": 0}, "deadline"),
        ({"on_timeout": "drop"}, "on_timeout"),
        ({"on_error": "drop"}, "on_error"),
    ],
)
def test_wrong_arguments_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        AssayNodeGuard(LITERAL, **{**PASS, **options})


def test_what_it_does_without_a_judgement_has_no_default() -> None:
    with pytest.raises(TypeError, match="'on_timeout', 'on_error', and 'on_skipped'"):
        AssayNodeGuard(LITERAL)  # type: ignore[call-arg]
