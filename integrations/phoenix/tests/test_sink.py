"""Scores written to a real Phoenix server and read back through its API."""

from __future__ import annotations

import json
import logging
import threading
import time
from typing import Any

import httpx
import pytest
from assay_phoenix import PhoenixSink
from phoenix.client import Client

from assay.errors import Cause, InputError, Undelivered
from assay.records import Context, Sample, Score, ScoredSample, ScoreError
from assay.sinks.annotations import EVIDENCE, identifier_of
from assay.sinks.registry import resolve_sink
from tests._support.servers.stores import free_ports

pytestmark = pytest.mark.timeout(900)  # the first test of a session installs and starts the server

DAY = 86_400.0


def error_of(sample: Sample, cause: Cause = Cause.TIMEOUT, message: str = "not done within 2 s") -> ScoredSample:
    score = Score(metric="faithfulness", error=ScoreError(cause=cause, message=message), judge="openai/m")
    return ScoredSample(sample=sample, scores={"faithfulness": score})


def valued(sample: Sample, value: float = 0.5, judge: str = "openai/m") -> ScoredSample:
    return ScoredSample(sample=sample, scores={"faithfulness": Score(metric="faithfulness", value=value, judge=judge)})


def test_a_score_stands_on_the_span_of_the_exchange_with_its_evidence(url, app, reader, scored):
    sample = app.ask()
    result = scored(sample)
    receipt = PhoenixSink(url).write(result)
    assert (receipt.sent, receipt.confirmed, receipt.skipped) == (1, 1, 0)

    written = reader.one(sample, "faithfulness")
    # "Cats purr when calm." stands in the first passage, "They also sing." in none: 1 of 2
    assert written["result"]["score"] == 0.5
    assert "label" not in written["result"] or written["result"]["label"] is None
    assert written["annotator_kind"] == "LLM"
    assert written["identifier"] == identifier_of(result.scores["faithfulness"])
    assert "They also sing" in written["result"]["explanation"]
    metadata = written["metadata"]
    assert metadata["assay.judge"] == "openai/model@host#1"
    assert metadata["assay.range"] == "0 to 1"
    assert metadata["assay.direction"] == "higher"
    assert metadata["assay.id.otel_span_id"] == sample.ids["otel_span_id"]
    labels = {verdict["claim"]: verdict["label"] for verdict in json.loads(metadata["assay.evidence"])}
    assert labels == {"Cats purr when calm.": "supported", "They also sing.": "not_mentioned"}


def test_the_same_write_on_five_days_leaves_one_annotation(url, app, reader, scored, monkeypatch):
    sample = app.ask()
    result = scored(sample)
    now = time.time()
    for day in range(5):
        monkeypatch.setattr(time, "time", lambda day=day: now + day * DAY)
        assert PhoenixSink(url).write(result).confirmed == 1
    assert len(reader.annotations(sample)) == 1


def test_a_new_value_replaces_the_old_one_of_the_same_judge_and_stands_beside_another_judges(url, app, reader):
    sample = app.ask()
    sink = PhoenixSink(url)
    for value, judge in ((0.25, "openai/a"), (0.75, "openai/a"), (1.0, "embedded/b")):
        sink.write(valued(sample, value, judge))
    found = {one["metadata"]["assay.judge"]: one["result"]["score"] for one in reader.annotations(sample)}
    assert found == {"openai/a": 0.75, "embedded/b": 1.0}


@pytest.mark.parametrize("judge", [None, "scripted"])
def test_what_no_model_judged_is_the_work_of_code(url, app, reader, judge):
    sample = app.ask()
    PhoenixSink(url).write(valued(sample, judge=judge))
    assert reader.one(sample, "faithfulness")["annotator_kind"] == "CODE"


def test_what_could_not_be_scored_is_a_label_with_the_reason_and_no_number(url, app, reader):
    sample = app.ask()
    assert PhoenixSink(url).write(error_of(sample)).confirmed == 1
    written = reader.one(sample, "faithfulness")
    assert written["result"]["label"] == "failed"
    assert written["result"].get("score") is None
    assert "timeout" in written["result"]["explanation"]
    assert "not done within 2 s" in written["result"]["explanation"]
    assert written["metadata"]["assay.cause"] == "timeout"


def test_a_score_that_comes_after_a_failure_takes_its_place(url, app, reader):
    sample = app.ask()
    sink = PhoenixSink(url)
    sink.write(error_of(sample))
    sink.write(valued(sample, 0.0))
    written = reader.one(sample, "faithfulness")
    assert written["result"]["score"] == 0.0
    assert written["result"].get("label") is None
    assert "assay.cause" not in written["metadata"]


