"""The event of one score by the conventions of today, ours in a namespace of its own; and older forms, read."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import assay_opentelemetry
import pytest
from assay_opentelemetry import conventions
from assay_opentelemetry.conventions import evaluation_attributes, evaluation_of_event
from assay_opentelemetry.sink import OpenTelemetrySink
from assay_opentelemetry.span_data import Event, SpanData
from assay_opentelemetry.spans import run_of
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import Cause
from assay.records import Sample, Score, ScoredSample, ScoreError
from assay.sinks.annotations import annotations_of
from assay.testing.bench import exchange
from tests._support.servers.otlp_receiver import HEADER, KEY, OtlpReceiver

IDS = {"otel_trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "otel_span_id": "00f067aa0ba902b7"}
#: All attributes that the conventions give this event.
THEIRS = {
    "gen_ai.evaluation.name", "gen_ai.evaluation.score.value", "gen_ai.evaluation.score.label",
    "gen_ai.evaluation.explanation", "gen_ai.response.id", "error.type",
}  # fmt: skip


def test_the_names_are_those_of_the_published_package() -> None:
    published = pytest.importorskip("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")
    assert conventions.NAME == published.GEN_AI_EVALUATION_NAME
    assert conventions.VALUE == published.GEN_AI_EVALUATION_SCORE_VALUE
    assert conventions.LABEL == published.GEN_AI_EVALUATION_SCORE_LABEL
    assert conventions.EXPLANATION == published.GEN_AI_EVALUATION_EXPLANATION
    assert conventions.RESPONSE == published.GEN_AI_RESPONSE_ID


def test_what_is_ours_stands_in_a_namespace_of_its_own() -> None:
    with OtlpReceiver() as receiver:
        OpenTelemetrySink(endpoint=receiver.url, headers={HEADER: KEY}).write(
            exchange({**IDS, "gen_ai_response_id": "chatcmpl-7"})
        )
    for record in receiver.records:
        others = {name for name in record["attributes"] if not name.startswith("assay.")}
        assert others <= THEIRS
        assert {"gen_ai.evaluation.name", "gen_ai.response.id"} <= others
        assert {"assay.id", "assay.version", "assay.judge", "assay.range"} <= record["attributes"].keys()
        assert (record["scope"], record["schema"]) == ("assay", conventions.SCHEMA_URL)


def test_one_file_knows_the_names_of_the_evaluation_event() -> None:
    """And so of the version: nothing else in the package spells one of them."""
    folder = Path(assay_opentelemetry.__file__).parent
    spelled = {
        path.name
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and str(node.value).startswith("gen_ai.") and node.value != "gen_ai."
    }
    assert spelled == {"conventions.py"}


@given(
    value=st.one_of(st.none(), st.floats(0, 1)),
    name=st.text(min_size=1, max_size=30).filter(str.isprintable),
    reason=st.text(max_size=50),
)
def test_what_is_written_is_read_as_what_it_was(value: float | None, name: str, reason: str) -> None:
    error = ScoreError(cause=Cause.TIMEOUT, message=reason) if value is None else None
    score = Score(metric=name, value=value, error=error)
    (annotation,) = annotations_of(ScoredSample(sample=Sample(), scores={name: score}))
    told = evaluation_of_event("gen_ai.evaluation.result", evaluation_attributes(annotation, None))
    assert told is not None
    assert told["name"] == name
    assert told.get("value") == value
    assert told.get("error") == (None if value is not None else "timeout")


@pytest.mark.parametrize(
    ("name", "attributes", "expected"),
    [
        # an SDK without event names writes the name among the attributes; another writes the value as a text
        ("", {"event.name": "gen_ai.evaluation.result", "gen_ai.evaluation.score.value": "0.75"}, {"value": 0.75}),
        ("gen_ai.evaluation.result", {"gen_ai.evaluation.score.value": 4}, {"value": 4.0}),
        ("gen_ai.evaluation.result", {"gen_ai.evaluation.score.label": "pass"}, {"label": "pass"}),
        ("gen_ai.evaluation.result", {"gen_ai.evaluation.score.value": float("nan")}, {}),
        ("gen_ai.evaluation.result", {"gen_ai.evaluation.score.value": "many"}, {}),
        ("gen_ai.evaluation.result", {"gen_ai.evaluation.score.value": True, "error.type": "x"}, {"error": "x"}),
    ],
)
def test_events_of_others_are_read(name: str, attributes: dict[str, Any], expected: dict[str, Any]) -> None:
    assert evaluation_of_event(name, {"gen_ai.evaluation.name": "Relevance", **attributes}) == {
        "name": "Relevance",
        **expected,
    }


def test_other_events_and_nameless_ones_are_none() -> None:
    assert evaluation_of_event("gen_ai.choice", {"gen_ai.evaluation.name": "x"}) is None
    assert evaluation_of_event("gen_ai.evaluation.result", {"gen_ai.evaluation.score.value": 1.0}) is None


def test_what_others_said_of_a_span_is_known_of_its_sample() -> None:
    event = Event(
        name="gen_ai.evaluation.result",
        attributes={"gen_ai.evaluation.name": "Relevance", "gen_ai.evaluation.score.value": 0.5},
    )
    for attributes in ({"gen_ai.operation.name": "chat"}, {"openinference.span.kind": "CHAIN"}):
        run = run_of(SpanData(trace_id="a" * 32, span_id="b" * 16, attributes=attributes, events=(event,)))
        assert run.metadata["evaluations"] == [{"name": "Relevance", "value": 0.5}]
