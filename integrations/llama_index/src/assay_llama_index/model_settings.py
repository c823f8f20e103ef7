"""What of an LLM's fields makes its answers, which of them are secret, and how to ask it without retries of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from llama_index.core.base.llms.base import BaseLLM
from pydantic import SecretStr

WINDOW = 32_000  # tokens: what is assumed of a model, as of any other judge; less where its metadata say so

#: Fields that change how a model is asked, and not what it answers.
_APART = frozenset(
    {
        *("callback_manager", "rate_limiter", "output_parser", "pydantic_program_mode", "reuse_client"),
        *("max_retries", "timeout", "request_timeout", "default_headers", "headers", "verbose", "class_name"),
        *("is_function_calling_model", "is_chat_model", "streaming", "strict"),
    }
)
_SECRET = ("api_key", "apikey", "secret", "password", "credential", "access_key")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What `LlamaIndexJudge` has to know of an LLM.

    parameters  all fields that can change an answer, without secrets
    window      tokens that it reads at most, where that is less than usual
    most        tokens that it writes at most, where it was told so
    enforces    its API is known to hold replies to a JSON schema
    tempers     it has a temperature
    """

    name: str
    parameters: Mapping[str, Any]
    secrets: tuple[str, ...]
    window: int | None
    most: int | None
    enforces: bool
    tempers: bool


def read(llm: BaseLLM) -> ModelSettings:
    """The settings of an LLM of any provider."""
    fields = {name: getattr(llm, name, None) for name in type(llm).model_fields}
    parameters = {name: plain(value) for name, value in fields.items() if _counts(name, value)}
    parameters["class"] = f"{type(llm).__module__}.{type(llm).__qualname__}"
    known: Any = None
    with contextlib.suppress(Exception):  # of a model that its package does not know
        known = llm.metadata
    window = getattr(known, "context_window", None)
    return ModelSettings(
        name=_name(known, fields),
        parameters=parameters,
        secrets=tuple(_secrets(fields)),
        window=window if isinstance(window, int) and 1000 <= window < WINDOW else None,
        most=_most(fields),
        enforces=_at_openai(llm, fields),
        tempers="temperature" in fields,
    )


def plain(value: Any) -> Any:
    """A parameter as JSON, the same in every process. Of functions and objects it is where they are from."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items() if not _is_secret(str(key))}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    origin = value if isinstance(value, Callable) and hasattr(value, "__qualname__") else type(value)  # type: ignore[arg-type]
    return f"{origin.__module__}.{origin.__qualname__}"


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


def _name(known: Any, fields: Mapping[str, Any]) -> str:
    names = (fields.get("model"), fields.get("model_name"), getattr(known, "model_name", None))
    return next((name for name in names if isinstance(name, str) and name), "model")


def _most(fields: Mapping[str, Any]) -> int | None:
    for name in ("max_tokens", "max_output_tokens", "max_completion_tokens", "num_predict", "max_new_tokens"):
        value = fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


def _counts(name: str, value: Any) -> bool:
    """Whether a field can change an answer and may be shown."""
    return not (name in _APART or isinstance(value, SecretStr) or _is_secret(name))


def _secrets(fields: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    for name, value in fields.items():
        if isinstance(value, SecretStr):
            found.append(value.get_secret_value())
        elif isinstance(value, str) and _is_secret(name):
            found.append(value)
        elif isinstance(value, Mapping) and "header" in name:
            found += [str(item).removeprefix("Bearer ") for item in value.values()]
    return found


def _at_openai(llm: BaseLLM, fields: Mapping[str, Any]) -> bool:
    """Whether this is OpenAI's chat endpoint itself, asked through LlamaIndex' class for it."""
    bases = {f"{base.__module__}.{base.__qualname__}" for base in type(llm).__mro__}
    return (
        "llama_index.llms.openai.base.OpenAI" in bases
        and urlsplit(str(fields.get("api_base") or "")).hostname == "api.openai.com"
    )


def _is_secret(name: str) -> bool:
    lowered = name.lower()
    return lowered.endswith("token") or any(word in lowered for word in _SECRET)
