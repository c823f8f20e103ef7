"""Workflows of one's own."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import NodeWithScore
from llama_index.core.workflow import Event, StartEvent, StopEvent, Workflow, step

from integrations.llama_index.tests.fakes import ANSWER, NODES, QUESTION, TOKENS, FakeLLM, Last, Shelf, engine
from integrations.llama_index.tests.shapes.base import CALM, HEAL, Attach, Expected, Group

shape = Group("Workflows")


class Retrieved(Event):
    nodes: list[NodeWithScore]


class Chosen(Event):
    nodes: list[NodeWithScore]


class Rag(Workflow):
    """Retrieves, chooses the last, answers."""

    streaming: bool = False

    @step
    async def retrieve(self, ev: StartEvent) -> Retrieved:
        return Retrieved(nodes=await Shelf().aretrieve(ev.query))

    @step
    async def choose(self, ev: Retrieved) -> Chosen:
        return Chosen(nodes=self.choice(ev.nodes))

    @step
    async def answer(self, ev: Chosen) -> StopEvent:
        synthesizer = get_response_synthesizer(FakeLLM(), streaming=self.streaming)
        return StopEvent(result=await synthesizer.asynthesize(QUESTION, ev.nodes))

    def choice(self, nodes: list[NodeWithScore]) -> list[NodeWithScore]:
        return nodes


def run(workflow: Workflow, **given: Any) -> Any:
    async def main() -> Any:
        return await workflow.run(**(given or {"query": QUESTION}))

    return asyncio.run(main())


@shape("a step that retrieves, one that answers", Expected())
def rag(attach: Attach) -> None:
    attach()
    assert str(run(Rag())) == ANSWER


@shape("a step in between that chooses by hand", Expected(contexts=((HEAL, True),)))
def rag_with_a_choice(attach: Attach) -> None:
    class Choosy(Rag):
        def choice(self, nodes: list[NodeWithScore]) -> list[NodeWithScore]:
            return nodes[1:]

    attach()
    run(Choosy())


@shape("a step in between with a post-processor", Expected(contexts=((HEAL, True),)))
def rag_with_a_reranker(attach: Attach) -> None:
    class Reranks(Rag):
        def choice(self, nodes: list[NodeWithScore]) -> list[NodeWithScore]:
            return Last().postprocess_nodes(nodes)

    attach()
    run(Reranks())


@shape("nodes made by hand, without a retriever", Expected())
def nodes_by_hand(attach: Attach) -> None:
    class ByHand(Rag):
        @step
        async def retrieve(self, ev: StartEvent) -> Retrieved:
            return Retrieved(nodes=[NodeWithScore(node=node) for node in NODES])

    attach()
    run(ByHand())


@shape("an answer that streams", Expected())
def streamed(attach: Attach) -> None:
    async def main() -> list[str]:
        flow = Rag()
        flow.streaming = True
        response: Any = await flow.run(query=QUESTION)
        return [token async for token in response.response_gen]

    attach()
    assert asyncio.run(main()) == TOKENS


@shape("an answer under a name", Expected(contexts=((CALM, None), (HEAL, None))))
def answer_by_name(attach: Attach) -> None:
    class Named(Workflow):
        @step
        async def answer(self, ev: StartEvent) -> StopEvent:
            Shelf().retrieve(ev.question)
            return StopEvent(result={"answer": ANSWER, "took": 3})

    attach()
    run(Named(), question=QUESTION)


class Done(StopEvent):
    answer: str
    took: int


class Asked(StartEvent):
    question: str


@shape("events of one's own at start and end", Expected(contexts=((CALM, None), (HEAL, None))))
def own_events(attach: Attach) -> None:
    class Own(Workflow):
        @step
        async def answer(self, ev: Asked) -> Done:
            Shelf().retrieve(ev.question)
            return Done(answer=ANSWER, took=3)

    async def main() -> None:
        await Own().run(start_event=Asked(question=QUESTION))

    attach()
    asyncio.run(main())


@shape("an engine inside a step belongs to the workflow", Expected(answer=f"So: {ANSWER}"))
def engine_inside(attach: Attach) -> None:
    class Wraps(Workflow):
        @step
        async def answer(self, ev: StartEvent) -> StopEvent:
            return StopEvent(result=f"So: {await engine().aquery(ev.query)}")

    attach()
    run(Wraps())


@shape("a workflow that is asked nothing: the engines inside are the samples",
       Expected(question="q0"), Expected(question="q1"))  # fmt: skip
def batch(attach: Attach) -> None:
    class Batch(Workflow):
        @step
        async def all(self, ev: StartEvent) -> StopEvent:
            return StopEvent(result=[str(await engine().aquery(question)) for question in ev.rows])

    attach()
    run(Batch(), rows=["q0", "q1"])


@shape("a workflow inside a query engine", Expected(contexts=((CALM, True), (HEAL, True))))
def inside_an_engine(attach: Attach) -> None:
    class Custom(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            raise NotImplementedError

        async def acustom_query(self, query_str: str) -> str:
            return str(await Rag().run(query=query_str))

    attach()
    asyncio.run(Custom().aquery(QUESTION))


@shape("a step that fails", Expected(answer=None, status="failed", contexts=((CALM, None), (HEAL, None))))
def failed_step(attach: Attach) -> None:
    class Fails(Rag):
        @step
        async def answer(self, ev: Chosen) -> StopEvent:
            raise LookupError("the secret is sk-123")

    attach()
    try:
        run(Fails())
    except Exception:
        return
    raise AssertionError("the caller did not see the error")
