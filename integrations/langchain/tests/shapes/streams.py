"""Streams: read to the end, left early, cancelled, forgotten."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import create_retriever_tool

from integrations.langchain.tests.shapes.base import ANSWER, CALM, HEAL, QUESTION, Expected, Group, on
from integrations.langchain.tests.shapes.graphs import State, generate, grade, line, retrieve
from integrations.langchain.tests.shapes.parts import Shelf, call, model, rag

shape = Group("Streams")

UNPROMPTED = ((CALM, None), (HEAL, None))
ASKED = {"messages": [HumanMessage(QUESTION)]}


def agent() -> Any:
    search = create_retriever_tool(Shelf(), "search", "finds documents")
    return create_agent(model(call("cats"), ANSWER), [search])


async def settled() -> None:
    """Let the loop close the generators that were left."""
    gc.collect()
    for _ in range(20):
        await asyncio.sleep(0)
    await asyncio.get_running_loop().shutdown_asyncgens()


@shape("`stream`", Expected())
def stream(handler: Any) -> None:
    list(rag().stream(QUESTION, on(handler())))


@shape("`astream`", Expected())
def astream(handler: Any) -> None:
    async def read() -> None:
        async for _ in rag().astream(QUESTION, on(handler())):
            pass

    asyncio.run(read())


@shape("`astream_events`, version 2", Expected())
def astream_events(handler: Any) -> None:
    async def read() -> None:
        async for _ in rag().astream_events(QUESTION, on(handler()), version="v2"):
            pass

    asyncio.run(read())


@shape("a graph in every stream mode", *[Expected()] * 5)
def graph_stream_modes(handler: Any) -> None:
    graph = line(State, retrieve, grade, generate)
    one = handler()
    for mode in ("values", "updates", "messages", "custom", "debug"):
        list(graph.stream({"question": QUESTION}, on(one), stream_mode=mode))


@shape("an agent, `astream_events`, version 2", Expected())
def agent_events(handler: Any) -> None:
    async def read() -> None:
        async for _ in agent().astream_events(ASKED, on(handler()), version="v2"):
            pass

    asyncio.run(read())


@shape("an agent, `astream_events`, version 3", Expected(), since="1.4")
def agent_events_v3(handler: Any) -> None:
    async def read() -> None:
        run = await agent().astream_events(ASKED, on(handler()), version="v3")
        async for _ in run:
            pass

    asyncio.run(read())


@shape("a stream closed by its reader", Expected(status="abandoned", answer="Cats "))
def stream_closed(handler: Any) -> None:
    chunks = rag().stream(QUESTION, on(handler()))
    for _ in range(3):
        next(chunks)
    chunks.close()


@shape("a stream left by `break`", Expected(status="abandoned", answer=None))
def stream_broken_off(handler: Any) -> None:
    for _ in rag().stream(QUESTION, on(handler())):
        break
    gc.collect()


@shape("an async stream closed by its reader", Expected(status="abandoned", answer=None))
def astream_closed(handler: Any) -> None:
    async def read() -> None:
        chunks = rag().astream(QUESTION, on(handler()))
        for _ in range(3):
            await anext(chunks)
        await chunks.aclose()
        await settled()

    asyncio.run(read())


@shape("an async stream dropped and collected as garbage", Expected(status="abandoned", answer=None))
def astream_collected(handler: Any) -> None:
    async def read() -> None:
        chunks = rag().astream(QUESTION, on(handler()))
        await anext(chunks)
        del chunks
        await settled()

    asyncio.run(read())


@shape("a call cancelled while it waits", Expected(status="cancelled", answer=None, contexts=UNPROMPTED))
def cancelled(handler: Any) -> None:
    async def main() -> None:
        waiting = asyncio.Event()

        async def slow(prompt: Any) -> str:
            waiting.set()
            await asyncio.sleep(3600)
            return "never"

        task = asyncio.create_task(rag(llm=RunnableLambda(slow)).ainvoke(QUESTION, on(handler())))
        await waiting.wait()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    asyncio.run(main())


@shape(
    "a graph's stream closed by its reader",
    Expected(status="abandoned", answer=None, contexts=UNPROMPTED),
)
def graph_stream_closed(handler: Any) -> None:
    chunks = line(State, retrieve, grade, generate).stream({"question": QUESTION}, on(handler()), stream_mode="updates")
    next(chunks)
    next(chunks)
    chunks.close()
