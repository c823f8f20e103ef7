"""What a span of LlamaIndex means to us: told from the class of its object and the name of its method.

Classes are known by the names of their bases, so that llama_index.core need not be imported.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal, TypeVar, cast

from assay.extension import RunKind

ComponentKind = Literal[
    "engine", "workflow", "step", "retriever", "reranker", "synthesizer", "llm", "tool", "writer", "other"
]  # fmt: skip

#: Which methods of which classes matter.
_METHODS: tuple[tuple[str, frozenset[str], ComponentKind], ...] = (
    ("BaseQueryEngine", frozenset({"query", "aquery"}), "engine"),
    ("BaseChatEngine", frozenset({"chat", "achat", "stream_chat", "astream_chat"}), "engine"),
    ("Workflow", frozenset({"run"}), "workflow"),
    ("BaseRetriever", frozenset({"retrieve", "aretrieve"}), "retriever"),
    ("BaseNodePostprocessor", frozenset({"_postprocess_nodes", "_apostprocess_nodes"}), "reranker"),
    ("BaseSynthesizer", frozenset({"synthesize", "asynthesize"}), "synthesizer"),
    *(
        (
            model,
            frozenset(
                prefix + name for name in ("chat", "complete", "stream_chat", "stream_complete") for prefix in ("", "a")
            ),
            "llm",
        )
        for model in ("BaseLLM", "MultiModalLLM")
    ),
    ("BaseTool", frozenset({"__call__", "call", "acall"}), "tool"),
    ("StreamingAgentChatResponse", frozenset({"write_response_to_history", "awrite_response_to_history"}), "writer"),
)

_RUN_KINDS: dict[ComponentKind, RunKind] = {
    "engine": "chain",
    "workflow": "agent",
    "step": "chain",
    "retriever": "retriever",
    "reranker": "reranker",
    "synthesizer": "chain",
    "llm": "llm",
    "tool": "tool",
    "writer": "other",
    "other": "other",
}

_PACKAGES = ("llama_index.", "workflows.")

UUID_LENGTH = 37  # of the "-" and the UUID at the end of a span id


def name_of(span_id: str) -> str:
    """The name in a span's id: `RetrieverQueryEngine.query`."""
    return span_id[:-UUID_LENGTH]


CallableT = TypeVar("CallableT", bound=Callable[..., Any])


def cache_by_class(function: CallableT) -> CallableT:
    """A function that says something of a class, asked once for each: hooks ask the same of few, over and over."""
    return cast(CallableT, lru_cache(maxsize=4096)(function))


@cache_by_class
def kind_of(cls: type, name: str) -> ComponentKind:
    """What the span of this name means, of a method of an object of this class."""
    method = name.rpartition(".")[2]
    bases = _bases(cls)
    return next((kind for base, methods, kind in _METHODS if base in bases and method in methods), "other")


def run_kind(kind: ComponentKind) -> RunKind:
    """The kind of the run that stands for a span of this kind."""
    return _RUN_KINDS[kind]


def has_base(value: Any, *names: str) -> bool:
    """Is this an instance of a class of LlamaIndex of one of these names?"""
    return not _bases(type(value)).isdisjoint(names)


def derives(cls: type, *names: str) -> bool:
    """Is this a class of LlamaIndex of one of these names, or derived from one?"""
    return not _bases(cls).isdisjoint(names)


@cache_by_class
def _bases(cls: type) -> frozenset[str]:
    return frozenset(base.__name__ for base in cls.__mro__ if base.__module__.startswith(_PACKAGES))
