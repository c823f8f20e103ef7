"""LLMs of LlamaIndex as judges: one that asks a local endpoint over HTTP, and others of the test's own."""

from __future__ import annotations

import base64
import hashlib
import tempfile
import threading
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from assay_llama_index import AssayInstrumentation, evaluators
from assay_llama_index.judge import LlamaIndexJudge
from assay_llama_index.model_replies import reply_of
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata
from llama_index.core.callbacks import CallbackManager, CBEventType, TokenCountingHandler
from llama_index.core.callbacks.base_handler import BaseCallbackHandler
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.callbacks import llm_chat_callback
from pydantic import PrivateAttr

import assay
from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.budget.budget import Budget
from assay.judges.http import reply_bytes
from assay.judges.protocol import JUDGING
from assay.judges.resolve import resolve_judge
from assay.live import LiveScorer
from assay.records import Context, Sample
from assay.records.images import data_uri
from assay.testing import check_judge
from integrations.llama_index.tests.fakes import Kept, engine
from tests._support.servers.endless import EndlessServer
from tests._support.servers.openai_server import Faults, OpenAIServer
from tests._support.servers.sight import drawn

ROWS = [
    {
        "question": "When did the bridge open?",
        "contexts": ["The bridge opened in 1889."],
        "answer": f"The bridge opened in 1889. It has number {n}.",
    }
    for n in range(3)
]


class Client:
    """Holds connections, and says how often it tries, as the clients of providers do."""

    def __init__(self, max_retries: int) -> None:
        self.max_retries = max_retries

    def with_options(self, max_retries: int) -> Client:
        return Client(max_retries)


class Served(CustomLLM):
    """An LLM over an OpenAI-compatible endpoint, with retries of its own."""

    api_base: str
    api_key: str = "sk-very-secret"
    model: str = "fake"
    temperature: float = 0.0
    max_retries: int = 3
    timeout: float = 20.0
    default_headers: dict[str, str] | None = None
    _client: Client = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        self._client = Client(self.max_retries)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name=self.model, context_window=20_000)

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        assert JUDGING.get()
        body = {
            "model": self.model,
            "messages": [{"role": message.role.value, "content": message.content} for message in messages],
            "temperature": self.temperature,
            **kwargs,
        }
        headers = {"Authorization": f"Bearer {self.api_key}", **(self.default_headers or {})}
        for left in range(self._client.max_retries, -1, -1):
            reply = httpx.post(
                f"{self.api_base}/chat/completions", json=body, headers=headers, timeout=self.timeout, trust_env=False
            )
            if reply.status_code != 500 or not left:
                break
        reply.raise_for_status()
        told = reply.json()
        said = told["choices"][0]["message"].get("content")
        return ChatResponse(message=ChatMessage(role="assistant", content=said), raw=told)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError


def llm(server: OpenAIServer, **more: Any) -> Served:
    return Served(**{"api_base": server.base_url, **more})


def evaluated(judge: Any, rows: list[dict[str, Any]] = ROWS, **more: Any) -> assay.Result:
    with tempfile.TemporaryDirectory() as folder:
        result = assay.evaluate(rows, metrics="faithfulness", judge=judge, store=folder, progress=False, **more)
        list(result)
        return result


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


def test_evaluate_scores_with_an_llm_as_with_the_same_endpoint_by_name(server: OpenAIServer) -> None:
    by_name = evaluated(assay.OpenAIJudge("fake", base_url=server.base_url))
    by_llm = evaluated(llm(server))
    values = [[row.scores["faithfulness"].value for row in result] for result in (by_llm, by_name)]
    assert values[0] == values[1]
    # three rows, claims and support each: six calls, whose tokens the endpoint reported
    assert by_llm.usage.calls == 6
    assert (by_llm.usage.prompt_tokens or 0) > 0
    assert (by_llm.usage.completion_tokens or 0) > 0


def test_it_is_taken_wherever_a_judge_is(server: OpenAIServer) -> None:
    row = ROWS[0]
    sample = Sample(question=row["question"], contexts=(Context(text=row["contexts"][0]),), answer=row["answer"])
    scorer = LiveScorer("faithfulness", llm(server))
    assert scorer.submit(sample)
    assert scorer.flush(20)
    assert scorer.close().scored == 1
    AssayInstrumentation("faithfulness", llm(server)).close()
    evaluator = evaluators("faithfulness", judge=llm(server))["faithfulness"]
    found = evaluator.evaluate(query=row["question"], response=row["answer"], contexts=row["contexts"])
    assert found.score is not None


@pytest.mark.long
def test_it_keeps_what_judges_promise(server: OpenAIServer) -> None:
    check_judge(LlamaIndexJudge(llm(server)))


def test_retries_are_ours_and_counted(server: OpenAIServer) -> None:
    """Half of the requests fail once. The LLM alone would try again by itself, and nobody would know."""
    server.behaviour.faults = Faults(seed=3, error_500=0.5)
    model = llm(server)
    budget = Budget(calls_per_minute=1000)
    result = evaluated(LlamaIndexJudge(model, retry_base=0.01), budget=budget)
    failed = sum(call.status == 500 for call in server.calls)
    assert failed
    assert result.metrics["faithfulness"].scored == 3
    assert len(server.calls) == 6 + failed
    assert (model.max_retries, model._client.max_retries) == (3, 3)  # the LLM that was given stays as it is


