"""Traces that the real instrumentor wrote to a real Phoenix server, read back as samples."""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime
from importlib.metadata import entry_points
from typing import Any

import pytest
from assay_phoenix import PhoenixSink, phoenix_samples
from assay_phoenix.source import PAGE, TOGETHER
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from opentelemetry import trace

from assay import evaluate
from assay.capture import CaptureRules
from assay.errors import InputError, StoreError
from assay.judges.scripted_judge import ScriptedJudge
from tests._support.servers.stores import free_ports

pytestmark = pytest.mark.timeout(900)  # the first test of a session installs and starts the server

HOUR = 3600.0


def exchange(app: Any, question: str, started: float, ended: float, *, parent: Any = None) -> Any:
    """A span that took a question and gave an answer, at times of one's own."""
    attributes = {"openinference.span.kind": "CHAIN", "input.value": question, "output.value": f"On {question}"}
    context = trace.set_span_in_context(parent) if parent is not None else None
    span = app.provider.get_tracer("app").start_span(
        "request", context=context, attributes=attributes, start_time=round(started * 1e9)
    )
    if ended:
        span.end(round(ended * 1e9))
    return span


def test_a_trace_comes_back_as_the_exchange_it_was(url, app):
    asked = app.ask("Why do cats purr?")
    app.arrive()
    (sample,) = phoenix_samples(url, project=app.project)
    assert sample.question == "Why do cats purr?"
    assert sample.answer == asked.answer
    assert [(context.text, context.id) for context in sample.contexts or ()] == [
        ("Cats purr when calm.", "d1"),
        ("A useless remark.", "d2"),
    ]
    assert [context.in_prompt for context in sample.contexts or ()] == [True, True]
    assert sample.contexts is not None
    assert sample.contexts[0].metadata == {"page": 3}
    assert sample.status == "complete"
    assert asked.ids.items() <= sample.ids.items()
    assert sample.metadata["name"] == "RunnableSequence"


@pytest.mark.parametrize("text", ["42", "[not a list", "null", "Ünïcode 猫 \U0001f408", "two\nlines"])
def test_a_question_is_the_text_that_was_asked_whatever_it_looks_like(url, app, text):
    app.ask(text)
    app.arrive()
    (sample,) = phoenix_samples(url, project=app.project)
    assert sample.question == (None if text == "null" else text)  # the instrumentor writes None the same way


