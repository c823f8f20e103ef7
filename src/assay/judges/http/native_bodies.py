"""Chat replies in the forms that servers have besides OpenAI's, read as chat completions.

Ollama's own API puts the message beside `done`, Cohere's beside `finish_reason`, and Anthropic's body is the message. A
proxy in front of them may leave it so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Body = dict[str, Any]

_ENDS = ("done_reason", "finish_reason", "stop_reason")


def completion_of(body: Any) -> Any:
    """Read the body of a chat reply as a chat completion.

    Args:
        body: The JSON of a response.

    Returns:
        A body with `choices` and `usage` where it was a whole reply in one of the other forms; else the body itself.
    """
    if not isinstance(body, dict) or "choices" in body or body.get("error") or is_part(body):
        return body
    message = _message(body)
    if message is None:
        return body
    ended = next((body[name] for name in _ENDS if body.get(name)), None)
    return {**body, "choices": [{"message": message, "finish_reason": ended}], "usage": _usage(body)}


def is_part(body: Any) -> bool:
    """Check whether a body is one part of a stream of Ollama."""
    return isinstance(body, Mapping) and body.get("done") is False


def _message(body: Body) -> Mapping[str, Any] | None:
    message = body.get("message")
    if isinstance(message, Mapping) and ("content" in message or "tool_calls" in message):
        return message
    if body.get("role") == "assistant" and "content" in body:
        return body
    text = body.get("response")  # Ollama's /api/generate
    return {"content": text} if isinstance(text, str) and body.get("done") is True else None


def _usage(body: Body) -> Any:
    """Tokens under the names of OpenAI or Anthropic, which are read."""
    usage = body.get("usage")
    if isinstance(usage, Mapping):
        return usage["tokens"] if isinstance(usage.get("tokens"), Mapping) else usage  # Cohere nests them
    counts = {"prompt_tokens": body.get("prompt_eval_count"), "completion_tokens": body.get("eval_count")}
    return {name: count for name, count in counts.items() if count is not None}
