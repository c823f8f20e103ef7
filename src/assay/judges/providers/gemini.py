"""Google's generateContent: Gemini with an API key, and the same protocol at Vertex AI with a token that expires.

Protocol: https://ai.google.dev/api/generate-content, version v1beta; Vertex AI: v1.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

from assay._util.forks import own_lock
from assay._util.install_hints import install_extra
from assay.errors import InputError, MissingExtra
from assay.judges.http.client import Authorize
from assay.judges.http.endpoint import Body
from assay.judges.providers.native import (
    NativeJudge,
    completion,
    data_of,
    limit_of,
    other_members,
    schema_of,
    sum_of,
    usage_block,
)

GEMINI = "https://generativelanguage.googleapis.com/v1beta"
_ROLES = {"user": "user", "assistant": "model"}
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
#: Ends that are the filter's, in words that `chat.reply_of` knows.
_ENDS = {"SPII": "content_filter", "LANGUAGE": "content_filter", "IMAGE_SAFETY": "safety"}


class GenerateContentWire:
    """The protocol."""

    def path(self, model: str) -> str:
        """See `Wire`."""
        return f"/models/{quote(model.removeprefix('models/'), safe='')}:generateContent"

    def request(self, body: Body) -> Body:
        """See `Wire`."""
        system = [message["content"] for message in body["messages"] if message["role"] == "system"]
        request: Body = {
            "contents": [
                {"role": _ROLES[message["role"]], "parts": _parts(message["content"])}
                for message in body["messages"]
                if message["role"] != "system"
            ]
        }
        if system:
            request["systemInstruction"] = {"parts": [{"text": "\n\n".join(system)}]}
        others = other_members(body)
        config = {**_config(body), **(others.pop("generationConfig", None) or {})}
        return {**request, "generationConfig": config, **others}

    def reply(self, body: Any) -> Any:
        """See `Wire`."""
        if not isinstance(body, Mapping) or not ("candidates" in body or "promptFeedback" in body):
            return body
        usage = _usage(body.get("usageMetadata"))
        candidates = body.get("candidates")
        first = candidates[0] if isinstance(candidates, list) and candidates else None
        if not isinstance(first, Mapping):
            feedback = body.get("promptFeedback")
            blocked = isinstance(feedback, Mapping) and feedback.get("blockReason")
            return completion("", "content_filter" if blocked else "stop", usage)
        content = first.get("content")
        parts = content.get("parts") if isinstance(content, Mapping) else None
        ended = str(first.get("finishReason"))
        logprobs = {"logprobs": {"content": _tokens(first.get("logprobsResult"))}}
        return completion(_text(parts), _ENDS.get(ended, ended.lower()), usage, **logprobs)

    def status(self, status: int, text: str, headers: Mapping[str, str]) -> int:
        """See `Wire`. A key that is not valid has status 400 there."""
        return 401 if status == 400 and "API_KEY_INVALID" in text else status


def _config(body: Mapping[str, Any]) -> dict[str, Any]:
    config: dict[str, Any] = {"maxOutputTokens": limit_of(body)}
    config |= {name: body[name] for name in ("temperature", "seed") if name in body}
    if body.get("response_format"):
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = schema_of(body)
    if body.get("logprobs"):
        config |= {"responseLogprobs": True, "logprobs": body.get("top_logprobs")}
    return {name: value for name, value in config.items() if value is not None}


def _parts(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"text": content}]
    return [_picture(part["image_url"]["url"]) if part["type"] == "image_url" else {"text": part["text"]}
            for part in content]  # fmt: skip


def _picture(uri: str) -> dict[str, Any]:
    found = data_of(uri)
    return {"fileData": {"fileUri": uri}} if found is None else {"inlineData": {"mimeType": found[0], "data": found[1]}}


def _text(parts: Any) -> str:
    """The text without thoughts."""
    known = [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []
    return "".join(str(part.get("text") or "") for part in known if not part.get("thought"))


def _usage(said: Any) -> dict[str, Any]:
    """Thoughts are paid as output, and counted beside it; what was cached is among the tokens of the prompt."""
    if not isinstance(said, Mapping):
        return {}
    written = sum_of(said.get("candidatesTokenCount") or 0, said.get("thoughtsTokenCount"))
    return usage_block(said.get("promptTokenCount"), written, said.get("cachedContentTokenCount") or 0)


def _tokens(said: Any) -> list[dict[str, Any]]:
    """Log-probabilities as OpenAI has them; none where they are not written as Google writes them."""
    chosen, top = (
        ([], []) if not isinstance(said, Mapping) else (said.get("chosenCandidates"), said.get("topCandidates"))
    )
    if not isinstance(chosen, list) or not isinstance(top, list) or len(chosen) != len(top):
        return []
    try:
        return [
            {
                "token": one["token"],
                "logprob": one["logProbability"],
                "top_logprobs": [
                    {"token": other["token"], "logprob": other["logProbability"]} for other in others["candidates"]
                ],
            }
            for one, others in zip(chosen, top, strict=True)
        ]
    except (KeyError, TypeError):
        return []


class GeminiJudge(NativeJudge):
    """LLM judge over Google's Gemini API.

    Args:
        model: The model, as Google calls it.
        base_url: Address of the endpoint. None: Google's.
        api_key: The key. None: GEMINI_API_KEY or GOOGLE_API_KEY for Google itself, and no key for another `base_url`.
        **options: Arguments of `OpenAIJudge`.

    Raises:
        InputError: The key is missing, or an option does not go with Gemini.
    """

    kind = "gemini"

    def __init__(self, model: str, *, base_url: str | None = None, api_key: str | None = None, **options: Any) -> None:
        found = os.environ.get("GEMINI_API_KEY") or os.environ.get("GOOGLE_API_KEY")
        key = api_key or (found if base_url is None else "none")
        if not key:
            raise InputError("gemini: no key: set GEMINI_API_KEY, or pass api_key=... (--api-key-env)")
        super().__init__(
            model,
            wire=GenerateContentWire(),
            base_url=base_url or GEMINI,
            api_key=key,
            key_header="x-goog-api-key",
            **options,
        )


class VertexJudge(NativeJudge):
    """LLM judge over Gemini at Google Cloud's Vertex AI, with the application's default credentials (extra `vertex`).

    Args:
        model: The model, as Google calls it.
        project: Project. None: GOOGLE_CLOUD_PROJECT.
        location: Region, or "global". None: GOOGLE_CLOUD_LOCATION, else "global".
        base_url: Address up to `/publishers/google`. None: Google's. Credentials do not go to another address: pass
            `api_key`.
        api_key: An access token that you renew yourself.
        **options: Arguments of `OpenAIJudge`.

    Raises:
        InputError: The project is missing, or an option does not go with Vertex AI.
        MissingExtra: google-auth is not installed, and there is no `api_key`.
    """

    kind = "vertex"

    def __init__(
        self,
        model: str,
        *,
        project: str | None = None,
        location: str | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        **options: Any,
    ) -> None:
        project = project or os.environ.get("GOOGLE_CLOUD_PROJECT")
        if base_url is None and not project:
            raise InputError("vertex: no project: set GOOGLE_CLOUD_PROJECT, or pass project=...")
        location = location or os.environ.get("GOOGLE_CLOUD_LOCATION") or "global"
        super().__init__(
            model,
            wire=GenerateContentWire(),
            base_url=base_url or _vertex_address(str(project), location),
            api_key=api_key or "none",
            authorize=_token_of_application() if api_key is None and base_url is None else None,
            **options,
        )


def _vertex_address(project: str, location: str) -> str:
    host = "aiplatform.googleapis.com" if location == "global" else f"{location}-aiplatform.googleapis.com"
    return (
        f"https://{host}/v1/projects/{quote(project, safe='')}/locations/{quote(location, safe='')}/publishers/google"
    )


def _token_of_application() -> Authorize:
    try:
        import google.auth
    except ImportError as error:
        raise MissingExtra(f"vertex judges need google-auth: {install_extra('vertex')}") from error
    return bearer_of(partial(google.auth.default, scopes=[_SCOPE]))


def bearer_of(load: Any) -> Authorize:
    """Headers with a token of Google's credentials, which are found at the first request and renewed when needed.

    Args:
        load: Gives credentials and project, as `google.auth.default`.

    Returns:
        The function for `Address.authorize`.
    """
    return _Bearer(load).authorize


class _Bearer:
    """Google's credentials, of which one thread at a time asks for a token."""

    def __init__(self, load: Any) -> None:
        self._load = load
        self._credentials: Any = None
        self._lock = own_lock(self)

    def authorize(self, method: str, url: str, headers: Mapping[str, str], content: bytes) -> Mapping[str, str]:
        """See `Authorize`."""
        from google.auth.transport.requests import Request

        with self._lock:
            if self._credentials is None:
                self._credentials = self._load()[0]
            if not self._credentials.valid:
                self._credentials.refresh(Request())
            return {"authorization": f"Bearer {self._credentials.token}"}