def test_at_level_trace_the_score_stands_on_the_trace(url, app, reader):
    sample = app.ask()
    sink = PhoenixSink(url, level="trace")
    for _ in range(2):
        assert sink.write(valued(sample)).confirmed == 1
    assert reader.one(sample, "faithfulness", "trace")["result"]["score"] == 0.5
    assert reader.annotations(sample) == []


def test_verdicts_on_passages_stand_on_the_retrievers_documents(url, app, reader, scored):
    sample = app.ask()
    sink = PhoenixSink(url)
    for _ in range(2):
        assert sink.write(scored(sample, ["context_utilization", "faithfulness"])).confirmed == 2
    first, second = reader.documents(sample.ids["otel_retriever_span_id"])
    assert (first["name"], first["documentPosition"], first["label"], first["score"]) == (
        "context_utilization", 0, "useful", 1.0,
    )  # fmt: skip
    assert (second["documentPosition"], second["label"], second["score"]) == (1, "not_useful", 0.0)
    assert first["annotatorKind"] == "LLM"


def test_passages_are_found_among_the_documents_by_their_text(url, app, reader, scored):
    sample = app.ask()
    moved = Sample(
        question=sample.question,
        contexts=(Context(text="From elsewhere."), *reversed(sample.contexts or ())),
        answer=sample.answer,
        ids=sample.ids,
    )
    PhoenixSink(url).write(scored(moved, "context_utilization"))
    labels = [(one["documentPosition"], one["label"]) for one in reader.documents(sample.ids["otel_retriever_span_id"])]
    assert labels == [(0, "useful"), (1, "not_useful")]


def test_documents_are_left_alone_where_asked_and_where_their_span_is_not_there(url, app, reader, scored):
    sample = app.ask()
    PhoenixSink(url, documents=False).write(scored(sample, "context_utilization"))
    elsewhere = Sample(**{**_fields(sample), "ids": {**sample.ids, "otel_retriever_span_id": "0" * 15 + "1"}})
    assert PhoenixSink(url).write(scored(elsewhere, "context_utilization")).confirmed == 1
    assert reader.documents(sample.ids["otel_retriever_span_id"]) == []


def test_a_span_that_nobody_sent_is_undelivered_and_its_scores_are_named(url, scored):
    sample = Sample(question="q", contexts=(Context(text="c"),), answer="A.", ids={"otel_span_id": "00000000000000ab"})
    with pytest.raises(Undelivered, match="00000000000000ab") as caught:
        PhoenixSink(url, patience=1).write(scored(sample, ["faithfulness", "context_utilization"]))
    assert caught.value.scores == ("faithfulness", "context_utilization")


def test_a_span_that_comes_late_is_waited_for(url, apps, reader):
    app = apps(held=True)
    sample = app.ask()
    told = threading.Event()

    def watch(response: httpx.Response) -> None:
        if response.status_code == 404:
            told.set()

    client = Client(http_client=httpx.Client(base_url=url, event_hooks={"response": [watch]}))
    receipts: list[Any] = []
    writer = threading.Thread(
        target=lambda: receipts.append(PhoenixSink(client=client, patience=60).write(valued(sample)))
    )
    writer.start()
    assert told.wait(30), "the sink did not ask before the span was there"
    app.release()
    writer.join(60)
    assert [receipt.confirmed for receipt in receipts] == [1]
    assert reader.one(sample, "faithfulness")["result"]["score"] == 0.5


def test_where_the_server_is_down_the_scores_are_undelivered_and_named():
    (port,) = free_ports(1)
    sink = PhoenixSink(f"http://127.0.0.1:{port}", attempts=2)
    with pytest.raises(Undelivered) as caught:
        sink.write(valued(Sample(ids={"otel_span_id": "00000000000000ab"})))
    assert caught.value.scores == ("faithfulness",)


def test_two_hundred_scored_samples_in_a_row_all_arrive(url, app, reader):
    samples = [Sample(ids=ids) for ids in app.roots(200)]
    sink = PhoenixSink(url, project=app.project)
    receipts = [sink.write(valued(sample, number / 200)) for number, sample in enumerate(samples)]
    assert sum(receipt.confirmed for receipt in receipts) == 200
    response = httpx.get(
        f"{url}/v1/projects/{app.project}/span_annotations",
        params={"span_ids": [sample.ids["otel_span_id"] for sample in samples], "limit": 1000},
    )
    found = {one["span_id"]: one["result"]["score"] for one in response.json()["data"]}
    assert found == {sample.ids["otel_span_id"]: number / 200 for number, sample in enumerate(samples)}


