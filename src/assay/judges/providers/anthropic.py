"""Anthropic's Messages API: the schema of a reply as a tool that must be used, and marks for the prompt cache.

Protocol: https://docs.anthropic.com/en/api/messages, version 2023-06-01.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from assay.errors import InputError
from assay.judges.batch.anthropic import ANTHROPIC, VERSION, message_content
from assay.judges.http.endpoint import Body
from assay.judges.providers.native import (
    SHARED,
    NativeJudge,
    completion,
    limit_of,
    other_members,
    schema_of,
    sum_of,
    usage_block,
)

TOOL = "reply"
_MARK = {"type": "ephemeral"}


class MessagesWire:
    """The protocol."""

    def path(self, model: str) -> str:
        """See `Wire`."""
        return "/messages"

    def request(self, body: Body) -> Body:
        """See `Wire`."""
        shared = body.get(SHARED, 0)
        system = [message["content"] for message in body["messages"] if message["role"] == "system"]
        others = [message for message in body["messages"] if message["role"] != "system"]
        request: Body = {
            "model": body["model"],
            "max_tokens": limit_of(body) or 4096,
            "messages": [{"role": one["role"], "content": message_content(one["content"])} for one in others],
        }
        if system:
            request["system"] = "\n\n".join(system)
        if shared:
            text = others[0]["content"]
            first = {"type": "text", "text": text[:shared], "cache_control": _MARK}
            request["messages"][0]["content"] = [first, {"type": "text", "text": text[shared:]}]
        if "temperature" in body:
            request["temperature"] = min(1.0, body["temperature"])
        schema = schema_of(body)
        if schema is not None:
            described = "The reply to the task, as one object."
            request["tools"] = [{"name": TOOL, "description": described, "input_schema": schema}]
            request["tool_choice"] = {"type": "tool", "name": TOOL, "disable_parallel_tool_use": True}
        return {**request, **other_members(body)}

    def reply(self, body: Any) -> Any:
        """See `Wire`."""
        if not isinstance(body, Mapping) or not isinstance(body.get("content"), list):
            return body
        return completion(text_of_blocks(body["content"]), body.get("stop_reason"), _usage(body.get("usage")))

    def status(self, status: int, text: str, headers: Mapping[str, str]) -> int:
        """See `Wire`."""
        return status


def text_of_blocks(blocks: list[Any]) -> str:
    """The input of the tool that was used; without one, the text."""
    known = [block for block in blocks if isinstance(block, Mapping)]
    used = [block["input"] for block in known if block.get("type") == "tool_use" and block.get("input") is not None]
    if used:
        return json.dumps(used[0], ensure_ascii=False)
    return "".join(str(block.get("text") or "") for block in known if block.get("type") == "text")


def _usage(said: Any) -> dict[str, Any]:
    """Anthropic counts what was read from the cache, and written to it, apart from what it calls input."""
    if not isinstance(said, Mapping):
        return {}
    read, written = said.get("cache_read_input_tokens"), said.get("cache_creation_input_tokens")
    prompt = sum_of(said.get("input_tokens"), read, written)
    return usage_block(prompt, said.get("output_tokens"), read or 0, written)


class AnthropicJudge(NativeJudge):
    """LLM judge over Anthropic's Messages API. It has no embeddings and no log-probabilities.

    Args:
        model: The model, as Anthropic calls it.
        base_url: Address of the endpoint. None: Anthropic itself.
        api_key: The key. None: ANTHROPIC_API_KEY for Anthropic itself, and no key for another `base_url`.
        **options: Arguments of `OpenAIJudge`; `prefix_cache=False` sends no marks for the prompt cache.

    Raises:
        InputError: The key is missing, or an option does not go with Anthropic.
    """

    kind = "anthropic"
    without = (*NativeJudge.without, "logprobs")

    def __init__(self, model: str, *, base_url: str | None = None, api_key: str | None = None, **options: Any) -> None:
        key = api_key or (os.environ.get("ANTHROPIC_API_KEY") if base_url is None else "none")
        if not key:
            raise InputError("anthropic: no key: set ANTHROPIC_API_KEY, or pass api_key=... (--api-key-env)")
        super().__init__(
            model,
            wire=MessagesWire(),
            base_url=base_url or ANTHROPIC,
            api_key=key,
            key_header="x-api-key",
            constant={"anthropic-version": VERSION},
            **options,
        )
