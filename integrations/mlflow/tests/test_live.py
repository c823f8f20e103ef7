"""From a running application to scores on its traces: LangChain, MLflow's or OpenInference's tracing, and assay."""

from __future__ import annotations

import pytest
from assay_langchain import AssayCallbackHandler
from assay_mlflow import MlflowSink

from assay.judges.scripted_judge import ScriptedJudge
from assay.records import Sample
from tests._support.servers.stores import free_ports

pytestmark = pytest.mark.timeout(900)  # the first test of a session installs and starts the server


def judge() -> ScriptedJudge:
    return ScriptedJudge(
        support=lambda claim, passage: "supported" if claim.rstrip(".") in passage else "not_mentioned",
        name="openai/model",
    )


def test_what_runs_under_autolog_is_scored_on_its_own_trace(reader, autologged_and_scored):
    health = autologged_and_scored["health"]["live"]
    assert (health["submitted"], health["delivered"], health["undelivered"]) == (3, 3, 0)
    for ids in autologged_and_scored["traces"]:
        (written,) = reader.assessments(Sample(ids={"mlflow_trace_id": ids["mlflow_trace_id"]}))
        assert (written.name, written.value, written.source.source_type) == ("faithfulness", 1.0, "LLM_JUDGE")


def test_what_runs_under_another_instrumentor_is_scored_on_its_own_span(url, app, reader):
    handler = AssayCallbackHandler("faithfulness", judge(), sinks=[MlflowSink(url)])
    sample = app.ask(callbacks=[handler])
    assert handler.flush(60)
    assert handler.close(30).live.delivered == 1
    # of "Cats purr when calm." and "They also sing." the first stands in a passage: 1 of 2
    assert (reader.one(sample).value, reader.one(sample).span_id) == (0.5, sample.ids["otel_span_id"])


def test_where_the_server_is_down_the_application_does_not_notice_and_the_loss_is_counted(app):
    (port,) = free_ports(1)
    handler = AssayCallbackHandler("faithfulness", judge(), sinks=[MlflowSink(f"http://127.0.0.1:{port}", attempts=2)])
    sample = app.ask(callbacks=[handler])  # checks the answer
    assert sample.answer is not None
    assert handler.flush(60)
    health = handler.close(10)
    assert (health.live.delivered, health.live.undelivered) == (0, 1)
    assert health.errors == {"Undelivered": 1}
