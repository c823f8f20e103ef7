"""Judges over protocols other than OpenAI's: requests and replies are put into other words, and nothing else differs.

Prompts, retries, budgets and cache keys are those of `OpenAIJudge`. A `Wire` turns the body of a chat call into one of
the protocol, and the reply into a chat completion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from assay.errors import InputError
from assay.judges.http.client import Address, Authorize
from assay.judges.http.endpoint import Body, Endpoint
from assay.judges.http.options import Settings
from assay.judges.llm.capabilities import Dialect
from assay.judges.llm.judge import Request
from assay.judges.llm.openai import OpenAIJudge

#: Characters at the start of the user's message that other requests share; taken out of the body by every wire.
SHARED = "assay_shared"

#: What OpenAI's body has and a wire puts into its own words, or leaves out.
TRANSLATED = frozenset({
    *("messages", "model", "max_tokens", "max_completion_tokens", "response_format", "temperature", "seed"),
    *("logprobs", "top_logprobs", SHARED),
})  # fmt: skip


class Wire(Protocol):
    """One protocol."""

    def path(self, model: str) -> str:
        """The path of a request about this model."""

    def request(self, body: Body) -> Body:
        """The body of a chat call in the words of the protocol. Members that OpenAI does not have stay."""

    def reply(self, body: Any) -> Any:
        """A reply as a chat completion; what is none, unchanged."""

    def status(self, status: int, text: str, headers: Mapping[str, str]) -> int:
        """The HTTP status that an error means, where the protocol sends another."""


class NativeEndpoint(Endpoint):
    """An endpoint that is spoken to through a wire."""

    wire: Wire

    async def _once(self, model: str, path: str, body: Body, reply: int, attempt: int, expected: str) -> Body:
        return await super()._once(model, self.wire.path(model), self.wire.request(body), reply, attempt, expected)

    def _completion(self, body: Any) -> Any:
        return self.wire.reply(body)

    def _trouble(self, model: str, status: int, text: str, headers: Mapping[str, str]) -> Exception:
        return super()._trouble(model, self.wire.status(status, text, headers), text, headers)


class NativeJudge(OpenAIJudge):
    """Base class of judges over another protocol.

    Args:
        model: The model, as the provider calls it.
        wire: The protocol.
        base_url: Address, up to the version.
        api_key: The key; "none" where there is none.
        key_header: Header of the key. None: `Authorization: Bearer`.
        authorize: Makes headers for each request in place of a key.
        constant: Headers of the protocol.
        **options: Arguments of `OpenAIJudge`, without `client`, `azure_endpoint`, `api_version`, `embedding_model`.

    Raises:
        InputError: An option does not go with the protocol, or cannot work.
    """

    #: Options of `OpenAIJudge` that the protocol has no words for.
    without: tuple[str, ...] = ("client", "azure_endpoint", "api_version", "embedding_model")

    def __init__(
        self,
        model: str,
        *,
        wire: Wire,
        base_url: str,
        api_key: str,
        key_header: str | None = None,
        authorize: Authorize | None = None,
        constant: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        for name in self.without:
            if options.pop(name, None) not in (None, False):
                hint = "; for similarity pass similarity=EmbeddedJudge()" if name == "embedding_model" else ""
                raise InputError(f"{name}: does not go with a judge of {self.kind}{hint}")
        if "logprobs" in self.without:
            options["logprobs"] = False
        self._wire = wire
        self._opens = {"key_header": key_header, "authorize": authorize}
        self._constant = tuple((constant or {}).items())
        super().__init__(model, base_url=base_url, api_key=api_key, **options)

    def _reach(self, address: Address, settings: Settings, client: Any) -> Endpoint:
        headers = (*self._constant, *address.headers)
        endpoint = NativeEndpoint(replace(address, headers=headers, **self._opens), settings)  # type: ignore[arg-type]
        endpoint.wire = self._wire
        return endpoint

    def _body(self, request: Request, dialect: Dialect, double: bool) -> Body:
        body = super()._body(request, dialect, double)
        if self.prefix_cache and dialect.system:
            body[SHARED] = shared_length(body["messages"], request.content.shared)
        return body


def shared_length(messages: Any, sections: int) -> int:
    """The characters of the user's message up to the end of so many fences; 0 where it has none, or has pictures."""
    text = messages[1]["content"] if len(messages) > 1 else ""
    if not isinstance(text, str) or not text.startswith("<data-") or sections < 1:
        return 0
    close, end = f"\n</{text[1:22]}>", 0  # <data- and 16 digits
    for _ in range(sections):
        found = text.find(close, end)
        if found < 0:
            return 0
        end = found + len(close)
    return end


def other_members(body: Mapping[str, Any]) -> dict[str, Any]:
    """The members that the user added (`extra_body`)."""
    return {name: value for name, value in body.items() if name not in TRANSLATED}


def limit_of(body: Mapping[str, Any]) -> int | None:
    """The output tokens that a chat call allows."""
    limit = body.get("max_tokens") or body.get("max_completion_tokens")
    return limit if isinstance(limit, int) else None


def schema_of(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The JSON schema that a chat call enforces."""
    wanted = body.get("response_format") or {}
    return wanted["json_schema"]["schema"] if wanted.get("type") == "json_schema" else None


def data_of(uri: str) -> tuple[str, str] | None:
    """Media type and base64 text of a data URI; None for another address."""
    kind, comma, data = uri.removeprefix("data:").partition(";base64,")
    return (kind, data) if uri.startswith("data:") and comma else None


def completion(text: str, ended: str | None, usage: Mapping[str, Any], **choice: Any) -> Body:
    """A chat completion with one choice."""
    return {"choices": [{"message": {"content": text}, "finish_reason": ended, **choice}], "usage": dict(usage)}


def usage_block(prompt: Any, completion: Any, cached: Any, written: Any = None) -> dict[str, Any]:
    """Tokens under OpenAI's names; `prompt` with those that were cached. What is no count is left out."""
    counts = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "cached_tokens": cached,
        "cache_write_tokens": written,
    }
    return {name: count for name, count in counts.items() if _is_count(count)}


def sum_of(*counts: Any) -> int | None:
    """The sum of counts that are there; None where the first is no count."""
    if not _is_count(counts[0]):
        return None
    return sum(int(count) for count in counts if _is_count(count))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
