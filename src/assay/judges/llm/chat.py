"""Reading the body of a chat completion: how it ended, what it cost, log-probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from assay.errors import Cause, JudgeFailure
from assay.judges.http.content_filters import blocked_categories
from assay.judges.http.endpoint import Body
from assay.judges.http.replies import prompt_tokens_of, usage_of
from assay.judges.llm.judge import Reply
from assay.judges.llm.labels import Token
from assay.judges.llm.message_text import text_of

_RAW = 4000  # characters of a body that are kept
_ROUNDING = 1e-3  # by which servers' logarithms exceed 0

#: Why a reply ended, in the words of OpenAI, Anthropic, Gemini, Mistral, Cohere and LM Studio, in lower case.
_CUT = frozenset(
    [
        *("length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"),
        *("maxpredictedtokensreached", "contextlengthreached"),
    ]
)
_REFUSED = frozenset({"refusal", "safety"})
_FILTERED = frozenset({"content_filter", "recitation", "blocklist", "prohibited_content", "error_toxic"})


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A reply, and how the endpoint says it ended."""

    reply: Reply
    ended: str | None


class ReplySource(Protocol):
    """What a reply came from, for messages."""

    @property
    def name(self) -> str:
        """How messages call it."""

    def scrub(self, text: str) -> str:
        """The text without secrets."""


def reply_of(body: Body, endpoint: ReplySource) -> ChatMessage:
    """The first choice. Raises JudgeFailure REFUSED or CONTENT_FILTER, with what the endpoint said as `raw`."""
    choice = _first(body["choices"])
    message = choice.get("message") or {} if choice is not None else None  # a filter leaves none
    if choice is None or not isinstance(message, Mapping):
        raw = endpoint.scrub(str(body))[:_RAW]
        detail = {"usage": usage_of(body.get("usage"))}
        raise JudgeFailure(Cause.CONNECTION, f"{endpoint.name} sent choices without a message", raw=raw, detail=detail)
    ended = choice.get("finish_reason")
    why = ended.lower() if isinstance(ended, str) else None
    text = text_of(message, choice, whole=why not in _CUT)
    usage = usage_of(body.get("usage"))
    refusal = message.get("refusal")
    if refusal or why in _REFUSED:
        raw = endpoint.scrub(str(refusal or text))
        raise JudgeFailure(Cause.REFUSED, "the judge declined to answer", raw=raw, detail={"usage": usage})
    if why in _FILTERED or (not text.strip() and (blocked_categories(choice) or blocked_categories(body))):
        what = f"{endpoint.name}: the content filter stopped the reply"
        raise JudgeFailure(Cause.CONTENT_FILTER, what, raw=text, detail={"usage": usage})
    tokens = _tokens(choice.get("logprobs"), text)
    return ChatMessage(Reply(text, why in _CUT, usage, tokens, prompt_tokens_of(body)), ended)


def _first(choices: Any) -> Mapping[str, Any] | None:
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else None


def _tokens(logprobs: Any, text: str) -> Sequence[Token]:
    """The tokens with their alternatives; none where they are not written as OpenAI writes them."""
    entries = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not isinstance(entries, list):
        return ()
    try:
        # bytes matter only where a character is split over tokens, which shows in their texts
        whole = "".join(entry["token"] for entry in entries) == text
        return [_token(entry, whole) for entry in entries]
    except (KeyError, TypeError, ValueError, AttributeError):  # the reply is none the worse
        return ()


def _token(entry: Mapping[str, Any], whole: bool) -> Token:
    alternatives = tuple((str(top["token"]), float(top["logprob"])) for top in entry.get("top_logprobs") or ())
    if any(math.isnan(logprob) or logprob > _ROUNDING for _, logprob in alternatives):
        raise ValueError("no logarithm of a probability")
    return Token(entry["token"], alternatives, None if whole or entry.get("bytes") is None else bytes(entry["bytes"]))
