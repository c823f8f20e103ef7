"""Applications as the frameworks' documentation builds them, in our words: with fake models and stores in memory."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from langchain.agents import create_agent
from langchain_classic.retrievers import EnsembleRetriever
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda, RunnablePassthrough, chain
from langchain_core.tools import create_retriever_tool, tool
from langchain_core.vectorstores import InMemoryVectorStore
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Send

from integrations.langchain.tests.shapes.base import ANSWER, BARK, CALM, HEAL, QUESTION, Expected, Group, on
from integrations.langchain.tests.shapes.graphs import line
from integrations.langchain.tests.shapes.parts import DOCUMENTS, OTHER, PROMPT, Shelf, call, joined, model, rag

shape = Group("As documented")

WEB = "A purr is a sound of the larynx."


class Corrective(TypedDict, total=False):
    """The state of the tutorials on corrective, adaptive and self-reflective RAG."""

    question: str
    generation: str
    web_search: str
    documents: list[Document]


def retrieve(state: Any) -> Any:
    return {"documents": Shelf(documents=(OTHER, *DOCUMENTS)).invoke(state["question"]), "question": state["question"]}


def grade_documents(state: Any) -> Any:
    grader = model("no", "yes", "yes")
    kept = [d for d in state["documents"] if grader.invoke(f"Relevant? {d.page_content}").text == "yes"]
    return {"documents": kept, "web_search": "Yes"}


def web_search(state: Any) -> Any:
    return {"documents": [*state.get("documents", ()), Document(page_content=WEB)]}


def write(key: str, text: str = ANSWER) -> Any:
    def generate(state: Any) -> Any:
        asked = PROMPT.invoke({"context": joined(state["documents"]), "question": state["question"]})
        return {key: (model(text) | StrOutputParser()).invoke(asked)}

    return generate


@shape("adaptive RAG from the store: graded, answered under `generation`, the answer checked by a model",
       Expected())  # fmt: skip
def adaptive_store(handler: Any) -> None:
    def check(state: Any) -> Any:
        return {"web_search": model("yes").invoke(f"Grounded? {state['generation']}").text}

    graph = line(Corrective, retrieve, grade_documents, write("generation"), check)
    graph.invoke({"question": QUESTION}, on(handler()))


@shape("adaptive RAG from the web: documents made by hand", Expected(contexts=((WEB, True),)))
def adaptive_web(handler: Any) -> None:
    line(Corrective, web_search, write("generation")).invoke({"question": QUESTION}, on(handler()))


@shape("corrective RAG: graded, the question rewritten for the web, its result added",
       Expected(contexts=((CALM, True), (HEAL, True), (WEB, True))))  # fmt: skip
def corrective(handler: Any) -> None:
    def transform_query(state: Any) -> Any:
        return {"web_search": model("purring cats reasons").invoke(state["question"]).text}

    graph = line(Corrective, retrieve, grade_documents, transform_query, web_search, write("generation"))
    graph.invoke({"question": QUESTION}, on(handler()))


def any_key(**keys: Any) -> Any:
    return TypedDict("Own", {"question": str, "documents": list[Document], **keys}, total=False)


@shape("an answer under a key of one's own: the text of the last model call", Expected())
def own_answer_key(handler: Any) -> None:
    def search(state: Any) -> Any:
        return {"documents": list(Shelf().invoke(state["question"]))}

    line(any_key(what_we_say=str), search, write("what_we_say")).invoke({"question": QUESTION}, on(handler()))


@shape("the same, where a model outlined it first under another key", Expected(answer=ANSWER))
def outlined(handler: Any) -> None:
    def search(state: Any) -> Any:
        return {"documents": list(Shelf().invoke(state["question"]))}

    def outline(state: Any) -> Any:
        return {"outline": model("First calm, then hurt.").invoke(state["question"]).text}

    graph = line(any_key(what_we_say=str, outline=str), search, outline, write("what_we_say"))
    graph.invoke({"question": QUESTION}, on(handler()))


@shape("the same, put into a frame by a function", Expected(answer=f"{ANSWER}\n\nSources: d1, d2"))
def framed(handler: Any) -> None:
    def search(state: Any) -> Any:
        return {"documents": list(Shelf().invoke(state["question"]))}

    def frame(state: Any) -> Any:
        return {"what_we_say": f"{state['what_we_say']}\n\nSources: d1, d2"}

    graph = line(any_key(what_we_say=str), search, write("what_we_say"), frame)
    graph.invoke({"question": QUESTION}, on(handler()))


@shape("two keys fit, a draft and a check's one word: nothing is guessed, and the log says which rule would help")
def two_keys_fit(handler: Any) -> None:
    def search(state: Any) -> Any:
        return {"documents": list(Shelf().invoke(state["question"]))}

    def check(state: Any) -> Any:
        return {"verdict": model("grounded").invoke(state["draft"]).text}

    graph = line(any_key(draft=str, verdict=str), search, write("draft"), check)
    graph.invoke({"question": QUESTION}, on(handler()))


class Summaries(TypedDict, total=False):
    contents: list[str]
    summaries: Annotated[list[str], operator.add]
    final_summary: str


@shape("map-reduce summary with `Send`: nobody asked anything, so there is no exchange")
def map_reduce_summary(handler: Any) -> None:
    def summarise(state: Any) -> Any:
        return {"summaries": [model(f"Short: {state['content']}").invoke(state["content"]).text]}

    def collect(state: Any) -> Any:
        return {"final_summary": model("Cats purr, dogs bark.").invoke("\n".join(state["summaries"])).text}

    builder = StateGraph(Summaries)
    builder.add_node("summarise", summarise)
    builder.add_node("collect", collect)
    builder.add_conditional_edges(
        START, lambda state: [Send("summarise", {"content": text}) for text in state["contents"]], ["summarise"]
    )
    builder.add_edge("summarise", "collect")
    builder.add_edge("collect", END)
    builder.compile().invoke({"contents": [CALM, BARK]}, on(handler()))


@shape("agentic RAG with a rewrite: what was graded away is not what was answered from",
       Expected(contexts=((CALM, True), (HEAL, True))))  # fmt: skip
def agentic_rewrite(handler: Any) -> None:
    finds = iter([Shelf(documents=(OTHER,)), Shelf()])

    @chain
    def shelf(query: str) -> Any:
        return next(finds).invoke(query)

    search = create_retriever_tool(shelf, "search", "finds documents")
    says = model(call("animals"), "no", "Why do cats make a purring sound?", call("cats"), "yes", ANSWER)

    def decide(state: Any) -> Any:
        return {"messages": [says.invoke(state["messages"])]}

    def look(state: Any) -> Any:
        asked = state["messages"][-1].tool_calls[0]
        return {"messages": [search.invoke({**asked, "type": "tool_call"})]}

    def grade(state: Any) -> str:
        return "generate" if says.invoke(f"Relevant? {state['messages'][-1].content}").text == "yes" else "rewrite"

    def rewrite(state: Any) -> Any:
        return {"messages": [HumanMessage(says.invoke(f"Say it better: {state['messages'][0].content}").text)]}

    def generate(state: Any) -> Any:
        asked = PROMPT.invoke({"context": state["messages"][-1].content, "question": state["messages"][0].content})
        return {"messages": [says.invoke(asked)]}

    builder = StateGraph(MessagesState)
    for node in (decide, look, rewrite, generate):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "decide")
    builder.add_edge("decide", "look")
    builder.add_conditional_edges("look", grade, ["rewrite", "generate"])
    builder.add_edge("rewrite", "decide")
    builder.add_edge("generate", END)
    builder.compile().invoke({"messages": [("user", QUESTION)]}, on(handler()))


def store() -> InMemoryVectorStore:
    made = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    made.add_documents([Document(id="d1", page_content=CALM)])
    return made


@shape("a `@chain` that puts scores into the metadata and returns a tuple", Expected(contexts=((CALM, True),)))
def scores_in_metadata(handler: Any) -> None:
    vectors = store()

    @chain
    def retriever(query: str) -> Any:
        documents, scores = zip(*vectors.similarity_search_with_score(query), strict=True)
        for document, score in zip(documents, scores, strict=True):
            document.metadata["score"] = score
        return documents

    source = {"context": retriever | joined, "question": RunnablePassthrough()}
    (source | PROMPT | model() | StrOutputParser()).invoke(QUESTION, on(handler()))


@shape("`similarity_search_with_score` in a function: pairs of document and score", Expected(contexts=((CALM, True),)))
def scored_pairs(handler: Any) -> None:
    def find(query: str) -> Any:
        return store().similarity_search_with_score(query)

    source = {"context": RunnableLambda(find) | (lambda pairs: pairs[0][0].page_content), "question": lambda x: x}
    (source | PROMPT | model() | StrOutputParser()).invoke(QUESTION, on(handler()))


def fused(results: list[list[Document]]) -> list[tuple[Document, float]]:
    """Reciprocal ranks, added up."""
    points: dict[str, float] = {}
    known = {document.page_content: document for documents in results for document in documents}
    for documents in results:
        for rank, document in enumerate(documents):
            points[document.page_content] = points.get(document.page_content, 0.0) + 1 / (60 + rank)
    return [(known[text], score) for text, score in sorted(points.items(), key=lambda item: -item[1])]


def fusion(cut: int | None) -> Any:
    found = iter([Shelf(documents=(OTHER, DOCUMENTS[0])), Shelf(documents=(DOCUMENTS[0], DOCUMENTS[1]))])

    @chain
    def search(query: str) -> Any:
        return next(found).invoke(query)

    def best(pairs: Any) -> Any:
        return pairs[:cut]

    queries = RunnableLambda(lambda question: [question, f"{question} cats"])
    context = queries | search.map() | fused | RunnableLambda(best)
    text = context | (lambda pairs: joined([document for document, _ in pairs]))
    return {"context": text, "question": RunnablePassthrough()} | PROMPT | model() | StrOutputParser()


@shape("RAG-Fusion: the order of the fusion", Expected(contexts=((CALM, True), (BARK, True), (HEAL, True))))
def rag_fusion(handler: Any) -> None:
    # CALM: 1/61 + 1/60; BARK: 1/60; HEAL: 1/61
    fusion(None).invoke(QUESTION, on(handler(), max_concurrency=1))


@shape("RAG-Fusion, cut to the best one", Expected(contexts=((CALM, True),)))
def rag_fusion_best(handler: Any) -> None:
    fusion(1).invoke(QUESTION, on(handler(), max_concurrency=1))


@shape("an ensemble, put into another order by the function that makes the text: the order of the ensemble",
       Expected(contexts=((CALM, True), (HEAL, True))))  # fmt: skip
def reordered_in_the_text(handler: Any) -> None:
    ensemble = EnsembleRetriever(retrievers=[Shelf(), Shelf()], weights=[0.5, 0.5])
    rag(ensemble | (lambda documents: joined(documents[::-1]))).invoke(QUESTION, on(handler()))


@shape("a retriever that returns an iterator: it is the chain's to read, the contexts are not known",
       Expected(contexts=None, no_context="what was retrieved came as an iterator, which is the application's to read; "
                "return a list, or record_context"))  # fmt: skip
def iterator(handler: Any) -> None:
    class Lazy(Shelf):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
            return filter(lambda document: "purr" in document.page_content, self.documents)

    rag(Lazy() | joined).invoke(QUESTION, on(handler()))


@shape("the same, where a function makes a list of it", Expected())
def iterator_listed(handler: Any) -> None:
    class Lazy(Shelf):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
            yield from self.documents

    rag(Lazy() | RunnableLambda(list) | joined).invoke(QUESTION, on(handler()))


@dataclass
class Hit:
    """What a search of one's own returns."""

    content: str
    score: float


