"""Replies and errors as vLLM, Ollama, llama.cpp, LM Studio and gateways send them, over both ways to send a request."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import Cause
from assay.judges.http import transports
from assay.judges.http.content_filters import blocked_categories
from assay.judges.http.error_bodies import error_in, first_event
from assay.judges.http.native_bodies import completion_of
from assay.judges.http.refusals import refuses_system
from assay.judges.llm.openai import OpenAIJudge
from assay.prompts import Support
from tests._support.servers.openai_server import Call, OpenAIServer, Say
from tests.judges.conftest import PASSAGES, ask, claims

JudgeAt = Callable[..., OpenAIJudge]
PROMPT = Support(claims("The bridge opened in 1889."), PASSAGES, "When did it open?")


@pytest.fixture(params=["aiohttp", "client"], autouse=True)
def sent_by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Sends requests in each of the two ways."""
    if request.param == "client":
        monkeypatch.setattr(transports, "_has_aiohttp", lambda: False)
    return str(request.param)


def completion(message: Any, finish: Any = "stop", **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish, **more}]}


def called(*arguments: Any) -> list[dict[str, Any]]:
    return [
        {"id": f"c{n}", "type": "function", "function": {"name": "reply", "arguments": one}}
        for n, one in enumerate(arguments)
    ]


DRAFT = '{"items": []}'


def ollama(content: str, reason: str = "stop", done: bool = True) -> dict[str, Any]:
    """A body of Ollama's own API."""
    message = {"role": "assistant", "content": content}
    counts = {"total_duration": 5_191_566_416, "prompt_eval_count": 26, "eval_count": 298}
    return {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": done} | (
        {"done_reason": reason, **counts} if done else {}
    )


SAFE = {name: {"filtered": False, "severity": "safe"} for name in ("hate", "self_harm", "sexual", "violence")}
BLOCKED = SAFE | {"violence": {"filtered": True, "severity": "high"}}

