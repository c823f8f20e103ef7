"""Local servers that speak Anthropic's Messages, Google's generateContent and Bedrock's Converse, on `OpenAIServer`.

A request is checked as the provider checks it (headers, members, turns), answered by the brain of `OpenAIServer` with
its faults, and the reply is put into the provider's words. Each can answer as a stream, too, where the client asks.
The second request with the same marked or same first part reads it from the cache, and the counters say so.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from tests._support.servers.openai_server import Call, OpenAIServer, Say

Body = dict[str, Any]


class Refused(Exception):
    """A request that the protocol does not allow. `status`, `kind`: as the provider says it."""

    def __init__(self, said: str, status: int = 400, kind: str = "") -> None:
        super().__init__(said)
        self.status, self.kind = status, kind


class NativeServer(OpenAIServer):
    """One of the protocols. `natively`: hook for replies in the provider's own words."""

    def __init__(self, *args: Any, natively: Callable[[Call], Say | None] | None = None, **how: Any) -> None:
        super().__init__(*args, **how)
        self.natively = natively
        self.seen: dict[int, Body] = {}  # by number of the call, the request as it came
        self.content: dict[int, bytes] = {}  # the same in bytes
        self._cached: set[str] = set()

    async def _answer(self, method: str, path: str, headers: dict[str, str], data: bytes) -> Say:
        self.content[len(self.calls)] = data
        return await super()._answer(method, path, headers, data)

    @property
    def origin(self) -> str:
        return self.base_url.removesuffix("/v1")

    @property
    def requests(self) -> list[Body]:
        return list(self.seen.values())

    def _say(self, method: str, call: Call) -> Say:
        self.seen[call.number] = call.body
        try:
            self.check_key(call.headers)
            if method == "GET":
                return Say(body=self.models())
            found = self.natively(call) if self.natively else None
            if found is not None:
                return found
            native, call.body = call.body, self.as_openai(call)
        except Refused as refused:
            return self.error(refused.status, str(refused), refused.kind)
        shown, call.path = call.path, "/v1/chat/completions"
        checked, self.behaviour = self.behaviour, replace(self.behaviour, key=None)  # by `check_key`
        say = super()._say("POST", call)
        call.path, self.behaviour = shown, checked
        if say.hang or say.drop:
            return say
        if say.status != 200:
            failed = self.error(say.status, say.body["error"]["message"])
            failed.headers |= say.headers
            return failed
        say.body = self.from_openai(native, say.body)
        return say

    def cached(self, prefix: str) -> bool:
        """Whether a request began like this one before."""
        known = prefix in self._cached
        self._cached.add(prefix)
        return known

    def check_key(self, headers: dict[str, str]) -> None:
        raise NotImplementedError

    def models(self) -> Body:
        raise NotImplementedError

    def as_openai(self, call: Call) -> Body:
        raise NotImplementedError

    def from_openai(self, request: Body, body: Body) -> Any:
        raise NotImplementedError

    def error(self, status: int, said: str, kind: str = "") -> Say:
        raise NotImplementedError


def check_members(body: Body, needed: set[str], allowed: set[str], where: str) -> None:
    if missing := sorted(needed - set(body)):
        raise Refused(f"{where}.{missing[0]}: Field required")
    if extra := sorted(set(body) - needed - allowed):
        raise Refused(f"{where}.{extra[0]}: Extra inputs are not permitted")


def check_turns(roles: list[str], first: str) -> None:
    if not roles or roles[0] != first:
        raise Refused(f"messages: first message must use the {first} role")
    if any(a == b for a, b in itertools.pairwise(roles)):
        raise Refused("messages: roles must alternate")


