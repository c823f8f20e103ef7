"""Real LangChain components around fake models."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough

from integrations.langchain.tests.shapes.base import ANSWER, BARK, CALM, HEAL

DOCUMENTS = (
    Document(id="d1", page_content=CALM, metadata={"page": 3, "tags": ["cat"]}),
    Document(id="d2", page_content=HEAL, metadata={"source": "cats.txt"}),
)
OTHER = Document(id="d3", page_content=BARK)

PROMPT = ChatPromptTemplate.from_template("Answer from:\n{context}\n\nQuestion: {question}")


class Shelf(BaseRetriever):
    """Returns its documents, whatever is asked."""

    documents: tuple[Document, ...] = DOCUMENTS

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return list(self.documents)


class Broken(BaseRetriever):
    """Fails."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        raise ConnectionError("no index")


class FakeModel(GenericFakeChatModel):
    """A chat model that says what it is told, word by word when it streams, and takes tools."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        said = next(self.messages)
        if isinstance(said, AIMessage) and said.tool_calls:
            yield ChatGenerationChunk(message=AIMessageChunk("", tool_calls=said.tool_calls))
        else:
            again = GenericFakeChatModel(messages=iter([said]))
            yield from again._stream(messages, stop, run_manager, **kwargs)

    def get_num_tokens(self, text: str) -> int:
        return len(text.split())


def model(*says: str | AIMessage) -> FakeModel:
    """A model that gives these answers, one after another; ANSWER fifty times where none are given."""
    messages = [said if isinstance(said, AIMessage) else AIMessage(said) for said in says or (ANSWER,) * 50]
    return FakeModel(messages=iter(messages))


def broken_model() -> FakeModel:
    """A model that fails."""
    return FakeModel(messages=iter(_fail()))


def _fail() -> Any:
    raise ConnectionError("no model")
    yield


def call(*queries: str, name: str = "search") -> AIMessage:
    """A message in which the model calls a tool, once for each query."""
    calls = [{"name": name, "args": {"query": query}, "id": f"{name}-{query}"} for query in queries]
    return AIMessage("", tool_calls=calls)


def rag(retriever: Runnable[Any, Any] | None = None, llm: Any = None, prompt: Any = PROMPT) -> Runnable[Any, Any]:
    """The LCEL chain of the documentation."""
    source = {"context": retriever or Shelf(), "question": RunnablePassthrough()}
    return source | prompt | (llm or model()) | StrOutputParser()


def joined(documents: Any) -> str:
    """Documents as one text."""
    return "\n\n".join(document.page_content for document in documents)
