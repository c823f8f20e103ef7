"""Graphs as LangGraph's documentation and templates write them; `right.GRAPHS` says what is right."""

from __future__ import annotations

import operator
import sqlite3
from typing import Annotated, Any, TypedDict

from langchain_core.documents import Document
from langchain_core.messages import AnyMessage, HumanMessage, RemoveMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_store
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.store.memory import InMemoryStore
from langgraph.types import Send
from pydantic import BaseModel

from integrations.langchain.tests.shapes import right
from integrations.langchain.tests.shapes.applications_agents import structure
from integrations.langchain.tests.shapes.base import ANSWER, QUESTION, Written, on
from integrations.langchain.tests.shapes.graphs import State, line
from integrations.langchain.tests.shapes.parts import DOCUMENTS, OTHER, PROMPT, Shelf, joined, model

shape = Written("Applications: graphs", right.GRAPHS)


class Grade(BaseModel):
    """Yes or no."""

    binary_score: str


def grader(*grades: str) -> Any:
    return model(*(structure(Grade, binary_score=grade) for grade in grades)).with_structured_output(Grade)


class SelfRagState(TypedDict, total=False):
    """The state of self-RAG."""

    question: str
    documents: list[Document]
    generation: str


@shape.application
def self_rag(handler: Any) -> None:
    shelves = iter((Shelf(documents=(OTHER,)), Shelf()))
    relevant, grounded, useful = grader("no", "yes", "yes"), grader("no", "yes"), grader("yes")
    says, rewrites = model("Cats purr at the moon.", ANSWER), model("What is the reason for which cats purr?")

    def retrieve(state: Any) -> Any:
        return {"documents": next(shelves).invoke(state["question"])}

    def grade_documents(state: Any) -> Any:
        def kept(document: Document) -> bool:
            return bool(relevant.invoke(f"{state['question']} {document.page_content}").binary_score == "yes")

        return {"documents": list(filter(kept, state["documents"]))}

    def transform_query(state: Any) -> Any:
        return {"question": rewrites.invoke(f"Reword: {state['question']}").text}

    def generate(state: Any) -> Any:
        asked = {"context": joined(state["documents"]), "question": state["question"]}
        return {"generation": says.invoke(PROMPT.invoke(asked)).text}

    def any_left(state: Any) -> str:
        return "generate" if state["documents"] else "transform_query"

    def good(state: Any) -> str:
        if grounded.invoke(f"{joined(state['documents'])} {state['generation']}").binary_score == "no":
            return "again"
        return str(useful.invoke(f"{state['question']} {state['generation']}").binary_score)

    builder = StateGraph(SelfRagState)
    for node in (retrieve, grade_documents, transform_query, generate):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "retrieve")
    builder.add_edge("retrieve", "grade_documents")
    builder.add_conditional_edges("grade_documents", any_left, ["generate", "transform_query"])
    builder.add_edge("transform_query", "retrieve")
    builder.add_conditional_edges("generate", good, {"again": "generate", "no": "transform_query", "yes": END})
    builder.compile().invoke({"question": QUESTION}, on(handler(), recursion_limit=50))


class Section(BaseModel):
    """A part of the report."""

    name: str


class Sections(BaseModel):
    """The parts of the report."""

    sections: list[Section]


class ReportState(TypedDict, total=False):
    """The state of the orchestrator."""

    topic: str
    sections: list[Section]
    completed_sections: Annotated[list[str], operator.add]
    final_report: str


@shape.application
def orchestrator_and_workers(handler: Any) -> None:
    parts = [{"name": "0"}, {"name": "1"}]
    planner = model(structure(Sections, sections=parts)).with_structured_output(Sections)
    writes = model(*right.SECTIONS)

    def orchestrate(state: Any) -> Any:
        planned: Any = planner.invoke(f"Plan a report: {state['topic']}")
        return {"sections": planned.sections}

    def work(state: Any) -> Any:
        found = Shelf(documents=(DOCUMENTS[int(state["section"].name)],)).invoke(state["section"].name)
        return {"completed_sections": [writes.invoke(f"Write a section from:\n{joined(found)}").text]}

    def synthesize(state: Any) -> Any:
        return {"final_report": "\n\n---\n\n".join(state["completed_sections"])}

    builder = StateGraph(ReportState)
    for node in (orchestrate, work, synthesize):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "orchestrate")
    fan_out = lambda state: [Send("work", {"section": section}) for section in state["sections"]]  # noqa: E731
    builder.add_conditional_edges("orchestrate", fan_out, ["work"])
    builder.add_edge("work", "synthesize")
    builder.add_edge("synthesize", END)
    done = builder.compile().invoke({"topic": QUESTION}, on(handler(), max_concurrency=1))
    assert done["final_report"] == right.REPORT


