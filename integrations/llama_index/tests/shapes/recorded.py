"""What the application tells of by itself, with `assay.record_context`."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step

from assay import carry_context, record_context
from assay.capture import CaptureRules
from integrations.llama_index.tests.fakes import ANSWER, QUESTION, Caller, FakeLLM, Shelf
from integrations.llama_index.tests.shapes.agents import calls
from integrations.llama_index.tests.shapes.base import CALM, HEAL, Attach, Expected, Group

shape = Group("Told by the application")

TOLD = Expected(contexts=((CALM, True), (HEAL, True)))


def asked(passages: Any) -> str:
    return str(FakeLLM().complete(f"{passages} {QUESTION}"))


@shape("in a query engine of one's own", TOLD)
def in_an_engine(attach: Attach) -> None:
    class Custom(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            assert record_context([CALM, {"text": HEAL, "id": "n2"}])
            return asked([CALM, HEAL])

    attach()
    Custom().query(QUESTION)


@shape("in a thread of one's own, with carry_context", TOLD)
def in_a_thread(attach: Attach) -> None:
    class Custom(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            with ThreadPoolExecutor(1) as pool:
                assert pool.submit(carry_context(record_context), [CALM, HEAL]).result()
            return asked([CALM, HEAL])

    attach()
    Custom().query(QUESTION)


@shape(
    "in a thread of one's own, without: nobody knows whose they are",
    Expected(contexts=None, no_context="no retriever run was seen"),
)
def in_a_thread_without(attach: Attach) -> None:
    class Custom(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            with ThreadPoolExecutor(1) as pool:
                assert not pool.submit(record_context, [CALM, HEAL]).result()
            return asked([CALM, HEAL])

    attach()
    Custom().query(QUESTION)


@shape("a retriever in a thread of one's own, with carry_context", TOLD)
def retriever_in_a_thread(attach: Attach) -> None:
    class Custom(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            with ThreadPoolExecutor(1) as pool:
                nodes = pool.submit(carry_context(Shelf().retrieve), query_str).result()
            return asked([node.text for node in nodes])

    attach()
    Custom().query(QUESTION)


@shape("in an async tool of an agent", TOLD)
def in_an_async_tool(attach: Attach) -> None:
    async def search(query: str) -> str:
        """Finds passages."""
        assert record_context([CALM, HEAL])
        return f"{CALM} {HEAL}"

    async def run() -> None:
        llm = Caller(say=calls(("search", {"query": "purr"})))
        tool = FunctionTool.from_defaults(async_fn=search)
        assert str(await FunctionAgent(tools=[tool], llm=llm).run(QUESTION)) == ANSWER

    attach()
    asyncio.run(run())


@shape("in a sync tool of an agent", TOLD, since="0.14.25")  # before, these ran in a thread without the context
def in_a_tool(attach: Attach) -> None:
    def search(query: str) -> str:
        """Finds passages."""
        assert record_context([CALM, HEAL])
        return f"{CALM} {HEAL}"

    async def run() -> None:
        llm = Caller(say=calls(("search", {"query": "purr"})))
        assert str(await FunctionAgent(tools=[FunctionTool.from_defaults(search)], llm=llm).run(QUESTION)) == ANSWER

    attach()
    asyncio.run(run())


@shape("in a step of a workflow", Expected(contexts=((CALM, None), (HEAL, None)), answer="Both."))
def in_a_step(attach: Attach) -> None:
    class Flow(Workflow):
        @step
        async def answer(self, ev: StartEvent) -> StopEvent:
            assert record_context([CALM, HEAL])
            return StopEvent(result="Both.")

    async def run() -> None:
        await Flow().run(query=QUESTION)

    attach()
    asyncio.run(run())


@shape("by rules: the question has a name of its own, the contexts are what a step returned",
       Expected(contexts=((CALM, None),), answer="Yes."))  # fmt: skip
def by_rules(attach: Attach) -> None:
    class Flow(Workflow):
        @step
        async def answer(self, ev: StartEvent) -> StopEvent:
            return StopEvent(result={"verdict": "Yes.", "evidence": [CALM]})

    async def run() -> None:
        await Flow().run(topic=QUESTION)

    attach(rules=CaptureRules(question_key="topic", answer_key="verdict", contexts_key="evidence"))
    asyncio.run(run())
