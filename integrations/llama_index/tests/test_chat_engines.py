"""Each chat mode, waiting and streaming, sync and async."""

from __future__ import annotations

import asyncio
import time

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.chat_engine.types import BaseChatEngine, StreamingAgentChatResponse
from llama_index.core.memory import ChatMemoryBuffer

from assay.records import Turn

QUESTION, ANSWER = "And why do they purr?", "Cats purr when calm."
TOKENS = ["Cats ", "purr ", "when ", "calm."]
PASSAGES = ("Cats purr when calm.", "Cats also purr to heal.")
HISTORY = (ChatMessage(role="user", content="Do cats purr?"), ChatMessage(role="assistant", content="Yes."))
CONDENSED = "Why do cats purr?"


def simple(kit, llm):
    return SimpleChatEngine.from_defaults(llm=llm)


def context(kit, llm):
    return ContextChatEngine(
        kit.Shelf(), llm=llm, memory=ChatMemoryBuffer.from_defaults(token_limit=3000), prefix_messages=[]
    )


def condense_question(kit, llm):
    llm.replies = [CONDENSED]
    return CondenseQuestionChatEngine.from_defaults(kit.engine(llm=llm), llm=llm)


def condense_plus_context(kit, llm):
    llm.replies = [CONDENSED]
    return CondensePlusContextChatEngine.from_defaults(kit.Shelf(), llm=llm)


MODES = [simple, context, condense_question, condense_plus_context]
FOUND = {simple: None, context: PASSAGES, condense_question: PASSAGES, condense_plus_context: PASSAGES}
each_mode = pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.__name__)


def settled(heard):
    """Wait for the thread that writes a chat stream to the history."""
    until = time.monotonic() + 10
    while not heard.idle() and time.monotonic() < until:
        time.sleep(0.001)


def check(heard, mode):
    settled(heard)
    sample = heard.one
    assert (sample.question, sample.answer, sample.status) == (QUESTION, ANSWER, "complete")
    assert (None if sample.contexts is None else sample.passages) == FOUND[mode]
    assert sample.history == (Turn(question="Do cats purr?", answer="Yes."),)
    if mode in (condense_question, condense_plus_context):
        assert sample.metadata["searched"] == [CONDENSED]


@each_mode
def test_chat(kit, heard, mode):
    assert str(mode(kit, kit.FakeLLM()).chat(QUESTION, chat_history=list(HISTORY))) == ANSWER
    check(heard, mode)


@each_mode
async def test_achat(kit, heard, mode):
    assert str(await mode(kit, kit.FakeLLM()).achat(QUESTION, chat_history=list(HISTORY))) == ANSWER
    check(heard, mode)


@each_mode
def test_stream_chat(kit, heard, mode):
    response = mode(kit, kit.FakeLLM()).stream_chat(QUESTION, chat_history=list(HISTORY))
    assert type(response) is StreamingAgentChatResponse
    assert list(response.response_gen) == TOKENS
    check(heard, mode)


@each_mode
async def test_astream_chat(kit, heard, mode):
    response = await mode(kit, kit.FakeLLM()).astream_chat(QUESTION, chat_history=list(HISTORY))
    assert [token async for token in response.async_response_gen()] == TOKENS
    check(heard, mode)


def breaks_midway(kit):
    """A model that rewrites the question, and breaks after two tokens of the answer."""

    class Breaks(kit.FakeLLM):
        def stream_complete(self, prompt, formatted=False, **kwargs):
            return kit.FakeLLM(fail_after=2).stream_complete(prompt)

    return Breaks()


@each_mode
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_stream_chat_fails_midway(kit, heard, mode):
    response = mode(kit, breaks_midway(kit)).stream_chat(QUESTION)
    with pytest.raises(ConnectionError):
        list(response.response_gen)
    settled(heard)
    sample = heard.one
    assert (sample.status, sample.answer) == ("failed", "Cats purr ")
    assert sample.metadata["error"] == "ConnectionError"
    assert (None if sample.contexts is None else sample.passages) == FOUND[mode]


