"""Any provider that the library any-llm knows, by its name: `any-llm:cohere:command-r` (extra `any-llm`).

any-llm calls the provider's own package, which it names where it is missing. It fetches nothing at import, and its
traces are sent nowhere unless an application sets up OpenTelemetry.
"""

from __future__ import annotations

from typing import Any

from assay._util.install_hints import install_extra, install_package
from assay.errors import InputError, MissingExtra
from assay.judges.llm.chat import reply_of
from assay.judges.llm.framework import FrameworkJudge, ModelCall
from assay.judges.llm.judge import Reply


class AnyLlmJudge(FrameworkJudge):
    """LLM judge over the library any-llm.

    Args:
        model: PROVIDER:MODEL, as any-llm calls them.
        api_key: The key. None: the variable that any-llm reads for the provider, and no key for another `base_url`.
        base_url: Address of the endpoint. None: the provider's own.
        **options: Arguments of `FrameworkJudge`.

    Raises:
        InputError: any-llm knows no such provider, a key is missing, or an option is wrong.
        MissingExtra: any-llm, or the package that it needs for this provider, is not installed.
    """

    def __init__(self, model: str, *, api_key: str | None = None, base_url: str | None = None, **options: Any) -> None:
        provider, colon, name = model.partition(":")
        if not (provider and colon and name):
            raise InputError(f"any-llm: expected PROVIDER:MODEL, such as 'any-llm:cohere:command-r', got {model!r}")
        if options.pop("embedding_model", None) is not None:
            raise InputError("embedding_model: does not go with any-llm")
        if base_url is not None and api_key is None:
            api_key = "none"  # a key of the environment is the provider's, and goes to no other address
        self._client = _client(provider, api_key, base_url)
        self._name = name
        self._temperature: float | None = 0.0
        super().__init__(
            "any-llm",
            model,
            {"base_url": base_url, "temperature": 0.0},
            secrets=[] if api_key is None else [api_key],
            enforces=True,
            tempers=True,
            **options,
        )

    @property
    def name(self) -> str:
        """How messages call it."""
        return self._title

    def call(self, ask: ModelCall) -> Reply:
        try:
            return self._completed(ask)
        except Exception as error:
            if self._temperature is None or "temperature" not in str(error).lower():
                raise
        self._temperature = None  # the model takes none: asked once more, and never again with one
        return self._completed(ask)

    def _completed(self, ask: ModelCall) -> Reply:
        options: dict[str, Any] = {}
        if ask.schema is not None:
            named = {"name": "reply", "strict": True, "schema": ask.schema}
            options["response_format"] = {"type": "json_schema", "json_schema": named}
        temperature = self._temperature if ask.temperature is None else ask.temperature
        if temperature is not None and self._temperature is not None:
            options["temperature"] = temperature
        if self.max_output_tokens is not None:
            options["max_tokens"] = self.max_output_tokens
        try:
            found = self._client.completion(self._name, [dict(message) for message in ask.messages], **options)
        except Exception as error:  # any-llm's own classes have no status and no headers; what they stand for has
            original = getattr(error, "original_exception", None)
            raise (original if isinstance(original, Exception) else error) from None
        return reply_of(found.model_dump(mode="json"), self).reply


def _client(provider: str, api_key: str | None, base_url: str | None) -> Any:
    """any-llm's object for a provider, which retries nothing itself where it can be told so."""
    try:
        from any_llm import AnyLLM
        from any_llm.exceptions import AnyLLMError, UnsupportedParameterError
    except ImportError as error:
        raise MissingExtra(f"any-llm judges need any-llm-sdk: {install_extra('any-llm')}") from error
    try:
        try:
            return AnyLLM.create(provider, api_key, base_url, unified_exceptions=True, max_retries=0)
        except UnsupportedParameterError:
            return AnyLLM.create(provider, api_key, base_url, unified_exceptions=True)
    except ImportError as error:
        raise MissingExtra(f"any-llm:{provider}: {install_package(f'any-llm-sdk[{provider}]')} ({error})") from error
    except AnyLLMError as error:
        raise InputError(f"any-llm: {error}") from error
