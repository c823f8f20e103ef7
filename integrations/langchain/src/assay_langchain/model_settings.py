"""What a chat model is, read from its fields, and how to ask it without retries of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel

from assay.extension import ModelSettings

#: Fields that change how a model is asked, and not what it answers.
_APART = frozenset(
    {
        *("callbacks", "tags", "metadata", "verbose", "cache", "name", "rate_limiter", "profile"),
        *("max_retries", "request_timeout", "timeout", "default_request_timeout", "stream_chunk_timeout"),
        *("streaming", "stream_usage", "disable_streaming", "output_version", "http_socket_options"),
        *("custom_get_token_ids", "include_response_headers", "tiktoken_model_name", "openai_api_base", "base_url"),
    }
)
_NAMES = ("model_name", "model", "deployment_name")


def read(model: BaseChatModel) -> ModelSettings:
    """The settings of a chat model of any provider."""
    declared = type(model).model_fields
    fields = {name: getattr(model, name, None) for name in declared}
    profile = fields.get("profile")
    address = _address(model)
    return ModelSettings.of(
        model,
        next((str(fields[name]) for name in _NAMES if fields.get(name)), "model"),
        fields,
        lambda name: name in _APART or bool(declared[name].exclude),  # clients are excluded fields
        address=address,
        window=profile.get("max_input_tokens") if isinstance(profile, Mapping) else None,
        enforces=urlsplit(address or "").hostname == "api.openai.com",
    )


def sees(model: BaseChatModel) -> bool:
    """Whether a model reads images by its profile; where that says nothing of them, whether `openai` sends them."""
    profile = getattr(model, "profile", None)
    said = profile.get("image_inputs") if isinstance(profile, Mapping) else None
    return said if isinstance(said, bool) else hasattr(getattr(model, "root_client", None), "with_options")


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


def _address(model: BaseChatModel) -> str | None:
    """Where its requests go, as far as its fields tell."""
    root = getattr(model, "root_client", None)
    for found in (getattr(root, "base_url", None), getattr(model, "base_url", None)):
        if found is not None:
            return str(found)
    return None
