"""Failures in every place, and what saves the day."""

from __future__ import annotations

import contextlib
from typing import Any

from langchain.agents import create_agent
from langchain_core.exceptions import OutputParserException
from langchain_core.output_parsers import JsonOutputParser
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import tool

from integrations.langchain.tests.shapes.base import ANSWER, CALM, HEAL, QUESTION, Expected, Group, on
from integrations.langchain.tests.shapes.graphs import State, generate, grade, line, retrieve
from integrations.langchain.tests.shapes.parts import PROMPT, Broken, Shelf, broken_model, call, model, rag

shape = Group("Failures")

UNPROMPTED = ((CALM, None), (HEAL, None))


@shape(
    "a retriever that fails", Expected(status="failed", answer=None, contexts=None, no_context="the retriever failed")
)
def retriever_fails(handler: Any) -> None:
    with contextlib.suppress(ConnectionError):
        rag(Broken()).invoke(QUESTION, on(handler()))


@shape("a prompt that fails", Expected(status="failed", answer=None, contexts=UNPROMPTED))
def prompt_fails(handler: Any) -> None:
    with contextlib.suppress(KeyError):
        rag(prompt=PROMPT + " {missing}").invoke(QUESTION, on(handler()))


@shape("a model that fails", Expected(status="failed", answer=None))
def model_fails(handler: Any) -> None:
    with contextlib.suppress(ConnectionError):
        rag(llm=broken_model()).invoke(QUESTION, on(handler()))


@shape("a parser that fails", Expected(status="failed", answer=None))
def parser_fails(handler: Any) -> None:
    with contextlib.suppress(OutputParserException):
        source = {"context": Shelf(), "question": RunnablePassthrough()}
        (source | PROMPT | model() | JsonOutputParser()).invoke(QUESTION, on(handler()))


@shape("a tool that fails", Expected(status="failed", answer=None, contexts=None,
       no_context="no retriever run was seen, and no tool returned documents (search)"))  # fmt: skip
def tool_fails(handler: Any) -> None:
    @tool
    def search(query: str) -> str:
        """Finds documents."""
        raise ConnectionError("no index")

    with contextlib.suppress(ConnectionError):
        create_agent(model(call("cats"), ANSWER), [search]).invoke({"messages": [("user", QUESTION)]}, on(handler()))


@shape("a retriever tool that fails once, and the agent goes on", Expected())
def tool_fails_and_is_called_again(handler: Any) -> None:
    shelves = iter([Broken(), Shelf()])

    @tool
    def search(query: str) -> str:
        """Finds documents."""
        try:
            return " ".join(document.page_content for document in next(shelves).invoke(query))
        except ConnectionError as error:
            return f"failed: {error}"

    agent = create_agent(model(call("one"), call("two"), ANSWER), [search])
    agent.invoke({"messages": [("user", QUESTION)]}, on(handler()))


@shape("a node that fails", Expected(status="failed", answer=None, contexts=UNPROMPTED))
def node_fails(handler: Any) -> None:
    def say(state: Any) -> Any:
        raise ZeroDivisionError

    with contextlib.suppress(ZeroDivisionError):
        line(State, retrieve, grade, say, generate).invoke({"question": QUESTION}, on(handler()))


@shape("a stream whose model fails", Expected(status="failed", answer=None))
def stream_fails(handler: Any) -> None:
    with contextlib.suppress(ConnectionError):
        list(rag(llm=broken_model()).stream(QUESTION, on(handler())))


@shape("a model with a fallback", Expected())
def model_fallback(handler: Any) -> None:
    rag(llm=broken_model().with_fallbacks([model()])).invoke(QUESTION, on(handler()))


@shape("a retriever with a fallback", Expected())
def retriever_fallback(handler: Any) -> None:
    rag(Broken().with_fallbacks([Shelf()])).invoke(QUESTION, on(handler()))


@shape("a whole chain with a fallback: what the chain that answered had found", Expected())
def chain_fallback(handler: Any) -> None:
    rag(llm=broken_model()).with_fallbacks([rag()]).invoke(QUESTION, on(handler()))


@shape("a step that is tried again", Expected())
def retried(handler: Any) -> None:
    failures = iter([True, False])

    def flaky(question: str) -> Any:
        if next(failures):
            raise ConnectionError("once")
        return Shelf().invoke(question)

    step = RunnableLambda(flaky).with_retry(stop_after_attempt=2, wait_exponential_jitter=False)
    rag(step).invoke(QUESTION, on(handler()))
