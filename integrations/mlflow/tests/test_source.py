"""Traces of a real MLflow server, read as samples: of MLflow's own instrumentation, and taken in over OTLP."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import entry_points
from typing import Any

import pytest
from assay_mlflow import MlflowSink, mlflow_samples
from assay_mlflow.source import PAGE
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from opentelemetry import trace

from assay.errors import InputError, StoreError
from assay.records import Sample
from tests._support.servers import stores

pytestmark = pytest.mark.timeout(900)  # the first test of a session installs and starts the server

HOUR = 3600.0
PASSAGES = [("Cats purr when calm.", "d1", {"page": 3}), ("A useless remark.", "d2", {"source": "cats.txt"})]


def passages(sample: Sample) -> list[tuple[str, str | None, Any]]:
    return [(context.text, context.id, context.metadata) for context in sample.contexts or ()]


def exchange(app: Any, question: str, started: float, ended: float) -> None:
    """A span that took a question and gave an answer, at times of one's own."""
    attributes = {"openinference.span.kind": "CHAIN", "input.value": question, "output.value": f"On {question}"}
    tracer = app.provider.get_tracer("app")
    tracer.start_span("request", attributes=attributes, start_time=round(started * 1e9)).end(round(ended * 1e9))


def test_traces_of_autolog_come_back_as_the_exchanges_they_were(url, autologged):
    samples = list(mlflow_samples(url, experiment=autologged["experiment"]))
    assert [sample.question for sample in samples] == [one["question"] for one in autologged["traces"]]
    for sample, told in zip(samples, autologged["traces"], strict=True):
        assert sample.answer == f"An answer to: {told['question']}"
        assert passages(sample) == PASSAGES
        assert [context.in_prompt for context in sample.contexts or ()] == [True, True]
        assert sample.status == "complete"
        assert sample.ids["mlflow_trace_id"] == told["mlflow_trace_id"]
        assert sample.ids["mlflow_span_id"] == told["mlflow_span_id"]


def test_traces_taken_in_over_otlp_come_back_as_well(url, app):
    asked = app.ask()
    (sample,) = mlflow_samples(url, experiment=app.experiment)
    assert (sample.question, sample.answer) == (asked.question, asked.answer)
    assert passages(sample) == PASSAGES
    assert asked.ids.items() <= sample.ids.items()
    assert sample.ids["mlflow_trace_id"] == f"tr-{asked.ids['otel_trace_id']}"


@pytest.mark.parametrize("text", ["42", "true", "[not a list", "Ünïcode 猫 \U0001f408", "two\nlines"])
def test_a_question_is_the_text_that_was_asked_whatever_it_looks_like(url, app, text):
    app.ask(text)
    (sample,) = mlflow_samples(url, experiment=app.experiment)
    assert sample.question == text


