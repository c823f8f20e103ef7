"""Langfuse scores: of the right trace and observation, replaced and not doubled, and none lost without a word."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from assay_langfuse import LangfuseSink
from langfuse import Langfuse

from assay.errors import InputError, Undelivered
from assay.records import Sample, Score, ScoredSample
from assay.sinks import Receipt
from assay.testing.bench import exchange
from tests._support.servers.langfuse_server import PUBLIC, SECRET, LangfuseServer
from tests._support.servers.service import Reply

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.fixture
def server() -> Iterator[LangfuseServer]:
    with LangfuseServer() as server:
        yield server


def sink(server: LangfuseServer, **options: Any) -> LangfuseSink:
    return LangfuseSink(public_key=PUBLIC, secret_key=SECRET, base_url=server.url, **options)


def sent(server: LangfuseServer, name: str) -> dict[str, Any]:
    (found,) = (one for one in server.scores.values() if one["name"] == name)
    return found


def test_a_score_says_value_target_time_and_evidence(server: LangfuseServer) -> None:
    ids = {"langfuse_trace_id": TRACE, "langfuse_observation_id": SPAN}
    sink(server, environment="production").write(exchange(ids))
    found = sent(server, "faithfulness")
    assert (found["value"], found["dataType"], found["traceId"], found["observationId"]) == (
        0.5,
        "NUMERIC",
        TRACE,
        SPAN,
    )
    assert found["timestamp"].startswith("2026-03-01T12:00:00")  # 1772366400: when the exchange ended
    assert found["comment"].startswith("faithfulness = 0.500")
    assert found["metadata"]["assay.judge"] == "judge-a"
    assert found["environment"] == "production"
    error = sent(server, "context_recall")
    assert (error["dataType"], error["value"]) == ("CATEGORICAL", "failed: timeout")
    assert server.problems == []


def test_a_trace_alone_is_a_target(server: LangfuseServer) -> None:
    assert sink(server).write(exchange({"langfuse_trace_id": TRACE})) == Receipt(sent=3, confirmed=3)
    assert "observationId" not in sent(server, "faithfulness")


def test_a_measurement_takes_the_place_of_a_failure(server: LangfuseServer) -> None:
    """A judge that timed out and answers the next day: one score, with its number."""
    ids = {"langfuse_trace_id": TRACE}
    scored = exchange(ids)
    sink(server).write(scored)
    server.today += 1
    score = Score(metric="context_recall", value=0.75, judge="judge-a")
    sink(server).write(ScoredSample(sample=scored.sample, scores={"context_recall": score}))
    assert (sent(server, "context_recall")["value"], sent(server, "context_recall")["dataType"]) == (0.75, "NUMERIC")


def test_another_systems_metric_keeps_its_name(server: LangfuseServer) -> None:
    name = "ragas:faithfulness@original"
    sample = exchange({"langfuse_trace_id": TRACE}).sample
    told = ScoredSample(sample=sample, scores={name: Score(metric=name, value=0.75, judge="judge-a")})
    assert sink(server).write(told) == Receipt(sent=1, confirmed=1)
    assert sent(server, name)["value"] == 0.75


def test_what_a_batch_rejects_is_named(server: LangfuseServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The endpoint answers 207 where it takes only some: no error for the client."""
    create = server._create

    def picky(scores: Any, keep: bool) -> Reply:
        if scores[0]["name"] == "hallucination":
            return Reply(207, {"accepted": 0, "rejected": 1, "errors": [{"message": "no such config"}]})
        return create(scores, keep)

    monkeypatch.setattr(server, "_create", picky)
    with closing(sink(server)) as one, pytest.raises(Undelivered, match="rejects 1 of 1") as caught:
        one.write(exchange({"langfuse_trace_id": TRACE}))
    assert caught.value.scores == ("hallucination",)
    assert {one["name"] for one in server.scores.values()} == {"faithfulness", "context_recall"}


def test_no_tracing_is_set_up(server: LangfuseServer) -> None:
    """`Langfuse(...)` would start threads and take the application's tracing over."""
    before = set(threading.enumerate())
    one = sink(server)
    one.write(exchange({"langfuse_trace_id": TRACE}))
    ours = {thread.name for thread in set(threading.enumerate()) - before if "process_request" not in thread.name}
    assert ours == set()
    one.close()
    assert {request.path for request in server.requests} == {"/api/public/scores", "/api/public/v3/scores"}


def test_a_client_of_the_application_is_used(server: LangfuseServer) -> None:
    client = Langfuse(public_key=PUBLIC, secret_key=SECRET, base_url=server.url, tracing_enabled=False)
    one = LangfuseSink(client)
    assert one.write(exchange({"langfuse_trace_id": TRACE})) == Receipt(sent=3, confirmed=3)
    one.close()
    client.api.scores.get_many(trace_id=TRACE)
    client.shutdown()
    with pytest.raises(InputError, match=r"^client: "):
        LangfuseSink(client, base_url=server.url)


def test_wrong_keys_are_refused_at_once(server: LangfuseServer) -> None:
    wrong = LangfuseSink(public_key=PUBLIC, secret_key="sk-other", base_url=server.url, patience=20)
    with pytest.raises(Undelivered, match="HTTP 422") as caught:
        wrong.write(exchange({"langfuse_trace_id": TRACE}))
    assert len(caught.value.scores) == 3
    assert len(server.writes) == 3


def test_an_odd_value_is_stored_and_confirmed_as_it_is(server: LangfuseServer) -> None:
    score = Score(metric="m", value=1 / 3)
    scored = ScoredSample(sample=Sample(ids={"langfuse_trace_id": TRACE}), scores={"m": score})
    assert sink(server).write(scored).confirmed == 1
    assert sent(server, "m")["value"] == 1 / 3


@pytest.mark.parametrize(
    ("options", "name"),
    [({"secret_key": "s"}, "public_key"), ({"public_key": "p"}, "secret_key")],
)
def test_missing_keys_are_named(options: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANGFUSE_PUBLIC_KEY", raising=False)
    monkeypatch.delenv("LANGFUSE_SECRET_KEY", raising=False)
    with pytest.raises(InputError, match=f"^{name}: "):
        LangfuseSink(base_url="http://localhost", **options)
