"""LangChain chat models as judges: the real ChatOpenAI against a local endpoint, and models of the test's own."""

from __future__ import annotations

import hashlib
import tempfile
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from assay_langchain import AssayCallbackHandler, install, uninstall
from assay_langchain.judge import LangChainJudge
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from pydantic import SecretStr

import assay
from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.budget.budget import Budget
from assay.judges.http import reply_bytes
from assay.judges.resolve import resolve_judge
from assay.live import LiveScorer
from assay.records import Context, Sample
from assay.records.images import data_uri
from assay.sinks import MemorySink
from tests._support.servers.endless import EndlessServer
from tests._support.servers.openai_server import Faults, OpenAIServer
from tests._support.servers.sight import drawn

pytest.importorskip("langchain_openai")
from langchain_openai import ChatOpenAI

ROWS = [
    {
        "question": "When did the bridge open?",
        "contexts": ["The bridge opened in 1889."],
        "answer": f"The bridge opened in 1889. It has number {n}.",
    }
    for n in range(3)
]


def sample(n: int = 0) -> Sample:
    row = ROWS[n]
    return Sample(question=row["question"], contexts=(Context(text=row["contexts"][0]),), answer=row["answer"])


def chat(server: OpenAIServer, **more: Any) -> ChatOpenAI:
    return ChatOpenAI(**{"model": "fake", "base_url": server.base_url, "api_key": "sk-very-secret", **more})


def evaluated(judge: Any, rows: list[dict[str, Any]] = ROWS, **more: Any) -> assay.Result:
    with tempfile.TemporaryDirectory() as folder:
        result = assay.evaluate(rows, metrics="faithfulness", judge=judge, store=folder, progress=False, **more)
        list(result)
        return result


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture(autouse=True)
def nothing_installed() -> Iterator[None]:
    yield
    uninstall()


def test_evaluate_scores_with_a_chat_model_as_with_the_same_endpoint_by_name(server: OpenAIServer) -> None:
    ours = assay.OpenAIJudge("fake", base_url=server.base_url)
    by_name = evaluated(ours, ROWS)
    by_model = evaluated(chat(server), ROWS)
    assert [row.scores["faithfulness"].value for row in by_model] == [
        row.scores["faithfulness"].value for row in by_name
    ]
    # 3 rows, claims and support each: six calls, whose tokens the model reported
    assert by_model.usage.calls == 6 == by_name.usage.calls
    assert by_model.usage.prompt_tokens
    assert by_model.usage.completion_tokens


def test_a_live_scorer_and_a_handler_take_a_chat_model(server: OpenAIServer) -> None:
    with_model = LiveScorer("faithfulness", chat(server))
    assert with_model.submit(sample())
    assert with_model.flush(20)
    assert with_model.close().scored == 1
    handler = AssayCallbackHandler("faithfulness", chat(server))
    handler.close()


def test_retries_are_ours_and_counted(server: OpenAIServer) -> None:
    """Half of the requests fail once with 500. The model alone would try three times by itself, unseen."""
    server.behaviour.faults = Faults(seed=3, error_500=0.5)
    judge = LangChainJudge(chat(server, max_retries=2), retry_base=0.01)
    budget = Budget(calls_per_minute=1000)
    result = evaluated(judge, ROWS, budget=budget)
    failed = sum(call.status == 500 for call in server.calls)
    assert failed
    assert result.metrics["faithfulness"].scored == 3
    assert len(server.calls) == 6 + failed
    assert budget.state()


@pytest.mark.parametrize("fault", ["malformed", "dropped", "rate_limited", "refusal", "content_filter", "truncated"])
def test_what_goes_wrong_once_is_tried_again_or_named(server: OpenAIServer, fault: str) -> None:
    server.behaviour.faults = Faults(**{fault: 1.0})
    server.behaviour.retry_after = 0.01
    judge = LangChainJudge(chat(server), retry_base=0.01)
    result = evaluated(judge, ROWS[:1])
    score = next(iter(result)).scores["faithfulness"]
    if fault in ("refusal", "content_filter"):
        assert score.error is not None
        assert score.error.cause == {"refusal": "refused"}.get(fault, fault)
    else:
        assert score.value is not None, score.error