@each_mode
async def test_astream_chat_fails_midway(kit, heard, mode):
    response = await mode(kit, breaks_midway(kit)).astream_chat(QUESTION)
    with pytest.raises(ConnectionError):
        _ = [token async for token in response.async_response_gen()]
    assert (heard.one.status, heard.one.answer) == ("failed", "Cats purr ")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_failed_stream_keeps_the_partial_text(kit, heard):
    response = context(kit, kit.FakeLLM(fail_after=2)).stream_chat(QUESTION)
    with pytest.raises(ConnectionError):
        list(response.response_gen)
    settled(heard)
    assert (heard.one.status, heard.one.answer) == ("failed", "Cats purr ")


async def test_cancelled_writer(kit, heard):
    class Slow(kit.FakeLLM):
        async def astream_complete(self, prompt, formatted=False, **kwargs):
            async def generate():
                for chunk in self.stream_complete(prompt):
                    yield chunk
                    await asyncio.sleep(60)

            return generate()

    response = await context(kit, Slow()).astream_chat(QUESTION)
    if response.awrite_response_to_history_task is None:
        pytest.skip("before 0.14 the reader drives these streams")
    await asyncio.sleep(0.05)
    response.awrite_response_to_history_task.cancel()
    await asyncio.sleep(0.05)
    assert (heard.one.status, heard.one.answer) == ("cancelled", "Cats ")


def test_a_reader_who_leaves_a_chat_stream_does_not_stop_the_writer(kit, heard):
    """LlamaIndex writes the whole answer to the history, read or not; so it is complete."""
    engine = simple(kit, kit.FakeLLM())
    stream = engine.stream_chat(QUESTION).response_gen
    assert next(stream) == "Cats "
    stream.close()
    settled(heard)
    assert (heard.one.status, heard.one.answer) == ("complete", ANSWER)
    assert engine.chat_history[-1].content == ANSWER


class Own(BaseChatEngine):
    """A chat engine whose streams the reader drives."""

    def __init__(self, llm):
        self._llm = llm

    def reset(self):
        pass

    @property
    def chat_history(self):
        return []

    def chat(self, message, chat_history=None):
        return "a plain string"

    def stream_chat(self, message, chat_history=None):
        stream = self._llm.stream_chat([ChatMessage(content=message)])
        return StreamingAgentChatResponse(chat_stream=stream, is_writing_to_memory=False)

    async def achat(self, message, chat_history=None):
        return self.chat(message)

    async def astream_chat(self, message, chat_history=None):
        stream = await self._llm.astream_chat([ChatMessage(content=message)])
        return StreamingAgentChatResponse(achat_stream=stream, is_writing_to_memory=False)


def test_own_engine(kit, heard):
    Own(kit.FakeLLM()).chat(QUESTION)
    assert heard.one.answer == "a plain string"


def test_stream_driven_by_the_reader(kit, heard):
    assert list(Own(kit.FakeLLM()).stream_chat(QUESTION).response_gen) == TOKENS
    assert heard.one.answer == ANSWER


async def test_async_stream_driven_by_the_reader(kit, heard):
    response = await Own(kit.FakeLLM()).astream_chat(QUESTION)
    assert [token async for token in response.async_response_gen()] == TOKENS
    assert heard.one.answer == ANSWER


def test_stream_driven_by_the_reader_and_left(kit, heard):
    stream = Own(kit.FakeLLM()).stream_chat(QUESTION).response_gen
    next(stream)
    del stream
    assert (heard.one.status, heard.one.answer) == ("abandoned", "Cats ")


@pytest.mark.long
async def test_many_chat_streams_at_once(kit, heard):
    class Echo(kit.FakeLLM):
        def stream_complete(self, prompt, formatted=False, **kwargs):
            word = prompt.rsplit("user: ", 1)[1].split("\n")[0]
            self_tokens = [word, "!"]
            return kit.FakeLLM(tokens=self_tokens).stream_complete(prompt)

    async def one(n):
        response = await simple(kit, Echo()).astream_chat(f"q{n}")
        return "".join([token async for token in response.async_response_gen()])

    assert await asyncio.gather(*(one(n) for n in range(50))) == [f"q{n}!" for n in range(50)]
    assert heard.idle()
    assert sorted((s.question, s.answer) for s in heard) == sorted((f"q{n}", f"q{n}!") for n in range(50))
