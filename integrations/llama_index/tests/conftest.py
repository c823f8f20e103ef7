"""Real LlamaIndex components around a scripted model, and a capture that keeps what it delivers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from assay_llama_index.handler import AssayEventHandler, AssaySpanHandler, Capture
from assay_llama_index.instrumentation import CHAT_STREAMS
from llama_index.core import Settings
from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.llms import CustomLLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index_instrumentation import get_dispatcher
from pydantic import Field

from assay.judges.scripted import ScriptedJudge
from assay.records import Sample

QUESTION = "Why do cats purr?"
TOKENS = ["Cats ", "purr ", "when ", "calm."]
ANSWER = "".join(TOKENS)
NODES = (
    TextNode(id_="n1", text="Cats purr when calm.", metadata={"page": 3}),
    TextNode(id_="n2", text="Cats also purr to heal.", metadata={"source": "cats.txt"}),
)
PASSAGES = [node.get_content() for node in NODES]


class FakeLLM(CustomLLM):
    """Says its tokens, whatever is asked; `fail_after` that many it breaks. Answers `replies` first, if given."""

    tokens: list[str] = TOKENS
    replies: list[str] = Field(default_factory=list)
    fail_after: int | None = None

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="fake")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        if self.fail_after is not None:
            raise ConnectionError("the secret is sk-123")
        return CompletionResponse(text=self.replies.pop(0) if self.replies else "".join(self.tokens))

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Iterator[CompletionResponse]:
        def generate() -> Iterator[CompletionResponse]:
            text = ""
            for number, token in enumerate(self.tokens):
                if number == self.fail_after:
                    raise ConnectionError("the secret is sk-123")
                text += token
                yield CompletionResponse(text=text, delta=token)

        return generate()


class Shelf(BaseRetriever):
    """Returns its nodes, whatever is asked."""

    def __init__(self, *nodes: TextNode, scores: tuple[float, ...] = (0.9, 0.8, 0.7)) -> None:
        self._nodes = nodes or NODES
        self._scores = scores
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=node, score=score) for node, score in zip(self._nodes, self._scores, strict=False)]


class Last(BaseNodePostprocessor):
    """Keeps the last node only."""

    def _postprocess_nodes(self, nodes: Any, query_bundle: Any = None) -> list[NodeWithScore]:
        return [nodes[-1]]


def engine(
    retriever: BaseRetriever | None = None, llm: FakeLLM | None = None, streaming: bool = False, **options: Any
) -> RetrieverQueryEngine:
    llm = llm or FakeLLM()
    synthesizer = get_response_synthesizer(llm, streaming=streaming)
    return RetrieverQueryEngine(retriever or Shelf(), synthesizer, **options)


@pytest.fixture(autouse=True)
def default_llm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some engines make helpers that take the default model."""
    monkeypatch.setattr(Settings, "_llm", FakeLLM())


@pytest.fixture
def kit() -> ModuleType:
    """This module: its classes, for tests that build shapes of their own."""
    return sys.modules[__name__]


class Heard(list[Sample]):
    """The samples captured so far, and the capture behind them."""

    capture: Capture

    def idle(self) -> bool:
        return len(self.capture.open) == 0 and self.capture.open.spans == 0

    @property
    def errors(self) -> dict[str, int]:
        return dict(self.capture.faults.counts)

    @property
    def one(self) -> Sample:
        assert len(self) == 1, self
        assert self.idle()
        assert not self.errors
        return self[0]


@pytest.fixture
def heard() -> Iterator[Heard]:
    """What an attached capture delivers."""
    heard = Heard()
    heard.capture = Capture(heard.append)
    spans, events = get_dispatcher(), get_dispatcher(CHAT_STREAMS)
    before = spans.span_handlers, events.event_handlers
    spans.span_handlers = [*before[0], AssaySpanHandler(heard.capture)]
    events.event_handlers = [*before[1], AssayEventHandler(heard.capture)]
    yield heard
    spans.span_handlers, events.event_handlers = before


@pytest.fixture
def judge() -> ScriptedJudge:
    """Reads literally: a passage supports a claim that it contains, and the quote is the claim."""

    def support(claim: str, passage: str) -> str:
        return claim if claim in passage else "not_mentioned"

    return ScriptedJudge(support=support, usefulness=lambda question, passage: "calm" in passage)