#: Bodies with HTTP 200 around an honest answer, which must be read.
READ: dict[str, Callable[[str], dict[str, Any]]] = {
    "content": lambda honest: completion({"content": honest}),
    "tool call, content null": lambda honest: completion({"content": None, "tool_calls": called(honest)}, "tool_calls"),
    "tool call, content empty": lambda honest: completion({"content": "", "tool_calls": called(honest)}),
    "tool call, no content": lambda honest: completion({"role": "assistant", "tool_calls": called(honest)}),
    "tool call beside words": lambda honest: completion({"content": "I reply now.", "tool_calls": called(honest)}),
    "tool call with an object": lambda honest: completion({"content": None, "tool_calls": called(json.loads(honest))}),
    "the same tool call twice": lambda honest: completion({"content": None, "tool_calls": called(honest, honest)}),
    "an empty tool call besides": lambda honest: completion({"content": None, "tool_calls": called("", honest)}),
    "no tool calls": lambda honest: completion({"content": honest, "tool_calls": []}),
    "tool calls null": lambda honest: completion({"content": honest, "tool_calls": None, "function_call": None}),
    "function call": lambda honest: completion({"content": None, "function_call": {"name": "f", "arguments": honest}}),
    "parts": lambda honest: completion({"content": [{"type": "text", "text": honest}]}),
    "a part of reasoning": lambda honest: completion(
        {"content": [{"type": "reasoning", "text": DRAFT}, {"type": "text", "text": honest}]}
    ),
    "parts that are texts": lambda honest: completion({"content": [honest]}),
    "content that is an object": lambda honest: completion({"content": json.loads(honest)}),
    "a text without a message": lambda honest: {"choices": [{"text": honest, "finish_reason": "stop"}]},
    # vLLM issue 19222: with a reasoning parser and thinking off, what the schema enforced is the reasoning
    "reasoning_content, content null": lambda honest: completion({"content": None, "reasoning_content": honest}),
    "reasoning, content empty": lambda honest: completion({"content": "", "reasoning": f"\n{honest}\n"}),
    "reasoning beside the content": lambda honest: completion({"content": honest, "reasoning_content": DRAFT}),
    "think tags": lambda honest: completion({"content": f"<think>\nPerhaps {DRAFT}?\n</think>\n\n{honest}"}),
    "an end of thinking alone": lambda honest: completion({"content": f"It says 1889.\n</think>\n\n{honest}"}),
    "Magistral": lambda honest: completion({"content": f"[THINK]Perhaps {DRAFT}?[/THINK]{honest}"}),
    "Kimi": lambda honest: completion({"content": f"\u25c1think\u25b7Perhaps {DRAFT}?\u25c1/think\u25b7{honest}"}),
    "Seed": lambda honest: completion({"content": f"<seed:think>Perhaps {DRAFT}?</seed:think>{honest}"}),
    "Command A": lambda honest: completion(
        {"content": f"<|START_THINKING|>{DRAFT}<|END_THINKING|><|START_RESPONSE|>{honest}<|END_RESPONSE|>"}
    ),
    "gpt-oss, channels": lambda honest: completion(
        {
            "content": f"<|channel|>analysis<|message|>Perhaps {DRAFT}<|end|>"
            f"<|start|>assistant<|channel|>final<|message|>{honest}"
        }
    ),
    "a box": lambda honest: completion({"content": f"<|begin_of_box|>{honest}<|end_of_box|>"}),
    "error null": lambda honest: completion({"content": honest}) | {"error": None},
    "finish reason missing": lambda honest: {"choices": [{"message": {"content": honest}}]},
    "finish reason of another": lambda honest: completion({"content": honest}, "end_turn"),
    # native bodies
    "Ollama /api/chat": lambda honest: ollama(honest),
    "Ollama with thinking": lambda honest: {**ollama(honest), "message": {"content": honest, "thinking": DRAFT}},
    "Ollama, a tool call": lambda honest: (
        {**ollama(""), "message": {"role": "assistant", "content": "", "tool_calls": called(json.loads(honest))}}
    ),
    "Ollama without counts": lambda honest: {"model": "m", "message": {"content": honest}, "done": True},
    "Ollama /api/generate": lambda honest: {"model": "m", "response": honest, "done": True, "done_reason": "stop"},
    "Cohere": lambda honest: {
        "id": "c",
        "message": {"role": "assistant", "content": [{"type": "text", "text": honest}]},
        "finish_reason": "COMPLETE",
        "usage": {"tokens": {"input_tokens": 9, "output_tokens": 3}},
    },
    "Anthropic": lambda honest: {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": honest}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 9, "output_tokens": 3},
    },
    # filters that blocked nothing
    "Azure": lambda honest: (
        completion({"content": honest}, content_filter_results=SAFE)
        | {"prompt_filter_results": [{"prompt_index": 0, "content_filter_results": SAFE}]}
    ),
    "Azure, detected": lambda honest: completion(
        {"content": honest}, content_filter_results={"jailbreak": {"filtered": False, "detected": True}}
    ),
    "Azure, the filter was down": lambda honest: completion(
        {"content": honest}, content_filter_results={"error": {"code": "content_filter_error", "message": "not run"}}
    ),
}


