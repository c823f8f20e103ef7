"""OpenAI-compatible providers by name: their address, the variable of their key, and what they document.

    resolve_judge("groq:llama-3.3-70b-versatile")       # with the key of GROQ_API_KEY
    resolve_judge("ollama:qwen3")                       # a server on this machine, without a key

`assay judge check NAME` finds out what an endpoint does; this table has what its documentation says.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from assay.errors import InputError

if TYPE_CHECKING:
    from assay.judges.llm.openai import OpenAIJudge


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider.

    Attributes:
        address: Address of its API up to the version; None: AZURE_OPENAI_ENDPOINT names it.
        variable: Variable with the key.
        needs_key: Whether it answers nobody without a key.
        structured: What enforces a schema there: "json_schema", "json_object" (any JSON), or "model": depends on it.
        logprobs: Whether label probabilities come back; "model": depends on the model.
        caching: "automatic": a prompt that begins like an earlier one costs less; "marked": where the request marks it;
            "local": the server keeps it, at no price; "none"; "model": depends on the model.
        private: Whether texts stay on your machine, where the server runs there.
    """

    address: str | None
    variable: str
    needs_key: bool = True
    structured: Literal["json_schema", "json_object", "model"] = "json_schema"
    logprobs: bool | Literal["model"] = False
    caching: Literal["automatic", "marked", "local", "none", "model"] = "none"
    private: bool = False


PROVIDERS: Mapping[str, Provider] = {
    "azure": Provider(None, "AZURE_OPENAI_API_KEY", logprobs="model", caching="automatic"),
    "mistral": Provider("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "groq": Provider("https://api.groq.com/openai/v1", "GROQ_API_KEY", structured="model", caching="model"),
    "openrouter": Provider(
        "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", structured="model", logprobs="model", caching="model"
    ),
    "together": Provider("https://api.together.xyz/v1", "TOGETHER_API_KEY", structured="model", logprobs=True),
    "deepseek": Provider(
        "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", structured="json_object", logprobs=True, caching="automatic"
    ),
    "ollama": Provider("http://127.0.0.1:11434/v1", "OLLAMA_API_KEY", needs_key=False, caching="local", private=True),
    "vllm": Provider(
        "http://127.0.0.1:8000/v1", "VLLM_API_KEY", needs_key=False, logprobs=True, caching="local", private=True
    ),
    "lmstudio": Provider(
        "http://127.0.0.1:1234/v1", "LMSTUDIO_API_KEY", needs_key=False, caching="local", private=True
    ),
}

#: Version of Azure's API where OPENAI_API_VERSION does not say another: the first with JSON schemas that is stable.
AZURE_VERSION = "2024-10-21"


def provider_judge(name: str, model: str, **options: Any) -> OpenAIJudge:
    """Make the judge of a provider in the table.

    The key of the environment goes to the provider's own address alone: with `base_url` pass `api_key`, too.

    Args:
        name: Name of the provider.
        model: The model, as the provider calls it; at Azure the deployment.
        **options: Arguments of `OpenAIJudge`.

    Returns:
        The judge.

    Raises:
        InputError: A key or an address is missing, or an option is wrong.
    """
    from assay.judges.llm.openai import OpenAIJudge

    provider = PROVIDERS[name]
    if options.get("client") is not None:
        return OpenAIJudge(model, **options)
    own = options.get("base_url") is None
    if options.get("api_key") is None:
        options["api_key"] = _key_of(name, provider, own)
    if name == "azure":
        return OpenAIJudge(model, **_azure(options))
    return OpenAIJudge(model, **{**options, "base_url": options.get("base_url") or provider.address})


def _key_of(name: str, provider: Provider, own: bool) -> str:
    key = os.environ.get(provider.variable) if own else None
    if not key and own and provider.needs_key:
        raise InputError(f"{name}: no key: set {provider.variable}, or pass api_key=... (--api-key-env)")
    return key or "none"


def _azure(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with Azure's address and version, from the environment where they are not given."""
    endpoint = options.get("azure_endpoint") or options.get("base_url") or os.environ.get("AZURE_OPENAI_ENDPOINT")
    if not endpoint:
        raise InputError("azure: no address: set AZURE_OPENAI_ENDPOINT, or pass azure_endpoint=... (--base-url)")
    version = options.get("api_version") or os.environ.get("OPENAI_API_VERSION") or AZURE_VERSION
    return {**options, "base_url": None, "azure_endpoint": endpoint, "api_version": version}
