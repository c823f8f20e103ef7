"""Scores written to a real MLflow server and read back with MLflow's client."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from assay_mlflow import MlflowSink

from assay.errors import Cause, InputError, Undelivered
from assay.records import Context, Sample, Score, ScoredSample, ScoreError
from assay.sinks.annotations import EVIDENCE, Annotation
from assay.sinks.registry import resolve_sink
from assay.sinks.remote import NotThere
from tests._support.servers import stores

pytestmark = pytest.mark.timeout(900)  # the first test of a session installs and starts the server

DAY = 86_400.0


def error_of(sample: Sample, cause: Cause = Cause.TIMEOUT, message: str = "not done within 2 s") -> ScoredSample:
    score = Score(metric="faithfulness", error=ScoreError(cause=cause, message=message), judge="openai/m")
    return ScoredSample(sample=sample, scores={"faithfulness": score})


def valued(sample: Sample, value: float = 0.5, judge: str | None = "openai/m", **parts: float) -> ScoredSample:
    score = Score(metric="faithfulness", value=value, judge=judge, parts=parts)
    return ScoredSample(sample=sample, scores={"faithfulness": score})


def test_a_score_stands_on_the_span_of_the_exchange_with_its_evidence(url, app, reader, scored):
    sample = app.ask()
    receipt = MlflowSink(url).write(scored(sample))
    assert (receipt.sent, receipt.confirmed, receipt.skipped) == (1, 1, 0)

    written = reader.one(sample)
    # "Cats purr when calm." stands in the first passage, "They also sing." in none: 1 of 2
    assert written.value == 0.5
    assert written.error is None
    assert written.span_id == sample.ids["otel_span_id"]
    assert (written.source.source_type, written.source.source_id) == ("LLM_JUDGE", "openai/model@host#1")
    assert "They also sing" in written.rationale
    assert all(isinstance(value, str) for value in written.metadata.values())
    assert written.metadata["assay.range"] == "0 to 1"
    assert written.metadata["assay.direction"] == "higher"
    labels = {verdict["claim"]: verdict["label"] for verdict in json.loads(written.metadata["assay.evidence"])}
    assert labels == {"Cats purr when calm.": "supported", "They also sing.": "not_mentioned"}


def test_a_trace_of_mlflows_own_instrumentation_takes_scores(url, reader, autologged):
    for number, ids in enumerate(autologged["traces"]):
        sample = Sample(ids={name: ids[name] for name in ("mlflow_trace_id", "mlflow_span_id")})
        assert MlflowSink(url).write(valued(sample, number / 4)).confirmed == 1
        assert (reader.one(sample).value, reader.one(sample).span_id) == (number / 4, ids["mlflow_span_id"])


def test_the_span_of_another_store_is_not_taken_for_one_of_mlflows(url, reader, autologged):
    ids = autologged["traces"][0]
    other = {"otel_trace_id": "ab" * 16, "otel_span_id": "cd" * 8}
    sample = Sample(ids={"mlflow_trace_id": ids["mlflow_trace_id"], **other})
    score = Score(metric="recall", value=1.0)
    MlflowSink(url).write(ScoredSample(sample=sample, scores={"recall": score}))
    assert reader.one(sample, "recall").span_id is None


def test_the_same_write_on_five_days_leaves_one_feedback(url, app, reader, scored, monkeypatch):
    sample = app.ask()
    result = scored(sample)
    now = time.time()
    for day in range(5):
        monkeypatch.setattr(time, "time", lambda day=day: now + day * DAY)
        assert MlflowSink(url).write(result).confirmed == 1
    assert len(reader.assessments(sample)) == 1


def test_a_new_value_replaces_the_old_one_of_the_same_judge_and_stands_beside_another_judges(url, app, reader):
    sample = app.ask()
    sink = MlflowSink(url)
    sink.write(valued(sample, 0.25, "openai/a", claims=4))
    sink.write(valued(sample, 0.75, "openai/a", supported=3))
    sink.write(valued(sample, 1.0, "embedded/b"))
    found = {one.source.source_id: one for one in reader.assessments(sample)}
    assert {judge: one.value for judge, one in found.items()} == {"openai/a": 0.75, "embedded/b": 1.0}
    assert found["openai/a"].metadata["assay.part.supported"] == "3"
    assert not found["openai/a"].metadata.get("assay.part.claims"), "of the value that was replaced"


@pytest.mark.parametrize(("judge", "source"), [(None, "assay"), ("scripted", "scripted")])
def test_what_no_model_judged_is_the_work_of_code(url, app, reader, judge, source):
    sample = app.ask()
    MlflowSink(url).write(valued(sample, judge=judge))
    written = reader.one(sample)
    assert (written.source.source_type, written.source.source_id) == ("CODE", source)


def test_what_could_not_be_scored_is_an_error_and_no_number(url, app, reader):
    good, bad = app.ask(), app.ask()
    MlflowSink(url).write(valued(good, 0.0))
    assert MlflowSink(url).write(error_of(bad)).confirmed == 1
    written = reader.one(bad)
    assert written.value is None
    assert written.error.error_code == "timeout"
    assert "not done within 2 s" in written.error.error_message
    assert written.metadata["assay.cause"] == "timeout"
    found = reader.client.search_traces(
        locations=[app.experiment_id], filter_string="feedback.faithfulness < 0.5", include_spans=False
    )
    assert [trace.info.trace_id for trace in found] == [f"tr-{good.ids['otel_trace_id']}"]


def test_a_score_that_comes_after_a_failure_takes_its_place_and_the_other_way_round(url, app, reader):
    sample = app.ask()
    sink = MlflowSink(url)
    sink.write(error_of(sample))
    sink.write(valued(sample, 0.0))
    written = reader.one(sample)
    assert (written.value, written.error) == (0.0, None)
    assert not written.metadata.get("assay.cause")
    sink.write(error_of(sample))
    assert (reader.one(sample).value, reader.one(sample).error.error_code) == (None, "timeout")


def test_two_that_wrote_at_the_same_moment_become_one_with_the_next_write(url, app, reader):
    sample = app.ask()
    start = threading.Barrier(2)

    class Together(MlflowSink):
        @property
        def _assessments(self) -> Any:
            return _Meeting(super()._assessments, start)

    writers = [
        threading.Thread(target=Together(url, verify=False).write, args=(valued(sample),), daemon=True)
        for _ in range(2)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert len(reader.assessments(sample)) == 2, "MLflow has learned to tell them apart: simplify the sink"
    MlflowSink(url).write(valued(sample))
    assert reader.one(sample).value == 0.5


def test_a_trace_that_nobody_sent_is_undelivered_and_its_scores_are_named(url, scored):
    ids = {"mlflow_trace_id": "tr-00000000000000ab"}
    sample = Sample(question="q", contexts=(Context(text="c"),), answer="A.", ids=ids)
    with pytest.raises(Undelivered, match="tr-00000000000000ab") as caught:
        MlflowSink(url, patience=1).write(scored(sample, ["faithfulness", "context_utilization"]))
    assert caught.value.scores == ("faithfulness", "context_utilization")


def test_a_trace_that_comes_late_is_waited_for(url, apps, reader):
    app = apps(held=True)
    sample = app.ask()
    told = threading.Event()

    class Watched(MlflowSink):
        def send(self, target: str, annotations: Sequence[Annotation], sample: Sample) -> None:
            try:
                super().send(target, annotations, sample)
            except NotThere:
                told.set()
                raise

    receipts: list[Any] = []
    writer = threading.Thread(target=lambda: receipts.append(Watched(url, patience=60).write(valued(sample))))
    writer.start()
    assert told.wait(30), "the sink did not ask before the trace was there"
    app.release()
    writer.join(60)
    assert [receipt.confirmed for receipt in receipts] == [1]
    assert reader.one(sample).value == 0.5


def test_where_the_server_is_down_the_scores_are_undelivered_in_time():
    (port,) = stores.free_ports(1)
    sink = MlflowSink(f"http://127.0.0.1:{port}", attempts=2)  # MLflow's client alone would try for four minutes
    with pytest.raises(Undelivered) as caught:
        sink.write(valued(Sample(ids={"mlflow_trace_id": "tr-1"})))
    assert caught.value.scores == ("faithfulness",)


def test_two_hundred_scored_samples_in_a_row_all_arrive(url, app, reader):
    samples = [Sample(ids=ids) for ids in app.roots(200)]
    sink = MlflowSink(url)
    receipts = [sink.write(valued(sample, number / 200)) for number, sample in enumerate(samples)]
    assert sum(receipt.confirmed for receipt in receipts) == 200
    traces = reader.client.search_traces(locations=[app.experiment_id], max_results=500, include_spans=False)
    found = {trace.info.trace_id: [one.value for one in trace.info.assessments] for trace in traces}
    assert found == {f"tr-{sample.ids['otel_trace_id']}": [number / 200] for number, sample in enumerate(samples)}


def test_without_texts_no_text_reaches_the_store_and_texts_that_were_there_go(url, app, reader, scored):
    sample = app.ask()
    MlflowSink(url).write(scored(sample))
    assert "purr" in reader.everything(sample)
    MlflowSink(url, texts=False).write(scored(sample, ["faithfulness", "context_utilization"]))
    written = reader.everything(sample)
    for text in ("purr", "sing", "useless", "Why"):
        assert text not in written
    assert reader.one(sample).value == 0.5
    assert "sha256:" in written


def test_a_mask_is_applied_to_all_that_is_written(url, app, reader, scored):
    sample = app.ask()
    MlflowSink(url, mask=lambda text: text.replace("Cats", "****")).write(scored(sample))
    written = reader.everything(sample)
    assert "Cats" not in written
    assert "**** purr when calm" in written


def test_evidence_stays_within_its_limit_and_says_what_it_left_out(url, app, reader, scored):
    sample = app.ask(answer=" ".join(f"Cat {number} sings at night in the garden." for number in range(300)))
    assert MlflowSink(url).write(scored(sample)).confirmed == 1
    metadata = reader.one(sample).metadata
    kept = json.loads(metadata["assay.evidence"])
    assert len(metadata["assay.evidence"]) <= EVIDENCE
    assert len(kept) + int(metadata["assay.evidence_left_out"]) == 300


def test_a_sample_without_a_trace_is_skipped_and_counted(url):
    receipt = MlflowSink(url).write(valued(Sample(ids={"langchain_run_id": "r"})))
    assert (receipt.sent, receipt.skipped) == (0, 1)


def test_a_dry_run_sends_nothing(url, app, reader):
    sample = app.ask()
    told: list[Any] = []
    sink = MlflowSink(url, dry_run=lambda target, annotations: told.append((target, annotations)))
    assert sink.write(valued(sample)).sent == 0
    assert [(target, one.name, one.value) for target, (one,) in told] == [
        (f"tr-{sample.ids['otel_trace_id']}", "faithfulness", 0.5)
    ]
    assert reader.assessments(sample) == []


def test_the_settings_of_the_application_are_read_and_never_changed(url, app, reader, monkeypatch):
    import mlflow

    before = mlflow.get_tracking_uri()
    sample = app.ask()
    assert resolve_sink(f"mlflow:{url}").write(valued(sample)).confirmed == 1
    assert MlflowSink(client=reader.client).write(valued(sample)).confirmed == 1
    assert mlflow.get_tracking_uri() == before
    monkeypatch.setenv("MLFLOW_TRACKING_URI", url)
    assert resolve_sink("mlflow:").write(valued(sample)).confirmed == 1
    assert len(reader.assessments(sample)) == 1


def test_what_the_server_refuses_is_not_tried_again_and_the_reason_repeats_neither_key_nor_text(monkeypatch, caplog):
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "tiger-secret")
    body = {"error_code": "PERMISSION_DENIED", "message": "tiger-secret may not write: Cats purr."}
    with (
        _Answering(403, body) as server,
        caplog.at_level(logging.DEBUG, "assay"),
        pytest.raises(Undelivered, match="HTTP 403 PERMISSION_DENIED") as caught,
    ):
        MlflowSink(server.url).write(valued(Sample(ids={"mlflow_trace_id": "tr-1"})))
    assert server.seen == [("/api/3.0/mlflow/traces/tr-1", "Bearer tiger-secret")]
    assert caught.value.scores == ("faithfulness",)
    for secret in ("tiger", "purr"):
        assert secret not in str(caught.value) + caplog.text


def test_a_server_that_is_busy_is_asked_again(monkeypatch):
    with _Answering(503, {}) as server, pytest.raises(Undelivered, match="HTTP 503"):
        MlflowSink(server.url, attempts=3).write(valued(Sample(ids={"mlflow_trace_id": "tr-1"})))
    assert len(server.seen) == 3


@pytest.mark.long
def test_mlflow_imported_on_our_behalf_is_without_telemetry():
    code = (
        "import os, sys; from assay_mlflow.log_filter import quiet_mlflow; assert 'mlflow' not in sys.modules;"
        "quiet_mlflow(); from mlflow.telemetry.client import get_telemetry_client;"
        "print(get_telemetry_client(), os.environ.get('MLFLOW_DISABLE_TELEMETRY'))"
    )
    kept = {"PATH", "HOME"}  # not CI and the like, which switch it off as well
    environment = {name: value for name, value in os.environ.items() if name in kept}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)
    assert result.stdout.split() == ["None", "None"], result.stderr


def test_a_store_without_a_server_takes_scores_as_well(tmp_path, mlflow_packages):
    code = f"""
