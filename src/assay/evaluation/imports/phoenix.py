"""Scores that lie in exports of Phoenix: experiments, and annotations of spans and traces.

httpx.get(f"{url}/v1/experiments/{id}/json"), or /csv                      an experiment
client.spans.get_spans(...) + client.spans.get_span_annotations(...)       spans and their annotations, as JSON
client.spans.get_span_annotations_dataframe(...).to_csv("file.csv")        annotations alone
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.data.exports import json_of
from assay.evaluation.imports.scales import Stated
from assay.evaluation.imports.scored_samples import ImportedRun
from assay.evaluation.imports.trace_scores import PEOPLE, Record, TraceRows, absent, key_of, records_of, result

_COLUMN = "annotation_"
_SCORE = "_score"
_TASK = "the task failed: "


def open_phoenix(address: str, *, scales: Stated | None = None) -> ImportedRun:
    """The annotations in a file of Phoenix. Rows are runs of examples, else traces, else what the annotations name.

    Rows are the same where input and reference are, without input by id. Of several annotations of one name on a row
    it is the mean; a label alone, an evaluator that failed and a task that failed leave the row without a value.
    """
    rows, spans, notes = TraceRows("phoenix", address), dict[str, str](), list[Record]()
    for number, record in enumerate(records_of("phoenix", address), 1):
        if key_of(record.get("example_id")) is not None:
            _of_experiment(record, rows, number)
        elif (span := key_of(_at(record, "context", "span_id"))) is not None:
            _of_span(record, span, rows, spans)
        else:
            notes.append(record)
    for record in notes:
        _of_annotation(record, rows, spans)
    return rows.run(scales)


def _of_experiment(record: Record, rows: TraceRows, number: int) -> None:
    key = f"run {number}"  # of an example there may be several, also of other experiments
    name = key_of(record["example_id"])
    rows.add(key, record.get("input"), record.get("output"), record.get("reference_output"), name)
    found = json_of(record.get("annotations"))
    for one in found if isinstance(found, list) else _in_columns(record):
        if isinstance(one, Mapping):
            _scored(one, one, key, rows)
    if not absent(record.get("error")):
        rows.failed(key, _TASK + str(record["error"])[:200])


def _in_columns(record: Record) -> list[Record]:
    """The annotations of a row of CSV: columns `annotation_NAME_score`, `_label`, `_error`."""
    names = [
        name.removeprefix(_COLUMN).removesuffix(_SCORE)
        for name in record
        if isinstance(name, str) and name.startswith(_COLUMN) and name.endswith(_SCORE)
    ]
    parts = ("score", "label", "error", "annotator_kind", "metadata")
    found = [{"name": name, **{part: record.get(f"{_COLUMN}{name}_{part}") for part in parts}} for name in names]
    return [one for one in found if not all(absent(one[part]) for part in ("score", "label", "error"))]


def _of_span(record: Record, span: str, rows: TraceRows, spans: dict[str, str]) -> None:
    trace = key_of(_at(record, "context", "trace_id")) or span
    spans[span] = trace
    if absent(record.get("parent_id")):
        rows.add(trace, _at(record, "attributes", "input.value"), _at(record, "attributes", "output.value"))


def _of_annotation(record: Record, rows: TraceRows, spans: Mapping[str, str]) -> None:
    span, trace = key_of(record.get("span_id")), key_of(record.get("trace_id"))
    if not absent(record.get("document_position")):
        rows.lost("annotations of single documents")
    elif span is None and trace is None:
        rows.lost("records that are no annotation, span or run of an experiment")
    else:
        scored = {part: _at(record, "result", part) for part in ("score", "label")}
        _scored(record, scored, spans.get(span, span) if span is not None else str(trace), rows)


def _scored(record: Record, found: Record, key: str, rows: TraceRows) -> None:
    name = record.get("annotation_name") or record.get("name")
    if not isinstance(name, str) or not name:
        rows.lost("annotations without a name")
        return
    judge = PEOPLE if record.get("annotator_kind") == "HUMAN" else None
    value = result(found.get("score"), found.get("label"), record.get("error"), judge)
    rows.score(key, name, value, record.get("metadata"))


def _at(record: Record, head: str, tail: str) -> Any:
    """What stands in an object, or in the column that a table has of it."""
    inner = json_of(record.get(head))
    return inner.get(tail) if isinstance(inner, Mapping) else record.get(f"{head}.{tail}")
