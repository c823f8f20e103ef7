"""Graphs written with LangGraph."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.documents import Document
from langchain_core.messages import HumanMessage
from langchain_core.tools import create_retriever_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel

from integrations.langchain.tests.shapes.base import ANSWER, BARK, CALM, HEAL, QUESTION, Expected, Group, on
from integrations.langchain.tests.shapes.parts import DOCUMENTS, OTHER, PROMPT, Shelf, call, joined, model

shape = Group("LangGraph")


class State(TypedDict, total=False):
    """The state of the tutorials."""

    question: str
    documents: list[Document]
    generation: str
    answer: str


@dataclass
class DataState:
    """The same as a dataclass."""

    question: str
    documents: list[Document] = field(default_factory=list)
    answer: str = ""


class ModelState(BaseModel):
    """The same as a pydantic model."""

    question: str
    documents: list[Any] = []
    answer: str = ""


def value(state: Any, name: str) -> Any:
    return state[name] if isinstance(state, dict) else getattr(state, name)


def retrieve(state: Any) -> Any:
    return {"documents": Shelf(documents=(OTHER, *DOCUMENTS)).invoke(value(state, "question"))}


def grade(state: Any) -> Any:
    return {"documents": [document for document in value(state, "documents") if "purr" in document.page_content]}


def generate(state: Any) -> Any:
    asked = PROMPT.invoke({"context": joined(value(state, "documents")), "question": value(state, "question")})
    return {"answer": model().invoke(asked).text}


def line(schema: Any, *nodes: Any, **options: Any) -> Any:
    """A graph of nodes, one after another."""
    builder = StateGraph(schema)
    for node in nodes:
        builder.add_node(node.__name__, node)
    names = [START, *(node.__name__ for node in nodes), END]
    for one, other in pairwise(names):
        builder.add_edge(one, other)
    return builder.compile(**options)


@shape("retrieve, generate", Expected(contexts=((BARK, True), (CALM, True), (HEAL, True))))
def retrieve_generate(handler: Any) -> None:
    line(State, retrieve, generate).invoke({"question": QUESTION}, on(handler()))


@shape("retrieve, grade, generate: the documents that were kept", Expected())
def retrieve_grade_generate(handler: Any) -> None:
    line(State, retrieve, grade, generate).invoke({"question": QUESTION}, on(handler()))


@shape("the same with a state that is a dataclass", Expected())
def dataclass_state(handler: Any) -> None:
    line(DataState, retrieve, grade, generate).invoke(DataState(question=QUESTION), on(handler()))


@shape("the same with a state that is a pydantic model", Expected())
def pydantic_state(handler: Any) -> None:
    line(ModelState, retrieve, grade, generate).invoke(ModelState(question=QUESTION), on(handler()))


@shape("a grading model called for each document", Expected())
def graded_by_a_model(handler: Any) -> None:
    says = model("no", "yes", "yes")

    def grade(state: Any) -> Any:
        documents = state["documents"]
        return {"documents": [d for d in documents if says.invoke(f"Is this relevant? {d.page_content}").text == "yes"]}

    line(State, retrieve, grade, generate).invoke({"question": QUESTION}, on(handler()))


@shape("a second search after a failed first: only what was found last was answered from",
       Expected(contexts=((CALM, True), (HEAL, True))))  # fmt: skip
def corrective_loop(handler: Any) -> None:
    shelves = iter([Shelf(documents=(OTHER,)), Shelf()])

    def search(state: Any) -> Any:
        return {"documents": next(shelves).invoke(state["question"])}

    def enough(state: Any) -> Literal["search", "generate"]:
        return "generate" if len(state["documents"]) > 1 else "search"

    builder = StateGraph(State)
    builder.add_node("search", search)
    builder.add_node("generate", generate)
    builder.add_edge(START, "search")
    builder.add_conditional_edges("search", enough)
    builder.add_edge("generate", END)
    builder.compile().invoke({"question": QUESTION}, on(handler()))


@shape('an answer checked by a model afterwards: the check\'s "calm" stands in the answer by chance', Expected())
def graded_answer(handler: Any) -> None:
    says = model("calm")

    def check(state: Any) -> Any:
        return {"generation": says.invoke(f"Is the tone calm? {state['answer']}").text}

    line(State, retrieve, grade, generate, check).invoke({"question": QUESTION}, on(handler()))


@shape("a search after the answer, for what to read next: not what was answered from", Expected())
def search_after_the_answer(handler: Any) -> None:
    def suggest(state: Any) -> Any:
        return {"generation": joined(Shelf(documents=(OTHER,)).invoke(state["answer"]))}

    def find(state: Any) -> Any:
        return {"documents": Shelf().invoke(state["question"])}

    line(State, find, generate, suggest).invoke({"question": QUESTION}, on(handler()))


class Wide(TypedDict, total=False):
    """Branches add to what was found."""

    question: str
    documents: Annotated[list[Document], operator.add]
    answer: str


@shape("`Send`: a search for each part, side by side", Expected())
def send_fan_out(handler: Any) -> None:
    def search(state: Any) -> Any:
        return {"documents": Shelf(documents=(DOCUMENTS[state["part"]],)).invoke("x")}

    builder = StateGraph(Wide)
    builder.add_node("search", search)
    builder.add_node("generate", generate)
    builder.add_conditional_edges(START, lambda state: [Send("search", {"part": n}) for n in (0, 1)], ["search"])
    builder.add_edge("search", "generate")
    builder.add_edge("generate", END)
    builder.compile().invoke({"question": QUESTION}, on(handler(), max_concurrency=1))


@shape("a sub-graph that searches and grades", Expected())
def sub_graph(handler: Any) -> None:
    builder = StateGraph(State)
    builder.add_node("research", line(State, retrieve, grade))
    builder.add_node("generate", generate)
    builder.add_edge(START, "research")
    builder.add_edge("research", "generate")
    builder.add_edge("generate", END)
    builder.compile().invoke({"question": QUESTION}, on(handler()))


@shape("nodes that answer with commands", Expected())
def commands(handler: Any) -> None:
    def search(state: Any) -> Command[Literal["say"]]:
        return Command(update={"documents": grade(retrieve(state))["documents"]}, goto="say")

    def say(state: Any) -> Command[Any]:
        return Command(update=generate(state))

    builder = StateGraph(State)
    builder.add_node("search", search)
    builder.add_node("say", say)
    builder.add_edge(START, "search")
    builder.compile().invoke({"question": QUESTION}, on(handler()))


@shape("an agent loop of one's own with `ToolNode`", Expected())
def tool_node(handler: Any) -> None:
    says = model(call("cats"), ANSWER)
    builder = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [says.invoke(state["messages"])]})
    builder.add_node("tools", ToolNode([create_retriever_tool(Shelf(), "search", "finds documents")]))
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    builder.compile().invoke({"messages": [HumanMessage(QUESTION)]}, on(handler()))


@shape("`MessagesState`, documents put into a message by a node", Expected())
def messages_state(handler: Any) -> None:
    def search(state: Any) -> Any:
        return {"messages": [("system", joined(Shelf().invoke("cats")))]}

    def say(state: Any) -> Any:
        return {"messages": [model().invoke(state["messages"])]}

    line(MessagesState, search, say).invoke({"messages": [("user", QUESTION)]}, on(handler()))


@shape("the functional API: `entrypoint` and `task`", Expected())
def functional_api(handler: Any) -> None:
    @task
    def search(question: str) -> list[Document]:
        return Shelf().invoke(question)

    @entrypoint()
    def answer(question: str) -> str:
        found = search(question).result()
        return model().invoke(PROMPT.invoke({"context": joined(found), "question": question})).text

    answer.invoke(QUESTION, on(handler()))


@shape("stopped to ask a human, and resumed: one sample, when it answers", Expected())
def interrupt_and_resume(handler: Any) -> None:
    def approve(state: Any) -> Any:
        return {"documents": grade(state)["documents"] if interrupt("use these?") == "yes" else []}

    graph = line(State, retrieve, approve, generate, checkpointer=InMemorySaver())
    config = on(handler(), configurable={"thread_id": "t"})
    graph.invoke({"question": QUESTION}, config)
    graph.invoke(Command(resume="yes"), config)


@shape("the same with messages", Expected())
def interrupted_messages(handler: Any) -> None:
    search = create_retriever_tool(Shelf(), "search", "finds documents", response_format="content_and_artifact")
    says = model(call("cats"), ANSWER)

    def ask(state: Any) -> Any:
        interrupt("go on?")
        return {}

    def say(state: Any) -> Any:
        return {"messages": [says.invoke(state["messages"])]}

    builder = StateGraph(MessagesState)
    builder.add_node("plan", say)
    builder.add_node("tools", ToolNode([search]))
    builder.add_node("ask", ask)
    builder.add_node("say", say)
    for one, other in ((START, "plan"), ("plan", "tools"), ("tools", "ask"), ("ask", "say"), ("say", END)):
        builder.add_edge(one, other)
    graph = builder.compile(checkpointer=InMemorySaver())
    config = on(handler(), configurable={"thread_id": "t"})
    graph.invoke({"messages": [HumanMessage(QUESTION)]}, config)
    graph.invoke(Command(resume=True), config)
