"""The way that an agent took to its answer: what it called and what came back, as messages. Pure functions.

Where the root put out its messages and they tell of tool calls, these are the way, from the question on: earlier turns
are history. Otherwise it is told by the runs: the tools that were called, and retrieval that no tool asked for, as one
message of the assistant between the question and the answer. An exchange without tools that retrieved but once went no
way worth telling: its contexts say all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from assay._util.normalise import json_object, json_value, well_formed
from assay.capture.messages import from_last_question
from assay.capture.tool_results import blocks_in
from assay.capture.tool_retrieval import tool_lookups
from assay.capture.tree import Document, Run, RunKind, Trace
from assay.records import Message, ToolCall
from assay.records.messages import is_message, messages_of, role_of, text_in, text_of

CALLS: tuple[RunKind, ...] = ("tool", "retriever")
#: Kinds of runs below which nothing is a call of its own: it is a part of the call, or how a model writes an object.
WHOLE: tuple[RunKind, ...] = (*CALLS, "reranker", "llm")
#: Retrieval calls without any tool from which on they are a way.
SEVERAL = 2
#: The name of the argument of a call that was given a text alone.
ASKED = "query"


def trajectory_of(trace: Trace, question: str | None, answer: str | None) -> tuple[Message, ...]:
    """The messages of an exchange; `()` where it went no way worth telling."""
    told = state_messages(trace.root)
    if told:
        return told
    calls = calls_in(trace)
    if not any(run.kind == "tool" for run in calls) and len(calls) < SEVERAL:
        return ()
    said = [Message(role="user", content=question)] if question else []
    said.append(Message(role="assistant", tool_calls=tuple(map(call_of, calls))))
    return (*said, Message(role="assistant", content=answer)) if answer else tuple(said)


def state_messages(root: Run) -> tuple[Message, ...]:
    """The messages of this exchange that a root put out, where they tell of tool calls."""
    put_out = _listed(root.outputs)
    if not any(role_of(message) == "user" for message in put_out):  # it puts out nothing but what it added
        put_out = (*_listed(root.inputs), *put_out)
    own = from_last_question(put_out)
    return messages_of(own, lenient=True) if any(map(_calls_tools, own)) else ()


def calls_in(trace: Trace) -> list[Run]:
    """The tools and retrievers that the exchange called, in order of start; what was looked up to call is none."""
    lookups = tool_lookups(trace)
    found = [
        run
        for run in trace.runs.values()
        if run.kind in CALLS
        and run is not trace.root
        and not run.below_retriever
        and run.id not in lookups
        and not any(above.kind in WHOLE for above in trace.above(run))
    ]
    return sorted(found, key=lambda run: run.started)


def call_of(run: Run) -> ToolCall:
    """The call that a run of a tool or a retriever is."""
    given = run.inputs
    arguments = given if isinstance(given, Mapping) else {} if given is None else {ASKED: given}
    return ToolCall(name=run.name or run.kind, arguments=json_object(arguments, nulls=True), output=_output(run))


def _output(run: Run) -> str | None:
    """What a call gave back, as text; None where it is not known."""
    if run.kind == "tool" and run.outputs is not None:
        said = _text(run.outputs)
        if said is not None:
            return said
    return None if run.documents is None else _joined(run.documents)


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return well_formed(str(value))
    if is_message(value):
        return text_of(value)
    if isinstance(value, Mapping) and (messages := _listed(value)):  # what a command adds to the state
        return "\n".join(filter(None, map(text_of, messages)))
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, Document) for item in value):
        return _joined(value)
    if blocks_in(value):
        return text_in(value)
    if not isinstance(value, (Mapping, list, tuple, int, float)):
        return None
    return well_formed(json.dumps(json_value(value), ensure_ascii=False, default=str))


def _joined(documents: Sequence[Document]) -> str:
    return well_formed("\n\n".join(str(found.text) for found in documents))


def _listed(value: Any) -> Sequence[Any]:
    """The messages in a state, or in a list of nothing else."""
    messages = value.get("messages") if isinstance(value, Mapping) else value
    if isinstance(messages, (list, tuple)) and messages and all(role_of(message) is not None for message in messages):
        return messages
    return ()


def _calls_tools(message: Any) -> bool:
    calls = message.get("tool_calls") if isinstance(message, Mapping) else getattr(message, "tool_calls", None)
    return bool(calls)
