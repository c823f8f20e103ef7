"""Scripted models, a retriever and post-processors for real LlamaIndex components, and an intake that keeps samples.

Importable without pytest: the shapes in `shapes.py` are built from these.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import ToolSelection
from pydantic import Field

from assay.live import Health
from assay.records import Sample, ScoredSample

QUESTION = "Why do cats purr?"
TOKENS = ["Cats ", "purr ", "when ", "calm."]
ANSWER = "".join(TOKENS)
NODES = (
    TextNode(id_="n1", text="Cats purr when calm.", metadata={"page": 3}),
    TextNode(id_="n2", text="Cats also purr to heal.", metadata={"source": "cats.txt"}),
)
PASSAGES = tuple(node.get_content() for node in NODES)


class FakeLLM(CustomLLM):
    """Says its tokens, whatever is asked; `fail_after` that many it breaks. Answers `replies` first, if given."""

    tokens: list[str] = TOKENS
    replies: list[str] = Field(default_factory=list)
    fail_after: int | None = None
    window: int = 3900

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="fake", context_window=self.window)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        if self.fail_after is not None:
            raise ConnectionError("the secret is sk-123")
        return CompletionResponse(text=self.replies.pop(0) if self.replies else "".join(self.tokens))

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Iterator[CompletionResponse]:
        def generate() -> Iterator[CompletionResponse]:
            text = ""
            for number, token in enumerate([self.replies.pop(0)] if self.replies else self.tokens):
                if number == self.fail_after:
                    raise ConnectionError("the secret is sk-123")
                text += token
                yield CompletionResponse(text=text, delta=token)

        return generate()


class Caller(FunctionCallingLLM):
    """Says what `say` makes of the messages: a text, or tool calls as pairs of name and arguments."""

    say: Callable[[list[ChatMessage]], str | list[tuple[str, dict[str, Any]]]]

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="caller", is_chat_model=True, is_function_calling_model=True)

    def _reply(self, messages: Sequence[ChatMessage]) -> ChatResponse:
        said = self.say(list(messages))
        text, calls = (said, []) if isinstance(said, str) else ("", said)
        selections = [
            ToolSelection(tool_id=f"call{number}", tool_name=name, tool_kwargs=arguments)
            for number, (name, arguments) in enumerate(calls)
        ]
        message = ChatMessage(role="assistant", content=text, additional_kwargs={"calls": selections})
        return ChatResponse(message=message, delta=text)

    def _prepare_chat_with_tools(
        self, tools: Any, user_msg: Any = None, chat_history: Any = None, *args: Any, **kwargs: Any
    ) -> dict[str, Any]:
        messages = list(chat_history or [])
        if user_msg is not None:
            messages.append(ChatMessage(role="user", content=user_msg) if isinstance(user_msg, str) else user_msg)
        return {"messages": messages}

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        return list(response.message.additional_kwargs.get("calls", []))

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return self._reply(messages)

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return self._reply(messages)

    @llm_chat_callback()
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Iterator[ChatResponse]:
        def generate() -> Iterator[ChatResponse]:
            yield self._reply(messages)

        return generate()

    @llm_chat_callback()
    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> AsyncIterator[ChatResponse]:
        async def generate() -> AsyncIterator[ChatResponse]:
            yield self._reply(messages)

        return generate()

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self._reply([ChatMessage(role="user", content=prompt)]).message.content or "")

    @llm_completion_callback()
    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self._reply([ChatMessage(role="user", content=prompt)]).message.content or "")

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError


class Shelf(BaseRetriever):
    """Returns its nodes, whatever is asked."""

    def __init__(self, *nodes: Any, scores: tuple[float, ...] = (0.9, 0.8, 0.7, 0.6)) -> None:
        self._nodes = nodes or NODES
        self._scores = scores
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=node, score=score) for node, score in zip(self._nodes, self._scores, strict=False)]


class Nothing(BaseRetriever):
    """Finds nothing."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return []


class Last(BaseNodePostprocessor):
    """Keeps the last node only."""

    def _postprocess_nodes(self, nodes: Any, query_bundle: Any = None) -> list[NodeWithScore]:
        return [nodes[-1]]


def engine(
    retriever: BaseRetriever | None = None,
    llm: Any = None,
    streaming: bool = False,
    mode: str = "compact",
    **options: Any,
) -> RetrieverQueryEngine:
    """A query engine over a shelf."""
    synthesizer = get_response_synthesizer(llm or FakeLLM(), response_mode=mode, streaming=streaming)
    return RetrieverQueryEngine(retriever or Shelf(), synthesizer, **options)


class Kept(list[Sample]):
    """An intake that keeps the samples it is handed, and counts errors; it scores nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: Counter[str] = Counter()
        self.where: list[str] = []
        self._lock = threading.Lock()

    def submit(self, sample: Any) -> bool:
        made = sample if isinstance(sample, Sample) else sample()
        if made is not None:
            self.append(made)
        return True

    def count_error(self, error: BaseException, where: str) -> None:
        with self._lock:
            self.errors[type(error).__name__] += 1
            self.where.append(where)

    def flush(self, timeout: float | None = None) -> bool:
        return True

    def result(self, key: str, timeout: float | None = 0) -> ScoredSample | None:
        return None

    def feedback(self, key: str, value: Any, comment: str | None = None) -> bool:
        return False

    def health(self) -> Health:
        return Health(submitted=len(self), errors=dict(self.errors))

    def close(self, timeout: float | None = 30) -> Health:
        return self.health()


def settled(open_now: Callable[[], int], seconds: float = 20) -> bool:
    """Wait for the threads in which LlamaIndex writes chat streams to the history."""
    until = time.monotonic() + seconds
    while open_now() and time.monotonic() < until:
        time.sleep(0.001)
    return not open_now()
