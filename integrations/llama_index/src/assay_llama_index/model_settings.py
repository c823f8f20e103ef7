"""What an LLM is, read from its fields, and how to ask it without retries of its own."""

from __future__ import annotations

import contextlib
from typing import Any
from urllib.parse import urlsplit

from llama_index.core.base.llms.base import BaseLLM

from assay.extension import ModelSettings

#: Fields that change how a model is asked, and not what it answers.
_APART = frozenset(
    {
        *("callback_manager", "rate_limiter", "output_parser", "pydantic_program_mode", "reuse_client"),
        *("max_retries", "timeout", "request_timeout", "default_headers", "headers", "verbose", "class_name"),
        *("is_function_calling_model", "is_chat_model", "streaming", "strict"),
    }
)


def read(llm: BaseLLM) -> ModelSettings:
    """The settings of an LLM of any provider."""
    fields = {name: getattr(llm, name, None) for name in type(llm).model_fields}
    known: Any = None
    with contextlib.suppress(Exception):  # of a model that its package does not know
        known = llm.metadata
    names = (fields.get("model"), fields.get("model_name"), getattr(known, "model_name", None))
    address = fields.get("api_base")
    return ModelSettings.of(
        llm,
        next((name for name in names if isinstance(name, str) and name), "model"),
        fields,
        _APART.__contains__,
        address=None if address is None else str(address),
        window=getattr(known, "context_window", None),
        enforces=is_openai(llm) and urlsplit(str(address or "")).hostname == "api.openai.com",
    )


def without_retries(llm: BaseLLM) -> BaseLLM:
    """A copy that tries once.

    An LLM with a field `max_retries` has 0 there, and a client that it holds and that can be told so (those of OpenAI
    and Anthropic) is replaced by one that shares its connections, keys and proxies. Others keep what they have: their
    attempts are seen as one call.
    """
    change = {"max_retries": 0} if "max_retries" in type(llm).model_fields else {}
    twin = llm.model_copy(update=change)
    held = dict(getattr(twin, "__pydantic_private__", None) or {})
    for name, client in held.items():
        if hasattr(client, "max_retries") and callable(getattr(client, "with_options", None)):
            held[name] = client.with_options(max_retries=0)
    if held:
        object.__setattr__(twin, "__pydantic_private__", held)
    return twin


def make_client(llm: BaseLLM) -> None:
    """Have an LLM make its client now that it keeps from its first call on, so that replies can be counted."""
    make = getattr(llm, "_get_client", None)
    if getattr(llm, "reuse_client", False) and callable(make):
        with contextlib.suppress(Exception):  # without a key, for one: the first call says so
            make()


def is_openai(llm: BaseLLM) -> bool:
    """Whether this is LlamaIndex' class for OpenAI's chat endpoint, or made from it."""
    bases = {f"{base.__module__}.{base.__qualname__}" for base in type(llm).__mro__}
    return "llama_index.llms.openai.base.OpenAI" in bases
