"""Scores as feedback on MLflow traces."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from assay import InputError, Sample
from assay.extension import Annotation, RemoteOptions, RemoteSink, call_repr, host_of
from assay_mlflow.assessments import Assessments, assessments_at
from assay_mlflow.log_filter import quiet_mlflow
from assay_mlflow.names import allowed

if TYPE_CHECKING:
    from mlflow import MlflowClient

#: Under this metadata key stands the annotation's id: by it a later write finds what an earlier one wrote.
ID = "assay.id"

_NAME = 250  # characters of an assessment's source id that MLflow's tables hold


def open_sink(address: str) -> MlflowSink:
    """The sink that `mlflow:ADDRESS` names; MLflow's own environment says the rest (MLFLOW_TRACKING_TOKEN …)."""
    return MlflowSink(address or None)


class MlflowSink(RemoteSink):
    """Writes one feedback per score, on the sample's span where that is known, else on its trace.

    The trace is `ids["mlflow_trace_id"]`, or what MLflow calls the OpenTelemetry trace `ids["otel_trace_id"]`; the span
    `ids["mlflow_span_id"]` or `ids["otel_span_id"]`. Samples of neither trace are skipped, and counted as such.

    A feedback has the metric as name, the score as value or the cause as error, the explanation as rationale, the judge
    as source, and version, range and evidence as metadata, all of it text. MLflow appends what it is given; a write
    therefore looks for what an earlier one left, by the id in its metadata, and replaces it.
    A trace that the server does not have yet is waited for.

    Args:
        tracking_uri: The server or store; else the one that MLflow's settings name. The settings are read, never
            changed.
        client: An `mlflow.MlflowClient` whose tracking URI is used in its place.
        options: Those of every remote sink: verify, attempts, patience, dry_run, mask, texts.
    """

    loggers = ("mlflow", "urllib3", "alembic")

    def __init__(
        self,
        tracking_uri: str | None = None,
        *,
        client: MlflowClient | None = None,
        **options: Unpack[RemoteOptions],
    ) -> None:
        super().__init__(**options)
        if client is not None and tracking_uri is not None:
            raise InputError("client: give either a client or a tracking_uri")
        self._uri = tracking_uri if client is None else str(client.tracking_uri)
        self._made: tuple[int, Assessments] | None = None

    def __repr__(self) -> str:
        return call_repr(self, tracking_uri=None if self._uri is None else host_of(self._uri))

    def greet(self) -> None:
        """Ask for a trace that nobody has, which needs the credentials."""
        self._assessments.of("tr-" + "0" * 32)

    def target_of(self, sample: Sample) -> str | None:
        return sample.ids.get("mlflow_trace_id") or _from_otel(sample)

    def send(self, target: str, annotations: Sequence[Annotation], sample: Sample) -> None:
        store = self._assessments
        there = store.of(target)
        for annotation in annotations:
            mine = [one for one in there if _id_of(one) == annotation.id]
            if not mine:
                store.create(target, feedback_of(annotation, target, _span_of(sample)))
                continue
            first, *others = mine
            if not _same(annotation, first):
                store.update(target, first["assessment_id"], feedback_of(annotation, target, None, first))
            for other in others:
                store.delete(target, other["assessment_id"])

    def read_back(self, target: str, annotations: Sequence[Annotation], sample: Sample) -> Collection[str] | None:
        there = self._assessments.of(target)
        return {annotation.id for annotation in annotations if any(_same(annotation, one) for one in there)}

    @property
    def _assessments(self) -> Assessments:
        if self._made is None or self._made[0] != os.getpid():  # database connections do not survive a fork
            self._made = (os.getpid(), assessments_at(self._uri))
        return self._made[1]


def _from_otel(sample: Sample) -> str | None:
    trace = sample.ids.get("otel_trace_id")
    return None if trace is None else f"tr-{trace}"


def _span_of(sample: Sample) -> str | None:
    """The span, if it is one of the trace: an application may report to MLflow and elsewhere under different ids."""
    span = sample.ids.get("mlflow_span_id")
    if span is None and sample.ids.get("mlflow_trace_id") in (None, _from_otel(sample)):
        span = sample.ids.get("otel_span_id")
    return span


def feedback_of(
    annotation: Annotation, trace_id: str | None, span_id: str | None, before: Mapping[str, Any] | None = None
) -> Any:
    """The `mlflow.entities.Feedback` that an annotation becomes; `before`: the stored one whose place it takes."""
    quiet_mlflow()
    from mlflow.entities import AssessmentError, AssessmentSource, Feedback

    judge = str(annotation.metadata.get("assay.judge", ""))
    metadata = _metadata(annotation)
    stale = dict.fromkeys((before or {}).get("metadata", {}), "")  # MLflow merges: what is left out would stay
    return Feedback(
        name=allowed(annotation.name),
        value=annotation.value,
        error=None
        if annotation.cause is None
        else AssessmentError(error_code=annotation.cause, error_message=annotation.explanation),
        source=AssessmentSource(
            source_type="CODE" if judge in ("", "scripted") else "LLM_JUDGE", source_id=(judge or "assay")[:_NAME]
        ),
        trace_id=trace_id,
        span_id=span_id,
        rationale=annotation.explanation,
        metadata={**stale, **metadata},
    )


def _metadata(annotation: Annotation) -> dict[str, str]:
    texts = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in annotation.metadata.items()
    }
    return {**texts, ID: annotation.id}


def _id_of(stored: Mapping[str, Any]) -> str | None:
    found: str | None = stored.get("metadata", {}).get(ID)
    return found


def _same(annotation: Annotation, stored: Mapping[str, Any]) -> bool:
    """Whether this is what is stored: id, value or cause, rationale and metadata."""
    feedback = stored.get("feedback", {})
    value = feedback.get("value")
    if annotation.value is None:
        equal = value is None and feedback.get("error", {}).get("error_code") == annotation.cause
    else:
        equal = isinstance(value, (int, float)) and math.isclose(annotation.value, value, rel_tol=1e-9, abs_tol=1e-12)
    there = {name: text for name, text in stored.get("metadata", {}).items() if text}
    wanted = {name: text for name, text in _metadata(annotation).items() if text}
    return equal and there == wanted and (stored.get("rationale") or "") == annotation.explanation