@pytest.mark.parametrize("name", READ)
async def test_an_answer_is_read_wherever_the_server_puts_it(name: str, judge_at: JudgeAt) -> None:
    with OpenAIServer(plan=lambda call: Say(body=READ[name](call.honest))) as server:
        (answer,) = await ask(judge_at(server), PROMPT)
        assert len(server.calls) == 1
    assert answer.failure is None, answer.failure
    assert [verdict.label for verdict in answer.judgement] == ["supported"]


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("two tool calls that differ", Cause.AMBIGUOUS),
        ("content and tool call that differ", Cause.AMBIGUOUS),
        ("a draft in prose of the reasoning", Cause.PARSE),
        ("reasoning that was cut", Cause.TRUNCATED),
        ("nothing", Cause.PARSE),
        ("thinking without an end", Cause.PARSE),
        ("channels without a final one", Cause.PARSE),
    ],
)
async def test_what_is_no_answer_is_never_a_verdict(name: str, cause: Cause, judge_at: JudgeAt) -> None:
    def body(honest: str) -> dict[str, Any]:
        other = honest.replace("supported", "contradicted")
        return {
            "two tool calls that differ": completion({"content": None, "tool_calls": called(honest, other)}),
            "content and tool call that differ": completion({"content": other, "tool_calls": called(honest)}),
            "a draft in prose of the reasoning": completion({"content": None, "reasoning": f"Perhaps {honest}?"}),
            "reasoning that was cut": completion({"content": "", "reasoning_content": honest}, "length"),
            "nothing": completion({"content": None, "tool_calls": None}),
            "thinking without an end": completion({"content": f"[THINK]{honest}"}),
            "channels without a final one": completion({"content": f"<|channel|>analysis<|message|>{honest}"}),
        }[name]

    with OpenAIServer(plan=lambda call: Say(body=body(call.honest))) as server:
        (answer,) = await ask(judge_at(server), PROMPT)
    assert answer.failure is not None
    assert answer.failure.cause is cause


