"""Judges over Anthropic's, Google's and Amazon's protocols, against servers on this machine that speak them."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import pytest

from assay.errors import Cause, InputError
from assay.judges.budget.budget import Budget, Prices, spending
from assay.judges.llm.openai import OpenAIJudge
from assay.judges.providers.native import shared_length
from assay.judges.resolve import resolve_judge
from assay.prompts import Claims, Support, Usefulness
from tests._support.servers.faults import Faults
from tests._support.servers.native_server import AnthropicServer, BedrockServer, GeminiServer, NativeServer
from tests._support.servers.openai_server import Call, Say
from tests.judges.conftest import PASSAGES, ask, claims

KEY = "secret-key-of-the-test"
SERVERS: dict[str, type[NativeServer]] = {
    "anthropic": AnthropicServer,
    "gemini": GeminiServer,
    "bedrock": BedrockServer,
    "vertex": GeminiServer,
}
LONG = "The bridge opened in 1889. " + "It is made of iron and of stone. " * 200


@pytest.fixture(params=["anthropic", "gemini", "bedrock"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def judge_of(provider: str, server: NativeServer, **options: Any) -> OpenAIJudge:
    address = {"anthropic": server.base_url, "gemini": f"{server.origin}/v1beta"}.get(provider, server.origin)
    judge = resolve_judge(f"{provider}:fake", **{"base_url": address, "api_key": KEY, "retry_base": 0.01, **options})
    assert isinstance(judge, OpenAIJudge)
    return judge


def server_of(provider: str, **how: Any) -> NativeServer:
    return SERVERS[provider](**{"key": KEY, **how})


def support(text: str = "The bridge opened in 1889.", passages: tuple[str, ...] = PASSAGES) -> Support:
    return Support(claims(text), passages, "When did it open?")


async def answer_of(judge: OpenAIJudge, *prompts: Any) -> list[Any]:
    try:
        return list(await ask(judge, *prompts))
    finally:
        await judge.release()


async def test_verdicts_come_through_each_protocol_with_its_schema_enforced(provider: str) -> None:
    with server_of(provider) as server:
        found = await answer_of(judge_of(provider, server), Claims("The bridge opened in 1889."), support())
    assert [answer.failure for answer in found] == [None, None]
    assert found[1].judgement[0].label == "supported"
    for request in server.requests:
        sent = json.dumps(request)
        assert {"anthropic": "input_schema", "gemini": "responseJsonSchema", "bedrock": "inputSchema"}[provider] in sent
        assert "fits this JSON schema" not in sent  # enforced, so not stated in the prompt as well
    assert len(server.calls) == 2  # nothing was refused on the way


async def test_what_a_protocol_cannot_enforce_is_stated_in_the_prompt(provider: str) -> None:
    with server_of(provider, rejects={"response_format"}) as server:
        (answer,) = await answer_of(judge_of(provider, server), support())
    assert answer.failure is None
    assert "fits this JSON schema" in json.dumps(server.requests[-1])


async def test_counters_add_up_what_each_provider_counts_apart() -> None:
    with server_of("anthropic") as server:
        judge = judge_of("anthropic", server)
        first, second = support("The bridge opened in 1889.", (LONG,)), support("It is made of iron.", (LONG,))
        (before,) = await ask(judge, first)
        (after,) = await answer_of(judge, second)
    # of each request the marked part is written to the cache once (input + written) and then read (input + read)
    marked = len(server.requests[0]["messages"][0]["content"][0]["text"]) // 4
    assert (before.usage.cached_tokens, before.usage.cache_write_tokens) == (0, marked)
    assert (after.usage.cached_tokens, after.usage.cache_write_tokens) == (marked, 0)
    assert before.usage.prompt_tokens > marked > 1000
    assert (
        abs(after.usage.prompt_tokens - before.usage.prompt_tokens) < 50
    )  # cached tokens are among those of the prompt

    with server_of("bedrock") as server:
        (answer,) = await answer_of(judge_of("bedrock", server), support())
    read = sum(len(text) for text in _texts(server.requests[0])) // 4
    assert answer.usage.prompt_tokens == read + 3 + 2
    assert (answer.usage.cached_tokens, answer.usage.cache_write_tokens) == (3, 2)

    with server_of("gemini") as server:
        judge = judge_of("gemini", server)
        (before,) = await ask(judge, support())
        (after,) = await answer_of(judge, support())
    assert before.usage.cached_tokens == 0
    assert after.usage.cached_tokens == after.usage.prompt_tokens // 2
    assert before.usage.completion_tokens > 7  # thoughts are paid as output


def _texts(request: dict[str, Any]) -> Iterator[str]:
    for block in [*request["system"], *(part for one in request["messages"] for part in one["content"])]:
        yield block["text"]


async def test_passages_are_marked_for_the_cache_of_anthropic_and_the_task_is_not() -> None:
    with server_of("anthropic") as server:
        await answer_of(judge_of("anthropic", server), support())
        marked, rest = server.requests[-1]["messages"][0]["content"]
        assert marked["cache_control"] == {"type": "ephemeral"}
        assert all(passage in marked["text"] for passage in PASSAGES)
        assert "TASK" not in marked["text"]
        assert rest["text"].count("TASK") == 1
        await answer_of(judge_of("anthropic", server, prefix_cache=False), support())
        assert isinstance(server.requests[-1]["messages"][0]["content"], str)


def test_a_shared_part_ends_with_a_fence() -> None:
    text = '<data-0123456789abcdef title="P">\none\n</data-0123456789abcdef>\n\nTASK\nx'
    assert text[: shared_length([{}, {"content": text}], 1)].endswith("</data-0123456789abcdef>")
    for content, sections in ((text, 2), (text, 0), ("TASK", 1), ([{"type": "text"}], 1), ("", 1)):
        assert shared_length([{}, {"content": content}], sections) == 0


async def test_a_rate_limit_is_waited_for_and_costs_nothing(provider: str) -> None:
    with server_of(provider, faults=Faults(rate_limited=1.0)) as server:
        (answer,) = await answer_of(judge_of(provider, server), support())
    assert answer.failure is None
    assert [call.status for call in server.calls] == [429, 200]
    assert answer.usage.calls == 1


@pytest.mark.parametrize("status", [500, 503, 529])
async def test_a_server_that_fails_or_is_overloaded_is_asked_again(provider: str, status: int) -> None:
    def natively(call: Call) -> Say | None:
        return server.error(status, "Overloaded") if len(server.calls) == 1 else None

    with server_of(provider, natively=natively) as server:
        (answer,) = await answer_of(judge_of(provider, server), support())
    assert answer.failure is None
    assert len(server.calls) == 2


async def test_a_refusal_is_no_verdict(provider: str) -> None:
    with server_of(provider, faults=Faults(refusal=1.0, repeat=None)) as server:
        (answer,) = await answer_of(judge_of(provider, server), support())
    assert answer.failure.cause is (Cause.CONTENT_FILTER if provider == "bedrock" else Cause.REFUSED)
    assert answer.usage.prompt_tokens > 0  # it was paid for


async def test_a_blocked_prompt_is_the_filters() -> None:
    blocked = Say(
        body={"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 9}}
    )
    with server_of("gemini", natively=lambda call: blocked) as server:
        (answer,) = await answer_of(judge_of("gemini", server), support())
    assert answer.failure.cause is Cause.CONTENT_FILTER
    assert answer.usage.prompt_tokens == 9


@pytest.mark.parametrize(
    ("ended", "cause"),
    [("SPII", Cause.CONTENT_FILTER), ("RECITATION", Cause.CONTENT_FILTER), ("SAFETY", Cause.REFUSED)],
)
async def test_ends_of_gemini_that_leave_no_text(ended: str, cause: Cause) -> None:
    with server_of("gemini", natively=lambda call: Say(body={"candidates": [{"finishReason": ended}]})) as server:
        (answer,) = await answer_of(judge_of("gemini", server), support())
    assert answer.failure.cause is cause


async def test_a_reply_that_is_cut_is_not_read(provider: str) -> None:
    with server_of(provider, max_output=4) as server:
        (answer,) = await answer_of(judge_of(provider, server), support())
    assert answer.failure.cause is Cause.TRUNCATED


async def test_a_wrong_key_is_told_once_and_never_shown(provider: str) -> None:
    with server_of(provider, key="another") as server:
        (answer,) = await answer_of(judge_of(provider, server), support())
    assert answer.failure.cause is Cause.AUTH
    assert KEY not in answer.failure.message
    assert len(server.calls) == 1


async def test_an_unknown_model_is_told_once(provider: str) -> None:
    with server_of(provider, models={"other"}) as server:
        (answer,) = await answer_of(judge_of(provider, server), support())
    assert answer.failure is not None
    assert answer.failure.cause is (Cause.BAD_REQUEST if provider == "bedrock" else Cause.NO_MODEL)


async def test_label_probabilities_of_gemini() -> None:
    with server_of("gemini") as server:
        (answer,) = await answer_of(judge_of("gemini", server, logprobs=True), support())
    # the server gives 0.8 to what was said and 0.15 to the other five, of which two are labels of this question
    assert answer.judgement[0].probability == pytest.approx(0.8 / (0.8 + 0.15 * 2 / 4), abs=0.02)


async def test_replies_that_are_none_are_retried_and_told(provider: str) -> None:
    odd = [{}, [], {"content": None}, {"candidates": 7}, {"output": {"message": 3}}, {"content": [None, 4]},
           {"candidates": [{"content": {"parts": [3, {"text": None}]}, "logprobsResult": 3}]},
           {"output": {"message": {"content": [None, {"toolUse": 3}]}}, "usage": 7}]  # fmt: skip
    with server_of(provider, natively=lambda call: Say(body=odd[len(server.calls) % len(odd)])) as server:
        (answer,) = await answer_of(judge_of(provider, server, max_attempts=8), support())
    assert answer.failure.cause in (Cause.CONNECTION, Cause.PARSE)


async def test_budgets_count_native_requests(provider: str) -> None:
    budget = Budget(calls_per_day=1, dollars_per_day=1.0, prices=Prices(prompt=1, completion=5))
    with server_of(provider) as server, spending(budget):
        first, second = await answer_of(judge_of(provider, server), support(), Usefulness("When?", PASSAGES))
    assert sorted(str(one.failure and one.failure.cause) for one in (first, second)) == ["None", "budget"]
    usage = (first if first.failure is None else second).usage
    paid = budget.prices.of_usage(usage) / 1e9  # type: ignore[union-attr]
    assert budget.state()["dollars_per_day"]["spent"] == pytest.approx(paid, abs=1e-8)


async def test_extra_members_reach_the_provider() -> None:
    safety = [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]
    with server_of("gemini") as server:
        judge = judge_of("gemini", server, extra_body={"safetySettings": safety, "generationConfig": {"topP": 0.5}})
        await answer_of(judge, support())
    assert server.requests[0]["safetySettings"] == safety
    assert server.requests[0]["generationConfig"]["topP"] == 0.5
    assert "responseJsonSchema" in server.requests[0]["generationConfig"]


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("anthropic:m", {}, "ANTHROPIC_API_KEY"),
        ("gemini:m", {}, "GEMINI_API_KEY"),
        ("vertex:m", {}, "GOOGLE_CLOUD_PROJECT"),
        ("bedrock:m", {}, "AWS_REGION"),
        ("anthropic:m", {"api_key": "k", "logprobs": True}, "logprobs: does not go with a judge of anthropic"),
        ("gemini:m", {"api_key": "k", "embedding_model": "e"}, "similarity=EmbeddedJudge()"),
        ("bedrock:m", {"api_key": "k", "region": "r", "client": 3}, "client: does not go"),
    ],
)
def test_what_is_missing_is_named(
    name: str, options: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in _VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    with pytest.raises(InputError, match=said.replace("(", r"\(").replace(")", r"\)")):
        resolve_judge(name, **options)


_VARIABLES = (
    *("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT"),
    *("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_BEARER_TOKEN_BEDROCK"),
)


@pytest.mark.parametrize(("name", "variable"), [("anthropic", "ANTHROPIC_API_KEY"), ("gemini", "GEMINI_API_KEY")])
async def test_a_key_of_the_environment_goes_to_no_other_address(
    name: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "key-of-the-environment")
    with server_of(name, key="none") as server:
        (answer,) = await answer_of(judge_of(name, server, api_key=None), support())
    assert answer.failure is None
    assert all("key-of-the-environment" not in str(call.headers) for call in server.calls)


async def test_the_clients_variables_send_nothing_of_openai(monkeypatch: pytest.MonkeyPatch, provider: str) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-mine")
    monkeypatch.setattr("assay.judges.http.transports._has_aiohttp", lambda: False)
    with server_of(provider) as server:
        (answer,) = await answer_of(judge_of(provider, server), support())
    assert answer.failure is None
    assert "org-of-mine" not in str(server.calls[0].headers)


# ---- signatures and tokens


def signed(access: str, secret: str, region: str) -> Callable[[Call, bytes], bool]:
    """Signature Version 4 from its description, apart from botocore's."""

    def check(call: Call, content: bytes) -> bool:
        scheme, _, fields = call.headers["authorization"].partition(" ")
        parts = dict(part.strip().split("=", 1) for part in fields.split(","))
        day = call.headers["x-amz-date"][:8]
        names = parts["SignedHeaders"].split(";")
        canonical = "\n".join([
            "POST", quote(call.path, safe="/~"), "",
            *(f"{name}:{call.headers[name].strip()}" for name in names), "",
            parts["SignedHeaders"], hashlib.sha256(content).hexdigest(),
        ])  # fmt: skip
        scope = f"{day}/{region}/bedrock/aws4_request"
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        text = "\n".join(["AWS4-HMAC-SHA256", call.headers["x-amz-date"], scope, digest])
        key = f"AWS4{secret}".encode()
        for part in (day, region, "bedrock", "aws4_request"):
            key = hmac.digest(key, part.encode(), "sha256")
        right = hmac.digest(key, text.encode(), "sha256").hex()
        whole = scheme == "AWS4-HMAC-SHA256" and parts["Credential"] == f"{access}/{scope}" and "host" in names
        return whole and hmac.compare_digest(right, parts["Signature"])

    return check


