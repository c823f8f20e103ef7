"""From a running application to scores on its spans: LangChain, the OpenInference instrumentor, assay and Phoenix."""

from __future__ import annotations

import pytest
from assay_langchain import AssayCallbackHandler
from assay_phoenix import PhoenixSink

from assay.judges.scripted_judge import ScriptedJudge
from tests._support.servers.stores import free_ports

pytestmark = pytest.mark.timeout(900)  # the first test of a session installs and starts the server


def judge() -> ScriptedJudge:
    return ScriptedJudge(
        support=lambda claim, passage: "supported" if claim.rstrip(".") in passage else "not_mentioned",
        usefulness=lambda question, passage: "useless" not in passage,
        name="openai/model",
    )


def test_what_runs_is_scored_on_its_own_span(url, app, reader):
    handler = AssayCallbackHandler(["faithfulness", "context_utilization"], judge(), sinks=[PhoenixSink(url)])
    samples = [app.ask(callbacks=[handler]) for _ in range(3)]
    assert handler.flush(120)
    health = handler.close(30)
    assert (health.live.submitted, health.live.delivered, health.live.undelivered) == (3, 3, 0)
    for sample in samples:
        # of "Cats purr when calm." and "They also sing." the first stands in a passage: 1 of 2
        assert reader.one(sample, "faithfulness")["result"]["score"] == 0.5
        assert reader.one(sample, "context_utilization")["result"]["score"] == 1.0  # the useful passage comes first
        assert len(reader.annotations(sample)) == 2


def test_where_the_server_is_down_the_application_does_not_notice_and_the_loss_is_counted(app):
    (port,) = free_ports(1)
    sink = PhoenixSink(f"http://127.0.0.1:{port}", attempts=2)
    handler = AssayCallbackHandler("faithfulness", judge(), sinks=[sink])
    sample = app.ask(callbacks=[handler])  # checks the answer
    assert sample.answer is not None
    assert handler.flush(60)
    health = handler.close(10)
    assert (health.live.delivered, health.live.undelivered) == (0, 1)
    assert health.errors == {"Undelivered": 1}