class Feedback(BaseModel):
    """What is to be better."""

    grade: str
    feedback: str


class DraftState(TypedDict, total=False):
    """The state of writer and evaluator."""

    question: str
    documents: list[Document]
    draft: str
    feedback: str
    grade: str


@shape.application
def evaluator_and_optimizer(handler: Any) -> None:
    says = model("Cats purr.", ANSWER)
    verdicts = (structure(Feedback, grade="poor", feedback="Say why."), structure(Feedback, grade="fine", feedback=""))
    evaluator = model(*verdicts).with_structured_output(Feedback)

    def retrieve(state: Any) -> Any:
        return {"documents": Shelf().invoke(state["question"])}

    def write(state: Any) -> Any:
        asked = PROMPT.invoke({"context": joined(state["documents"]), "question": state["question"]})
        return {"draft": says.invoke([*asked.to_messages(), ("human", state.get("feedback", ""))]).text}

    def evaluate(state: Any) -> Any:
        found: Any = evaluator.invoke(f"Grade this: {state['draft']}")
        return {"grade": found.grade, "feedback": found.feedback}

    builder = StateGraph(DraftState)
    for node in (retrieve, write, evaluate):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "retrieve")
    builder.add_edge("retrieve", "write")
    builder.add_edge("write", "evaluate")
    builder.add_conditional_edges("evaluate", lambda state: "write" if state["grade"] == "poor" else END)
    assert builder.compile().invoke({"question": QUESTION}, on(handler()))["draft"] == ANSWER


class SourcesState(TypedDict, total=False):
    """The state of parallel searches."""

    question: str
    context: Annotated[list[str], operator.add]
    answer: AnyMessage


@shape.application
def parallel_sources(handler: Any) -> None:
    def search_web(state: Any) -> Any:
        return {"context": [right.WEB]}

    def search_wiki(state: Any) -> Any:
        return {"context": [right.WIKI]}

    def generate_answer(state: Any) -> Any:
        asked = PROMPT.invoke({"context": "\n".join(state["context"]), "question": state["question"]})
        return {"answer": model().invoke(asked)}

    builder = StateGraph(SourcesState)
    for node in (search_web, search_wiki, generate_answer):
        builder.add_node(node.__name__, node)
    for search in ("search_web", "search_wiki"):
        builder.add_edge(START, search)
        builder.add_edge(search, "generate_answer")
    builder.add_edge("generate_answer", END)
    builder.compile().invoke({"question": QUESTION}, on(handler(), max_concurrency=1))


class SqlState(TypedDict, total=False):
    """The state of a question to a database."""

    question: str
    query: str
    result: str
    answer: str


class Query(BaseModel):
    """SQL."""

    query: str


@shape.application
def sql_chain(handler: Any) -> None:
    writer = model(structure(Query, query="SELECT count(*) FROM cats WHERE purrs")).with_structured_output(Query)
    says = model(right.COUNT)

    @tool
    def sql_db_query(query: str) -> str:
        """Runs a query."""
        database = sqlite3.connect(":memory:")
        database.executescript("CREATE TABLE cats (purrs INTEGER); INSERT INTO cats VALUES (1), (1), (0);")
        return str(database.execute(query).fetchall())

    def write_query(state: Any) -> Any:
        written: Any = writer.invoke(f"Write SQL: {state['question']}")
        return {"query": written.query}

    def execute_query(state: Any) -> Any:
        return {"result": sql_db_query.invoke(state["query"])}

    def generate_answer(state: Any) -> Any:
        return {"answer": says.invoke(f"{state['question']} {state['query']} {state['result']}").text}

    done = line(SqlState, write_query, execute_query, generate_answer).invoke(
        {"question": right.COUNTED}, on(handler())
    )
    assert done["result"] == "[(2,)]"