@pytest.mark.parametrize("secret", ["right", "wrong"])
async def test_requests_to_bedrock_are_signed(secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token-of-the-session")
    check = signed("AKIDEXAMPLE", "right", "eu-west-1")
    model = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
    with BedrockServer(models={model}) as server:
        server.signature = lambda call: check(call, server.content[call.number])
        judge = resolve_judge(f"bedrock:{model}", base_url=server.origin, region="eu-west-1", sign=True)
        (answer,) = await answer_of(judge, support("It costs 3 € 🙂."))  # type: ignore[arg-type]
    if secret == "right":
        assert answer.failure is None
        assert server.calls[0].headers["x-amz-security-token"] == "token-of-the-session"
    else:
        assert answer.failure.cause is Cause.AUTH
    assert "wrong" not in str(server.calls[0].headers)


async def test_credentials_of_aws_go_to_no_other_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "right")
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bearer-of-the-environment")
    with server_of("bedrock", key="none") as server:
        (answer,) = await answer_of(judge_of("bedrock", server, api_key=None), support())
    assert answer.failure is None
    assert server.calls[0].headers["authorization"] == "Bearer none"


async def test_a_token_of_google_is_renewed_when_it_expires() -> None:
    from assay.judges.providers.gemini import bearer_of

    class Credentials:
        token, valid = "first", True

        def refresh(self, request: Any) -> None:
            self.token, self.valid = "second", True

    held = Credentials()
    pytest.importorskip("google.auth.transport.requests")
    authorize = bearer_of(lambda: (held, "project"))
    assert authorize("POST", "", {}, b"") == {"authorization": "Bearer first"}
    held.valid = False
    assert authorize("POST", "", {}, b"") == {"authorization": "Bearer second"}
    with server_of("vertex", key=None) as server:
        judge = judge_of("vertex", server, base_url=f"{server.origin}/v1/projects/p/publishers/google", api_key="tok")
        (answer,) = await answer_of(judge, support())
    assert answer.failure is None
    assert server.calls[0].headers["authorization"] == "Bearer tok"
    assert server.calls[0].path.endswith("/publishers/google/models/fake:generateContent")
