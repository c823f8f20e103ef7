"""The servers that speak the providers' protocols, asked by the providers' own clients."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.judges.resolve import resolve_judge
from tests._support.servers.faults import Faults
from tests._support.servers.native_server import BedrockServer
from tests._support.servers.openai_server import OpenAIServer
from tests.judges.conftest import ask
from tests.judges.test_native_providers import KEY, server_of, signed, support

pytestmark = pytest.mark.long  # the clients import for seconds; the small case: test_native_providers.py

SCHEMA = {"type": "object", "properties": {"questions": {"type": "array"}}, "required": ["questions", "noncommittal"]}
USER = '<data-0123456789abcdef title="ANSWER">\nIt opened.\n</data-0123456789abcdef>\n\nTASK\nWrite questions.'


def test_anthropic() -> None:
    anthropic = pytest.importorskip("anthropic")
    with server_of("anthropic", models={"fake"}) as server:
        client = anthropic.Anthropic(api_key=KEY, base_url=server.origin, max_retries=0)
        asked: dict[str, Any] = {
            "model": "fake", "max_tokens": 500, "messages": [{"role": "user", "content": USER}],
            "tools": [{"name": "reply", "input_schema": SCHEMA}], "tool_choice": {"type": "tool", "name": "reply"},
        }  # fmt: skip
        whole = client.messages.create(**asked)
        with client.messages.stream(**asked) as stream:
            streamed = stream.get_final_message()
        assert whole.stop_reason == streamed.stop_reason == "tool_use"
        assert whole.content[0].input == streamed.content[0].input
        assert whole.usage.input_tokens > 0
        assert [model.id for model in client.models.list()] == ["fake"]
        with pytest.raises(anthropic.NotFoundError):
            client.messages.create(**{**asked, "model": "none"})
        with pytest.raises(anthropic.AuthenticationError):
            anthropic.Anthropic(api_key="no", base_url=server.origin, max_retries=0).messages.create(**asked)


def test_google() -> None:
    genai = pytest.importorskip("google.genai")
    with server_of("gemini", models={"fake"}) as server:
        client = genai.Client(api_key=KEY, http_options={"base_url": server.origin})
        config = {"response_mime_type": "application/json", "response_json_schema": SCHEMA, "max_output_tokens": 500}
        whole = client.models.generate_content(model="fake", contents=USER, config=config)
        parts = list(client.models.generate_content_stream(model="fake", contents=USER, config=config))
        assert json.loads(whole.text) == json.loads("".join(part.text for part in parts))
        assert whole.candidates[0].finish_reason.name == "STOP"
        assert whole.usage_metadata.thoughts_token_count == 7
        assert [model.name for model in client.models.list()] == ["models/fake"]
        with pytest.raises(genai.errors.ClientError) as caught:
            client.models.generate_content(model="none", contents=USER)
        assert caught.value.code == 404


def test_amazon(monkeypatch: pytest.MonkeyPatch) -> None:
    boto3 = pytest.importorskip("boto3")
    check = signed("AKIDEXAMPLE", "right", "us-east-1")
    model = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
    with BedrockServer(models={model}) as server:
        server.signature = lambda call: check(call, server.content[call.number])

        def client(secret: str) -> Any:
            return boto3.client(
                "bedrock-runtime", region_name="us-east-1", endpoint_url=server.origin,
                aws_access_key_id="AKIDEXAMPLE", aws_secret_access_key=secret,
            )  # fmt: skip

        asked: dict[str, Any] = {
            "modelId": model,
            "messages": [{"role": "user", "content": [{"text": USER}]}],
            "toolConfig": {
                "tools": [{"toolSpec": {"name": "reply", "inputSchema": {"json": SCHEMA}}}],
                "toolChoice": {"tool": {"name": "reply"}},
            },
        }
        found = client("right").converse(**asked)
        assert found["stopReason"] == "tool_use"
        assert found["output"]["message"]["content"][0]["toolUse"]["input"]["questions"]
        with pytest.raises(Exception, match="signature"):
            client("wrong").converse(**asked)


def test_openai() -> None:
    import openai

    with OpenAIServer(key=KEY, models={"fake"}) as server:
        client = openai.OpenAI(api_key=KEY, base_url=server.base_url, max_retries=0)
        form = {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA}}
        messages = [{"role": "user", "content": USER}]
        found = client.chat.completions.create(model="fake", messages=messages, response_format=form)  # type: ignore[call-overload]
        assert found.choices[0].finish_reason == "stop"
        assert found.usage.prompt_tokens > 0
        with pytest.raises(openai.NotFoundError):
            client.chat.completions.create(model="none", messages=messages)  # type: ignore[arg-type]


_COUNTED = """
import socket, sys
sent = []
real = socket.socket.connect
def connect(self, address):
    sent.append(address)
    return real(self, address)
socket.socket.connect = connect
real_lookup = socket.getaddrinfo
def lookup(host, *rest, **more):
    sent.append((host,))
    return real_lookup(host, *rest, **more)
socket.getaddrinfo = lookup
from assay.judges.resolve import resolve_judge
judge = resolve_judge("any-llm:openai:fake", api_key="key-of-the-test", base_url=sys.argv[1])
before = len(sent)
import asyncio
from tests.judges.test_native_providers import support
(answer,) = asyncio.run(judge.answer([support()]))
assert answer.failure is None, answer.failure
assert answer.judgement[0].label == "supported"
assert answer.usage.prompt_tokens > 0
elsewhere = [one for one in sent if one[0] not in ("127.0.0.1", b"127.0.0.1")]
print(before, len(elsewhere))
"""


def test_any_llm_opens_no_connection_but_the_one_to_the_endpoint(tmp_path: Path) -> None:
    pytest.importorskip("any_llm")
    with OpenAIServer(key="key-of-the-test") as server:
        run = subprocess.run(
            [sys.executable, "-c", _COUNTED, server.base_url], capture_output=True, text=True, timeout=120, check=False
        )
        assert run.returncode == 0, run.stderr
        assert run.stdout.split() == ["0", "0"]
        assert len(server.calls) == 1
        assert server.calls[0].body["temperature"] == 0
        assert server.calls[0].body["response_format"]["type"] == "json_schema"


def test_any_llm_sends_a_key_of_the_environment_to_no_other_address(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("any_llm")
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-environment")
    with OpenAIServer() as server:
        judge = resolve_judge("any-llm:openai:fake", base_url=server.base_url)
        asyncio.run(judge.answer([support()]))
    assert server.calls[0].headers["authorization"] == "Bearer none"


async def test_any_llm_leaves_retries_to_the_judge_and_drops_a_temperature_that_is_refused() -> None:
    pytest.importorskip("any_llm")
    with OpenAIServer(rejects={"temperature"}, faults=Faults(rate_limited=1.0)) as server:
        judge = resolve_judge("any-llm:openai:fake", api_key="k", base_url=server.base_url, retry_base=0.01)
        (answer,) = await ask(judge, support())
    assert answer.failure is None
    assert [call.status for call in server.calls].count(429) == 1
    assert "temperature" not in server.calls[-1].body
