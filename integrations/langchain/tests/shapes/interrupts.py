"""Graphs that stop to ask a human: one exchange from the question to the answer, however often they stop."""

from __future__ import annotations

import asyncio
import operator
from typing import Annotated, Any, TypedDict

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import create_retriever_tool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from integrations.langchain.tests.shapes.base import ANSWER, CALM, HEAL, QUESTION, Expected, Group, on
from integrations.langchain.tests.shapes.parts import DOCUMENTS, Shelf, call, joined, model

shape = Group("Interrupts")

VAGUE = "Tell me about it."
OTHER_QUESTION = "Why do dogs bark?"
BOTH = ((CALM, True), (HEAL, True))
WAITS = Expected(answer=None, status="interrupted")


class State(TypedDict, total=False):
    """Question and answer, without messages."""

    question: str
    animal: str
    documents: list[Document]
    answer: str


def ask(state: Any) -> Any:
    return {"animal": interrupt("Which animal?")}


def retrieve(state: Any) -> Any:
    return {"documents": Shelf().invoke(state["question"])}


def generate(state: Any) -> Any:
    return {"answer": model().invoke(f"{joined(state['documents'])}\n{state['question']}").text}


def review(state: Any) -> Any:
    return {"answer": interrupt({"draft": state["answer"]})}


def line(*nodes: Any) -> Any:
    """A graph of these nodes, one after the other, with a memory."""
    builder = StateGraph(State)
    names = [node.__name__ for node in nodes]
    for name, node in zip(names, nodes, strict=True):
        builder.add_node(name, node)
    for before, after in zip((START, *names), (*names, END), strict=True):
        builder.add_edge(before, after)
    return builder.compile(checkpointer=InMemorySaver())


def thread(handler: Any, name: str = "t") -> Any:
    return on(handler, configurable={"thread_id": name})


@shape("a graph that asks what was meant", Expected(question=VAGUE))
def clarification(handler: Any) -> None:
    graph, config = line(ask, retrieve, generate), thread(handler())
    graph.invoke({"question": VAGUE}, config)
    graph.invoke(Command(resume="cats"), config)


@shape("a draft that a human edits", Expected(answer="They are calm."))
def edited_draft(handler: Any) -> None:
    graph, config = line(retrieve, generate, review), thread(handler())
    graph.invoke({"question": QUESTION}, config)
    graph.invoke(Command(resume="They are calm."), config)


@shape("a graph that nobody resumes", WAITS)
def nobody_resumes(handler: Any) -> None:
    line(retrieve, generate, review).invoke({"question": QUESTION}, thread(handler()))


@shape("another question in place of the human's word", WAITS, Expected(question=OTHER_QUESTION), in_order=False)
def asked_again(handler: Any) -> None:
    asks = iter([True, False])

    def may_review(state: Any) -> Any:
        return review(state) if next(asks) else {}

    graph, config = line(retrieve, generate, may_review), thread(handler())
    graph.invoke({"question": QUESTION}, config)
    graph.invoke({"question": OTHER_QUESTION}, config)


@shape("a graph that stops twice", Expected(question=VAGUE, answer="They are calm."))
def stops_twice(handler: Any) -> None:
    graph, config = line(ask, retrieve, generate, review), thread(handler())
    graph.invoke({"question": VAGUE}, config)
    graph.invoke(Command(resume="cats"), config)
    graph.invoke(Command(resume="They are calm."), config)


@shape("a search in the step that stops: it runs again", Expected())
def search_runs_again(handler: Any) -> None:
    def search_and_ask(state: Any) -> Any:
        found = Shelf().invoke(state["question"])
        return {"documents": found, "animal": interrupt("Are these right?")}

    graph, config = line(search_and_ask, generate), thread(handler())
    graph.invoke({"question": QUESTION}, config)
    graph.invoke(Command(resume="yes"), config)


@shape("documents that a human chooses from", Expected(contexts=((HEAL, True),)))
def chosen_documents(handler: Any) -> None:
    def choose(state: Any) -> Any:
        kept = interrupt([document.id for document in state["documents"]])
        return {"documents": [document for document in state["documents"] if document.id in kept]}

    graph, config = line(retrieve, choose, generate), thread(handler())
    graph.invoke({"question": QUESTION}, config)
    graph.invoke(Command(resume=["d2"]), config)


@shape("an agent whose second tool waits for approval", Expected())
def approval_after_a_search(handler: Any) -> None:
    @tool
    def approve(query: str) -> str:
        """Asks for approval."""
        return str(interrupt("May I answer?"))

    search = create_retriever_tool(Shelf(), "search", "Searches for what is known about cats.")
    says = model(call(QUESTION), call("answer", name="approve"), ANSWER)
    agent: Any = create_agent(says, [search, approve], checkpointer=InMemorySaver())
    config = thread(handler())
    agent.invoke({"messages": [("user", QUESTION)]}, config)
    agent.invoke(Command(resume="yes"), config)


