"""Workflows of one's own."""

from __future__ import annotations

import asyncio
import gc
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


class Writes(Workflow):
    """Returns the model's own stream."""

    def model(self) -> Any:
        return FakeLLM()

    @step
    async def answer(self, ev: StartEvent) -> StopEvent:
        nodes = await Shelf().aretrieve(ev.query)
        prompt = "\n".join([ev.query, *(node.text for node in nodes)])
        return StopEvent(result=await self.model().astream_complete(prompt))


async def read(flow: Workflow, most: int = 99) -> list[str]:
    stream = await flow.run(query=QUESTION)
    said = []
    async for chunk in stream:
        said.append(chunk.delta)
        if len(said) == most:
            break
    await stream.aclose()
    return said


@shape("the model's stream as it is: read to the end by the caller", Expected())
def stream_as_result(attach: Attach) -> None:
    attach()
    assert asyncio.run(read(Writes())) == TOKENS


@shape("the same, left after one token", Expected(answer=None, status="abandoned"))
def stream_as_result_left(attach: Attach) -> None:
    attach()
    assert asyncio.run(read(Writes(), 1)) == TOKENS[:1]


@shape("the same, never read", Expected(answer=None, status="abandoned"))
def stream_as_result_never_read(attach: Attach) -> None:
    async def main() -> None:
        await Writes().run(query=QUESTION)

    attach()
    asyncio.run(main())
    gc.collect()


@shape("the same, broken in the middle", Expected(answer=None, status="failed"))
def stream_as_result_broken(attach: Attach) -> None:
    class Breaks(Writes):
        def model(self) -> Any:
            return FakeLLM(fail_after=1)

    attach()
    try:
        asyncio.run(read(Breaks()))
    except ConnectionError:
        return
    raise AssertionError("the caller did not see the error")


@shape("a generator of one's own: only its reader knows what it says, so there is no sample")
def own_generator(attach: Attach) -> None:
    class Shouts(Writes):
        @step
        async def answer(self, ev: StartEvent) -> StopEvent:
            tokens = await self.model().astream_complete(ev.query)

            async def shout() -> Any:
                async for token in tokens:
                    token.delta = token.delta.upper()
                    yield token

            return StopEvent(result=shout())

    attach()
    assert asyncio.run(read(Shouts())) == [token.upper() for token in TOKENS]


@shape("fields that hold a stream are no text", Expected(answer="Soon.", contexts=None,
       no_context="no retriever run was seen"))  # fmt: skip
def stream_in_a_field(attach: Attach) -> None:
    class Later(Workflow):
        @step
        async def answer(self, ev: StartEvent) -> StopEvent:
            return StopEvent(result={"answer": "Soon.", "tokens": iter(TOKENS)})

    attach()
    assert list(run(Later())["tokens"]) == TOKENS