class KnowingState(State, total=False):
    """What is known of the user, too."""

    memories: list[str]


@shape.application
def remembered_facts(handler: Any) -> None:
    memory = InMemoryStore()
    memory.put(("users", "u1"), "style", {"text": "The user likes short answers."})

    def recall(state: Any) -> Any:
        return {"memories": [item.value["text"] for item in get_store().search(("users", "u1"))]}

    def retrieve(state: Any) -> Any:
        return {"documents": Shelf().invoke(state["question"])}

    def answer(state: Any) -> Any:
        asked = PROMPT.invoke({"context": joined(state["documents"]), "question": state["question"]})
        return {"answer": model().invoke([("system", " ".join(state["memories"])), *asked.to_messages()]).text}

    graph = line(KnowingState, recall, retrieve, answer, store=memory)
    assert graph.invoke({"question": QUESTION}, on(handler()))["memories"] == ["The user likes short answers."]


@shape.application
def deleted_messages(handler: Any) -> None:
    says = model(ANSWER, right.SECOND, right.THIRD)

    def answer(state: Any) -> Any:
        found = joined(Shelf().invoke("cats"))
        return {"messages": [says.invoke([("system", found), *state["messages"]])]}

    def forget(state: Any) -> Any:
        return {"messages": [RemoveMessage(message.id) for message in state["messages"][:-2]]}

    graph = line(MessagesState, answer, forget, checkpointer=InMemorySaver())
    config = on(handler(), configurable={"thread_id": "t"})
    for question in (QUESTION, right.FOLLOW_UP, right.THIRD_QUESTION):
        done = graph.invoke({"messages": [HumanMessage(question)]}, config)
    assert len(done["messages"]) == 2


@shape.application
def time_travel(handler: Any) -> None:
    def retrieve(state: Any) -> Any:
        return {"documents": Shelf().invoke(state["question"])}

    def answer(state: Any) -> Any:
        asked = PROMPT.invoke({"context": joined(state["documents"]), "question": state["question"]})
        return {"answer": model().invoke(asked).text}

    graph = line(State, retrieve, answer, checkpointer=InMemorySaver())
    one = handler()
    config = on(one, configurable={"thread_id": "t"})
    graph.invoke({"question": QUESTION}, config)
    before = next(state for state in graph.get_state_history(config) if state.next == ("answer",))
    # the first releases of LangGraph take the last node for the one that wrote this, where none is named
    fork = graph.update_state(before.config, {"documents": [DOCUMENTS[1]]}, as_node="retrieve")
    assert graph.get_state(fork).next == ("answer",)
    graph.invoke(None, on(one, configurable=fork["configurable"]))


class HybridState(TypedDict, total=False):
    """A state that gathers what several searches found."""

    question: str
    documents: Annotated[list[Document], operator.add]
    reranked: list[Document]
    answer: str


@shape.application
def hybrid_fan_in(handler: Any) -> None:
    def by_words(state: HybridState) -> Any:
        return {"documents": Shelf(documents=(OTHER, DOCUMENTS[0])).invoke(state["question"])}

    def by_meaning(state: HybridState) -> Any:
        return {"documents": Shelf(documents=(DOCUMENTS[1],)).invoke(state["question"])}

    def rerank(state: HybridState) -> Any:
        found = [document for document in state["documents"] if "purr" in document.page_content]
        return {"reranked": sorted(found, key=lambda document: len(document.page_content))}

    def generate(state: HybridState) -> Any:
        asked = PROMPT.invoke({"context": joined(state["reranked"]), "question": state["question"]})
        return {"answer": model().invoke(asked).text}

    builder = StateGraph(HybridState)
    for node in (by_words, by_meaning, rerank, generate):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "by_words")
    builder.add_edge(START, "by_meaning")
    builder.add_edge(["by_words", "by_meaning"], "rerank")
    builder.add_edge("rerank", "generate")
    builder.add_edge("generate", END)
    builder.compile().invoke({"question": QUESTION}, on(handler()))