@shape("a subgraph that stops", Expected())
def subgraph_stops(handler: Any) -> None:
    inner = StateGraph(State)
    for node in (retrieve, ask):
        inner.add_node(node.__name__, node)
    inner.add_edge(START, "retrieve")
    inner.add_edge("retrieve", "ask")
    outer = StateGraph(State)
    outer.add_node("search", inner.compile())
    outer.add_node("generate", generate)
    outer.add_edge(START, "search")
    outer.add_edge("search", "generate")
    graph, config = outer.compile(checkpointer=InMemorySaver()), thread(handler())
    graph.invoke({"question": QUESTION}, config)
    graph.invoke(Command(resume="cats"), config)


@shape("streamed until it stops, and streamed on", Expected())
def streamed_on(handler: Any) -> None:
    graph, config = line(retrieve, ask, generate), thread(handler())

    async def main() -> None:
        async for _ in graph.astream({"question": QUESTION}, config, stream_mode="updates"):
            pass
        async for _ in graph.astream(Command(resume="cats"), config, stream_mode=["values", "messages"]):
            pass

    asyncio.run(main())


@shape("the human's word comes with an update of the state", Expected())
def resumed_with_an_update(handler: Any) -> None:
    graph, config = line(retrieve, ask, generate), thread(handler())
    graph.invoke({"question": QUESTION}, config)
    graph.invoke(Command(resume="cats", update={"animal": "cats"}), config)


@shape("two users, each of whom is asked", Expected(question="Why? (1)"), Expected(question="Why? (0)"))
def two_who_are_asked(handler: Any) -> None:
    graph, one = line(ask, retrieve, generate), handler()
    for user in (0, 1):
        graph.invoke({"question": f"Why? ({user})"}, thread(one, str(user)))
    for user in (1, 0):
        graph.invoke(Command(resume="cats"), thread(one, str(user)))


@shape("the functional API, which stops in its entry point", Expected(contexts=BOTH))
def functional_stops(handler: Any) -> None:
    @task
    def find(question: str) -> list[Document]:
        return Shelf().invoke(question)

    @entrypoint(checkpointer=InMemorySaver())
    def flow(question: str) -> str:
        found = find(question).result()
        interrupt("May I answer?")
        return str(model().invoke(f"{joined(found)}\n{question}").text)

    config = thread(handler())
    flow.invoke(QUESTION, config)
    flow.invoke(Command(resume="yes"), config)


@shape(
    "a step that failed after the human's word",
    Expected(answer=None, status="failed", contexts=((CALM, None), (HEAL, None))),
)
def fails_when_resumed(handler: Any) -> None:
    def breaks(state: Any) -> Any:
        raise ConnectionError("no model")

    graph, config = line(retrieve, ask, breaks), thread(handler())
    graph.invoke({"question": QUESTION}, config)
    try:
        graph.invoke(Command(resume="cats"), config)
    except ConnectionError:
        return
    raise AssertionError("it did not fail")


@shape("the next question after one that stopped has it as history",
       Expected(), Expected(question="And why else?", history=((QUESTION, ANSWER, (CALM, HEAL)),)))  # fmt: skip
def asked_after_it(handler: Any) -> None:
    asks = iter([True, True, False])

    def may_ask(state: Any) -> Any:
        return ask(state) if next(asks) else {}

    graph, config = line(retrieve, may_ask, generate), thread(handler())
    graph.invoke({"question": QUESTION}, config)
    graph.invoke(Command(resume="cats"), config)
    graph.invoke({"question": "And why else?"}, config)


def breakpoint_in(nodes: tuple[Any, ...], before: str) -> Any:
    """A graph with a breakpoint before one of its nodes."""
    builder = StateGraph(State)
    names = [node.__name__ for node in nodes]
    for name, node in zip(names, nodes, strict=True):
        builder.add_node(name, node)
    for above, below in zip((START, *names), (*names, END), strict=True):
        builder.add_edge(above, below)
    return builder.compile(checkpointer=InMemorySaver(), interrupt_before=[before])


def correct(state: Any) -> Any:
    return {"answer": "They are calm."}


@shape("a breakpoint before the answer, and on from there", Expected())
def breakpoint_before_the_answer(handler: Any) -> None:
    graph, config = breakpoint_in((retrieve, generate), "generate"), thread(handler())
    graph.invoke({"question": QUESTION}, config)
    graph.invoke(None, config)


@shape("a draft at a breakpoint, and what a node makes of it", Expected(answer="They are calm."), since="1.4")
def draft_at_a_breakpoint(handler: Any) -> None:
    graph, config = breakpoint_in((retrieve, generate, correct), "correct"), thread(handler())
    graph.invoke({"question": QUESTION}, config)
    graph.invoke(None, config)


@shape("documents that a human edits at a breakpoint", Expected(contexts=((HEAL, True),)))
def documents_edited_at_a_breakpoint(handler: Any) -> None:
    graph, config = breakpoint_in((retrieve, generate), "generate"), thread(handler())
    graph.invoke({"question": QUESTION}, config)
    graph.update_state(config, {"documents": [DOCUMENTS[1]]})
    graph.invoke(None, config)