def test_a_failed_exchange_is_marked(url, app):
    class Broken(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
            raise ConnectionError("no index")

    with pytest.raises(ConnectionError):
        app.ask(retriever=Broken())
    app.arrive()
    (sample,) = phoenix_samples(url, project=app.project)
    assert (sample.question, sample.answer, sample.status) == ("Why do cats purr?", None, "failed")
    assert sample.metadata["error"] == "ConnectionError"
    assert sample.metadata["no_context"] == "the retriever failed"


def test_scores_of_samples_that_were_read_stand_on_the_spans_they_came_from(url, app, reader, scored):
    asked = app.ask()
    app.arrive()
    sink = PhoenixSink(url)
    for _ in range(2):  # read again, scored again, written again
        for sample in phoenix_samples(url, project=app.project):
            assert sink.write(scored(sample, ["faithfulness", "context_utilization"])).confirmed == 2
    assert reader.one(asked, "faithfulness")["result"]["score"] == 0.5
    documents = reader.documents(asked.ids["otel_retriever_span_id"])
    assert [(one["documentPosition"], one["label"]) for one in documents] == [(0, "useful"), (1, "not_useful")]


def test_evaluate_reads_from_a_project_and_writes_to_it(url, app, reader, tmp_path):
    asked = [app.ask(question) for question in ("Why do cats purr?", "Do they?")]
    app.arrive()
    judge = ScriptedJudge(support=lambda claim, passage: "supported", name="openai/model")
    samples = phoenix_samples(url, project=app.project)
    result = evaluate(samples, metrics="faithfulness", judge=judge, sinks=[PhoenixSink(url)], store=tmp_path)
    assert [scored.values for scored in result] == [{"faithfulness": 1.0}] * 2
    assert [reader.one(sample, "faithfulness")["result"]["score"] for sample in asked] == [1.0, 1.0]


def test_many_traces_come_page_by_page_in_order_each_once(url, apps):
    app = apps(held=True)
    count = 2 * PAGE + TOGETHER + 3
    now = time.time() - HOUR
    for number in range(count):
        exchange(app, f"question {number}", now + number, now + number + 0.5)
    app.release()
    app.arrive()
    samples = phoenix_samples(url, project=app.project)
    assert [sample.question for sample in samples] == [f"question {number}" for number in range(count)]
    first = list(phoenix_samples(url, project=app.project, limit=7))
    assert [sample.question for sample in first] == [f"question {number}" for number in range(7)]
    assert list(phoenix_samples(url, project=app.project, limit=0)) == []


def test_traces_are_chosen_by_when_they_ended(url, apps):
    app = apps(held=True)
    noon = datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp()
    exchange(app, "ended before", noon - 60, noon - 1)
    exchange(app, "started before, ended after", noon - 1800, noon + 1)
    exchange(app, "took two hours", noon - 2 * HOUR, noon + 1)
    exchange(app, "at the end", noon + 50, noon + 60)
    app.release()
    app.arrive()

    def read(**options: Any) -> list[str | None]:
        return [sample.question for sample in phoenix_samples(url, project=app.project, **options)]

    assert read(since=noon, until=noon + 60) == ["started before, ended after"]
    assert read(since="2026-11-20T12:00:00") == ["started before, ended after", "at the end"]
    assert read(since=datetime(2026, 11, 20, 12), longest=3 * HOUR) == [
        "took two hours", "started before, ended after", "at the end",
    ]  # fmt: skip
    assert read(since=noon, until=noon + 60, overlap=1) == ["started before, ended after", "ended before"]
    assert read(until=noon) == ["ended before"]


def test_a_trace_whose_root_has_not_ended_is_left_for_later(url, apps):
    app = apps(held=True)
    now = time.time()
    root = exchange(app, "the whole", now - 2, 0)
    exchange(app, "a part", now - 1, now - 0.5, parent=root)
    app.release()
    app.arrive()
    assert list(phoenix_samples(url, project=app.project)) == []
    app.memory.clear()
    root.end(round(now * 1e9))
    app.release()
    app.arrive()
    assert [sample.question for sample in phoenix_samples(url, project=app.project)] == ["the whole"]


def test_a_root_in_another_service_is_not_waited_for_for_ever(url, apps):
    app = apps(held=True)
    now = time.time()
    remote = trace.SpanContext(trace_id=uuid.uuid4().int, span_id=7, is_remote=True, trace_flags=trace.TraceFlags(1))
    elsewhere = trace.NonRecordingSpan(remote)
    exchange(app, "called from afar", now - 30, now - 20, parent=elsewhere)
    app.release()
    app.arrive()
    assert list(phoenix_samples(url, project=app.project, settle=60)) == []
    assert [sample.question for sample in phoenix_samples(url, project=app.project, settle=10)] == ["called from afar"]


def test_rules_say_where_things_are(url, app):
    app.ask()
    app.arrive()
    (sample,) = phoenix_samples(url, project=app.project, rules=CaptureRules(contexts_run="RunnablePassthrough"))
    assert [context.text for context in sample.contexts or ()] == ["Why do cats purr?"]


def test_a_project_that_is_not_there_is_an_error_that_names_those_that_are(url, app):
    app.ask()
    app.arrive()
    with pytest.raises(InputError, match=rf"none called 'nowhere'.*'{app.project}'|none called 'nowhere'.*default"):
        list(phoenix_samples(url, project="nowhere"))


def test_where_the_server_is_down_the_error_says_which_and_no_password():
    (port,) = free_ports(1)
    with pytest.raises(StoreError) as raised:
        list(phoenix_samples(f"http://ann:secret@127.0.0.1:{port}"))
    assert str(raised.value) == f"Phoenix at 127.0.0.1:{port} cannot be read: ConnectError"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limit": -1}, "limit: expected 0 or more"),
        ({"since": "yesterday"}, "since: expected a time such as .* got 'yesterday'"),
        ({"until": object()}, "until: expected a datetime"),
    ],
)
def test_wrong_arguments_are_named_before_anything_is_read(options, message):
    with pytest.raises(InputError, match=message):
        phoenix_samples("http://127.0.0.1:9", **options)


def test_the_command_line_names_it_by_address(url, app):
    app.ask()
    app.arrive()
    (point,) = (point for point in entry_points(group="assay.sources") if point.name == "phoenix")
    (sample,) = point.load()(url, project=app.project, since=None, until=None, limit=5)
    assert sample.question == "Why do cats purr?"
