"""From a run tree to a sample: what was asked, what was found, what was said. Pure functions.

question   what the user asked: the input of the root
contexts   the documents of the outermost retriever runs, in order of start, each once
answer     the output of the root
status     complete, or abandoned, cancelled, failed
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.capture.messages import is_message, last_answer, last_question, text_of, turns_before
from assay.capture.tree import Found, Run, Trace
from assay.errors import InputError
from assay.fields import ACCEPTED, ANSWER_NAMES, CONTEXT_NAMES, QUESTION_NAMES, context_text, json_object, well_formed
from assay.records import Context, Sample, SampleStatus, Turn

DEPTH = 3  # how deep a question or an answer may be wrapped in dicts

#: Exceptions, by type name, that do not say that something failed.
_STATUS: Mapping[str, SampleStatus] = {
    "GeneratorExit": "abandoned",
    "CancelledError": "cancelled",
    "KeyboardInterrupt": "cancelled",
}

#: Roots that are a part of an application, run on their own.
_NO_EXCHANGE = ("retriever", "tool", "prompt", "parser")

_SCORES = ("relevance_score", "score", "_score", "similarity", "similarity_score")


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """Where the application keeps question, answer and contexts, if not under one of the accepted names.

    Keys of the root's input (question, contexts) and output (answer, contexts).
    """

    question: str | None = None
    answer: str | None = None
    contexts: str | None = None


def sample_of(trace: Trace, keys: Keys | None = None, *, id_name: str = "run_id") -> Sample | None:
    """The sample that a finished trace holds; None when it is no exchange: it ended well and gave no answer.

    The id of the sample is that of the root run, also kept in `ids` under `id_name`. Where no contexts were found
    they are None, and `metadata["no_context"]` says why.
    """
    keys = keys or Keys()
    root = trace.root
    status = status_of(trace)
    answer = answer_of(root.outputs, keys.answer)
    if root.kind in _NO_EXCHANGE or (answer is None and status == "complete"):
        return None
    contexts, why = contexts_of(trace, keys.contexts)
    metadata = json_object(root.metadata)
    if root.name:
        metadata["name"] = root.name
    if root.tags:
        metadata["tags"] = [well_formed(str(tag)) for tag in root.tags]
    if root.error is not None and status == "failed":
        metadata["error"] = root.error
    if why is not None:
        metadata["no_context"] = why
    name = str(root.id)
    return Sample(
        question=question_of(root.inputs, keys.question),
        contexts=contexts,
        answer=answer,
        history=history_of(root.inputs, root.outputs),
        id=name,
        ids={id_name: name},
        status=status,
        metadata=metadata,
    )


def status_of(trace: Trace) -> SampleStatus:
    """How the trace ended."""
    if trace.root.error is not None:
        return _STATUS.get(trace.root.error, "failed")
    return "abandoned" if trace.cut_short else "complete"


def question_of(inputs: Any, key: str | None = None, depth: int = DEPTH) -> str | None:
    """What the user asked: a text, a value under an accepted name, or the last message of a human."""
    if isinstance(inputs, str):
        return _text(inputs)
    if depth == 0 or inputs is None:
        return None
    if isinstance(inputs, Mapping):
        if key is not None:
            return question_of(inputs.get(key), None, depth - 1)
        for value in _named(inputs, QUESTION_NAMES, "messages"):
            found = question_of(value, None, depth - 1)
            if found is not None:
                return found
        return _only_text(inputs)
    if is_message(inputs):
        return _text(text_of(inputs))
    return last_question(_messages(inputs))


def answer_of(outputs: Any, key: str | None = None, depth: int = DEPTH) -> str | None:
    """What was said: a text, a value under an accepted name, or the last text of the model after the last human's."""
    if isinstance(outputs, str):
        return _text(outputs)
    if depth == 0 or outputs is None:
        return None
    if isinstance(outputs, Mapping):
        if key is not None:
            return answer_of(outputs.get(key), None, depth - 1)
        if is_message(outputs):
            return _text(text_of(outputs))
        for value in _named(outputs, ANSWER_NAMES, "messages", "text", "content"):
            found = answer_of(value, None, depth - 1)
            if found is not None:
                return found
        return _only_text(outputs)
    if is_message(outputs):
        return _text(text_of(outputs))
    if isinstance(outputs, (list, tuple)):
        return last_answer(_messages(outputs))
    for name in (key,) if key is not None else ANSWER_NAMES:  # a structured answer: a model or a dataclass
        value = getattr(outputs, name, None)
        if isinstance(value, str):
            return _text(value)
    return None