def test_a_budget_ends_what_an_llm_may_be_asked(server: OpenAIServer) -> None:
    result = evaluated(llm(server), budget=Budget(calls_per_minute=3))
    assert len(server.calls) == 3
    assert result.metrics["faithfulness"].scored < 3


@pytest.mark.parametrize("fault", ["malformed", "rate_limited", "refusal", "content_filter", "truncated"])
def test_what_goes_wrong_once_is_tried_again_or_named(server: OpenAIServer, fault: str) -> None:
    server.behaviour.faults = Faults(**{fault: 1.0})
    server.behaviour.retry_after = 0.01
    score = next(iter(evaluated(LlamaIndexJudge(llm(server), retry_base=0.01), ROWS[:1]))).scores["faithfulness"]
    if fault in ("refusal", "content_filter"):
        assert score.error is not None
        assert score.error.cause == {"refusal": "refused"}.get(fault, fault)
    else:
        assert score.value is not None, score.error


class Lazy(Served):
    """Makes its client when it is first asked, as LlamaIndex' own class for OpenAI does, and keeps it."""

    reuse_client: bool = True
    _client: Any = PrivateAttr(default=None)

    def model_post_init(self, context: Any, /) -> None:
        CustomLLM.model_post_init(self, context)

    def _get_client(self) -> Any:
        if self._client is None:
            self._client = SimpleNamespace(_client=httpx.Client(trust_env=False))
        return self._client

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        reply = self._get_client()._client.post(f"{self.api_base}/chat/completions", json={})
        return ChatResponse(message=ChatMessage(role="assistant", content=reply.text))


def test_a_reply_without_an_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_bytes, "REPLY", 1 << 20)
    with EndlessServer() as endless:
        result = evaluated(LlamaIndexJudge(Lazy(api_base=endless.base_url), timeout=30), ROWS[:1])
        error = next(iter(result)).scores["faithfulness"].error
        assert error is not None
        assert (error.cause, "its reply has more than 1 MiB" in error.message) == ("too_large", True)
        assert endless.sent < 32 << 20


def test_a_refused_key_ends_the_run_without_saying_the_key() -> None:
    with OpenAIServer(key="another") as server:
        with pytest.raises(JudgeFailure, match="refuses the key") as raised:
            evaluated(llm(server), ROWS[:1])
        assert "sk-very-secret" not in repr(vars(raised.value))
        assert len(server.calls) == 1


class Heard(BaseCallbackHandler):
    """What a callback handler of LlamaIndex hears."""

    def __init__(self) -> None:
        super().__init__([], [])
        self.events: list[CBEventType] = []
        self.threads: set[str] = set()

    def on_event_start(self, event_type: CBEventType, *args: Any, event_id: str = "", **kwargs: Any) -> str:
        self.events.append(event_type)
        self.threads.add(threading.current_thread().name)
        return event_id

    def on_event_end(self, *args: Any, **kwargs: Any) -> None:
        return None

    def start_trace(self, trace_id: str | None = None) -> None:
        return None

    def end_trace(self, trace_id: str | None = None, trace_map: Any = None) -> None:
        return None


def test_callbacks_of_the_llm_stay_and_its_manager_is_not_written_to(server: OpenAIServer) -> None:
    heard = Heard()
    manager = CallbackManager([heard])
    evaluated(llm(server, callback_manager=manager))
    assert heard.events == [CBEventType.LLM] * 6
    assert not manager._trace_map
    heard.events.clear()
    evaluated(LlamaIndexJudge(llm(server, callback_manager=manager), callbacks=()))
    assert heard.events == []


def test_token_counters_go_on_counting(server: OpenAIServer) -> None:
    counter = TokenCountingHandler(tokenizer=str.split)
    evaluated(llm(server, callback_manager=CallbackManager([counter])), ROWS[:1])
    assert counter.total_llm_token_count > 0


class Asking(Served):
    """An LLM that looks things up with an engine before it answers."""

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        engine().query("What is known?")
        return Served.chat(self, messages, **kwargs)


@pytest.mark.parametrize("kind", [Served, Asking])
def test_its_calls_are_no_samples_and_no_part_of_one(server: OpenAIServer, kind: type[Served]) -> None:
    from llama_index.core.query_engine import CustomQueryEngine

    model = kind(api_base=server.base_url)

    class Checks(CustomQueryEngine):
        """An application that has its answer judged before it gives it."""

        def custom_query(self, query_str: str) -> str:
            answer = str(engine().query(query_str))
            evaluated(model, ROWS[:1])
            return answer

    kept = Kept()
    with AssayInstrumentation(scorer=kept) as listening:
        evaluated(model, ROWS[:1])
        Checks().query("Why do cats purr?")
        assert listening.health().exchanges == 1
    (sample,) = kept
    assert [(context.text, context.in_prompt) for context in sample.contexts or ()] == [
        ("Cats purr when calm.", True),
        ("Cats also purr to heal.", True),
    ]
    assert not kept.errors


