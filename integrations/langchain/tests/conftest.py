"""Real LangChain components around fake models, and a handler that keeps what it captured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from assay_langchain import AssayCallbackHandler
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough

from assay.judges.scripted import ScriptedJudge
from assay.records import Sample, ScoredSample
from assay.sinks import MemorySink

ANSWER = "Cats purr when calm."
DOCUMENTS = (
    Document(id="d1", page_content="Cats purr when they are calm.", metadata={"page": 3, "tags": ["cat"]}),
    Document(id="d2", page_content="Cats also purr to heal.", metadata={"source": "cats.txt"}),
)


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


def model(*texts: str | AIMessage) -> FakeModel:
    messages = [text if isinstance(text, AIMessage) else AIMessage(text) for text in texts or (ANSWER,) * 50]
    return FakeModel(messages=iter(messages))


def rag(retriever: Runnable[Any, Any] | None = None, llm: Any = None) -> Runnable[Any, Any]:
    """The LCEL chain of the documentation."""
    prompt = ChatPromptTemplate.from_template("Answer from:\n{context}\n\nQuestion: {question}")
    source = {"context": retriever or Shelf(), "question": RunnablePassthrough()}
    return source | prompt | (llm or model()) | StrOutputParser()


class Captured:
    """A handler, and what it delivered."""

    def __init__(self, **options: Any) -> None:
        self.sink = MemorySink()
        judge = options.pop("judge", None) or ScriptedJudge(support=lambda claim, passage: "supported")
        self.handler = AssayCallbackHandler(options.pop("metrics", "faithfulness"), judge, sinks=[self.sink], **options)
        self.config: Any = {"callbacks": [self.handler]}

    @property
    def scored(self) -> list[ScoredSample]:
        assert self.handler.flush(20)
        return self.sink.written

    @property
    def samples(self) -> list[Sample]:
        return [scored.sample for scored in self.scored]

    @property
    def sample(self) -> Sample:
        samples = self.samples
        assert len(samples) == 1, samples
        return samples[0]


@pytest.fixture
def captured() -> Iterator[Callable[..., Captured]]:
    made: list[Captured] = []

    def make(**options: Any) -> Captured:
        made.append(Captured(**options))
        return made[-1]

    yield make
    for one in made:
        one.handler.close(5)


@pytest.fixture
def kit() -> SimpleNamespace:
    """The parts above: tests under importlib cannot import them."""
    return SimpleNamespace(Shelf=Shelf, Broken=Broken, DOCUMENTS=DOCUMENTS, model=model, rag=rag)