class AnthropicServer(NativeServer):
    """Messages, version 2023-06-01."""

    def check_key(self, headers: dict[str, str]) -> None:
        if "authorization" in headers and "x-api-key" not in headers:
            raise Refused("x-api-key header is required", 401, "authentication_error")
        if self.behaviour.key is not None and headers.get("x-api-key") != self.behaviour.key:
            raise Refused("invalid x-api-key", 401, "authentication_error")
        if headers.get("anthropic-version") != "2023-06-01":
            raise Refused("anthropic-version: header is required")

    def models(self) -> Body:
        names = sorted(self.behaviour.models or {"fake"})
        data = [{"type": "model", "id": name, "display_name": name, "created_at": "2025-01-01T00:00:00Z"}
                for name in names]  # fmt: skip
        return {"data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]}

    def as_openai(self, call: Call) -> Body:
        body = call.body
        if call.path != "/v1/messages":
            raise Refused(f"Not found: {call.path}", 404, "not_found_error")
        allowed = {"system", "temperature", "tools", "tool_choice", "stream", "top_p", "top_k", "stop_sequences"}
        check_members(body, {"model", "max_tokens", "messages"}, allowed | {"metadata", "thinking"}, "body")
        check_turns([message["role"] for message in body["messages"]], "user")
        if not 0 <= body.get("temperature", 0) <= 1:
            raise Refused("temperature: range: 0..1")
        if self.behaviour.models is not None and body["model"] not in self.behaviour.models:
            raise Refused(f"model: {body['model']}", 404, "not_found_error")
        messages = [{"role": "system", "content": body["system"]}] if "system" in body else []
        messages += [{"role": one["role"], "content": _texts(one["content"])} for one in body["messages"]]
        found: Body = {"model": body["model"], "messages": messages, "max_tokens": body["max_tokens"]}
        for tool in body.get("tools", []):
            check_members(tool, {"name", "input_schema"}, {"description", "cache_control", "strict"}, "tools.0")
        if body.get("tools"):
            if body["tool_choice"]["type"] == "tool" and body["tool_choice"]["name"] != body["tools"][0]["name"]:
                raise Refused("tool_choice: no such tool")
            found["response_format"] = _format(body["tools"][0]["input_schema"])
        if "temperature" in body:
            found["temperature"] = body["temperature"]
        return found

    def from_openai(self, request: Body, body: Body) -> Any:
        choice = body["choices"][0]
        text, ended = choice["message"]["content"], choice["finish_reason"]
        content: list[Body] = [{"type": "text", "text": text or ""}]
        if request.get("tools") and text is not None:
            content = [
                {"type": "tool_use", "id": "toolu_1", "name": request["tools"][0]["name"], "input": _object(text)}
            ]
        stop = {"length": "max_tokens"}.get(ended, "tool_use" if request.get("tools") else "end_turn")
        stop = "refusal" if choice["message"].get("refusal") else stop
        message = {
            "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": content,
            "stop_reason": stop, "stop_sequence": None, "usage": self._usage(request, body["usage"]),
        }  # fmt: skip
        return "".join(_anthropic_events(message)) if request.get("stream") else message

    def _usage(self, request: Body, usage: Body) -> Body:
        marked = [block for message in request["messages"] if isinstance(message["content"], list)
                  for block in message["content"] if "cache_control" in block]  # fmt: skip
        length = len(marked[0]["text"]) // 4 if marked else 0
        known = bool(marked) and self.cached(marked[0]["text"])
        return {
            "input_tokens": usage["prompt_tokens"] - length, "output_tokens": usage["completion_tokens"],
            "cache_read_input_tokens": length if known else 0, "cache_creation_input_tokens": 0 if known else length,
        }  # fmt: skip

    def error(self, status: int, said: str, kind: str = "") -> Say:
        kinds = {400: "invalid_request_error", 429: "rate_limit_error", 529: "overloaded_error", 404: "not_found_error"}
        error = {"type": kind or kinds.get(status, "api_error"), "message": said}
        return Say(status=status, body={"type": "error", "error": error, "request_id": "req_1"})


class GeminiServer(NativeServer):
    """generateContent, version v1beta."""

    def check_key(self, headers: dict[str, str]) -> None:
        if self.behaviour.key is not None and headers.get("x-goog-api-key") != self.behaviour.key:
            raise Refused("API key not valid. Please pass a valid API key.", 400, "API_KEY_INVALID")

    def models(self) -> Body:
        return {"models": [{"name": f"models/{name}"} for name in sorted(self.behaviour.models or {"fake"})]}

    def as_openai(self, call: Call) -> Body:
        body, (model, verb) = call.body, unquote(call.path).rpartition("/models/")[2].split(":")
        if verb not in ("generateContent", "streamGenerateContent"):
            raise Refused(f"unknown method {verb}", 404, "NOT_FOUND")
        body["stream"] = verb == "streamGenerateContent"
        allowed = {"systemInstruction", "generationConfig", "safetySettings", "stream", "toolConfig", "tools"}
        check_members(body, {"contents"}, allowed, "body")
        check_turns([content["role"] for content in body["contents"]], "user")
        if self.behaviour.models is not None and model not in self.behaviour.models:
            raise Refused(f"models/{model} is not found for API version v1beta", 404, "NOT_FOUND")
        config = body.get("generationConfig", {})
        known = {"temperature", "seed", "maxOutputTokens", "responseMimeType", "responseJsonSchema", "responseSchema"}
        check_members(config, set(), known | {"responseLogprobs", "logprobs", "topP"}, "generationConfig")
        if "responseJsonSchema" in config and config.get("responseMimeType") != "application/json":
            raise Refused("response_mime_type must be application/json when a schema is set")
        system = body.get("systemInstruction")
        messages = [{"role": "system", "content": _texts(system["parts"])}] if system else []
        roles = {"user": "user", "model": "assistant"}
        messages += [{"role": roles[one["role"]], "content": _texts(one["parts"])} for one in body["contents"]]
        found: Body = {"model": model, "messages": messages}
        if "maxOutputTokens" in config:
            found["max_tokens"] = config["maxOutputTokens"]
        schema = config.get("responseJsonSchema")
        if schema:
            found["response_format"] = _format(schema)
        if config.get("responseLogprobs"):
            found |= {"logprobs": True, "top_logprobs": config["logprobs"]}
        return found | {name: config[name] for name in ("temperature", "seed") if name in config}

    def from_openai(self, request: Body, body: Body) -> Any:
        choice, usage = body["choices"][0], body["usage"]
        text = choice["message"]["content"]
        ended = {"length": "MAX_TOKENS"}.get(choice["finish_reason"], "STOP")
        candidate: Body = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": ended, "index": 0}
        if text is None:
            candidate = {"finishReason": "SAFETY", "index": 0}
        entries = (choice.get("logprobs") or {}).get("content")
        if entries:
            candidate["logprobsResult"] = {
                "chosenCandidates": [_google_token(entry) for entry in entries],
                "topCandidates": [{"candidates": list(map(_google_token, one["top_logprobs"]))} for one in entries],
            }
        known = self.cached(json.dumps(request["contents"][0])[:500])
        counts = {
            "promptTokenCount": usage["prompt_tokens"], "candidatesTokenCount": usage["completion_tokens"],
            "thoughtsTokenCount": 7, "totalTokenCount": usage["total_tokens"] + 7,
        }  # fmt: skip
        if known:  # it is left out where nothing was cached
            counts["cachedContentTokenCount"] = usage["prompt_tokens"] // 2
        reply = {"candidates": [candidate], "usageMetadata": counts, "modelVersion": body["model"], "responseId": "r"}
        return f"data: {json.dumps(reply)}\r\n\r\n" if request["stream"] else reply

    def error(self, status: int, said: str, kind: str = "") -> Say:
        names = {400: "INVALID_ARGUMENT", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}
        error: Body = {"code": status, "message": said, "status": names.get(status, "INTERNAL")}
        if kind == "API_KEY_INVALID":
            kinds = "type.googleapis.com/google.rpc.ErrorInfo"
            error["details"] = [{"@type": kinds, "reason": kind, "domain": "googleapis.com"}]
        return Say(status=status, body={"error": error})


class BedrockServer(NativeServer):
    """Converse. `signature` checks the headers of a signed request; without it a Bedrock API key is expected."""

    signature: Callable[[Call], bool] | None = None

    def check_key(self, headers: dict[str, str]) -> None:
        if self.signature is None and headers.get("authorization") != f"Bearer {self.behaviour.key}":
            raise Refused("The security token included in the request is invalid.", 403, "UnrecognizedClientException")

    def models(self) -> Body:
        raise Refused("no such operation", 404, "UnknownOperationException")

    def as_openai(self, call: Call) -> Body:
        if self.signature is not None and not self.signature(call):
            raise Refused("The request signature we calculated does not match", 403, "InvalidSignatureException")
        body, model = call.body, unquote(call.path.removeprefix("/model/").removesuffix("/converse"))
        allowed = {"system", "inferenceConfig", "toolConfig", "additionalModelRequestFields"}
        check_members(body, {"messages"}, allowed, "body")
        check_turns([message["role"] for message in body["messages"]], "user")
        if self.behaviour.models is not None and model not in self.behaviour.models:
            raise Refused("The provided model identifier is invalid.", 400, "ValidationException")
        config = body.get("inferenceConfig", {})
        check_members(config, set(), {"maxTokens", "temperature", "topP", "stopSequences"}, "inferenceConfig")
        messages = [{"role": "system", "content": _texts(body["system"])}] if "system" in body else []
        messages += [{"role": one["role"], "content": _texts(one["content"])} for one in body["messages"]]
        found: Body = {"model": model, "messages": messages}
        if "maxTokens" in config:
            found["max_tokens"] = config["maxTokens"]
        if "toolConfig" in body:
            tool = body["toolConfig"]["tools"][0]["toolSpec"]
            check_members(tool, {"name", "inputSchema"}, {"description"}, "toolSpec")
            found["response_format"] = _format(tool["inputSchema"]["json"])
        return found

    def from_openai(self, request: Body, body: Body) -> Any:
        choice, usage = body["choices"][0], body["usage"]
        text = choice["message"]["content"]
        used = "toolConfig" in request and text is not None
        content: list[Body] = [{"text": text or ""}]
        if used:
            name = request["toolConfig"]["tools"][0]["toolSpec"]["name"]
            content = [{"toolUse": {"toolUseId": "t", "name": name, "input": _object(text)}}]
        stop = {"length": "max_tokens"}.get(choice["finish_reason"], "tool_use" if used else "end_turn")
        return {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": "guardrail_intervened" if text is None else stop,
            "usage": {
                "inputTokens": usage["prompt_tokens"], "outputTokens": usage["completion_tokens"],
                "totalTokens": usage["total_tokens"], "cacheReadInputTokens": 3, "cacheWriteInputTokens": 2,
            },
            "metrics": {"latencyMs": 1},
        }  # fmt: skip

    def error(self, status: int, said: str, kind: str = "") -> Say:
        names = {400: "ValidationException", 429: "ThrottlingException", 503: "ServiceUnavailableException"}
        headers = {"x-amzn-errortype": kind or names.get(status, "InternalServerException")}
        return Say(status=status, body={"message": said}, headers=headers)


def _texts(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def _object(text: str) -> Any:
    """The input of a tool: always an object; that of a reply that was cut has what was whole."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _format(schema: Any) -> Body:
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}


def _google_token(entry: Body) -> Body:
    return {"token": entry["token"], "tokenId": 1, "logProbability": entry["logprob"]}


def _anthropic_events(message: Body) -> Iterator[str]:
    def event(kind: str, **members: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **members})}\n\n"

    yield event("message_start", message={**message, "content": [], "stop_reason": None})
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            yield event("content_block_start", index=index, content_block={**block, "text": ""})
            yield event("content_block_delta", index=index, delta={"type": "text_delta", "text": block["text"]})
        else:
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            yield event("content_block_start", index=index, content_block={**block, "input": {}})
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    yield event(
        "message_delta", delta={"stop_reason": message["stop_reason"], "stop_sequence": None}, usage=message["usage"]
    )
    yield event("message_stop")