def test_without_texts_no_text_reaches_the_store(url, app, reader, scored):
    sample = app.ask()
    assert PhoenixSink(url, texts=False).write(scored(sample, ["faithfulness", "context_utilization"])).confirmed == 2
    written = reader.everything(sample)
    for text in ("purr", "sing", "useless", "Why"):
        assert text not in written
    assert reader.one(sample, "faithfulness")["result"]["score"] == 0.5
    assert "sha256:" in written


def test_a_mask_is_applied_to_all_that_is_written(url, app, reader, scored):
    sample = app.ask()
    sink = PhoenixSink(url, mask=lambda text: text.replace("Cats", "****"))
    sink.write(scored(sample, ["faithfulness", "context_utilization"]))
    written = reader.everything(sample)
    assert "Cats" not in written
    assert "**** purr when calm" in written


def test_evidence_stays_within_its_limit_and_says_what_it_left_out(url, app, reader, scored):
    sample = app.ask(answer=" ".join(f"Cat {number} sings at night in the garden." for number in range(300)))
    assert PhoenixSink(url).write(scored(sample)).confirmed == 1
    metadata = reader.one(sample, "faithfulness")["metadata"]
    kept = json.loads(metadata["assay.evidence"])
    assert len(metadata["assay.evidence"]) <= EVIDENCE
    assert len(kept) + metadata["assay.evidence_left_out"] == 300


def test_what_the_server_refuses_is_not_tried_again_and_the_reason_repeats_no_text(url, app, caplog):
    sample = app.ask()
    asked: list[str] = []
    http = httpx.Client(base_url=url, event_hooks={"request": [lambda request: asked.append(request.method)]})
    score = Score(metric="note", value=0.5)
    sink = PhoenixSink(client=Client(http_client=http))
    with caplog.at_level(logging.DEBUG, "assay"), pytest.raises(Undelivered, match=r"HTTP 400.*reserved") as caught:
        sink.write(ScoredSample(sample=sample, scores={"note": score}))  # Phoenix keeps this name for itself
    assert asked == ["POST"]
    assert caught.value.scores == ("note",)
    assert "purr" not in str(caught.value) + caplog.text


def test_a_project_may_be_named_searched_for_or_have_a_name_that_is_no_path(url, apps, reader):
    for name in ("cats/dogs?", "cats and dogs"):
        app = apps(project=f"{name} {free_ports(1)[0]}")
        sample = app.ask()
        assert PhoenixSink(url, project=app.project).write(valued(sample)).confirmed == 1
        assert PhoenixSink(url).write(valued(sample)).confirmed == 1
        assert len(reader.annotations(sample)) == 1


def test_one_sink_serves_several_projects(url, apps):
    app, other = apps(), apps()
    sink = PhoenixSink(url)
    for sample in (app.ask(), other.ask(), app.ask()):
        assert sink.write(valued(sample)).confirmed == 1


def test_read_from_the_wrong_project_a_score_is_not_confirmed(url, app):
    with pytest.raises(Undelivered, match="not to be found"):
        PhoenixSink(url, project="default", patience=1).write(valued(app.ask()))


def test_a_sample_without_a_span_is_skipped_and_counted(url, scored):
    sample = Sample(question="q", contexts=(Context(text="c"),), answer="A.", ids={"otel_trace_id": "ab" * 16})
    receipt = PhoenixSink(url).write(scored(sample, ["faithfulness", "context_utilization"]))
    assert (receipt.sent, receipt.skipped) == (0, 2)


def test_a_dry_run_sends_nothing(url, app, reader):
    sample = app.ask()
    app.arrive()
    told: list[Any] = []
    receipt = PhoenixSink(url, dry_run=lambda target, annotations: told.append((target, annotations))).write(
        valued(sample)
    )
    assert receipt.sent == 0
    assert [(target, one.name, one.value) for target, (one,) in told] == [
        (sample.ids["otel_span_id"], "faithfulness", 0.5)
    ]
    assert reader.annotations(sample) == []


def test_the_command_line_names_it_by_address(url, app, reader, monkeypatch):
    sample = app.ask()
    sink = resolve_sink(f"phoenix:{url}")
    assert isinstance(sink, PhoenixSink)
    assert sink.write(valued(sample)).confirmed == 1
    sink.close()
    assert sink.write(valued(sample)).confirmed == 1  # opens again
    monkeypatch.setenv("PHOENIX_ENDPOINT", url)
    assert resolve_sink("phoenix:").write(valued(sample)).confirmed == 1
    assert len(reader.annotations(sample)) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": "session"}, "level: expected 'span' or 'trace', got 'session'"),
        ({"base_url": "http://h", "client": object()}, "client: give either"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    with pytest.raises(InputError, match=message):
        PhoenixSink(**options)


def _fields(sample: Sample) -> dict[str, Any]:
    return {name: getattr(sample, name) for name in sample.__dataclass_fields__}
