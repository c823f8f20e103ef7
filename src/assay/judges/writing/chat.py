"""Reading the body of a chat completion: text, how it ended, what it cost, log-probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.errors import Cause, JudgeFailure
from assay.judges.endpoints.endpoint import Body, Endpoint
from assay.judges.endpoints.replies import usage_of
from assay.judges.writing.judge import Reply
from assay.judges.writing.labels import Token


@dataclass(frozen=True, slots=True)
class Message:
    """A reply, and how the endpoint says it ended."""

    reply: Reply
    ended: str | None


def reply_of(body: Body, endpoint: Endpoint) -> Message:
    """The first choice. Raises JudgeFailure REFUSED or CONTENT_FILTER, with what the endpoint said as `raw`."""
    choice = body["choices"][0]
    message = choice.get("message") or {}
    text = _text(message.get("content"))
    ended = choice.get("finish_reason")
    usage = usage_of(body.get("usage"))
    refusal = message.get("refusal")
    if refusal or ended in ("refusal", "safety"):
        raw = endpoint.scrub(str(refusal or text))
        raise JudgeFailure(Cause.REFUSED, "the judge declined to answer", raw=raw, detail={"usage": usage})
    if ended == "content_filter":
        what = f"{endpoint.name}: the content filter stopped the reply"
        raise JudgeFailure(Cause.CONTENT_FILTER, what, raw=text, detail={"usage": usage})
    return Message(Reply(text, ended == "length", usage, _tokens(choice.get("logprobs"), text)), ended)


def _text(content: Any) -> str:
    """The content of a message: a text, or a list of parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _tokens(logprobs: Any, text: str) -> Sequence[Token]:
    entries = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not isinstance(entries, list):
        return ()
    # bytes matter only where a character is split over tokens, which shows in their texts
    whole = "".join(entry["token"] for entry in entries) == text
    return [
        Token(
            entry["token"],
            tuple((top["token"], top["logprob"]) for top in entry.get("top_logprobs") or ()),
            None if whole or entry.get("bytes") is None else bytes(entry["bytes"]),
        )
        for entry in entries
    ]
