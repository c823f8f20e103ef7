"""The application that the pages attach to, with LangChain: a reader's own stands in its place."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough

question = "Why do cats purr?"
ANSWER = "Cats purr when they are calm. They learnt it in 1902."


class Shelf(BaseRetriever):
    """Two passages on cats."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [Document("Cats purr when they are calm."), Document("Cats also purr when they are hurt.")]


class Index:
    """A search of the reader's own."""

    def search(self, query: str) -> list[str]:
        return ["Cats purr when they are calm."]


retriever = Shelf()
my_index = Index()
pool = ThreadPoolExecutor(1)
prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
model = FakeListChatModel(responses=[ANSWER])
chain: Runnable[str, str] = (
    {"context": retriever, "question": RunnablePassthrough()} | prompt | model | StrOutputParser()
)
rag_chain = chain


def reply(question: str) -> dict[str, Any]:
    """The answer with what a guard needs to judge it."""
    found = retriever.invoke(question)
    return {"question": question, "contexts": [one.page_content for one in found], "answer": chain.invoke(question)}


chain_with_contexts: Runnable[str, dict[str, Any]] = RunnableLambda(reply)
