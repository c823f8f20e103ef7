"""Chat engines: each mode, waiting and streaming, first and later turns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.memory import ChatMemoryBuffer

from integrations.llama_index.tests.fakes import ANSWER, QUESTION, TOKENS, FakeLLM, Last, Shelf, engine
from integrations.llama_index.tests.shapes.base import CALM, HEAL, Attach, Expected, Group

shape = Group("Chat engines")

GIVEN = [ChatMessage(role="user", content="Do cats purr?"), ChatMessage(role="assistant", content="Yes.")]
BEFORE = (("Do cats purr?", "Yes.", ()),)
CONDENSED = "Why do cats purr, though?"
NONE = Expected(contexts=None, no_context="no retriever run was seen", history=BEFORE)
FOUND = Expected(history=BEFORE)


def simple() -> Any:
    return SimpleChatEngine.from_defaults(llm=FakeLLM())


def context() -> Any:
    return ContextChatEngine.from_defaults(retriever=Shelf(), llm=FakeLLM())


def condense_question() -> Any:
    llm = FakeLLM(replies=[CONDENSED])
    return CondenseQuestionChatEngine.from_defaults(engine(llm=llm), llm=llm)


def condense_question_streaming() -> Any:
    return CondenseQuestionChatEngine.from_defaults(engine(streaming=True), llm=FakeLLM(replies=[CONDENSED]))


def condense_plus_context() -> Any:
    return CondensePlusContextChatEngine.from_defaults(Shelf(), llm=FakeLLM(replies=[CONDENSED]))


def chat(chatting: Any) -> None:
    assert str(chatting.chat(QUESTION, chat_history=list(GIVEN))) == ANSWER


def achat(chatting: Any) -> None:
    assert str(asyncio.run(chatting.achat(QUESTION, chat_history=list(GIVEN)))) == ANSWER


def stream_chat(chatting: Any) -> None:
    assert list(chatting.stream_chat(QUESTION, chat_history=list(GIVEN)).response_gen) == TOKENS


def astream_chat(chatting: Any) -> None:
    async def read() -> list[str]:
        response = await chatting.astream_chat(QUESTION, chat_history=list(GIVEN))
        return [token async for token in response.async_response_gen()]

    assert asyncio.run(read()) == TOKENS


def define(mode: Callable[[], Any], use: Callable[[Any], None], expected: Expected) -> None:
    def run(attach: Attach) -> None:
        attach()
        use(mode())

    run.__name__ = f"{mode.__name__}_{use.__name__}"
    shape(f"{mode.__name__.replace('_', ' ')}, {use.__name__}", expected)(run)


for _use in (chat, achat, stream_chat, astream_chat):
    define(simple, _use, NONE)
    define(context, _use, FOUND)
    define(condense_question if _use in (chat, achat) else condense_question_streaming, _use, FOUND)
    define(condense_plus_context, _use, FOUND)


@shape("with a post-processor", Expected(contexts=((HEAL, True),)))
def context_reranked(attach: Attach) -> None:
    attach()
    ContextChatEngine.from_defaults(retriever=Shelf(), llm=FakeLLM(), node_postprocessors=[Last()]).chat(QUESTION)


@shape(
    "a second turn, memory in the engine: the first turn with its contexts",
    Expected(question="Do cats purr?"),
    Expected(history=(("Do cats purr?", ANSWER, (CALM, HEAL)),)),
    since="0.14.16",  # before, engines had a buffer, as in the next shape
)
def second_turn(attach: Attach) -> None:
    attach()
    chatting = context()
    chatting.chat("Do cats purr?")
    chatting.chat(QUESTION)


@shape(
    "a second turn, memory in a buffer of this process: the first turn as it was said",
    Expected(question="Do cats purr?"),
    Expected(history=(("Do cats purr?", ANSWER, ()),)),
)
def second_turn_buffer(attach: Attach) -> None:
    attach()
    memory = ChatMemoryBuffer.from_defaults(token_limit=3000)
    chatting = ContextChatEngine.from_defaults(retriever=Shelf(), llm=FakeLLM(), memory=memory)
    chatting.chat("Do cats purr?")
    chatting.chat(QUESTION)


@shape(
    "turns of one session, by the application's own tag, in engines of their own",
    Expected(question="Do cats purr?"),
    Expected(history=(("Do cats purr?", ANSWER, (CALM, HEAL)),)),
)
def second_turn_by_tag(attach: Attach) -> None:
    from llama_index_instrumentation.dispatcher import instrument_tags

    attach()
    with instrument_tags({"session_id": "s1"}):
        context().chat("Do cats purr?")
        context().chat(QUESTION)


@shape(
    "the reader leaves a chat stream; LlamaIndex writes on to the history, so the answer is complete",
    Expected(),
    since="0.14.20",
)
def stream_chat_left(attach: Attach) -> None:
    attach()
    tokens = context().stream_chat(QUESTION).response_gen
    assert next(tokens) == "Cats "
    tokens.close()


def after_a_reset(mode: Callable[[], Any]) -> Callable[[Attach], None]:
    def run(attach: Attach) -> None:
        attach()
        chatting = mode()
        chatting.chat("Do cats purr?")
        chatting.reset()
        chatting.chat(QUESTION)

    run.__name__ = f"{mode.__name__}_after_a_reset"
    return run


def condense_again() -> Any:
    return CondenseQuestionChatEngine.from_defaults(engine(), llm=FakeLLM())


for _mode, _contexts in ((simple, None), (context, FOUND.contexts), (condense_again, FOUND.contexts)):
    _why = None if _contexts else "no retriever run was seen"
    shape(
        f"{_mode.__name__.replace('_', ' ')}, after `reset()`: nothing of what was forgotten",
        Expected(question="Do cats purr?", contexts=_contexts, no_context=_why),
        Expected(contexts=_contexts, no_context=_why),
    )(after_a_reset(_mode))


@shape(
    "the memory itself is reset, and the same is asked again",
    *[Expected()] * 2,
    Expected(history=((QUESTION, ANSWER, (CALM, HEAL)),)),
    since="0.14.16",
)
def memory_reset(attach: Attach) -> None:
    attach()
    chatting = context()
    chatting.chat(QUESTION)
    chatting._memory.reset()
    chatting.chat(QUESTION)
    chatting.chat(QUESTION)


@shape(
    "a buffer of this process after `reset()`",
    Expected(question="Do cats purr?"),
    Expected(),
)
def reset_buffer(attach: Attach) -> None:
    attach()
    memory = ChatMemoryBuffer.from_defaults(token_limit=3000)
    chatting = ContextChatEngine.from_defaults(retriever=Shelf(), llm=FakeLLM(), memory=memory)
    chatting.chat("Do cats purr?")
    chatting.reset()
    chatting.chat(QUESTION)