def test_a_failed_exchange_is_marked(url, app):
    class Broken(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
            raise ConnectionError("no index")

    with pytest.raises(ConnectionError):
        app.ask(retriever=Broken())
    app.release()
    (sample,) = mlflow_samples(url, experiment=app.experiment)
    assert (sample.question, sample.answer, sample.status) == ("Why do cats purr?", None, "failed")
    assert sample.metadata["error"] == "ConnectionError"
    assert sample.metadata["no_context"] == "the retriever failed"


def test_scores_of_samples_that_were_read_stand_on_the_traces_they_came_from(url, app, reader, scored):
    asked = app.ask()
    for _ in range(2):  # read again, scored again, written again
        for sample in mlflow_samples(url, experiment=app.experiment):
            assert MlflowSink(url).write(scored(sample)).confirmed == 1
    assert reader.one(asked).value == 0.5
    assert reader.one(asked).span_id == asked.ids["otel_span_id"]


def test_many_traces_come_page_by_page_in_order_each_once(url, app):
    count = 2 * PAGE + 3
    noon = datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp()
    for number in range(count):
        exchange(app, f"question {number}", noon + number, noon + number + 0.5)
    app.release()
    samples = mlflow_samples(url, experiment=app.experiment)
    assert [sample.question for sample in samples] == [f"question {number}" for number in range(count)]
    first = list(mlflow_samples(url, experiment=app.experiment, limit=7))
    assert [sample.question for sample in first] == [f"question {number}" for number in range(7)]
    assert list(mlflow_samples(url, experiment=app.experiment, limit=0)) == []


def test_traces_are_chosen_by_when_they_ended(url, app):
    noon = datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp()
    exchange(app, "ended before", noon - 60, noon - 1)
    exchange(app, "started before, ended after", noon - 1800, noon + 1)
    exchange(app, "took two hours", noon - 2 * HOUR, noon + 1)
    exchange(app, "at the end", noon + 50, noon + 60)
    app.release()

    def read(**options: Any) -> list[str | None]:
        return [sample.question for sample in mlflow_samples(url, experiment=app.experiment, **options)]

    assert read(since=noon, until=noon + 60) == ["started before, ended after"]
    assert read(since="2026-11-20T12:00:00Z") == ["started before, ended after", "at the end"]
    assert read(since=noon, until=noon + 60, longest=3 * HOUR) == ["took two hours", "started before, ended after"]
    assert read(since=noon, until=noon + 60, overlap=1) == ["started before, ended after", "ended before"]
    assert read(until=noon) == ["ended before"]


def test_a_trace_whose_root_has_not_ended_is_left_for_later(url, app, reader):
    tracer = app.provider.get_tracer("app")
    attributes = {"openinference.span.kind": "CHAIN", "input.value": "Why?", "output.value": "So."}
    root = tracer.start_span("whole", attributes=attributes)
    tracer.start_span("part", context=trace.set_span_in_context(root), attributes=attributes).end()
    app.release()
    (stored,) = reader.client.search_traces(locations=[app.experiment_id])
    assert [span.name for span in stored.data.spans] == ["part"]
    assert list(mlflow_samples(url, experiment=app.experiment)) == []
    app.memory.clear()
    root.end()
    app.release()
    (sample,) = mlflow_samples(url, experiment=app.experiment)
    assert sample.metadata["name"] == "whole"


def test_an_experiment_that_is_not_there_is_an_error_that_names_those_that_are(url, app, reader):
    app.ask()
    with pytest.raises(InputError, match=r"none called 'nowhere'.*'cats-"):
        list(mlflow_samples(url, experiment="nowhere"))
    assert len(list(mlflow_samples(url, experiment=app.experiment_id))) == 1  # its id does as well
    assert len(list(mlflow_samples(client=reader.client, experiment=app.experiment))) == 1


def test_where_the_server_is_down_the_error_says_so_in_time():
    (port,) = stores.free_ports(1)
    with pytest.raises(StoreError, match="MLflow cannot be read"):  # MLflow's client alone would try for four minutes
        list(mlflow_samples(f"http://127.0.0.1:{port}"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limit": -1}, "limit: expected 0 or more"),
        ({"since": "yesterday"}, "since: expected a time such as .* got 'yesterday'"),
        ({"client": object()}, "client: give either"),
    ],
)
def test_wrong_arguments_are_named_before_anything_is_read(options, message):
    with pytest.raises(InputError, match=message):
        mlflow_samples("http://127.0.0.1:9", **options)


def test_the_command_line_names_it_by_address(url, app):
    app.ask()
    (point,) = (point for point in entry_points(group="assay.sources") if point.name == "mlflow")
    (sample,) = point.load()(url, project=app.experiment, since=None, until=None, limit=5)
    assert sample.question == "Why do cats purr?"


def test_a_store_without_a_server_is_read_as_well(tmp_path, mlflow_packages):
    code = f"""
import json, sys
sys.path.append({str(mlflow_packages)!r})  # MLflow whole, with its database
import mlflow
from assay_mlflow import mlflow_samples
mlflow.set_tracking_uri("sqlite:///{tmp_path}/local.db")

@mlflow.trace(span_type="RETRIEVER")
def search(query):
    return [{{"page_content": "Cats purr.", "metadata": {{"page": 1}}, "id": "d1"}}]

@mlflow.trace
def answer(question):
    search(question)
    return "They do."

answer("Do cats purr?")
mlflow.flush_trace_async_logging()
print(json.dumps([sample.to_dict() for sample in mlflow_samples()]))
"""
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert result.returncode == 0, result.stderr[-3000:]
    (data,) = json.loads(result.stdout.splitlines()[-1])
    sample = Sample.from_dict(data)
    assert (sample.question, sample.answer) == ("Do cats purr?", "They do.")
    assert passages(sample) == [("Cats purr.", "d1", {"page": 1})]