@shape("dicts with a text and a source, returned by a function", Expected())
def dicts(handler: Any) -> None:
    def find(query: str) -> Any:
        return [{"url": f"https://cats.example/{n}", "content": text} for n, text in enumerate((CALM, HEAL))]

    rag(RunnableLambda(find) | (lambda hits: "\n".join(hit["content"] for hit in hits))).invoke(QUESTION, on(handler()))


@shape("dataclasses with a text and a score, in a state, under a key of one's own", Expected())
def dataclasses_in_state(handler: Any) -> None:
    def search(state: Any) -> Any:
        return {"hits": [Hit(CALM, 0.9), Hit(HEAL, 0.8)]}

    def generate(state: Any) -> Any:
        text = "\n".join(hit.content for hit in state["hits"])
        return {"answer": model().invoke(f"{text}\n{state['question']}").text}

    line(any_key(hits=list[Any], answer=str), search, generate).invoke({"question": QUESTION}, on(handler()))


@shape("an agent whose tools are looked up by a retriever: their descriptions are no passages", Expected())
def tool_lookup(handler: Any) -> None:
    @tool
    def search(query: str) -> str:
        """Finds what is known about cats and their sounds."""
        return joined(Shelf().invoke(query))

    def pick(state: Any) -> Any:
        Shelf(documents=(Document(id="search", page_content=search.description),)).invoke("cats")
        return create_agent(model(call("cats"), ANSWER), [search]).invoke(state)

    line(MessagesState, pick).invoke({"messages": [("user", QUESTION)]}, on(handler()))
