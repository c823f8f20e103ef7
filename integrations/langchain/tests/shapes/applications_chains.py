"""Chains as LangChain's how-to guides, cookbooks and templates write them; `right.CHAINS` says what is right."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_classic.chains import HypotheticalDocumentEmbedder, RetrievalQAWithSourcesChain
from langchain_classic.retrievers import ContextualCompressionRetriever, EnsembleRetriever
from langchain_classic.retrievers.self_query.base import SelfQueryRetriever
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate
from langchain_core.runnables import RunnableBranch, RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_core.structured_query import Comparator, Comparison, StructuredQuery, Visitor
from langchain_core.vectorstores import InMemoryVectorStore
from pydantic import BaseModel

from integrations.langchain.tests.shapes import right
from integrations.langchain.tests.shapes.applications_agents import structure
from integrations.langchain.tests.shapes.base import ANSWER, QUESTION, Written, on
from integrations.langchain.tests.shapes.parts import DOCUMENTS, OTHER, PROMPT, Shelf, joined, model, rag
from integrations.langchain.tests.shapes.retrievers import ByLength
from integrations.langchain.tests.shapes.streams import settled

shape = Written("Applications: chains", right.CHAINS)


@shape.application
def step_back(handler: Any) -> None:
    wider = ChatPromptTemplate.from_template("Ask more generally: {question}") | model("What do animals do?")
    prompt = ChatPromptTemplate.from_template("{normal_context}\n\n{step_back_context}\n\nQuestion: {question}")
    both = {
        "normal_context": RunnableLambda(lambda x: x["question"]) | Shelf(),
        "step_back_context": wider | StrOutputParser() | Shelf(documents=(OTHER,)),
        "question": lambda x: x["question"],
    }
    (both | prompt | model() | StrOutputParser()).invoke({"question": QUESTION}, on(handler(), max_concurrency=1))


@shape.application
def hypothetical_document(handler: Any) -> None:
    base = DeterministicFakeEmbedding(size=8)
    embeddings = HypotheticalDocumentEmbedder.from_llm(
        model(ANSWER), base, custom_prompt=PromptTemplate.from_template("Write a passage: {question}")
    )
    made = InMemoryVectorStore(embeddings)
    made.add_documents([DOCUMENTS[0]])
    rag(made.as_retriever()).invoke(QUESTION, on(handler()))


class Filters(Visitor):
    """A structured query in the words of the store in memory."""

    def visit_operation(self, operation: Any) -> Any:
        raise NotImplementedError

    def visit_comparison(self, comparison: Comparison) -> Any:
        return lambda document: document.metadata.get(comparison.attribute) == comparison.value

    def visit_structured_query(self, structured_query: StructuredQuery) -> tuple[str, dict[str, Any]]:
        assert structured_query.filter is not None
        return structured_query.query, {"filter": structured_query.filter.accept(self)}


@shape.application
def self_query(handler: Any) -> None:
    made = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    made.add_documents([*DOCUMENTS, OTHER])

    def parsed(said: str) -> StructuredQuery:
        query, source = said.split("|")
        return StructuredQuery(
            query=query, filter=Comparison(comparator=Comparator.EQ, attribute="source", value=source)
        )

    ask = ChatPromptTemplate.from_template("Make a query of: {query}") | model("purr|cats.txt") | StrOutputParser()
    retriever = SelfQueryRetriever(
        vectorstore=made, query_constructor=ask | parsed, structured_query_translator=Filters()
    )
    rag(retriever).invoke(QUESTION, on(handler()))


@shape.application
def decomposition(handler: Any) -> None:
    divide = ChatPromptTemplate.from_template("Divide: {question}") | model("When?\nWhy?") | StrOutputParser()
    shelves = [Shelf(documents=(document,)) for document in DOCUMENTS]
    says = model("At ease.", "To mend.", ANSWER)

    def answer(asked: dict[str, str]) -> str:
        pairs = []
        for question, shelf in zip(divide.invoke(asked).splitlines(), shelves, strict=True):
            found = joined(shelf.invoke(question))
            said = (PROMPT | says | StrOutputParser()).invoke({"context": found, "question": question})
            pairs.append(f"Question: {question}\nAnswer: {said}")
        last = {"context": "\n\n".join(pairs), "question": asked["question"]}
        return (PROMPT | says | StrOutputParser()).invoke(last)

    RunnableLambda(answer).invoke({"question": QUESTION}, on(handler()))


class CitedAnswer(BaseModel):
    """An answer, and the numbers of its sources."""

    answer: str
    citations: list[int]


@shape.application
def cited_answer(handler: Any) -> None:
    def numbered(x: dict[str, Any]) -> str:
        return "\n\n".join(f"Source {n}: {document.page_content}" for n, document in enumerate(x["context"]))

    says = model(structure(CitedAnswer, answer=ANSWER, citations=[0])).with_structured_output(CitedAnswer)
    reply = RunnablePassthrough.assign(context=numbered) | PROMPT | says
    chain = RunnablePassthrough.assign(context=RunnableLambda(lambda x: x["question"]) | Shelf()).assign(answer=reply)
    done = chain.invoke({"question": QUESTION}, on(handler()))
    assert done["answer"].citations == [0]


@shape.application
def conversation_template(handler: Any) -> None:
    condense = ChatPromptTemplate.from_template("{chat_history}\nAlone: {question}") | model("What makes cats purr?")
    search = RunnableBranch(
        (lambda x: bool(x.get("chat_history")), condense | StrOutputParser()),
        lambda x: x["question"],
    )
    inputs = RunnableParallel(
        question=lambda x: x["question"],
        chat_history=lambda x: [said for pair in x["chat_history"] for said in (("human", pair[0]), ("ai", pair[1]))],
        context=search | Shelf() | joined,
    )
    prompt = ChatPromptTemplate.from_messages(
        [("system", "Answer from:\n{context}"), MessagesPlaceholder("chat_history"), ("human", "{question}")]
    )
    chain = inputs | prompt | model() | StrOutputParser()
    chain.invoke({"question": QUESTION, "chat_history": [("Hello?", "Hi.")]}, on(handler()))


@shape.application
def streamed_with_sources(handler: Any) -> None:
    one = handler()
    found = RunnableParallel(context=Shelf(), question=RunnablePassthrough())
    chain = found.assign(answer=PROMPT | model() | StrOutputParser())

    async def read() -> None:
        assert [piece async for piece in chain.astream(QUESTION, on(one)) if "answer" in piece]

    pieces = [piece["answer"] for piece in chain.stream(QUESTION, on(one)) if "answer" in piece]
    assert len(pieces) > 1
    assert "".join(pieces) == ANSWER
    asyncio.run(read())


@shape.application
def answer_with_sources(handler: Any) -> None:
    shelf = Shelf(documents=tuple(Document(id=d.id, page_content=d.page_content, metadata={"source": d.id})
                                  for d in DOCUMENTS))  # fmt: skip
    chain = RetrievalQAWithSourcesChain.from_chain_type(model(f"{ANSWER}SOURCES: d1"), retriever=shelf)
    assert chain.invoke({"question": QUESTION}, on(handler()))["sources"] == "d1"


@shape.application
def service(handler: Any) -> None:
    one = handler()
    chain = rag()

    async def endpoint(number: int, read: int | None = None) -> str:
        said = ""
        pieces = chain.astream(f"{QUESTION} ({number})", on(one, metadata={"request": number}))
        try:
            async for piece in pieces:
                said += piece
                if read is not None and (read := read - 1) == 0:
                    break
        finally:
            await pieces.aclose()  # type: ignore[attr-defined]
        return said

    async def serve() -> None:
        said = await asyncio.gather(endpoint(0), endpoint(1), endpoint(2, read=2))
        assert said[:2] == [ANSWER, ANSWER] != said[2:] * 2
        await settled()

    asyncio.run(serve())


@shape.application
def hybrid_reranked(handler: Any) -> None:
    both = EnsembleRetriever(retrievers=[Shelf(), Shelf(documents=(OTHER,))], weights=[0.5, 0.5])
    rag(ContextualCompressionRetriever(base_retriever=both, base_compressor=ByLength(keep=2))).invoke(
        QUESTION, on(handler())
    )