@pytest.mark.parametrize(
    "finish",
    [
        *("length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "model_length"),
        *("maxPredictedTokensReached", "contextLengthReached"),
    ],
)
async def test_a_reply_cut_at_a_limit_is_cut_in_everybodys_words(finish: str, judge_at: JudgeAt) -> None:
    def cut(call: Call) -> Say:
        return Say(body=completion({"content": call.honest[: len(call.honest) // 2]}, finish))

    with OpenAIServer(plan=cut) as server:
        (answer,) = await ask(judge_at(server), PROMPT)
    assert answer.failure is not None
    assert answer.failure.cause is Cause.TRUNCATED


async def test_counts_and_ends_of_native_bodies_are_read(judge_at: JudgeAt) -> None:
    with OpenAIServer(plan=lambda call: Say(body=ollama(call.honest))) as server:
        (answer,) = await ask(judge_at(server), PROMPT)
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (26, 298)
    with OpenAIServer(plan=lambda call: Say(body=ollama(call.honest[:20], "length"))) as server:
        (answer,) = await ask(judge_at(server), PROMPT)
    assert answer.failure is not None
    assert answer.failure.cause is Cause.TRUNCATED


#: Responses with HTTP 200 of which a filter blocked the prompt or the reply, and what of the message has to name it.
BLOCKS: dict[str, tuple[dict[str, Any], str]] = {
    "no choices": (
        {"choices": [], "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": BLOCKED}]},
        "violence",
    ),
    "no choices, the second prompt": (
        {
            "choices": [],
            "prompt_filter_results": [{"content_filter_results": SAFE}, {"content_filter_results": BLOCKED}],
        },
        "violence",
    ),
    "choices null": ({"choices": None, "prompt_annotations": [{"content_filter_results": BLOCKED}]}, "violence"),
    "no choices at all, a blocklist": (
        {"content_filter_results": {"custom_blocklists": {"filtered": True, "details": []}}},
        "custom_blocklists",
    ),
    "results in a list": ({"choices": [], "content_filter_results": [{"id": "hate", "filtered": True}]}, "hate"),
    "blocks with results": (
        {"choices": [], "content_filters": [{"source_type": "prompt", "content_filter_results": BLOCKED}]},
        "violence",
    ),
    "an empty reply": (completion({"content": ""}, "stop", content_filter_results=BLOCKED), "content filter"),
    "no reply": (completion({"role": "assistant"}, None, content_filter_results=BLOCKED), "content filter"),
    "the prompt, an empty reply": (
        completion({"content": None}) | {"prompt_filter_results": [{"content_filter_results": BLOCKED}]},
        "content filter",
    ),
    "by its end": (completion({"content": ""}, "content_filter", content_filter_results=BLOCKED), "content filter"),
}


@pytest.mark.parametrize("name", BLOCKS)
async def test_what_a_filter_blocked_has_its_own_cause_and_is_not_sent_again(name: str, judge_at: JudgeAt) -> None:
    body, named = BLOCKS[name]
    with OpenAIServer(plan=lambda call: Say(body=body)) as server:
        (answer,) = await ask(judge_at(server), PROMPT)
        assert len(server.calls) == 1
    assert answer.failure is not None
    assert answer.failure.cause is Cause.CONTENT_FILTER
    assert named in answer.failure.message


#: Error bodies with HTTP 200: the cause, and whether another attempt is made.
ERRORS: dict[str, tuple[Any, Cause, bool]] = {
    "code": ({"error": {"message": "no", "code": 401}}, Cause.AUTH, False),
    "code as text": ({"error": {"message": "no", "code": "401", "type": "None", "param": "None"}}, Cause.AUTH, False),
    "code by name": ({"error": {"message": "no", "code": "invalid_api_key"}}, Cause.AUTH, False),
    "type by name": ({"error": {"message": "no", "type": "authentication_error"}}, Cause.AUTH, False),
    "status": ({"error": {"message": "no", "status": 403}}, Cause.AUTH, False),
    "of Google, in a list": ([{"error": {"code": 404, "message": "no", "status": "NOT_FOUND"}}], Cause.NO_MODEL, False),
    "of Ollama": ({"error": "model 'x' not found, try pulling it first"}, Cause.NO_MODEL, False),
    "of LM Studio": ({"error": "Model 'x' is not loaded"}, Cause.NO_MODEL, False),
    "of vLLM": ({"object": "error", "message": "no", "type": "BadRequestError", "code": 400}, Cause.BAD_REQUEST, False),
    "of FastAPI": ({"detail": "Upstream failed"}, Cause.CONNECTION, True),
    "of a gateway": ({"message": "no Route matched"}, Cause.CONNECTION, True),
    "code and msg": ({"code": 503, "msg": "busy", "data": None}, Cause.CONNECTION, True),
    "base_resp": ({"base_resp": {"status_code": 1004, "status_msg": "no api key"}}, Cause.AUTH, False),
    "choices null": ({"choices": None, "error": {"message": "no", "code": 502}}, Cause.CONNECTION, True),
    "of OpenRouter, in the choice": (
        completion({"content": "{"}, "error", error={"code": 502, "message": "gone"}),
        *(Cause.CONNECTION, True),
    ),
    "an end with an error": (completion({"content": '{"items": ['}, "error"), Cause.CONNECTION, True),
    "too long": (
        {"error": {"message": "Trying to keep the first 9000 tokens when context the overflows. However, ..."}},
        *(Cause.TOO_LONG, False),
    ),
    "filtered": ({"error": {"message": "filtered", "code": "content_filter"}}, Cause.CONTENT_FILTER, False),
    "rate": ({"error": {"message": "slow down", "code": 429}}, Cause.RATE_LIMITED, True),
    "rate by name": ({"error": {"message": "slow down", "type": "rate_limit_error"}}, Cause.RATE_LIMITED, True),
    "quota": ({"error": {"message": "no money", "code": "insufficient_quota"}}, Cause.RATE_LIMITED, False),
    "nothing known": ({"error": {"odd": True}}, Cause.CONNECTION, True),
    "in a stream": ('data: {"error": {"message": "no", "code": 401}}\n\ndata: [DONE]\n', Cause.AUTH, False),
    "a filter that blocked nothing": (
        {"choices": [], "prompt_filter_results": [{"content_filter_results": SAFE}]},
        *(Cause.CONNECTION, True),
    ),
    "a stream of Ollama": (
        "".join(json.dumps(ollama(part, done=False)) + "\n" for part in "{}"),
        *(Cause.BAD_REQUEST, False),
    ),
    "one part of a stream of Ollama": (ollama("{", done=False), Cause.BAD_REQUEST, False),
    "a stream": (': hello\n\ndata: {"choices": [{"delta": {"content": "x"}}]}\n\n', Cause.BAD_REQUEST, False),
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ERRORS)
async def test_an_error_with_http_200_has_its_own_cause_and_ends(name: str, judge_at: JudgeAt) -> None:
    body, cause, again = ERRORS[name]
    with OpenAIServer(plan=lambda call: Say(body=body)) as server:
        (answer,) = await ask(judge_at(server, structured=False, max_attempts=3), PROMPT)
        assert len(server.calls) == (3 if again else 1)
    assert answer.failure is not None
    assert answer.failure.cause is cause, answer.failure
    assert answer.failure.raw


async def test_an_error_with_http_200_that_passes_leaves_a_verdict(judge_at: JudgeAt) -> None:
    limited = Say(body={"error": {"message": "slow down", "code": 429}})
    with OpenAIServer(plan=lambda call: limited if call.attempt == 1 else None) as server:
        (answer,) = await ask(judge_at(server), PROMPT)
        assert len(server.calls) == 2
    assert answer.failure is None


#: How servers refuse a system message: status and body.
NO_SYSTEM: dict[str, tuple[int, Any]] = {
    "vLLM": (400, {"object": "error", "message": "System role not supported", "type": "BadRequestError", "code": 400}),
    "llama.cpp": (500, {"error": {"code": 500, "message": "System role not supported", "type": "server_error"}}),
    "LM Studio": (400, {"error": "Error rendering prompt: Only user and assistant roles are supported!"}),
    "SGLang": (500, {"message": "System role not supported", "object": "error"}),
    "Mistral": (400, {"error": {"message": "Conversation roles must alternate user/assistant/user/assistant/..."}}),
    "OpenAI": (
        400,
        {
            "error": {
                "message": "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
                "param": "messages[0].role",
            }
        },
    ),
    "Google": (400, [{"error": {"code": 400, "message": "Developer instruction is not enabled for models/gemma"}}]),
    "Bedrock": (400, {"message": "This model doesn't support system messages. Try again without them."}),
    "text-generation-inference": (422, {"error": "Template error: invalid operation: System role not supported"}),
    "with HTTP 200": (200, {"error": {"message": "System role not supported", "code": 400}}),
    "OpenRouter": (404, {"error": {"message": "No endpoints found that support system messages", "code": 404}}),
    "a server without it": (501, {"error": "the system role is not implemented"}),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_SYSTEM)
async def test_without_a_system_role_its_text_goes_to_the_user_and_that_is_remembered(
    name: str, judge_at: JudgeAt
) -> None:
    status, body = NO_SYSTEM[name]

    def refuse(call: Call) -> Say | None:
        roles = [message["role"] for message in call.body["messages"]]
        return Say(status=status, body=body) if "system" in roles else None

    with OpenAIServer(plan=refuse) as server:
        judge = judge_at(server)
        (first,) = await ask(judge, PROMPT)
        (second,) = await ask(judge_at(server), Support(claims("Cats sleep."), PASSAGES))
        assert len(server.calls) == 3
        sent = [[message["role"] for message in call.body["messages"]] for call in server.calls]
        assert sent == [["system", "user"], ["user"], ["user"]]
        refused, taken = (call.body["messages"] for call in server.calls[:2])
        assert taken[0]["content"] == f"{refused[0]['content']}\n\n{refused[1]['content']}"
        # and nothing else was given up
        assert server.calls[-1].body["response_format"]["type"] == "json_schema"
    assert first.failure is second.failure is None


#: How servers refuse a schema: status and body.
NO_SCHEMA: dict[str, tuple[int, Any]] = {
    "vLLM": (400, {"object": "error", "message": "Grammar error: unsupported schema", "type": "BadRequestError"}),
    "Ollama": (500, {"error": {"message": "invalid JSON schema in format", "type": "api_error"}}),
    "llama.cpp": (500, {"error": {"code": 500, "message": "failed to parse grammar", "type": "server_error"}}),
    "llama.cpp, converting": (400, {"error": {"code": 400, "message": "JSON schema conversion failed: ..."}}),
    "LM Studio": (400, {"error": "'response_format.type' must be 'text'"}),
    "LiteLLM": (400, {"error": {"message": "litellm: no response_format", "param": "None", "code": "400"}}),
    "OpenRouter": (200, {"error": {"message": "Provider returned error: invalid json_schema", "code": 400}}),
    "OpenRouter, nobody for it": (
        404,
        {"error": {"message": "No endpoints found that can handle the requested parameters.", "code": 404}},
    ),
    "not found": (404, {"error": "json_schema is not available here"}),
    "not found, no words": (404, {"detail": "Not Found"}),
    "not implemented": (501, {"error": {"message": "response_format of type json_schema is not implemented"}}),
    "not implemented, no words": (501, "Not Implemented"),
    "not allowed": (405, {"detail": "Method Not Allowed"}),
    "a gateway's": (502, {"error": {"message": "upstream: structured outputs are not enabled", "code": 502}}),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_SCHEMA)
async def test_a_refused_schema_is_stated_in_the_prompt(name: str, judge_at: JudgeAt) -> None:
    status, body = NO_SCHEMA[name]
    refusal = Say(status=status, body=body)
    with OpenAIServer(plan=lambda call: refusal if "response_format" in call.body else None) as server:
        (answer,) = await ask(judge_at(server), PROMPT)
        assert len(server.calls) == 3  # json_schema, json_object, none
        assert "JSON schema" in server.calls[-1].body["messages"][-1]["content"]
    assert answer.failure is None


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it"),
        (500, "the request exceeds the available context size. try increasing the context size"),
        (400, "Try to load the model with a larger context length, or provide a shorter input"),
        (400, "The input (9000 tokens) is longer than the model's context length (4096 tokens)."),
        (400, "This model's maximum prompt length is 4096 but the request contains 9000 tokens."),
        (400, "The input token count (9000) exceeds the maximum number of tokens allowed (4096)."),
        (422, "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 9000 `inputs` tokens"),
    ],
)
async def test_a_prompt_that_is_too_long_is_asked_in_parts(status: int, said: str, judge_at: JudgeAt) -> None:
    def refuse(call: Call) -> Say | None:
        length = sum(len(message["content"]) for message in call.body["messages"])
        return Say(status=status, body={"error": said}) if length > 2100 else None

    many = Support(claims(*(f"The bridge is {n} metres long." for n in range(16))), PASSAGES)
    with OpenAIServer(plan=refuse) as server:
        (answer,) = await ask(judge_at(server), many)
        assert len(server.chats) > 1
    assert answer.failure is None, answer.failure
    assert len(answer.judgement) == 16


async def test_an_error_500_that_says_nothing_of_the_request_is_tried_again(judge_at: JudgeAt) -> None:
    down = Say(status=500, body={"error": {"message": "the model runner has unexpectedly stopped"}})
    with OpenAIServer(plan=lambda call: down if call.attempt == 1 else None) as server:
        (answer,) = await ask(judge_at(server), PROMPT)
        assert len(server.calls) == 2
        assert [call.body["response_format"]["type"] for call in server.calls] == ["json_schema"] * 2
    assert answer.failure is None


_KEYS = ("error", "choices", "code", "message", "detail", "base_resp", "done", "content", "role", "filtered", "x")
_FILTERS = ("prompt_filter_results", "content_filter_results", "content_filters")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*_KEYS, *_FILTERS]), inner, max_size=4)
    ),
)


