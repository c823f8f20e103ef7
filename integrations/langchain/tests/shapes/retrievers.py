"""Retrievers made of retrievers, and what chooses among what they found."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from langchain_classic.retrievers import (
    ContextualCompressionRetriever,
    EnsembleRetriever,
    MergerRetriever,
    MultiQueryRetriever,
    ParentDocumentRetriever,
    RePhraseQueryRetriever,
    TimeWeightedVectorStoreRetriever,
)
from langchain_classic.retrievers.document_compressors import DocumentCompressorPipeline, LLMChainExtractor
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.runnables import RunnableLambda
from langchain_core.stores import InMemoryStore
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import CharacterTextSplitter

from integrations.langchain.tests.shapes.base import BARK, CALM, HEAL, QUESTION, Expected, Group, on
from integrations.langchain.tests.shapes.parts import DOCUMENTS, OTHER, Shelf, model, rag

shape = Group("Retrievers and rerankers")


class ByLength(BaseDocumentCompressor):
    """A reranker: the shortest documents first, with a score."""

    keep: int = 1

    def compress_documents(self, documents: Sequence[Document], query: str, callbacks: Any = None) -> list[Document]:
        ranked = sorted(documents, key=lambda document: len(document.page_content))
        return [
            Document(id=document.id, page_content=document.page_content, metadata={"relevance_score": 1 / (n + 1)})
            for n, document in enumerate(ranked[: self.keep])
        ]


class Graded(InMemoryVectorStore):
    """A store whose similarities are relevances."""

    def _select_relevance_score_fn(self) -> Any:
        return lambda similarity: similarity


def store(*documents: Document) -> InMemoryVectorStore:
    made = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    made.add_documents(list(documents))
    return made


@shape("a vector store's retriever", Expected(contexts=((CALM, True),)))
def vector_store(handler: Any) -> None:
    rag(store(DOCUMENTS[0]).as_retriever()).invoke(QUESTION, on(handler()))


@shape("a vector store searched in a function of the application's own: it is not seen",
       Expected(contexts=None, no_context="no retriever run was seen"))  # fmt: skip
def similarity_search(handler: Any) -> None:
    one = store(DOCUMENTS[0])
    rag(RunnableLambda(lambda question: one.similarity_search(question)[0].page_content)).invoke(
        QUESTION, on(handler())
    )


@shape("`MultiQueryRetriever`: its own model calls are no answers", Expected())
def multi_query(handler: Any) -> None:
    retriever = MultiQueryRetriever.from_llm(Shelf(), model("first wording?\nsecond wording?"))
    rag(retriever).invoke(QUESTION, on(handler()))


@shape("`RePhraseQueryRetriever`", Expected())
def rephrase_query(handler: Any) -> None:
    rag(RePhraseQueryRetriever.from_llm(Shelf(), model("cats purr"))).invoke(QUESTION, on(handler()))


@shape("`EnsembleRetriever`: the outer result, once", Expected(contexts=((HEAL, True), (CALM, True), (BARK, True))))
def ensemble(handler: Any) -> None:
    # reciprocal rank: HEAL 1/62 + 1/61, CALM 1/61, BARK 1/62, each halved
    others = Shelf(documents=(DOCUMENTS[1], OTHER))
    rag(EnsembleRetriever(retrievers=[Shelf(), others], weights=[0.5, 0.5])).invoke(QUESTION, on(handler()))


@shape("an ensemble inside a merger", Expected())
def nested_retrievers(handler: Any) -> None:
    inner = EnsembleRetriever(retrievers=[Shelf()], weights=[1.0])
    rag(MergerRetriever(retrievers=[inner, Shelf()])).invoke(QUESTION, on(handler()))


@shape(
    "`ContextualCompressionRetriever` that rewrites: what it made", Expected(contexts=(("calm", True), ("heal", True)))
)
def contextual_compression(handler: Any) -> None:
    extract = LLMChainExtractor.from_llm(model("calm", "heal"))
    retriever = ContextualCompressionRetriever(base_retriever=Shelf(), base_compressor=extract)
    rag(retriever).invoke(QUESTION, on(handler()))


@shape("a reranking compressor: its choice, in its order", Expected(contexts=((BARK, True), (HEAL, True))))
def reranking_compressor(handler: Any) -> None:
    base = Shelf(documents=(*DOCUMENTS, OTHER))
    retriever = ContextualCompressionRetriever(base_retriever=base, base_compressor=ByLength(keep=2))
    rag(retriever).invoke(QUESTION, on(handler()))


@shape("a pipeline of compressors", Expected(contexts=((HEAL, True),)))
def compressor_pipeline(handler: Any) -> None:
    pipeline = DocumentCompressorPipeline(transformers=[ByLength(keep=2), ByLength(keep=1)])
    rag(ContextualCompressionRetriever(base_retriever=Shelf(), base_compressor=pipeline)).invoke(
        QUESTION, on(handler())
    )


@shape("a reranker called in a function, after the retriever", Expected(contexts=((BARK, True),)))
def reranker_in_a_function(handler: Any) -> None:
    found = Shelf(documents=(*DOCUMENTS, OTHER))
    rag(found | (lambda documents: ByLength().compress_documents(documents, QUESTION))).invoke(QUESTION, on(handler()))


@shape(
    "`ParentDocumentRetriever`: the parent, not the piece that was found",
    Expected(contexts=((f"{CALM}\n\n{HEAL}", True),)),
)
def parent_document(handler: Any) -> None:
    retriever = ParentDocumentRetriever(
        vectorstore=store(),
        docstore=InMemoryStore(),
        child_splitter=CharacterTextSplitter(chunk_size=30, chunk_overlap=0),
    )
    retriever.add_documents([Document(f"{CALM}\n\n{HEAL}")])
    # a prompt that shows the text itself: the representation of a document has \n in place of new lines
    rag(retriever | (lambda found: found[0].page_content)).invoke(QUESTION, on(handler()))


@shape("`TimeWeightedVectorStoreRetriever`", Expected(contexts=((CALM, True),)))
def time_weighted(handler: Any) -> None:
    retriever = TimeWeightedVectorStoreRetriever(vectorstore=Graded(DeterministicFakeEmbedding(size=8)), k=1)
    retriever.add_documents([DOCUMENTS[0]], current_time=datetime(2026, 1, 1))
    rag(retriever).invoke(QUESTION, on(handler()))