import sys
sys.path.append({str(mlflow_packages)!r})  # MLflow whole, with its database
import mlflow
from assay.records import Sample, Score, ScoredSample
from assay_mlflow import MlflowSink
mlflow.set_tracking_uri("sqlite:///{tmp_path}/local.db")
with mlflow.start_span("request"):
    pass
trace = mlflow.get_trace(mlflow.get_last_active_trace_id(), flush=True)
sample = Sample(ids={{"mlflow_trace_id": trace.info.trace_id}})
for value in (0.25, 0.5, 0.5):
    score = Score(metric="faithfulness", value=value, judge="openai/m")
    assert MlflowSink().write(ScoredSample(sample=sample, scores={{"faithfulness": score}})).confirmed == 1
print([one.value for one in mlflow.get_trace(trace.info.trace_id).info.assessments])
"""
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert result.stdout.strip() == "[0.5]", result.stderr[-3000:]


def test_a_store_without_a_server_says_what_it_needs(tmp_path):
    sink = MlflowSink(f"sqlite:///{tmp_path}/local.db")
    with pytest.raises(Undelivered, match=r"pip install .*mlflow"):
        sink.write(valued(Sample(ids={"mlflow_trace_id": "tr-1"})))


def test_wrong_arguments_are_named():
    with pytest.raises(InputError, match="client: give either"):
        MlflowSink("http://h", client=object())


class _Meeting:
    """Assessments that two writers read before either writes."""

    def __init__(self, inner: Any, start: threading.Barrier) -> None:
        self._inner, self._start = inner, start

    def of(self, trace_id: str) -> Any:
        found = self._inner.of(trace_id)
        self._start.wait(30)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Answering:
    """A server that gives one answer to all, and keeps the paths and Authorization headers that it saw."""

    def __init__(self, status: int, body: Any) -> None:
        seen = self.seen = []
        text = json.dumps(body).encode()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                seen.append((self.path, self.headers.get("Authorization")))
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> _Answering:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
