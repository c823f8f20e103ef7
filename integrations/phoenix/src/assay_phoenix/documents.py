"""Verdicts on single passages as annotations of the retriever's documents. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay import Sample
from assay.extension import Annotation

#: Readings that give one verdict per passage, as `Score.verdicts` names them.
_PASSAGES = "/contexts"
_SCORES = {"useful": 1.0, "not_useful": 0.0}


def document_annotations(
    annotations: Sequence[Annotation], sample: Sample, span_id: str, attributes: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """One annotation per passage and metric that judged it, for the retriever span with these attributes.

    Passages are found among the span's documents by their text, because a sample holds each passage once and may hold
    those of several retrievers. What is not found there is left out. Useful is 1, not useful 0.

    Phoenix keeps one annotation per document and name: there is no telling apart of judges as for spans.
    """
    positions = _positions(attributes)
    contexts = sample.contexts or ()
    found = []
    for annotation in annotations:
        for verdict in _verdicts(annotation):
            index = verdict["passage"]
            position = positions.get(contexts[index].text) if index < len(contexts) else None
            if position is not None:
                found.append(_document(annotation, verdict, span_id, position))
    return found


def judges_passages(annotation: Annotation) -> bool:
    """Whether it holds verdicts on single passages."""
    return any(True for _ in _verdicts(annotation))


def _verdicts(annotation: Annotation) -> Iterator[Mapping[str, Any]]:
    for verdict in json.loads(annotation.metadata.get("assay.evidence", "[]")):
        if verdict["reading"].endswith(_PASSAGES) and "passage" in verdict and verdict["label"] in _SCORES:
            yield verdict


def _positions(attributes: Mapping[str, Any]) -> dict[str, int]:
    """Positions of the documents by text; the first, where a text is there twice."""
    found: dict[str, int] = {}
    for name, value in attributes.items():
        parts = name.split(".")  # retrieval.documents.0.document.content
        if parts[:2] == ["retrieval", "documents"] and parts[3:] == ["document", "content"] and parts[2].isdigit():
            position = int(parts[2])
            found[str(value)] = min(position, found.get(str(value), position))
    return found


def _document(annotation: Annotation, verdict: Mapping[str, Any], span_id: str, position: int) -> dict[str, Any]:
    result: dict[str, Any] = {"label": verdict["label"], "score": _SCORES[verdict["label"]]}
    if verdict.get("reason"):
        result["explanation"] = verdict["reason"]
    metadata = {name: annotation.metadata[name] for name in ("assay.version", "assay.judge")}
    if "probability" in verdict:
        metadata["assay.probability"] = verdict["probability"]
    return {
        "name": annotation.name,
        "span_id": span_id,
        "document_position": position,
        "annotator_kind": kind_of(annotation),
        "result": result,
        "metadata": {**metadata, "assay.id": annotation.id},
    }


def kind_of(annotation: Annotation) -> str:
    """Who annotates, in Phoenix's words: LLM where a judge was asked, CODE where there was none or a script."""
    judge = str(annotation.metadata.get("assay.judge", ""))
    return "CODE" if judge in ("", "scripted") else "LLM"