@given(JSON)
def test_any_body_holds_an_error_or_none(body: Any) -> None:
    found = error_in(body)
    if found is not None:
        status, text = found
        assert 400 <= status < 600
        assert json.loads(text).keys() == {"error"}


@given(st.text(max_size=60))
def test_any_text_is_a_stream_or_none(text: str) -> None:
    assert first_event(text) is None or "data:" in text or '"done"' in text


#: Refusals of system messages, as templates and providers word them.
REFUSALS = (
    "Only user and assistant roles are supported!",
    "Only user, assistant and tool roles are supported, got system.",
    "Conversation roles must alternate user/assistant/user/assistant/...",
    "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...",
    "system messages are not supported by this model",
    "This model doesn't support system messages. Try again without them.",
    "Developer instruction is not enabled for models/gemma-3-27b-it",
    "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    "Invalid value: 'system'. Supported values are: 'user' and 'assistant'. (messages[0].role)",
    'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter',
    "messages.0.role: Input should be 'user' or 'assistant'",
    "[{'loc': ['body', 'messages', 0, 'role'], 'msg': \"Input should be 'user' or 'assistant'\", 'input': 'system'}]",
    "Please use a valid role: user, model.",
    "Unknown role: system",
    "Jinja Exception: System role not supported at row 3, column 21",
    "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
    "system role is unavailable for this deployment",
    "Role 'developer' is not allowed",
    "This chat template has no system prompt",
)
#: Errors with some of the same words that say nothing of the kind.
OTHERS = (
    "Invalid schema for response_format 'reply'",
    "The operating system is not supported",
    "Internal system error, please do not retry",
    "system message must not be empty",
    "messages[0].content: system message exceeds 4096 characters and is not accepted",
    "The last message must be from the user",
    "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "Only user accounts may call this endpoint",
    "Invalid value: 'tool'. Supported values are: 'system', 'assistant', 'user', 'function', and 'developer'.",
    "messages[0].role: Input should be 'system', 'user' or 'assistant'",
    "json_schema is not supported by this system",
    "Only text messages are supported",
    "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
    "logprobs is not supported when the system is under load",
)


