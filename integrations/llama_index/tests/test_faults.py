"""Whatever breaks in our hooks: the host's result is the same, the error is counted, and nothing stays behind."""

from __future__ import annotations

import asyncio
import logging

import pytest
from assay_llama_index import exchanges, handler
from assay_llama_index.handler import Capture

QUESTION, ANSWER = "Why do cats purr?", "Cats purr when calm."
TOKENS = ["Cats ", "purr ", "when ", "calm."]


class Catastrophe(BaseException):
    """Not an Exception."""


def query(kit):
    return str(kit.engine().query(QUESTION))


def stream(kit):
    return "".join(kit.engine(streaming=True).query(QUESTION).response_gen)


def aquery(kit):
    return str(asyncio.run(kit.engine().aquery(QUESTION)))


def astream(kit):
    async def read():
        response = await kit.engine(streaming=True).aquery(QUESTION)
        return "".join([token async for token in response.response_gen])

    return asyncio.run(read())


def chat_stream(kit):
    from llama_index.core.chat_engine import ContextChatEngine
    from llama_index.core.memory import ChatMemoryBuffer

    memory = ChatMemoryBuffer.from_defaults(token_limit=3000)
    engine = ContextChatEngine(kit.Shelf(), llm=kit.FakeLLM(), memory=memory, prefix_messages=[])
    return "".join(engine.stream_chat(QUESTION).response_gen)


def reranked(kit):
    return str(kit.engine(node_postprocessors=[kit.Last()]).query(QUESTION))


CALLS = [query, aquery, stream, astream, chat_stream, reranked]
INNER = [
    (Capture, "enter"), (Capture, "exit"), (Capture, "delta"), (Capture, "_returned"), (Capture, "_settle"),
    (Capture, "_deliver"), (Capture, "_begin"), (Capture, "_written"), (Capture, "_listen"),
    (handler, "kind_of"), (handler, "question_of"), (handler, "contexts_of"), (handler, "answer_of"),
    (handler, "plain"), (handler, "node_ids"), (handler, "has_base"),
    (exchanges.Exchange, "sample"), (exchanges.Exchange, "retrieved"), (exchanges.Exchange, "replaced"),
    (exchanges.OpenExchanges, "member"), (exchanges.OpenExchanges, "open"), (exchanges.OpenExchanges, "join"),
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
@pytest.mark.parametrize("error", [ValueError("x"), Catastrophe(), asyncio.CancelledError()], ids=repr)
@pytest.mark.parametrize(("owner", "name"), INNER, ids=[name for _, name in INNER])
def test_a_broken_hook_changes_nothing(kit, heard, monkeypatch, call, error, owner, name):
    broke = []

    def broken(*args, **kwargs):
        broke.append(name)
        raise error

    if name == "_deliver":
        monkeypatch.setattr(heard.capture, name, broken)
    else:
        monkeypatch.setattr(owner, name, broken)
    assert call(kit) == ANSWER
    monkeypatch.undo()
    assert sum(heard.errors.values()) == len(broke)
    heard.capture.abandon()
    assert heard.idle()
    assert call(kit) == ANSWER
    assert heard[-1].answer == ANSWER


def test_a_broken_hook_does_not_hide_the_hosts_error(kit, heard, monkeypatch):
    monkeypatch.setattr(Capture, "drop", lambda *args: 1 / 0)
    with pytest.raises(ConnectionError, match="sk-123"):
        kit.engine(llm=kit.FakeLLM(fail_after=0)).query(QUESTION)
    assert heard.errors["drop: ZeroDivisionError"] >= 1
    assert heard.idle()


def test_the_first_error_of_a_kind_is_logged_with_its_span(kit, heard, monkeypatch, caplog):
    monkeypatch.setattr(handler, "answer_of", lambda result: 1 / 0)
    with caplog.at_level(logging.WARNING, "assay"):
        for _ in range(3):
            kit.engine().query(QUESTION)
    assert heard.errors == {"exit: ZeroDivisionError": 3}
    (record,) = caplog.records
    assert "exit: ZeroDivisionError (span RetrieverQueryEngine.query-" in record.getMessage()


def test_a_broken_node_loses_only_its_sample(kit, heard):
    class Broken(kit.TextNode):
        def get_content(self, metadata_mode=None):
            if metadata_mode is None:  # as we ask; the engine asks for what the model shall see
                raise RuntimeError("no text")
            return "text"

    assert str(kit.engine(kit.Shelf(Broken(text="x"))).query(QUESTION)) == ANSWER
    assert heard.idle()
    assert "exit: RuntimeError" in heard.errors


def test_ctrl_c_in_a_stream_reaches_the_user(kit, heard, monkeypatch):
    """LlamaIndex swallows it in span hooks; our ear on the stream does not."""
    response = kit.engine(streaming=True).query(QUESTION)

    class Interrupts(list):
        def append(self, token):
            raise KeyboardInterrupt

    (exchange,) = heard.capture.open.everything()
    exchange.pieces = Interrupts()
    with pytest.raises(KeyboardInterrupt):
        next(response.response_gen)
    assert heard.idle()


def test_kinds_of_errors_are_bounded():
    from assay_llama_index.faults import KINDS, Faults

    faults = Faults()
    for number in range(KINDS + 10):
        faults.add(type(f"Error{number}", (Exception,), {})(), "hook", None)
    assert len(faults.counts) == KINDS + 1
    assert faults.counts["other"] == 10
