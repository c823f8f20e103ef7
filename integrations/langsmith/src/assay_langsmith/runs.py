"""LangSmith runs, as its API, its SDK and its bulk export write them, as runs of the tree that all capture shares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from assay import InputError
from assay.extension import (
    Document,
    Run,
    RunKind,
    artifacts_in,
    document_of,
    document_texts,
    json_of,
    messages_in,
    passages_in,
    passed_on,
    seconds_at,
    text_written,
    texts_sent,
    unwrap_value,
)

_KINDS: dict[str, RunKind] = {
    "chain": "chain", "llm": "llm", "chat_model": "llm", "retriever": "retriever", "tool": "tool", "prompt": "prompt",
    "parser": "parser", "embedding": "embedding",
}  # fmt: skip

#: The type of an exception at the start of its text: "ValueError('…')", "langgraph.errors.GraphInterrupt: …".
_ERROR = re.compile(r"\s*([A-Za-z_][\w.]*)")


def flat(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A record and the runs nested in its `child_runs`, each without them; what they leave out of it is added."""
    children = json_of(record.get("child_runs"))
    own = {name: value for name, value in record.items() if name != "child_runs"}
    yield own
    for child in children if isinstance(children, list) else ():
        if isinstance(child, Mapping):
            below = {"parent_run_id": own.get("id"), "trace_id": own.get("trace_id") or own.get("id")}
            told = {name: value for name, value in child.items() if value is not None}
            yield from flat({**below, **told})


def trace_of(record: Mapping[str, Any]) -> str:
    """The id of a run's trace. Raises InputError where it cannot be told."""
    found = record.get("trace_id")
    if found:
        return str(found)
    order = _order(record)
    if order:
        return order[0]
    if record.get("parent_run_id"):
        raise InputError(f"run {record.get('id')!r}: expected a trace_id or a dotted_order")
    return _id(record)


def start_of(record: Mapping[str, Any]) -> float:
    """When a run started, in seconds since 1970."""
    found = seconds_at(record.get("start_time") or None, "start_time")
    if found is None:
        raise InputError(f"run {record.get('id')!r}: expected a start_time")
    return found


def run_of(record: Mapping[str, Any]) -> Run:
    """The run that a record stands for. Raises InputError where it has no id or no sound times."""
    kind = _KINDS.get(str(record.get("run_type") or "chain"), "chain")
    extra = json_of(record.get("extra"))
    metadata = json_of((extra if isinstance(extra, Mapping) else {}).get("metadata", record.get("metadata")))
    tags = json_of(record.get("tags"))
    ids = {"langsmith_trace_id": trace_of(record), "langsmith_session_id": record.get("session_id")}
    run = Run(
        _id(record),
        _parent(record),
        kind,
        record.get("name") or None,
        error=_error(record),
        started=start_of(record),
        ended=seconds_at(record.get("end_time") or None, "end_time"),
        tags=tuple(str(tag) for tag in tags) if isinstance(tags, (list, tuple)) else (),
        metadata=dict(metadata) if isinstance(metadata, Mapping) else {},
        ids={name: str(value) for name, value in ids.items() if value},
    )
    feedback = json_of(record.get("feedback_stats"))
    if isinstance(feedback, Mapping) and feedback:
        run.metadata = {**run.metadata, "feedback_stats": dict(feedback)}
    _add_content(run, unwrap_value(json_of(record.get("inputs"))), unwrap_value(json_of(record.get("outputs"))))
    return run


def runs_of(records: Iterable[Mapping[str, Any]]) -> list[Run]:
    """The runs of a trace, each once: of several records of one run, the one that says how it ended, else the last."""
    found: dict[Any, Run] = {}
    for record in records:
        run = run_of(record)
        known = found.get(run.id)
        if known is None or known.ended is None or run.ended is not None:
            found[run.id] = run
    return list(found.values())


def _add_content(run: Run, inputs: Any, outputs: Any) -> None:
    """What the inputs and outputs of a run of this kind say."""
    run.inputs, run.outputs = inputs or None, outputs or None
    if run.kind == "llm":
        run.inputs = messages_in(inputs) or inputs
        run.prompt = texts_sent(inputs) or None
        run.outputs = text_written(outputs)
    elif run.kind == "retriever":
        run.documents = passages_in(outputs)
    elif run.kind == "tool":
        run.documents = _documents_of_tool(outputs)
    else:
        run.given = document_texts(inputs)
        run.documents = passed_on(outputs, run.given) if run.kind == "chain" else None


def _documents_of_tool(outputs: Any) -> tuple[Document, ...] | None:
    """The documents that a tool returned or attached: itself, as its message's artifact, or in the state it updates."""
    output = outputs["output"] if isinstance(outputs, Mapping) and set(outputs) == {"output"} else outputs
    messages = output.get("messages") if isinstance(output, Mapping) else None
    if isinstance(messages, list):
        attached = [found for message in messages for found in _documents_of_tool(message) or ()]
        if attached:
            return tuple(attached)
    artifact = output.get("artifact") if isinstance(output, Mapping) else None
    found = artifacts_in(output if artifact is None else artifact)
    return None if found is None else tuple(map(document_of, found))


def _id(record: Mapping[str, Any]) -> str:
    found = record.get("id")
    if not found:
        raise InputError("expected a run with an id")
    return str(found)


def _parent(record: Mapping[str, Any]) -> str | None:
    found = record.get("parent_run_id")
    if found:
        return str(found)
    order = _order(record)
    return order[-2] if len(order) > 1 else None


def _order(record: Mapping[str, Any]) -> list[str]:
    """The ids in a dotted order, from the root to the run: each stands after a time that ends in Z."""
    found = record.get("dotted_order")
    return [part.partition("Z")[2] for part in found.split(".")] if isinstance(found, str) and found else []


def _error(record: Mapping[str, Any]) -> str | None:
    """The type name of the exception: its text, and the traceback that follows, may hold what must not be kept."""
    error = record.get("error")
    if not error:
        return "Error" if record.get("status") == "error" else None
    match = _ERROR.match(str(error))
    return match[1].rpartition(".")[2] if match else "Error"