@pytest.mark.parametrize("said", REFUSALS)
def test_a_refusal_of_system_messages_is_read_in_many_wordings(said: str) -> None:
    assert refuses_system(said)
    assert refuses_system(f"Error rendering prompt with jinja template: {said}\nPlease check the template.")


@pytest.mark.parametrize("said", OTHERS)
def test_other_errors_are_no_refusal_of_system_messages(said: str) -> None:
    assert not refuses_system(said)


@pytest.mark.parametrize(
    ("status", "said"),
    [(404, "The model `fake` does not exist"), (404, "model 'fake' not found, try pulling it"), (404, "no such route")],
)
async def test_a_model_or_address_that_is_not_there_is_asked_once(status: int, said: str, judge_at: JudgeAt) -> None:
    with OpenAIServer(plan=lambda call: Say(status=status, body={"error": {"message": said}})) as server:
        (answer,) = await ask(judge_at(server), PROMPT)
        assert len(server.calls) == 1
    assert answer.failure is not None
    assert answer.failure.cause is Cause.NO_MODEL


async def test_an_address_that_is_not_there_keeps_its_cause_and_teaches_nothing(judge_at: JudgeAt) -> None:
    with OpenAIServer(plan=lambda call: Say(status=404, body={"detail": "Not Found"})) as server:
        judge = judge_at(server)
        (answer,) = await ask(judge, PROMPT)
        assert len(server.calls) == 3  # with a schema, with JSON mode, with neither
    assert answer.failure is not None
    assert answer.failure.cause is Cause.NO_MODEL
    assert judge.dialect.structured == "json_schema"


@pytest.mark.long
@given(JSON)
def test_any_body_is_a_native_reply_or_itself(body: Any) -> None:
    found = completion_of(body)
    assert found is body or found["choices"][0]["message"]
    assert all(isinstance(name, str) for name in blocked_categories(body))