def test_the_address_holds_what_changes_answers_and_no_key(server: OpenAIServer) -> None:
    one = resolve_judge(llm(server)).address
    same: dict[str, Any] = {"api_key": "sk-another", "max_retries": 7, "timeout": 3.0}
    assert resolve_judge(llm(server, default_headers={"Authorization": "Bearer sk-x"}, **same)).address == one
    for change in ({"temperature": 0.5}, {"model": "other"}, {"api_base": "http://127.0.0.1:1/v1"}):
        assert resolve_judge(llm(server, **change)).address != one
    assert "sk-" not in repr(vars(resolve_judge(llm(server)))["_fingerprint"])


@pytest.mark.parametrize(
    ("raw", "more", "counts"),
    [
        ({"usage": {"prompt_tokens": 7, "completion_tokens": 2}}, {}, (7, 2, None)),
        (
            SimpleNamespace(usage=SimpleNamespace(input_tokens=7, output_tokens=2, cache_read_input_tokens=3)),
            {},
            (7, 2, 3),
        ),
        ({"usage": {"inputTokens": 7, "outputTokens": 2}}, {}, (7, 2, None)),
        ({"usage_metadata": {"prompt_token_count": 7, "candidates_token_count": 2}}, {}, (7, 2, None)),
        ({"prompt_eval_count": 7, "eval_count": 2}, {}, (7, 2, None)),
        ({"usage": {"prompt_tokens": 7, "prompt_tokens_details": {"cached_tokens": 4}}}, {}, (7, None, 4)),
        (None, {"prompt_tokens": 7, "completion_tokens": 2}, (7, 2, None)),
        (None, {}, (None, None, None)),
        ("a text", {"prompt_tokens": "many"}, (None, None, None)),
    ],
)
def test_counts_are_read_in_the_shapes_of_providers_and_else_unknown(raw: Any, more: Any, counts: Any) -> None:
    message = ChatMessage(role="assistant", content="Yes.")
    usage = reply_of(ChatResponse(message=message, raw=raw, additional_kwargs=more)).usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == counts
    assert usage.calls == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (Served, "give an object of it: Served"),
        (engine(), "of an engine or an agent give its LLM"),
    ],
)
def test_what_cannot_judge_says_so(given: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        resolve_judge(given)


BRIDGE = drawn("The bridge opened in 1889.", 40)


class Seer(Served):
    """An LLM that sends image blocks, as LlamaIndex' class for OpenAI does."""

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        body = {
            "model": self.model,
            "messages": [{"role": message.role.value, "content": content_of(message)} for message in messages],
        }
        headers = {"Authorization": f"Bearer {self.api_key}"}
        reply = httpx.post(f"{self.api_base}/chat/completions", json=body, headers=headers, trust_env=False)
        reply.raise_for_status()
        told = reply.json()
        return ChatResponse(message=ChatMessage(role="assistant", content=told["choices"][0]["message"]["content"]))


def content_of(message: ChatMessage) -> Any:
    return list(map(part, message.blocks)) if len(message.blocks) > 1 else message.content


def part(block: Any) -> dict[str, Any]:
    if block.block_type == "text":
        return {"type": "text", "text": block.text}
    data = base64.b64encode(block.resolve_image().read()).decode()
    return {"type": "image_url", "image_url": {"url": f"data:{block.image_mimetype};base64,{data}"}}


def seen_by(judge: Any) -> Any:
    """The score of an answer over a picture."""
    rows = [{"question": "When?", "contexts": [{"image": data_uri(BRIDGE)}], "answer": "The bridge opened in 1889."}]
    with tempfile.TemporaryDirectory() as folder:
        metric = "multimodal:faithfulness"
        (row,) = assay.evaluate(rows, metrics=metric, judge=judge, store=folder, progress=False)
        return row.scores[metric]


def test_an_llm_that_is_said_to_see_is_shown_the_bytes_of_a_picture() -> None:
    with OpenAIServer(sees=True) as server:
        score = seen_by(LlamaIndexJudge(Seer(api_base=server.base_url), vision=True))
        shown = {digest for call in server.chats for digest in call.pictures}
    assert score.value is not None
    assert shown == {hashlib.sha256(BRIDGE).hexdigest()}


def test_an_llm_whose_endpoint_refuses_pictures_needs_vision() -> None:
    with OpenAIServer(sees=False) as server:
        score = seen_by(LlamaIndexJudge(Seer(api_base=server.base_url), vision=True, max_attempts=1))
    assert score.error.cause is Cause.NEEDS_VISION


def test_an_llm_that_may_drop_image_blocks_is_shown_none() -> None:
    with OpenAIServer(sees=True) as server:
        judge = LlamaIndexJudge(llm(server))
        assert not judge.sees
        assert seen_by(judge).error.cause is Cause.NEEDS_VISION
        assert not any(call.pictures for call in server.chats)
