"""Chains and graphs that end with a structured object, with and without the message that it was read from."""

from __future__ import annotations

from typing import Any, TypedDict

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnablePassthrough
from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel

from integrations.langchain.tests.shapes.applications_agents import structure
from integrations.langchain.tests.shapes.base import ANSWER, CALM, HEAL, QUESTION, Expected, Group, on
from integrations.langchain.tests.shapes.parts import PROMPT, Shelf, joined, model

shape = Group("Structured answers")

FOUND = ((CALM, True), (HEAL, True))


class Cited(BaseModel):
    """An answer, and where it stands."""

    answer: str
    citations: list[int]


class Reply(BaseModel):
    """What to say."""

    text_to_say: str


def asked(says: AIMessage, schema: Any = Cited, **options: Any) -> Any:
    """A chain that ends with this object."""
    source = {"context": Shelf(), "question": RunnablePassthrough()}
    return source | PROMPT | model(says).with_structured_output(schema, **options)


@shape("an object with the message that it was read from (`include_raw`)", Expected())
def include_raw(handler: Any) -> None:
    done = asked(structure(Cited, answer=ANSWER, citations=[0]), include_raw=True).invoke(QUESTION, on(handler()))
    assert done["parsed"].citations == [0]


@shape("a dict with the message that it was read from", Expected())
def include_raw_of_a_dict(handler: Any) -> None:
    says = structure(Cited, answer=ANSWER, citations=[0])
    asked(says, Cited.model_json_schema(), include_raw=True).invoke(QUESTION, on(handler()))


@shape("a message from which no object could be read", Expected(answer=None, status="failed"))
def include_raw_unreadable(handler: Any) -> None:
    done = asked(structure(Cited, nothing=1), include_raw=True).invoke(QUESTION, on(handler()))
    assert done["parsing_error"] is not None


@shape("a message of text in place of the object", Expected(answer="I do not know."))
def include_raw_of_a_text(handler: Any) -> None:
    asked(AIMessage("I do not know."), include_raw=True).invoke(QUESTION, on(handler()))


@shape("an object with one text, whatever its name", Expected())
def only_text(handler: Any) -> None:
    asked(structure(Reply, text_to_say=ANSWER), Reply, include_raw=True).invoke(QUESTION, on(handler()))


class State(TypedDict, total=False):
    """The state of a graph that keeps both."""

    question: str
    answer: Any


@shape("an object with its message, in the state of a graph", Expected())
def include_raw_in_a_state(handler: Any) -> None:
    reads = model(structure(Cited, answer=ANSWER, citations=[0])).with_structured_output(Cited, include_raw=True)

    def generate(state: Any) -> Any:
        found = joined(Shelf().invoke(state["question"]))
        return {"answer": reads.invoke(PROMPT.invoke({"context": found, "question": state["question"]}))}

    builder = StateGraph(State)
    builder.add_node("generate", generate)
    builder.add_edge(START, "generate")
    builder.add_edge("generate", END)
    builder.compile().invoke({"question": QUESTION}, on(handler()))
