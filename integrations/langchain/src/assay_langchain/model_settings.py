"""What a chat model is, read from its fields: its name, what changes its answers, its secrets, its limits."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

WINDOW = 32_000  # tokens: what is assumed of a model, as of any other judge; less where its profile says so

#: Fields that change how a model is asked, and not what it answers.
_APART = frozenset(
    {
        *(
            "callbacks",
            "tags",
            "metadata",
            "verbose",
            "cache",
            "name",
            "rate_limiter",
            "custom_get_token_ids",
            "profile",
        ),
        *("max_retries", "request_timeout", "timeout", "default_request_timeout", "stream_chunk_timeout"),
        *("streaming", "stream_usage", "disable_streaming", "output_version", "http_socket_options"),
        *("custom_get_token_ids", "include_response_headers", "tiktoken_model_name", "openai_api_base", "base_url"),
    }
)
_NAMES = ("model_name", "model", "deployment_name")
_SECRET = ("api_key", "secret", "password", "credential")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What `LangChainJudge` has to know of a model.

    parameters  all fields that can change an answer, without secrets
    window      tokens that it reads at most, where that is less than usual
    most        tokens that it writes at most, where it was told so
    enforces    its API is known to hold replies to a JSON schema
    tempers     it takes a temperature with a call
    """

    name: str
    parameters: Mapping[str, Any]
    secrets: tuple[str, ...]
    window: int | None
    most: int | None
    enforces: bool
    tempers: bool


def read(model: BaseChatModel) -> ModelSettings:
    """The settings of a chat model of any provider."""
    fields = {name: getattr(model, name, None) for name in type(model).model_fields}
    secrets = tuple(value.get_secret_value() for value in fields.values() if isinstance(value, SecretStr))
    parameters = {name: plain(value) for name, value in fields.items() if _counts(model, name, value)}
    parameters["class"] = f"{type(model).__module__}.{type(model).__qualname__}"
    parameters["address"] = _address(model)
    profile = fields.get("profile") or {}
    reads = profile.get("max_input_tokens") if isinstance(profile, Mapping) else None
    return ModelSettings(
        name=next((str(fields[name]) for name in _NAMES if fields.get(name)), "model"),
        parameters=parameters,
        secrets=secrets,
        window=reads if isinstance(reads, int) and 1000 <= reads < WINDOW else None,
        most=_most(fields),
        enforces=_at_openai(model),
        tempers="temperature" in fields,
    )


def plain(value: Any) -> Any:
    """A parameter as JSON: equal parameters look equal in every process. Of objects that are no data, the class."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items() if not _is_secret(str(key))}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        with contextlib.suppress(Exception):
            return plain(dump(mode="json"))
    return f"{type(value).__module__}.{type(value).__qualname__}"


def without_retries(model: BaseChatModel) -> BaseChatModel:
    """A copy that tries once, and tells nobody: no callbacks, no cache.

    Models over an `openai` client get one that shares connections, keys and proxies with theirs. Others with a field
    `max_retries` get 0 there, and make their client anew when they first need it. The rest keep what they have.
    """
    fields = type(model).model_fields
    change: dict[str, Any] = {"callbacks": None, "cache": False, "verbose": False}
    if "max_retries" in fields:
        change["max_retries"] = 0
    twin = model.model_copy(update=change)
    for name in [name for name in vars(twin) if name not in fields and name.endswith("client")]:
        del vars(twin)[name]  # cached properties, made of the old number
    root: Any = getattr(twin, "root_client", None)
    if "root_client" in fields and hasattr(root, "with_options"):
        root = root.with_options(max_retries=0)
        twin.__dict__.update(root_client=root, client=root.chat.completions)
    return twin


def _most(fields: Mapping[str, Any]) -> int | None:
    for name in ("max_tokens", "max_output_tokens", "max_completion_tokens", "num_predict"):
        value = fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


def _counts(model: BaseChatModel, name: str, value: Any) -> bool:
    """Whether a field can change an answer and may be shown: clients are excluded fields, keys are secrets."""
    return not (
        name in _APART or type(model).model_fields[name].exclude or isinstance(value, SecretStr) or _is_secret(name)
    )


def _address(model: BaseChatModel) -> str | None:
    """Where its requests go, as far as its fields tell."""
    root = getattr(model, "root_client", None)
    for found in (getattr(root, "base_url", None), getattr(model, "base_url", None)):
        if found is not None:
            return str(found)
    return None


def _at_openai(model: BaseChatModel) -> bool:
    return urlsplit(_address(model) or "").hostname == "api.openai.com"


def _is_secret(name: str) -> bool:
    lowered = name.lower()
    return lowered.endswith("token") or any(word in lowered for word in _SECRET)
