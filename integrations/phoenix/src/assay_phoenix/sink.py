"""Scores as annotations of Phoenix spans, traces and documents."""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack

from assay import InputError, Sample
from assay.extension import Annotation, NotThere, Refused, RemoteOptions, RemoteSink
from assay_phoenix.documents import document_annotations, judges_passages, kind_of
from assay_phoenix.server import Server, answers

if TYPE_CHECKING:
    from phoenix.client import Client

log = logging.getLogger("assay.sinks")

Level = Literal["span", "trace"]

_ID = {"span": "otel_span_id", "trace": "otel_trace_id"}


def open_sink(address: str) -> PhoenixSink:
    """The sink that `phoenix:ADDRESS` names; the client's own environment says the rest."""
    return PhoenixSink(address or None)


class PhoenixSink(RemoteSink):
    """Writes one annotation per score, in one request per sample.

    An annotation has the metric as name, the score or the label "skipped" or "failed", the explanation, and judge,
    version, range and evidence as metadata. Writing the same score again replaces the annotation; another judge's
    stands beside it.
    A span that the server does not have yet is waited for. Samples without the id are skipped, and counted as such.

    Args:
        base_url, api_key: The server; else as the Phoenix client finds it: PHOENIX_ENDPOINT, http://localhost:6006, and
            PHOENIX_API_KEY.
        client: A `phoenix.client.Client` in place of these two.
        project: Name or id of the project to read scores back from; else the projects are searched for the span.
        level: What is annotated: "span" the sample's span, `ids["otel_span_id"]`; "trace" its trace,
            `ids["otel_trace_id"]`.
        documents: Where the sample knows its retriever's span, `ids["otel_retriever_span_id"]`, verdicts on single
            passages become annotations of its documents.
        options: Those of every remote sink: verify, attempts, patience, dry_run, mask, texts.
    """

    loggers = ("phoenix", "httpx", "httpcore")

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        project: str | None = None,
        client: Client | None = None,
        level: Level = "span",
        documents: bool = True,
        **options: Unpack[RemoteOptions],
    ) -> None:
        super().__init__(**options)
        if level not in _ID:
            raise InputError(f"level: expected 'span' or 'trace', got {level!r}")
        if client is not None and (base_url is not None or api_key is not None):
            raise InputError("client: give either a client, or base_url and api_key")
        self._server = Server(base_url, api_key, client)
        self._project = project
        self._level = level
        self._documents = documents
        self._last_project: str | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._server.name}>"

    def greet(self) -> None:
        """List the projects."""
        self._server.projects()

    def target_of(self, sample: Sample) -> str | None:
        return sample.ids.get(_ID[self._level])

    def send(self, target: str, annotations: Sequence[Annotation], sample: Sample) -> None:
        data: list[Any] = [{f"{self._level}_id": target, **_body(annotation)} for annotation in annotations]
        with answers():
            if self._level == "span":
                self._server.client.spans.log_span_annotations(span_annotations=data, sync=True)
            else:
                self._server.client.traces.log_trace_annotations(trace_annotations=data, sync=True)
        if self._documents:
            self._annotate_documents(annotations, sample)

    def read_back(self, target: str, annotations: Sequence[Annotation], sample: Sample) -> Collection[str] | None:
        stored = self._stored(target, [annotation.name for annotation in annotations], sample)
        return {annotation.id for annotation in annotations if any(_same(annotation, other) for other in stored)}

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

    def _stored(self, target: str, names: Sequence[str], sample: Sample) -> list[dict[str, Any]]:
        params = {f"{self._level}_ids": target, "include_annotation_names": list(names), "limit": 1000}
        for project in self._candidates(sample):
            try:
                found: list[dict[str, Any]] = self._server.get(
                    f"v1/projects/{project}/{self._level}_annotations", params
                )["data"]
            except NotThere:  # another project's span
                continue
            if found:
                self._last_project = project
                return found
        return []

    def _candidates(self, sample: Sample) -> Iterator[str]:
        """Ids of the projects that may hold the sample, the likely ones first. Projects are listed only if need be."""
        if self._project is not None:
            yield self._server.project_id(self._project)
            return
        likely = [sample.ids.get("phoenix_project_id"), self._last_project]
        yield from (project for project in likely if project)
        yield from (project for project in self._server.projects().values() if project not in likely)

    def _annotate_documents(self, annotations: Sequence[Annotation], sample: Sample) -> None:
        """An extra to the scores, which are stored by now: documents that cannot be annotated are left out."""
        span_id = sample.ids.get("otel_retriever_span_id")
        if span_id is None or not any(judges_passages(annotation) for annotation in annotations):
            return
        try:
            span = self._span(span_id, sample)
            data: list[Any] = document_annotations(annotations, sample, span_id, span["attributes"]) if span else []
            if data:
                with answers():
                    self._server.client.spans.log_document_annotations(document_annotations=data, sync=True)
        except (NotThere, Refused) as error:
            log.warning("assay: Phoenix did not take annotations of documents: %s", error)

    def _span(self, span_id: str, sample: Sample) -> dict[str, Any] | None:
        for project in self._candidates(sample):
            try:
                spans = self._server.get(f"v1/projects/{project}/spans", {"span_id": span_id, "limit": 1})["data"]
            except NotThere:
                continue
            found: dict[str, Any] | None = next((one for one in spans if one["context"]["span_id"] == span_id), None)
            if found is not None:
                return found
        return None


def _body(annotation: Annotation) -> dict[str, Any]:
    result = {"score": annotation.value, "label": annotation.label, "explanation": annotation.explanation or None}
    return {
        "name": annotation.name,
        "identifier": annotation.identifier,
        "annotator_kind": kind_of(annotation),
        "result": {name: value for name, value in result.items() if value is not None},
        "metadata": {**annotation.metadata, "assay.id": annotation.id},
    }


def _same(annotation: Annotation, stored: Mapping[str, Any]) -> bool:
    if (stored.get("metadata") or {}).get("assay.id") != annotation.id:
        return False
    result = stored.get("result") or {}
    score = result.get("score")
    if annotation.value is None or score is None:
        return annotation.value is score and result.get("label") == annotation.label
    return math.isclose(annotation.value, score, rel_tol=1e-9, abs_tol=1e-12)