def contexts_of(trace: Trace, key: str | None = None) -> tuple[tuple[Context, ...] | None, str | None]:
    """The contexts, or None and the reason why there are none to be known."""
    root = trace.root
    if key is not None:
        found = contexts_under(root.outputs, root.inputs, names=(key,))
        return (found, None) if found is not None else (None, f"neither output nor input has passages under {key!r}")
    retrievers = [run for run in trace.runs.values() if run.kind == "retriever" and not run.below_retriever]
    with_documents = [run for run in trace.runs.values() if run.documents is not None and _counts(run, trace)]
    if with_documents:
        return _each_once(_context(found) for run in with_documents for found in run.documents or ()), None
    found = contexts_under(root.outputs, root.inputs)
    if found is not None:
        return found, None
    if any(run.error is not None for run in retrievers):
        return None, "the retriever failed"
    if retrievers:
        return None, "the retriever did not end"
    return None, "no retriever run was seen"


def history_of(inputs: Any, outputs: Any) -> tuple[Turn, ...]:
    """Earlier exchanges: a chat history in the input, or the messages before the last human one."""
    if isinstance(inputs, Mapping):
        for value in _named(inputs, ACCEPTED["history"]):
            if isinstance(value, (list, tuple)):
                return turns_before(value, whole=True)
    for value in (outputs, inputs):
        messages = value.get("messages") if isinstance(value, Mapping) else value
        if isinstance(messages, (list, tuple)):
            return turns_before(_messages(messages))
    return ()


def _counts(run: Run, trace: Trace) -> bool:
    """A tool's documents count only if they do not come from a retriever below it, whose documents count."""
    if run.below_retriever:
        return False
    if run.kind != "tool":
        return True
    for other in trace.runs.values():
        if other.kind == "retriever" and other.documents is not None:
            above = trace.runs.get(other.parent)
            while above is not None:
                if above is run:
                    return False
                above = trace.runs.get(above.parent)
    return True


def contexts_under(*sides: Any, names: Sequence[str] = CONTEXT_NAMES) -> tuple[Context, ...] | None:
    """Passages under an accepted name in the first of several dicts that has them; None where there are none."""
    for side in sides:
        if isinstance(side, Mapping):
            for value in _named(side, names):
                if isinstance(value, str) and value.strip():  # the passages as one text
                    return (Context(text=well_formed(value)),)
                if isinstance(value, (list, tuple)):
                    try:
                        return _each_once(
                            _context(item) if isinstance(item, Found) else context_text(item) for item in value
                        )
                    except InputError:
                        continue
    return None


def _context(found: Found) -> Context:
    metadata = json_object(found.metadata)
    score = next((metadata[name] for name in _SCORES if isinstance(metadata.get(name), (int, float))), None)
    return Context(
        text=well_formed(str(found.text)),
        id=None if found.id is None else well_formed(str(found.id)),
        score=None if score is None else float(score),
        metadata=metadata,
    )


def _each_once(contexts: Iterable[Context]) -> tuple[Context, ...]:
    seen: dict[str, Context] = {}  # by content: two stores may know one passage by different ids
    for context in contexts:
        seen.setdefault(context.text, context)
    return tuple(seen.values())


def _named(values: Mapping[Any, Any], names: Sequence[str], *more: str) -> Iterable[Any]:
    return (values[name] for name in (*names, *more) if values.get(name) is not None)


def _only_text(values: Mapping[Any, Any]) -> str | None:
    texts = [value for value in values.values() if isinstance(value, str)]
    return _text(texts[0]) if len(texts) == 1 and len(values) == 1 else None


def _text(text: str) -> str | None:
    return well_formed(str(text)) if text.strip() else None


def _messages(value: Any) -> Sequence[Any]:
    to_messages = getattr(value, "to_messages", None)  # a prompt
    if callable(to_messages):
        value = to_messages()
    if not isinstance(value, (list, tuple)):
        return ()
    if len(value) == 1 and isinstance(value[0], list):  # a batch of one
        return value[0]
    return value
