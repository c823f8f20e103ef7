"""Response modes: how an answer is made of the nodes."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import ImageNode, NodeWithScore, QueryBundle, TextNode

from integrations.llama_index.tests.fakes import NODES, QUESTION, TOKENS, Caller, FakeLLM, Shelf, engine
from integrations.llama_index.tests.shapes.base import BARK, CALM, HEAL, Attach, Expected, Group

shape = Group("Response modes")


@shape("compact", Expected())
def compact(attach: Attach) -> None:
    attach()
    engine(mode="compact").query(QUESTION)


LONG = tuple(f"{word} " * 400 for word in ("calm", "heal"))


@shape(
    "compact, with more text than the window holds: each text is cut, the call that answered saw the end of the second",
    Expected(answer="Refined.", contexts=((LONG[0], False), (LONG[1], False))),
)
def compact_in_parts(attach: Attach) -> None:
    attach()
    nodes = [TextNode(text=text) for text in LONG]
    engine(Shelf(*nodes), FakeLLM(replies=["First."], tokens=["Refined."], window=900)).query(QUESTION)


@shape("refine: the last call saw the last node", Expected(answer="Refined.", contexts=((CALM, False), (HEAL, True))))
def refine(attach: Attach) -> None:
    attach()
    engine(llm=FakeLLM(replies=["First."], tokens=["Refined."]), mode="refine").query(QUESTION)


@shape("tree_summarize, all in one call", Expected())
def tree_summarize(attach: Attach) -> None:
    attach()
    engine(mode="tree_summarize").query(QUESTION)


@shape("simple_summarize", Expected())
def simple_summarize(attach: Attach) -> None:
    attach()
    engine(mode="simple_summarize").query(QUESTION)


EACH = "Response 1: One.\n---------------------\nResponse 2: Two."


@shape("accumulate: every call has a part in the answer", Expected(answer=EACH))
def accumulate(attach: Attach) -> None:
    attach()
    engine(llm=FakeLLM(replies=["One.", "Two."]), mode="accumulate").query(QUESTION)


@shape("compact_accumulate", Expected(answer="Response 1: Cats purr when calm."))
def compact_accumulate(attach: Attach) -> None:
    attach()
    engine(mode="compact_accumulate").query(QUESTION)


@shape("generation: the nodes are found, and not shown to the model", Expected(contexts=((CALM, False), (HEAL, False))))
def generation(attach: Attach) -> None:
    attach()
    engine(mode="generation").query(QUESTION)


@shape(
    "context_only: the answer is the nodes", Expected(answer=f"{CALM}\n\n{HEAL}", contexts=((CALM, None), (HEAL, None)))
)
def context_only(attach: Attach) -> None:
    attach()
    engine(Shelf(*[TextNode(text=node.text) for node in NODES]), mode="context_only").query(QUESTION)


@shape("no_text: nothing is answered, so there is no sample")
def no_text(attach: Attach) -> None:
    attach()
    engine(mode="no_text").query(QUESTION)


def seer() -> Caller:
    def say(messages: list[ChatMessage]) -> str:
        return "Cats purr when calm."

    return Caller(say=say)


PICTURE = ImageNode(id_="p1", image_url="http://127.0.0.1/cat.png", image_mimetype="image/png")
DRAWING = ImageNode(id_="p2", image="iVBORw0KGgo=", image_mimetype="image/png")


@shape(
    "a multi-modal query engine: images are named by path, address or node",
    Expected(contexts=((CALM, True), ("", None), ("", None))),
)
def multi_modal(attach: Attach) -> None:
    from llama_index.core.query_engine import SimpleMultiModalQueryEngine

    attach()
    retriever: Any = Shelf(NODES[0], PICTURE, DRAWING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        asked = SimpleMultiModalQueryEngine(retriever, seer())
        asked.query(QUESTION)


@shape(
    "a retriever query engine that shows images to the model",
    Expected(contexts=((CALM, True), ("", None))),
    since="0.14.16",
)
def multi_modal_retriever_query_engine(attach: Attach) -> None:
    attach()
    RetrieverQueryEngine.from_args(Shelf(NODES[0], DRAWING), llm=seer(), multimodal=True).query(QUESTION)


@shape("the same, awaited", Expected(contexts=((CALM, True), ("", None))), since="0.14.16")
def multi_modal_async(attach: Attach) -> None:
    attach()
    asked = RetrieverQueryEngine.from_args(Shelf(NODES[0], DRAWING), llm=seer(), multimodal=True)
    asyncio.run(asked.aquery(QUESTION))


HANDED = [NodeWithScore(node=node) for node in NODES]


@shape("`engine.synthesize(query, nodes)`, after a retrieval of one's own", Expected())
def engine_synthesize(attach: Attach) -> None:
    attach()
    asked = engine()
    asked.synthesize(QueryBundle(QUESTION), asked.retrieve(QueryBundle(QUESTION)))


@shape("the same, awaited", Expected())
def engine_synthesize_async(attach: Attach) -> None:
    async def main() -> None:
        asked = engine()
        await asked.asynthesize(QueryBundle(QUESTION), await asked.aretrieve(QueryBundle(QUESTION)))

    attach()
    asyncio.run(main())


@shape("a synthesizer alone, with what the application had found", Expected())
def synthesizer_alone(attach: Attach) -> None:
    attach()
    get_response_synthesizer(FakeLLM()).synthesize(QUESTION, HANDED)


@shape("the same, awaited, with nodes that are listed as further sources: they were not shown to the model",
       Expected(contexts=((CALM, True), (BARK, False))))  # fmt: skip
def synthesizer_with_more(attach: Attach) -> None:
    more = [NodeWithScore(node=TextNode(text=BARK))]
    attach()
    asyncio.run(get_response_synthesizer(FakeLLM()).asynthesize(QUESTION, HANDED[:1], additional_source_nodes=more))


@shape("a synthesizer alone, streaming", Expected())
def synthesizer_streaming(attach: Attach) -> None:
    attach()
    response: Any = get_response_synthesizer(FakeLLM(), streaming=True).synthesize(QUESTION, HANDED)
    assert list(response.response_gen) == TOKENS


@shape("a synthesizer that is handed nothing", Expected(contexts=(), answer="Empty Response"))
def synthesizer_without_nodes(attach: Attach) -> None:
    attach()
    get_response_synthesizer(FakeLLM()).synthesize(QUESTION, [])


@shape("a synthesizer whose model fails: what it was handed is known", Expected(answer=None, status="failed"))
def synthesizer_that_fails(attach: Attach) -> None:
    attach()
    try:
        get_response_synthesizer(FakeLLM(fail_after=0)).synthesize(QUESTION, HANDED)
    except ConnectionError:
        return
    raise AssertionError("the caller did not see the error")
