"""Query engines as LlamaIndex's guides and notebooks build them; `right.ENGINES` says what is right."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core import MockEmbedding, SQLDatabase
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from llama_index.core.evaluation import GuidelineEvaluator
from llama_index.core.indices.query.query_transform import HyDEQueryTransform
from llama_index.core.indices.struct_store import NLSQLTableQueryEngine
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import (
    CitationQueryEngine,
    FLAREInstructQueryEngine,
    RetrieverQueryEngine,
    RetryGuidelineQueryEngine,
    RouterQueryEngine,
    TransformQueryEngine,
)
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import TextNode
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.tools import QueryEngineTool
from pydantic import BaseModel
from sqlalchemy import create_engine, text
from sqlalchemy.pool import StaticPool

from integrations.llama_index.tests.fakes import ANSWER, QUESTION, FakeLLM, Shelf, engine
from integrations.llama_index.tests.shapes import right
from integrations.llama_index.tests.shapes.base import Attach, Written

shape = Written("Applications: engines", right.ENGINES)


@shape.application
def flare(attach: Attach) -> None:
    attach()
    llm = FakeLLM(replies=["Cats do so [Search(when do cats purr?)]", "Cats do so at ease.", "And to mend. done"])
    asked = FLAREInstructQueryEngine(engine(llm=FakeLLM(tokens=["When they rest."])), llm=llm)
    assert str(asked.query(QUESTION)) == right.LOOKED_AHEAD


def database() -> SQLDatabase:
    """Three cats, two of which purr."""
    # one connection for all threads: the database lives in its memory
    made = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    with made.begin() as connection:
        connection.execute(text("CREATE TABLE cats (purrs INTEGER)"))
        connection.execute(text("INSERT INTO cats VALUES (1), (1), (0)"))
    return SQLDatabase(made, include_tables=["cats"])


@shape.application
def sql_router(attach: Attach) -> None:
    attach()
    llm = FakeLLM(replies=["SELECT count(*) FROM cats WHERE purrs = 1"], tokens=[right.COUNT])
    rows = NLSQLTableQueryEngine(database(), llm=llm, tables=["cats"], embed_model=MockEmbedding(4))
    tools = [
        QueryEngineTool.from_defaults(engine(), name="texts", description="about cats"),
        QueryEngineTool.from_defaults(rows, name="rows", description="numbers of cats"),
    ]
    selector = LLMSingleSelector.from_defaults(FakeLLM(replies=['[{"choice": 2, "reason": "a number"}]']))
    RouterQueryEngine(selector, tools, llm=FakeLLM()).query(right.COUNTED)


@shape.application
def guided_retry(attach: Attach) -> None:
    attach()
    verdicts = ['{"passing": false, "feedback": "It is too short."}', '{"passing": true, "feedback": "It is fine."}']
    evaluator = GuidelineEvaluator(llm=FakeLLM(replies=verdicts), guidelines="Say why.")
    RetryGuidelineQueryEngine(engine(llm=FakeLLM(replies=["They do."])), evaluator).query(QUESTION)


class Animal(BaseModel):
    """An animal, and the sound that it makes."""

    name: str
    sound: str


@shape.application
def output_class(attach: Attach) -> None:
    attach()
    llm = FakeLLM(replies=['{"name": "cat", "sound": "purr"}'])
    synthesizer = get_response_synthesizer(llm, output_cls=Animal)
    response: Any = RetrieverQueryEngine(Shelf(), synthesizer).query(QUESTION)
    assert response.response == Animal(name="cat", sound="purr")


class Cited(BaseModel):
    """An answer, and how sure the model is."""

    answer: str
    confidence: float


@shape.application
def output_class_with_an_answer(attach: Attach) -> None:
    attach()
    llm = FakeLLM(replies=[f'{{"answer": "{ANSWER}", "confidence": 1.0}}'])
    synthesizer = get_response_synthesizer(llm, output_cls=Cited)
    RetrieverQueryEngine(Shelf(), synthesizer).query(QUESTION)


@shape.application
def tree_of_summaries(attach: Attach) -> None:
    attach()
    llm = FakeLLM(replies=["About calm.", "About healing."], window=900)
    asked = engine(Shelf(*(TextNode(text=long) for long in right.LONG)), llm, mode="tree_summarize")
    asked.query(QUESTION)
    assert llm.replies == []  # two calls below, one above


@shape.application
def chat_store(attach: Attach) -> None:
    kept = SimpleChatStore()

    def request(question: str) -> None:
        memory = ChatMemoryBuffer.from_defaults(token_limit=3000, chat_store=kept, chat_store_key="user1")
        ContextChatEngine.from_defaults(retriever=Shelf(), llm=FakeLLM(), memory=memory).chat(question)

    attach()
    request(right.BEFORE)
    request(QUESTION)


@shape.application
def hyde_over_citations(attach: Attach) -> None:
    attach()
    cited = CitationQueryEngine(Shelf(), llm=FakeLLM())
    TransformQueryEngine(cited, HyDEQueryTransform(llm=FakeLLM(tokens=["Purring."]))).query(QUESTION)


@shape.application
def streamed_citations(attach: Attach) -> None:
    async def main() -> None:
        streaming = get_response_synthesizer(FakeLLM(), streaming=True, use_async=True)
        response: Any = await CitationQueryEngine(Shelf(), response_synthesizer=streaming).aquery(QUESTION)
        assert "".join([token async for token in response.async_response_gen()]) == ANSWER

    attach()
    asyncio.run(main())


@shape.application
def two_users(attach: Attach) -> None:
    async def ask(question: str) -> None:
        response = await CondensePlusContextChatEngine.from_defaults(Shelf(), llm=FakeLLM()).astream_chat(question)
        assert "".join([token async for token in response.async_response_gen()]) == ANSWER

    async def main() -> None:
        await asyncio.gather(ask("q0"), ask("q1"))

    attach()
    asyncio.run(main())