def copy_first(state: Any) -> Any:
    """Answers by code alone: no prompt tells what it was given."""
    return {"answer": state["documents"][0].page_content}


def wait(state: Any) -> Any:
    return {}


def edited_before(graph: Any, config: Any, documents: list[Document], **how: Any) -> None:
    graph.invoke({"question": QUESTION}, config)
    graph.update_state(config, {"documents": documents}, **how)
    graph.invoke(None, config)


BY_CODE = Expected(answer=HEAL, contexts=((HEAL, None),))


@shape("documents that a human edits, an answer by code", BY_CODE)
def edited_for_code(handler: Any) -> None:
    edited_before(breakpoint_in((retrieve, copy_first), "copy_first"), thread(handler()), [DOCUMENTS[1]])


@shape("documents that a human edits in a node's name, an answer by code", BY_CODE)
def edited_as_node(handler: Any) -> None:
    graph = breakpoint_in((retrieve, copy_first), "copy_first")
    edited_before(graph, thread(handler()), [DOCUMENTS[1]], as_node="retrieve")


ADDED = ((CALM, None), (HEAL, None), ("Dogs bark.", None))


@shape("documents that a human adds, an answer by code", Expected(answer=CALM, contexts=ADDED))
def added_for_code(handler: Any) -> None:
    graph = breakpoint_in((retrieve, copy_first), "copy_first")
    edited_before(graph, thread(handler()), [*DOCUMENTS, Document("Dogs bark.")])


# an older langgraph does not say that a graph without a retriever stopped
@shape("documents that only a human gives, an answer by code", BY_CODE, since="1.8")
def human_documents_for_code(handler: Any) -> None:
    edited_before(breakpoint_in((wait, copy_first), "copy_first"), thread(handler()), [DOCUMENTS[1]])


@shape("a breakpoint at which nothing is edited, an answer by code", Expected(answer=CALM, contexts=ADDED[:2]))
def not_edited_for_code(handler: Any) -> None:
    graph, config = breakpoint_in((retrieve, copy_first), "copy_first"), thread(handler())
    graph.invoke({"question": QUESTION}, config)
    graph.invoke(None, config)


@shape("a chain around a graph that stops", Expected())
def chain_around_it(handler: Any) -> None:
    chain = line(retrieve, ask, generate) | RunnableLambda(lambda state: state.get("answer", "It waits."))
    config = thread(handler())
    chain.invoke({"question": QUESTION}, config)
    chain.invoke(Command(resume="cats"), config)


@shape("input and output schemas: neither holds all", Expected())
def schemas(handler: Any) -> None:
    class QuestionState(TypedDict):
        question: str

    class AnswerState(TypedDict):
        answer: str

    builder = StateGraph(State, input_schema=QuestionState, output_schema=AnswerState)
    for node in (retrieve, ask, generate):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "retrieve")
    builder.add_edge("retrieve", "ask")
    builder.add_edge("ask", "generate")
    builder.add_edge("generate", END)
    graph, config = builder.compile(checkpointer=InMemorySaver()), thread(handler())
    graph.invoke({"question": QUESTION}, config)
    graph.invoke(Command(resume="cats"), config)


@shape("two tool calls of one message, each of which waits for approval", Expected())
def two_approvals(handler: Any) -> None:
    @tool
    def look(query: str) -> str:
        """Looks it up."""
        interrupt(f"May I look for {query}?")
        return joined(Shelf().invoke(query))

    agent: Any = create_agent(model(call("a", "b", name="look"), ANSWER), [look], checkpointer=InMemorySaver())
    config = thread(handler())
    asked = agent.invoke({"messages": [("user", QUESTION)]}, config)["__interrupt__"]
    agent.invoke(Command(resume={one.id: "yes" for one in asked}), config)


@shape("branches that stop side by side, resumed one after the other", Expected())
def branches_stop(handler: Any) -> None:
    class Branches(TypedDict, total=False):
        question: str
        documents: Annotated[list[Document], operator.add]
        notes: Annotated[list[str], operator.add]
        answer: str

    builder = StateGraph(Branches)
    for n in (0, 1):
        found = Shelf(documents=(DOCUMENTS[n],))
        builder.add_node(f"find{n}", lambda state, found=found: {"documents": found.invoke("cats")})
        builder.add_node(f"ask{n}", lambda state, n=n: {"notes": [interrupt(f"Is source {n} right?")]})
        builder.add_edge(START, f"find{n}")
        builder.add_edge(f"find{n}", f"ask{n}")
        builder.add_edge(f"ask{n}", "generate")
    builder.add_node("generate", generate, defer=True)
    builder.add_edge("generate", END)
    graph, config = builder.compile(checkpointer=InMemorySaver()), thread(handler())
    config["max_concurrency"] = 1
    for one in graph.invoke({"question": QUESTION}, config)["__interrupt__"]:
        graph.invoke(Command(resume={one.id: "yes"}), config)
