"""Anthropic's batches: the requests are the body of one call, and the results one file, in any order.

Its batches have no metadata. One that may have been made before a crash is told by the names of its requests, which
its results give back; so whether a batch that still runs is ours shows when it has ended.

Requests are made as for OpenAI and put into Anthropic's words here, and replies back: there is one road for prompts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from assay.errors import Cause, JudgeFailure
from assay.judges.batch.protocol import BatchStatus, downloaded, lines_of, listed, refusal
from assay.judges.batch.state import Batch
from assay.judges.batch.transport import BatchClient, part
from assay.judges.http.retries import Trouble

ANTHROPIC = "https://api.anthropic.com/v1"
VERSION = "2023-06-01"

_SLACK = 3600.0  # seconds that the provider's clock may differ from ours
_PAGES = 50
_ENDED = {"max_tokens": "length", "model_context_window_exceeded": "length", "refusal": "refusal"}
_STATUS = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
    "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "api_error": 500,
    "timeout_error": 504, "overloaded_error": 529,
}  # fmt: skip
#: What requests for OpenAI say and Anthropic has no word for, or says otherwise.
_OTHERWISE = frozenset({
    *("messages", "model", "max_tokens", "max_completion_tokens", "response_format", "temperature"),
    *("seed", "logprobs", "top_logprobs"),
})  # fmt: skip


class MessageBatches:
    """Anthropic's protocol. Limits: 100,000 requests, 256 MB."""

    path = "/messages/batches"
    head, between, tail = b'{"requests":[', b",\n", b"]}"

    def __init__(self, *, most_requests: int = 100_000, most_bytes: int = 256_000_000) -> None:
        self.most_requests = most_requests
        self.most_bytes = most_bytes

    def line(self, name: str, path: str, body: Mapping[str, Any]) -> bytes:
        """See `BatchProtocol`."""
        request = {"custom_id": name, "params": params_of(body)}
        return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

    async def upload(self, wire: BatchClient, batch: Batch, file: Path) -> None:
        """See `BatchProtocol`: nothing is brought before."""

    async def create(self, wire: BatchClient, batch: Batch, file: Path) -> BatchStatus:
        """See `BatchProtocol`."""
        return _status_of(await wire.post_file_without_retry(self.path, file), wire)

    async def find(self, wire: BatchClient, batch: Batch, known: set[str]) -> BatchStatus | Literal["later"] | None:
        """See `BatchProtocol`: of as many requests, made since, and by the names in its results."""
        later = False
        for entry in await self._listed(wire, batch):
            seen = _status_of(entry, wire)
            if seen.id in known or _requests(entry) not in (None, batch.requests):
                continue
            if not seen.ended:
                later = True
            elif seen.results and (await self._first_name(wire, seen, batch)).startswith(batch.tag + "-"):
                return seen
        return "later" if later else None

    async def look(self, wire: BatchClient, name: str) -> BatchStatus:
        """See `BatchProtocol`."""
        return _status_of(await wire.get(f"{self.path}/{part(name)}"), wire)

    def result_paths(self, seen: BatchStatus) -> Sequence[str]:
        """See `BatchProtocol`. The address that the provider names for them is not followed: it would get the key."""
        return [f"{self.path}/{part(seen.id)}/results"] if seen.results else []

    def outcome(self, wire: BatchClient, model: str, line: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """See `BatchProtocol`."""
        result = line.get("result")
        if not isinstance(result, dict):
            return None
        if result.get("type") == "succeeded" and isinstance(result.get("message"), dict):
            body = completion_of(result["message"])
            return None if body is None else {"body": body}
        if result.get("type") != "errored":
            return None  # expired, canceled, or a word that nobody knows
        said = result.get("error")
        error = said.get("error", said) if isinstance(said, dict) else {}
        kind = error.get("type") if isinstance(error, dict) else None
        return refusal(wire, model, _STATUS.get(str(kind), 500), json.dumps({"error": error}))

    async def _listed(self, wire: BatchClient, batch: Batch) -> list[dict[str, Any]]:
        """The batches made since ours may have been."""
        found: list[dict[str, Any]] = []
        async for entries in listed(wire, self.path, "after_id", _PAGES):
            found += [entry for entry in entries if _creation_time(entry) >= batch.at - _SLACK]
            if _creation_time(entries[-1]) < batch.at - _SLACK:
                break
        return found

    async def _first_name(self, wire: BatchClient, seen: BatchStatus, batch: Batch) -> str:
        """What the first request in its results is called."""
        async with downloaded(self, wire, seen, batch.requests) as files:
            for raw in (raw for file in files for raw in lines_of(file.path)):
                try:
                    return str(json.loads(raw)["custom_id"])
                except (ValueError, TypeError, KeyError, RecursionError):
                    continue
        return ""


def params_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """A chat call of OpenAI's in Anthropic's words."""
    system = [message["content"] for message in body["messages"] if message["role"] == "system"]
    params: dict[str, Any] = {
        "model": body["model"],
        "max_tokens": body.get("max_tokens") or body.get("max_completion_tokens") or 4096,
        "messages": [
            {"role": message["role"], "content": message_content(message["content"])}
            for message in body["messages"]
            if message["role"] != "system"
        ],
    }
    if system:
        params["system"] = "\n\n".join(system)
    if "temperature" in body:
        params["temperature"] = min(1.0, body["temperature"])
    wanted = body.get("response_format") or {}
    if wanted.get("type") == "json_schema":
        params["output_config"] = {"format": {"type": "json_schema", "schema": wanted["json_schema"]["schema"]}}
    return {**params, **{name: value for name, value in body.items() if name not in _OTHERWISE}}


def completion_of(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """A message of Anthropic's as a chat completion; None where it is none."""
    content = message.get("content")
    if not isinstance(content, list):
        return None
    text = "".join(str(block.get("text") or "") for block in content if _is_text(block))
    ended = message.get("stop_reason")
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text, "refusal": None},
        "finish_reason": _ENDED.get(str(ended), "stop"),
    }
    return {"choices": [choice], "usage": _usage(message.get("usage"))}


