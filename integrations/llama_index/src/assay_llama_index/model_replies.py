"""What an LLM of LlamaIndex answered: its text, what it cost, and whether it was cut or declined.

LlamaIndex hands on what the provider sent (`raw`), as an object or a dict, and little besides. What none of the usual
names tells is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay import Cause, JudgeFailure
from assay.extension import Reply, Usage, usage_of

_TRUNCATED = frozenset({"length", "max_tokens", "max_output_tokens", "incomplete", "model_length"})
_FILTERED = frozenset({"content_filter", "safety", "blocklist", "prohibited_content", "content_filtered"})

#: The names of counts, in the shapes that providers use, and ours.
_COUNTS: Mapping[str, tuple[str, ...]] = {
    "prompt_tokens": (
        *("prompt_tokens", "input_tokens", "inputTokens", "prompt_token_count", "prompt_eval_count"),
        *("promptTokenCount", "prompt_tokens_count"),
    ),
    "completion_tokens": (
        *("completion_tokens", "output_tokens", "outputTokens", "candidates_token_count", "eval_count"),
        *("candidatesTokenCount", "generated_tokens_count"),
    ),
}
_CACHED = ("cached_tokens", "cache_read_input_tokens", "cacheReadInputTokens", "cached_content_token_count")
_ENDS = ("finish_reason", "stop_reason", "done_reason", "finishReason", "stopReason")


def reply_of(response: Any) -> Reply:
    """The reply in a chat response. Raises JudgeFailure REFUSED or CONTENT_FILTER."""
    text = response.message.content or ""
    usage = _usage(response)
    raw = _fields(response.raw)
    choice = _fields(next(iter(raw.get("choices") or ()), None))
    ended = next((str(place[name]) for place in (choice, raw) for name in _ENDS if place.get(name)), "")
    ended = ended.rpartition(".")[2].lower()  # enumerations print their class as well
    refusal = _fields(choice.get("message")).get("refusal")
    if refusal or ended == "refusal":
        said = str(refusal or text)
        raise JudgeFailure(Cause.REFUSED, "the judge declined to answer", raw=said, detail={"usage": usage})
    if ended in _FILTERED:
        what = "the content filter stopped the reply"
        raise JudgeFailure(Cause.CONTENT_FILTER, what, raw=text, detail={"usage": usage})
    return Reply(text, ended in _TRUNCATED, usage)


def _usage(response: Any) -> Usage:
    counted: dict[str, Any] = {}
    for place in _places(response):
        for ours, names in _COUNTS.items():
            counted.setdefault(ours, _first(place, names))
            if counted[ours] is None:
                del counted[ours]
        for details in (place, *map(_fields, (place.get("prompt_tokens_details"), place.get("input_tokens_details")))):
            cached = _first(details, _CACHED)
            if cached is not None:
                counted.setdefault("cached_tokens", cached)
    return usage_of(counted)


def _places(response: Any) -> Iterator[Mapping[str, Any]]:
    """Where counts may stand."""
    raw = _fields(response.raw)
    for name in ("usage", "usage_metadata", "usageMetadata"):
        yield _fields(raw.get(name))
    yield _fields(getattr(response, "additional_kwargs", None))
    yield _fields(getattr(response.message, "additional_kwargs", None))
    yield raw


def _first(place: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    found = (place.get(name) for name in names)
    return next((count for count in found if isinstance(count, int) and not isinstance(count, bool)), None)


def _fields(value: Any) -> Mapping[str, Any]:
    """The fields of a dict or an object."""
    if isinstance(value, Mapping):
        return value
    found = getattr(value, "__dict__", None)
    return found if isinstance(found, dict) else {}
