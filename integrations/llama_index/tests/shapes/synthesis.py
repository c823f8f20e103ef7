"""Response modes: how an answer is made of the nodes."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import ImageNode, TextNode

from integrations.llama_index.tests.fakes import NODES, QUESTION, Caller, FakeLLM, Shelf, engine
from integrations.llama_index.tests.shapes.base import CALM, HEAL, Attach, Expected, Group

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
    Expected(contexts=((CALM, True), ("[image: http://127.0.0.1/cat.png]", None), ("[image: p2]", None))),
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
    Expected(contexts=((CALM, True), ("[image: p2]", None))),
    since="0.14.16",
)
def multi_modal_retriever_query_engine(attach: Attach) -> None:
    attach()
    RetrieverQueryEngine.from_args(Shelf(NODES[0], DRAWING), llm=seer(), multimodal=True).query(QUESTION)


@shape("the same, awaited", Expected(contexts=((CALM, True), ("[image: p2]", None))), since="0.14.16")
def multi_modal_async(attach: Attach) -> None:
    attach()
    asked = RetrieverQueryEngine.from_args(Shelf(NODES[0], DRAWING), llm=seer(), multimodal=True)
    asyncio.run(asked.aquery(QUESTION))