def test_a_refused_key_ends_the_run_without_saying_the_key() -> None:
    with OpenAIServer(key="another") as server:
        with pytest.raises(JudgeFailure, match="refuses the key") as raised:
            evaluated(chat(server), ROWS[:1])
        assert "sk-very-secret" not in repr(vars(raised.value))
        assert raised.value.__cause__ is None
        assert len(server.calls) == 1


def test_a_model_that_hangs_is_skipped_for_its_time(server: OpenAIServer) -> None:
    server.behaviour.faults = Faults(silent=1.0, repeat=None)
    judge = LangChainJudge(chat(server, timeout=5), timeout=0.1, max_attempts=2, retry_base=0.01)
    result = evaluated(judge, ROWS[:1])
    error = next(iter(result)).scores["faithfulness"].error
    assert error is not None
    assert error.cause == "timeout"


def test_a_reply_without_an_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_bytes, "REPLY", 1 << 20)
    with EndlessServer() as endless:
        model = ChatOpenAI(model="m", base_url=endless.base_url, api_key=SecretStr("k"), timeout=30)
        result = evaluated(LangChainJudge(model, timeout=30), ROWS[:1])
        error = next(iter(result)).scores["faithfulness"].error
        assert error is not None
        assert (error.cause, "its reply has more than 1 MiB" in error.message) == ("too_large", True)
        assert endless.sent < 32 << 20


class Counting(BaseCallbackHandler):
    """Counts the models that it hears of."""

    def __init__(self) -> None:
        self.starts = 0

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
        self.starts += 1


class Nested(BaseChatModel):
    """A model that asks another through its public interface, as some wrappers do."""

    inner: Any

    @property
    def _llm_type(self) -> str:
        return "nested"

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.inner.invoke(messages))])


@pytest.mark.parametrize("nested", [False, True])
def test_the_calls_of_a_judge_are_no_samples_and_no_events_of_others(server: OpenAIServer, nested: bool) -> None:
    heard, sink = Counting(), MemorySink()
    model: Any = chat(server, callbacks=[heard])
    if nested:
        model = Nested(inner=chat(server))
    handler = AssayCallbackHandler("faithfulness", model, sinks=[sink])
    install(handler)
    if nested:
        model.inner.callbacks = [handler]
    handler.scorer.submit(sample())
    assert handler.flush(20)
    health = handler.close()
    assert (health.events, health.live.submitted, len(sink.written)) == (0, 1, 1)
    assert heard.starts == 0
    assert len(server.chats) == 2


def test_inside_of_a_chain_the_judge_does_not_report_to_the_chain(server: OpenAIServer) -> None:
    heard = Counting()

    def judged(question: str) -> str:
        evaluated(chat(server), ROWS[:1])
        return question

    RunnableLambda(judged).invoke("?", {"callbacks": [heard]})
    assert heard.starts == 0


def test_callbacks_that_are_wanted_hear_of_every_call(server: OpenAIServer) -> None:
    heard = Counting()
    handler = AssayCallbackHandler("faithfulness", LangChainJudge(chat(server), callbacks=[heard]))
    install(handler)
    handler.scorer.submit(sample())
    assert handler.flush(20)
    assert heard.starts == 2
    assert handler.close().events == 0


def test_the_address_holds_what_changes_answers_and_no_key(server: OpenAIServer) -> None:
    one = resolve_judge(chat(server)).address
    assert resolve_judge(chat(server, api_key="sk-another-key", max_retries=7, timeout=3, tags=["a"])).address == one
    for change in ({"temperature": 0.5}, {"model": "other"}, {"base_url": "http://127.0.0.1:1/v1"}, {"seed": 3}):
        assert resolve_judge(chat(server, **change)).address != one
    assert resolve_judge(chat(server).bind(stop=["x"])).address != one
    assert resolve_judge(chat(server).with_retry()).address == one


def test_the_model_that_was_given_stays_as_it_is(server: OpenAIServer) -> None:
    model = chat(server, max_retries=2, callbacks=[Counting()])
    before = dict(vars(model))
    resolve_judge(model)
    assert vars(model) == before
    assert model.root_client.max_retries == 2