def message_content(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return [_picture(part["image_url"]["url"]) if part.get("type") == "image_url" else part for part in content]


def _picture(uri: str) -> dict[str, Any]:
    kind, comma, data = uri.removeprefix("data:").partition(";base64,")
    if not uri.startswith("data:") or not comma:
        return {"type": "image", "source": {"type": "url", "url": uri}}
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type", "text") == "text"


def _usage(said: Any) -> dict[str, Any]:
    """Anthropic counts what was read from the cache, and written to it, apart from what it calls input."""
    if not isinstance(said, dict) or not isinstance(said.get("input_tokens"), int):
        return {}
    kept, made = said.get("cache_read_input_tokens") or 0, said.get("cache_creation_input_tokens") or 0
    return {
        "prompt_tokens": said["input_tokens"] + kept + made,
        "completion_tokens": said.get("output_tokens"),
        "cached_tokens": kept,
    }


def _status_of(found: Mapping[str, Any], wire: BatchClient) -> BatchStatus:
    name = found.get("id")
    if not isinstance(name, str) or not name:
        raise Trouble(JudgeFailure(Cause.CONNECTION, f"{wire.name} sent a batch without an id"))
    status, counts = str(found.get("processing_status")), found.get("request_counts")
    ended = status == "ended"
    listed = counts.items() if isinstance(counts, dict) else ()
    told = ", ".join(f"{count} {word}" for word, count in listed if count)
    said = f"{status}: {told}" if told else status
    cancelled = isinstance(counts, dict) and bool(counts.get("canceled"))
    return BatchStatus(name, said, ended, results=(name,) if ended else (), cancelled=cancelled)


def _requests(entry: Mapping[str, Any]) -> int | None:
    counts = entry.get("request_counts")
    numbers = [count for count in counts.values() if isinstance(count, int)] if isinstance(counts, dict) else []
    return sum(numbers) if numbers else None


def _creation_time(entry: Mapping[str, Any]) -> float:
    try:
        return datetime.fromisoformat(str(entry.get("created_at"))).timestamp()
    except ValueError:
        return float("inf")  # in doubt it is looked at
