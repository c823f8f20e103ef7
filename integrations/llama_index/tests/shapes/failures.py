"""Errors in every place: the caller sees them as before, the sample says that it failed."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from integrations.llama_index.tests.fakes import QUESTION, FakeLLM, engine
from integrations.llama_index.tests.shapes.base import CALM, HEAL, Attach, Expected, Group
from integrations.llama_index.tests.shapes.chats import context

shape = Group("Errors")

FAILED = Expected(answer=None, status="failed")


def expect(error: type[BaseException], asked: Any, *, how: str = "query") -> None:
    try:
        asyncio.run(asked.aquery(QUESTION)) if how == "aquery" else getattr(asked, how)(QUESTION)
    except error:
        return
    raise AssertionError("the caller did not see the error")


class Broken(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        raise LookupError("the secret is sk-123")


class Breaks(BaseNodePostprocessor):
    def _postprocess_nodes(self, nodes: Any, query_bundle: Any = None) -> list[NodeWithScore]:
        raise LookupError("the secret is sk-123")


@shape("in the retriever", Expected(answer=None, status="failed", contexts=None, no_context="the retriever failed"))
def in_the_retriever(attach: Attach) -> None:
    attach()
    expect(LookupError, engine(Broken()))


@shape("in a post-processor", Expected(answer=None, status="failed", contexts=((CALM, None), (HEAL, None))))
def in_a_postprocessor(attach: Attach) -> None:
    attach()
    expect(LookupError, engine(node_postprocessors=[Breaks()]))


@shape("in the model", FAILED)
def in_the_model(attach: Attach) -> None:
    attach()
    expect(ConnectionError, engine(llm=FakeLLM(fail_after=0)))


@shape("in the model, awaited", FAILED)
def in_the_model_async(attach: Attach) -> None:
    attach()
    expect(ConnectionError, engine(llm=FakeLLM(fail_after=0)), how="aquery")


@shape("in a chat", FAILED)
def in_a_chat(attach: Attach) -> None:
    attach()
    chatting = context()
    chatting._llm = FakeLLM(fail_after=0)
    expect(ConnectionError, chatting, how="chat")


@shape("a query that is cancelled", Expected(answer=None, status="cancelled"))
def cancelled_query(attach: Attach) -> None:
    async def main() -> None:
        asked = asyncio.Event()

        class Slow(FakeLLM):
            async def acomplete(self, *args: Any, **kwargs: Any) -> Any:
                asked.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(engine(llm=Slow()).aquery(QUESTION))
        await asked.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    attach()
    asyncio.run(main())


@shape("one of two fails", Expected(question="q1"), Expected(question="q0", answer=None, status="failed"))
def one_of_two(attach: Attach) -> None:
    attach()
    good = engine()
    good.query("q1")
    try:
        engine(llm=FakeLLM(fail_after=0)).query("q0")
    except ConnectionError:
        return
    raise AssertionError("the caller did not see the error")
