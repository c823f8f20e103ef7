"""Real LangChain components around fake models, for tests of what tracers and SDKs write of them."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough
from langchain_core.tools import BaseTool, tool

QUESTION = "Do cats purr?"
ANSWER = "Cats purr when calm."
DOCUMENTS = (
    Document(id="d1", page_content="Cats purr when they are calm.", metadata={"page": 3, "tags": ["cat"]}),
    Document(id="d2", page_content="Cats also purr to heal.", metadata={"source": "cats.txt"}),
)
PASSAGES = tuple(document.page_content for document in DOCUMENTS)


class Shelf(BaseRetriever):
    """Returns its documents, whatever is asked."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return list(DOCUMENTS)


class Broken(BaseRetriever):
    """Fails, with a message that must not be kept."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        raise ConnectionError("no index for Ada Lovelace")


class FakeModel(GenericFakeChatModel):
    """A chat model that says what it is told, and takes tools."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self


def model(*messages: str | AIMessage) -> FakeModel:
    said = [message if isinstance(message, AIMessage) else AIMessage(message) for message in messages or (ANSWER,) * 9]
    return FakeModel(messages=iter(said))


def rag(retriever: BaseRetriever | None = None) -> Runnable[Any, Any]:
    """Retriever, prompt, model and parser in a row; the documents' texts stand in the prompt."""
    prompt = ChatPromptTemplate.from_template("Answer from:\n{context}\n\nQuestion: {question}")

    def joined(documents: list[Document]) -> str:
        return "\n".join(document.page_content for document in documents)

    source: Any = {"context": (retriever or Shelf()) | joined, "question": RunnablePassthrough()}
    return source | prompt | model() | StrOutputParser()


def agent() -> Any:
    """An agent that looks once into the shelf, by a tool that attaches what it found."""
    from langchain.agents import create_agent

    call = {"name": "look_up", "args": {"query": "purring"}, "id": "call-1", "type": "tool_call"}
    return create_agent(model(AIMessage("", tool_calls=[call]), ANSWER), [_look_up()])


def _look_up() -> BaseTool:
    @tool(response_format="content_and_artifact")
    def look_up(query: str) -> tuple[str, list[Document]]:
        """Look into the shelf."""
        found = Shelf().invoke(query)
        return "\n".join(document.page_content for document in found), found

    return look_up
