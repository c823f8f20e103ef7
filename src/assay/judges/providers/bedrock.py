"""Amazon Bedrock's Converse API: the schema of a reply as a tool that must be used, requests signed by botocore.

Protocol: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from assay._util.install_hints import install_extra
from assay.errors import InputError, MissingExtra
from assay.judges.http.client import Authorize
from assay.judges.http.endpoint import Body
from assay.judges.providers.anthropic import text_of_blocks
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

TOOL = "reply"
_ENDS = {"guardrail_intervened": "content_filter", "content_filtered": "content_filter"}
#: Errors of the model behind Bedrock, which may pass; status 424 there.
_OF_THE_MODEL = 424


class ConverseWire:
    """The protocol."""

    def path(self, model: str) -> str:
        """See `Wire`."""
        return f"/model/{quote(model, safe='')}/converse"

    def request(self, body: Body) -> Body:
        """See `Wire`."""
        system = [{"text": message["content"]} for message in body["messages"] if message["role"] == "system"]
        others = [message for message in body["messages"] if message["role"] != "system"]
        inference = {"maxTokens": limit_of(body), "temperature": body.get("temperature")}
        request: Body = {
            "messages": [{"role": one["role"], "content": _blocks(one["content"])} for one in others],
            "inferenceConfig": {name: value for name, value in inference.items() if value is not None},
        }
        if system:
            request["system"] = system
        schema = schema_of(body)
        if schema is not None:
            described = "The reply to the task, as one object."
            tool = {"toolSpec": {"name": TOOL, "description": described, "inputSchema": {"json": schema}}}
            request["toolConfig"] = {"tools": [tool], "toolChoice": {"tool": {"name": TOOL}}}
        return {**request, **other_members(body)}

    def reply(self, body: Any) -> Any:
        """See `Wire`."""
        message = body["output"].get("message") if _has_output(body) else None
        if not isinstance(message, Mapping) or not isinstance(message.get("content"), list):
            return body
        ended = str(body.get("stopReason"))
        blocks = [_as_anthropic(block) for block in message["content"]]
        return completion(text_of_blocks(blocks), _ENDS.get(ended, ended), _usage(body.get("usage")))

    def status(self, status: int, text: str, headers: Mapping[str, str]) -> int:
        """See `Wire`."""
        return 502 if status == _OF_THE_MODEL else status


def _has_output(body: Any) -> bool:
    return isinstance(body, Mapping) and isinstance(body.get("output"), Mapping)


def _as_anthropic(block: Any) -> Any:
    """A block in the form of Anthropic's, which differs in how its kind is said."""
    if not isinstance(block, Mapping):
        return block
    used = block.get("toolUse")
    if isinstance(used, Mapping):
        return {"type": "tool_use", "input": used.get("input")}
    return {"type": "text", "text": block.get("text")}


def _blocks(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"text": content}]
    return [_picture(part["image_url"]["url"]) if part["type"] == "image_url" else {"text": part["text"]}
            for part in content]  # fmt: skip


def _picture(uri: str) -> dict[str, Any]:
    found = data_of(uri)
    if found is None:
        raise InputError("bedrock: a picture at an address cannot be sent; give its bytes")
    return {"image": {"format": found[0].rpartition("/")[2], "source": {"bytes": found[1]}}}


def _usage(said: Any) -> dict[str, Any]:
    if not isinstance(said, Mapping):
        return {}
    read, written = said.get("cacheReadInputTokens"), said.get("cacheWriteInputTokens")
    return usage_block(sum_of(said.get("inputTokens"), read, written), said.get("outputTokens"), read or 0, written)


class BedrockJudge(NativeJudge):
    """LLM judge over Amazon Bedrock. It has no embeddings and no log-probabilities.

    Requests are signed with the credentials that botocore finds (extra `bedrock`), or carry a Bedrock API key.

    Args:
        model: Id of a model or of an inference profile.
        region: Region. None: AWS_REGION, AWS_DEFAULT_REGION, or that of the profile.
        base_url: Address of the endpoint. None: that of the region.
        api_key: A Bedrock API key. None: AWS_BEARER_TOKEN_BEDROCK for AWS itself, else requests are signed.
        sign: Whether requests to a `base_url` are signed. None: where that is an address of AWS.
        **options: Arguments of `OpenAIJudge`.

    Raises:
        InputError: Region or credentials are missing, or an option does not go with Bedrock.
        MissingExtra: botocore is needed and not installed.
    """

    kind = "bedrock"
    without = (*NativeJudge.without, "logprobs")

    def __init__(
        self,
        model: str,
        *,
        region: str | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        sign: bool | None = None,
        **options: Any,
    ) -> None:
        key = api_key or (os.environ.get("AWS_BEARER_TOKEN_BEDROCK") if base_url is None else None)
        region = region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        signs = _is_of_aws(base_url) if sign is None else sign
        session = _session() if signs and not key else None
        region = region or (session.get_config_variable("region") if session is not None else None)
        if not region and (base_url is None or session is not None):
            raise InputError("bedrock: no region: set AWS_REGION, or pass region=...")
        super().__init__(
            model,
            wire=ConverseWire(),
            base_url=base_url or f"https://bedrock-runtime.{region}.amazonaws.com",
            api_key=key or "none",
            authorize=None if session is None else signer_of(session, str(region)),
            **options,
        )


def _is_of_aws(base_url: str | None) -> bool:
    host = "" if base_url is None else urlsplit(base_url).hostname or ""
    return base_url is None or host.endswith((".amazonaws.com", ".amazonaws.com.cn"))


def _session() -> Any:
    try:
        import botocore.session
    except ImportError as error:
        hint = install_extra("bedrock")
        raise MissingExtra(f"bedrock: set AWS_BEARER_TOKEN_BEDROCK, or install botocore: {hint}") from error
    return botocore.session.get_session()


def signer_of(session: Any, region: str) -> Authorize:
    """Headers that sign a request (AWS Signature Version 4).

    Args:
        session: A session of botocore, whose credentials are found now and renewed when needed.
        region: Region.

    Returns:
        The function for `Address.authorize`.

    Raises:
        InputError: There are no credentials.
    """
    credentials = session.get_credentials()
    if credentials is None:
        said = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or AWS_BEARER_TOKEN_BEDROCK"
        raise InputError(f"bedrock: no credentials: {said}")

    def authorize(method: str, url: str, headers: Mapping[str, str], content: bytes) -> Mapping[str, str]:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest

        request = AWSRequest(method, url, headers={"content-type": headers["content-type"]}, data=content)
        SigV4Auth(credentials.get_frozen_credentials(), "bedrock", region).add_auth(request)
        return {name.lower(): value for name, value in request.headers.items()}

    return authorize
