"""Scores that lie in exports of Langfuse, in whatever order the records come.

Scores (`GET /api/public/v3/scores?fields=subject`, exports to a storage), traces with their `scores` in them, items of
experiments with theirs, and beside the scores the traces, observations and items of dataset runs that tell what was
asked. Names are in camel case or with underscores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.data.exports import json_of
from assay.evaluation.imports.scales import Stated
from assay.evaluation.imports.scored_samples import ImportedRun, ImportedValue
from assay.evaluation.imports.trace_scores import PEOPLE, Record, TraceRows, absent, key_of, records_of, result

#: What is a text to read, or an answer put right, and measures nothing.
_TEXTS = ("TEXT", "CORRECTION")


def open_langfuse(address: str, *, scales: Stated | None = None) -> ImportedRun:
    """The scores in a file of Langfuse; a row is a trace, with the scores of its observations.

    Rows are the same where input and expected output are, without input by the item of the data set, else by the trace.
    Of several scores of one name on a row it is the mean; a category leaves the row without a value.
    """
    rows, scores, items = TraceRows("langfuse", address), list[tuple[Record, str | None]](), dict[str, str]()
    others = list[Record]()
    for record in records_of("langfuse", address):
        if _is_score(record):
            scores.append((record, None))
        elif (item := key_of(_get(record, "experiment_item_id") or _get(record, "dataset_item_id"))) is not None:
            items.setdefault(key_of(_get(record, "trace_id")) or item, item)
            others.append(record)
        else:
            others.append(record)
    traces = dict[str, str]()
    for record in sorted(others, key=_is_observation):
        scores.extend(_of_trace(record, rows, items, traces))
    seen = set[str]()
    for score, trace in scores:
        identity = key_of(score.get("id"))
        if identity is None or identity not in seen:
            _of_score(score, trace, rows, traces)
        seen |= {identity} if identity else set()
    return rows.run(scales)


def _of_trace(
    record: Record, rows: TraceRows, items: Mapping[str, str], traces: dict[str, str]
) -> Iterator[tuple[Record, str | None]]:
    """Takes in a trace, an observation or an item, and gives the scores that stand in it, with their trace."""
    within = json_of(record.get("scores"))
    trace = key_of(_get(record, "trace_id")) or key_of(record.get("id"))
    if trace is None:
        rows.lost("records without an id")
        return
    traces[str(record.get("id"))] = trace
    if not _is_observation(record) or absent(_get(record, "parent_observation_id")):
        expected = _get(record, "expected_output")
        rows.add(trace, record.get("input"), record.get("output"), expected, items.get(trace))
    nested = json_of(record.get("observations"))
    for one in nested if isinstance(nested, list) else ():
        if isinstance(one, Mapping):
            traces[str(one.get("id"))] = trace
    yield from ((one, trace) for one in within if isinstance(one, Mapping)) if isinstance(within, list) else ()


def _of_score(score: Record, trace: str | None, rows: TraceRows, traces: Mapping[str, str]) -> None:
    kind = str(_get(score, "data_type") or "").upper()
    name, trace = score.get("name"), trace or _trace_of(score, traces)
    if not isinstance(name, str) or not name:
        rows.lost("scores without a name")
    elif kind in _TEXTS:
        rows.lost("scores that are texts")
    elif trace is None:
        rows.lost("scores that name no trace (of a session, of a whole run, or read without fields=subject)")
    else:
        rows.score(trace, name, _value(score, kind), score.get("metadata"))


def _value(score: Record, kind: str) -> ImportedValue:
    value, word = score.get("value"), _get(score, "string_value")
    judge = PEOPLE if str(score.get("source")).upper() == "ANNOTATION" else None
    if kind == "CATEGORICAL":  # the number beside it is 0 wherever no configuration says another
        return result(None, word if word is not None else value, None, judge)
    return result(value, word, None, judge)


def _trace_of(score: Record, traces: Mapping[str, str]) -> str | None:
    subject = json_of(score.get("subject"))
    if not isinstance(subject, Mapping):
        observation = key_of(_get(score, "observation_id"))
        found = traces.get(observation, observation) if observation is not None else None
        return key_of(_get(score, "trace_id")) or found
    identity = key_of(subject.get("id"))
    if subject.get("kind") == "trace":
        return identity
    if subject.get("kind") == "observation" and identity is not None:
        return key_of(_get(subject, "trace_id")) or traces.get(identity, identity)
    return None


def _is_score(record: Record) -> bool:
    """Observations and traces have no value."""
    return _get(record, "data_type") is not None or ("value" in record and _get(record, "start_time") is None)


def _is_observation(record: Record) -> bool:
    """Whether it is a part of a trace, and neither the trace nor an item, which know better what was asked."""
    item = _get(record, "experiment_item_id") or _get(record, "dataset_item_id")
    return _get(record, "trace_id") is not None and item is None


def _get(record: Record, name: str) -> Any:
    """A field by its name with underscores, as exports to storage have it, or in camel case, as the API has it."""
    first, *rest = name.split("_")
    found = record.get(name)
    found = record.get(first + "".join(part.capitalize() for part in rest)) if absent(found) else found
    return None if absent(found) else found