def test_a_schema_is_enforced_only_at_openai_itself_and_dropped_where_it_is_refused(server: OpenAIServer) -> None:
    judge = LangChainJudge(chat(server))
    assert evaluated(judge, ROWS[:1])
    assert all("response_format" not in call.body for call in server.calls)
    judge._enforces = True
    server.behaviour.rejects = {"response_format"}
    server.calls.clear()
    result = evaluated(judge, ROWS[:1])
    assert result.metrics["faithfulness"].scored == 1
    assert sum("response_format" in call.body for call in server.calls) == 1
    assert LangChainJudge(ChatOpenAI(model="gpt-4.1-mini", api_key="none"))._enforces


def test_a_scripted_model_judges_from_text_alone() -> None:
    replies = iter([AIMessage("Well: {'claims': []} ")] * 9)
    judge = resolve_judge(GenericFakeChatModel(messages=replies))
    result = evaluated(judge, ROWS[:1])
    error = next(iter(result)).scores["faithfulness"].error
    assert error is not None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (ChatOpenAI, "give an object of it: ChatOpenAI"),
        (RunnableLambda(str), "expected a chat model, got RunnableLambda"),
        (assay.ScriptedJudge, "give an object of it: ScriptedJudge"),
        (object(), "expected 'embedded'"),
    ],
)
def test_what_cannot_judge_says_so(given: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        resolve_judge(given)


def test_fallbacks_are_no_judge(server: OpenAIServer) -> None:
    with pytest.raises(InputError, match="a judge is one model"):
        resolve_judge(chat(server).with_fallbacks([chat(server)]))


def test_judging_leaves_no_thread(server: OpenAIServer) -> None:
    before = threading.enumerate()  # a call that another test abandoned may still be under way
    evaluated(chat(server), ROWS)
    new = [one for one in threading.enumerate() if one.name == "assay-judge" and one not in before]
    for thread in new:
        thread.join(10)  # the score was there before its thread ended
    assert not [thread for thread in new if thread.is_alive()]


BRIDGE = drawn("The bridge opened in 1889.", 40)
PICTURED = [{"question": ROWS[0]["question"], "contexts": [{"image": data_uri(BRIDGE)}], "answer": ROWS[0]["answer"]}]


def seen_by(judge: Any) -> Any:
    """The score of an answer over a picture."""
    with tempfile.TemporaryDirectory() as folder:
        metric = "multimodal:faithfulness"
        (row,) = assay.evaluate(PICTURED, metrics=metric, judge=judge, store=folder, progress=False)
        return row.scores[metric]


def test_a_model_is_shown_the_bytes_of_a_picture() -> None:
    with OpenAIServer(sees=True) as server:
        score = seen_by(chat(server))
        shown = [digest for call in server.chats for digest in call.pictures]
    assert score.value is not None
    assert set(shown) == {hashlib.sha256(BRIDGE).hexdigest()}


@pytest.mark.long
def test_an_endpoint_that_refuses_pictures_needs_vision() -> None:
    with OpenAIServer(sees=False) as server:
        score = seen_by(LangChainJudge(chat(server), max_attempts=1))
    assert score.error.cause is Cause.NEEDS_VISION


@pytest.mark.parametrize(
    "how",
    [
        lambda model: LangChainJudge(model, vision=False),
        lambda model: LangChainJudge(model, mask=str.upper),  # which hides nothing on a picture
        lambda model: LangChainJudge(model.model_copy(update={"profile": {"image_inputs": False}})),
    ],
)
def test_a_model_that_reads_no_images_is_shown_none(how: Any) -> None:
    with OpenAIServer(sees=True) as server:
        judge = how(chat(server))
        assert not judge.sees
        assert seen_by(judge).error.cause is Cause.NEEDS_VISION  # nothing is written on it, so OCR is no help
        assert not any(call.pictures for call in server.chats)


def test_a_model_of_which_nothing_is_known_is_shown_pictures_only_where_that_was_said() -> None:
    model = GenericFakeChatModel(messages=iter(()))
    assert not LangChainJudge(model).sees
    assert LangChainJudge(model, vision=True).sees
