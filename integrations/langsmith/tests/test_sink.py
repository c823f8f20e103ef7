"""LangSmith feedback: on the right run and project, without paid retention, and only when the run is there."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from assay_langsmith import LangSmithSink
from langsmith import Client

from assay.errors import InputError, Undelivered
from assay.records import Sample, Score, ScoredSample
from assay.sinks import Receipt
from assay.testing.bench import exchange
from tests._support.servers.langsmith_server import KEY, PROJECT, LangSmithServer

RUN = "0195a3f0-1234-7abc-8def-0123456789ab"


@pytest.fixture
def server() -> Iterator[LangSmithServer]:
    with LangSmithServer() as server:
        server.add_run(RUN)
        yield server


def sink(server: LangSmithServer, **options: Any) -> LangSmithSink:
    return LangSmithSink(api_url=server.url, api_key=KEY, **options)


def sent(server: LangSmithServer, key: str) -> dict[str, Any]:
    (found,) = (one for one in server.feedback.values() if one["key"] == key)
    return found


def test_feedback_says_score_source_and_project(server: LangSmithServer) -> None:
    sink(server).write(exchange({"langchain_run_id": RUN}))
    found = sent(server, "faithfulness")
    assert (found["score"], found["run_id"], found["session_id"]) == (0.5, RUN, PROJECT)
    assert found["start_time"].startswith("2026-03-01T12:00:00")
    assert found["comment"].startswith("faithfulness = 0.500 (supported 1, claims 2)")
    assert found["feedback_source"]["type"] == "model"
    metadata = found["feedback_source"]["metadata"]
    assert (metadata["assay.judge"], metadata["assay.range"]) == ("judge-a", "0 to 1")
    assert "value" not in found
    error = sent(server, "context_recall")
    assert error["value"] == "failed: timeout"
    assert "score" not in error
    assert server.problems == []


@pytest.mark.parametrize("extend", [False, True])
def test_retention_is_extended_only_when_asked(server: LangSmithServer, extend: bool) -> None:
    sink(server, extend_trace_retention=extend).write(exchange({"langchain_run_id": RUN}))
    assert {one["extend_trace_retention"] for one in server.feedback.values()} == {extend}
    assert len(server.feedback) == 3


def test_a_run_is_asked_for_its_project_once_per_sample(server: LangSmithServer) -> None:
    one = sink(server)
    one.write(exchange({"langchain_run_id": RUN}))
    assert [request.path for request in server.requests].count(f"/runs/{RUN}") == 1
    known = exchange({"langchain_run_id": RUN, "langsmith_session_id": PROJECT})
    one.write(known)
    sink(server, project_id=PROJECT).write(exchange({"langchain_run_id": RUN}))
    assert [request.path for request in server.requests].count(f"/runs/{RUN}") == 1


def test_a_run_that_comes_late_is_waited_for(server: LangSmithServer) -> None:
    late = str(uuid.uuid4())
    server.late[late] = 3  # there at the third look
    assert sink(server).write(exchange({"langsmith_run_id": late, "langchain_run_id": RUN})) == Receipt(
        sent=3, confirmed=3
    )
    assert {one["run_id"] for one in server.feedback.values()} == {late}
    assert server.problems == []


def test_an_unknown_run_is_undelivered_by_name(server: LangSmithServer) -> None:
    with pytest.raises(Undelivered, match="does not have this run") as caught:
        sink(server, patience=0.4).write(exchange({"langchain_run_id": str(uuid.uuid4())}))
    assert caught.value.scores == ("faithfulness", "hallucination", "context_recall")
    assert server.writes == []


def test_feedback_that_the_client_samples_away_is_not_called_sent(server: LangSmithServer) -> None:
    """Newer clients drop feedback, and return it as if sent, where the application traces only a share of its runs."""
    client = Client(server.url, api_key=KEY, tracing_sampling_rate=0.0, auto_batch_tracing=False)
    try:
        confirmed = LangSmithSink(client, patience=0.4).write(exchange({"langchain_run_id": RUN})).confirmed
    except Undelivered as error:
        confirmed = 3 - len(error.scores)
    assert confirmed == len(server.feedback)
    # a client of our own sends whatever the application samples
    assert sink(server).write(exchange({"langchain_run_id": RUN})).confirmed == 3


def test_a_client_of_the_application_is_used_and_left_open(server: LangSmithServer) -> None:
    client = Client(server.url, api_key=KEY, auto_batch_tracing=False)
    one = LangSmithSink(client)
    one.write(exchange({"langchain_run_id": RUN}))
    one.close()
    assert client.read_feedback(next(iter(server.feedback))).key == "faithfulness"


def test_a_score_with_many_decimals_is_confirmed(server: LangSmithServer) -> None:
    """The client rounds to four decimals: 2/3 is stored as 0.6667."""
    score = Score(metric="m", value=2 / 3)
    scored = ScoredSample(sample=Sample(ids={"langchain_run_id": RUN}), scores={"m": score})
    assert sink(server).write(scored) == Receipt(sent=1, confirmed=1)
    assert sent(server, "m")["score"] == 0.6667


def test_wrong_arguments_are_named(server: LangSmithServer) -> None:
    with pytest.raises(InputError, match=r"^client: "):
        LangSmithSink(Client(server.url, api_key=KEY, auto_batch_tracing=False), api_key=KEY)
    with pytest.raises(InputError, match=r"^project_id: "):
        sink(server, project_id="my project")
    with pytest.raises(Undelivered, match="run id: expected a UUID"):
        sink(server).write(exchange({"langsmith_run_id": "run-1"}))
    assert server.requests == []
