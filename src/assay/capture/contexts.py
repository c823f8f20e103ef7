"""The contexts of a trace: what retrieval delivered to the step that answered. Pure functions.

Every step may deliver documents (`Run.documents`): they stand for all that was found below it, so that the choice of a
compressor or a reranker counts and not what it chose from. A step that was given documents and delivers others has
replaced those it was given. Where the step that answered was itself given documents, those are the contexts. What the
application told of by itself is added.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from assay._util.normalise import finite
from assay.capture.answering_call import PromptText, answering_run, calls_of, shared_text
from assay.capture.messages import after_last_question, artifacts_of
from assay.capture.passage_images import pictured
from assay.capture.passages import passages_by_type
from assay.capture.tool_results import texts_in_result
from assay.capture.tool_retrieval import tool_lookups
from assay.capture.tree import Document, Run, Trace
from assay.errors import InputError
from assay.records import Context
from assay.records.base import clean_record
from assay.records.field_names import CONTEXT_NAMES, STATE_CONTEXT_NAMES, context_text, json_object, well_formed

_ANY_NAMES = (*CONTEXT_NAMES, *STATE_CONTEXT_NAMES)
_SCORES = ("relevance_score", "score", "_score", "similarity", "similarity_score")

_PRINTED = re.compile(r"[A-Z]\w*\(\w+=.*\)\s*\Z", re.DOTALL)

#: Why contexts are not known where a step handed over what can be read only once.
UNREAD = "what was retrieved came as an iterator, which is the application's to read; return a list, or record_context"

#: What the user can do about tools that return texts.
BY_RULE = "CaptureRules(contexts_tools=) names tools whose texts are passages"

Children = Mapping[Hashable, Sequence[Run]]


def contexts_of(
    trace: Trace, answer: str | None = None, *, key: str | None = None, run: str | None = None
) -> tuple[tuple[Context, ...] | None, str | None]:
    """The contexts, each once, and None; or None and the reason why there are none to be known.

    Args:
        key: The contexts are under this key of the root's output or input.
        run: The contexts are the output of the runs of this name (or under `key` of it).
    """
    if run is not None:
        return _contexts_of_run(trace, run, key)
    root = trace.root
    if key is not None:
        under = contexts_under(root.outputs, root.inputs, names=(key,))
        return (under, None) if under is not None else (None, f"neither output nor input has passages under {key!r}")
    found = delivered_documents(trace, answer)
    if found is not None:
        return unique_contexts(map(context_of, found)), None
    if unread_in(trace):
        return None, UNREAD
    under = contexts_under(root.outputs, root.inputs)
    if under is None:
        under = _attached(root.outputs)
    if under is not None:
        return under, None
    return None, _why_none(trace)


def delivered_documents(trace: Trace, answer: str | None = None) -> list[Document] | None:
    """The documents delivered to the step that answered; None where no step delivered any, or nobody knows all."""
    answering = answering_run(trace, answer)
    children: Children = trace.children()
    lookups = tool_lookups(trace)
    if lookups:
        children = {above: [run for run in runs if run.id not in lookups] for above, runs in children.items()}
    steps = [
        run for run in trace.runs.values() if (run.documents is not None or run.recorded) and run.id not in lookups
    ]
    if not any(not run.below_retriever for run in steps) or unread_in(trace):
        return None
    if answering is not None:
        children = _without_later(children, trace, answering, answer)
    found = _after(trace.root, children, [])
    given = _received_documents(answering, trace, children) if answering is not None else None
    if given is None:
        return found
    known = {item.text: item for run in steps for item in (*(run.documents or ()), *run.recorded)}
    recorded = [item for run in steps for item in run.recorded]
    return [known.get(text) or Document(text, None, {}) for text in given] + recorded


def unread_in(trace: Trace) -> bool:
    """Whether a step delivered what was not read, and no later one read it and delivered what nobody else had found."""
    unread = [run for run in trace.runs.values() if run.unread and not run.below_retriever]
    if not unread:
        return False
    over = max(run.ended or run.started for run in unread)
    steps = [run for run in trace.runs.values() if run.documents]
    known = {item.text for run in steps if run.kind == "retriever" for item in run.documents or ()}
    return not any(run.recorded for run in trace.runs.values()) and not any(
        run.kind != "retriever" and (run.ended or over) >= over and not known.issuperset(_texts(run.documents or ()))
        for run in steps
    )


def contexts_under(*sides: Any, names: Sequence[str] = _ANY_NAMES) -> tuple[Context, ...] | None:
    """Find the passages in the inputs or outputs of a run.

    The first key in `names` with passages counts, in the first mapping that has one. If there is none and `names` is
    the default, another key may count. It must be the only key of its mapping with a list of documents.

    Args:
        sides: Mappings to search, in order. Other values are ignored.
        names: Keys to search, in order. Default: the accepted names of contexts.

    Returns:
        The passages, each once. An empty list in the data gives (). None if no passages are found.
    """
    for side in sides:
        if isinstance(side, Mapping):
            for value in (side[name] for name in names if side.get(name) is not None):
                passages = _passages(value)
                if passages is not None:
                    return passages
    if names is _ANY_NAMES:
        return next((found for side in sides if (found := _by_type(side)) is not None), None)
    return None


def _by_type(side: Any) -> tuple[Context, ...] | None:
    if not isinstance(side, Mapping):
        return None
    lists = [value for value in side.values() if isinstance(value, (list, tuple)) and value]
    found = [items for items in map(passages_by_type, lists) if items is not None]
    return unique_contexts(map(context_of, found[0])) if len(found) == 1 else None


def unique_contexts(contexts: Iterable[Context]) -> tuple[Context, ...]:
    """Contexts without repetitions of a text or picture: two stores may know one passage by different ids."""
    seen: dict[tuple[str, str | None], Context] = {}
    for context in contexts:
        seen.setdefault((context.text, context.image), context)
    return tuple(seen.values())


def _without_later(children: Children, trace: Trace, answering: Run, answer: str | None) -> Children:
    """The runs without those that began when the answer had been given, and found nothing of what it was given from."""
    over = _answered_at(trace, answering, answer)
    if over is None or not answering.prompt:
        return children
    prompt = PromptText(answering.prompt)

    def later(run: Run) -> bool:
        found = (*(run.documents or ()), *run.recorded)
        return bool(found) and run.started > over and not any(prompt.holds(item.text) for item in found)

    return {above: [run for run in runs if not later(run)] for above, runs in children.items()}


def _answered_at(trace: Trace, answering: Run, answer: str | None) -> float | None:
    """When the last call that wrote of the answer ended; None where one of them has not."""
    calls = calls_of(trace)
    shared = shared_text(calls, answer)
    if not shared:  # code wrote it, at a time that nobody knows
        return None
    ends = [run.ended for run in calls if run.id in shared or run is answering]
    known = [end for end in ends if end is not None]
    return max(known, default=None) if len(known) == len(ends) else None


def _after(run: Run, children: Children, before: list[Document]) -> list[Document]:
    """What has been found once `run` is over, given what was found before it."""
    if run.below_retriever:
        return before
    after = before
    if run.kind != "retriever":
        for child in children.get(run.id, ()):
            after = _after(child, children, after)
    if run.documents is not None:
        after = _delivered(run, before, after)
    return [*after, *run.recorded] if run.recorded else after


def _delivered(run: Run, before: list[Document], after: list[Document]) -> list[Document]:
    """What stands once a step has delivered its documents; `after` is `before` and what was found below the step."""
    documents = list(run.documents or ())
    delivered, known = _texts(documents), _texts(before)
    given = {text for texts in (run.given or {}).values() for text in texts}
    searched = after is not before and after != before
    reranks = run.kind == "reranker"
    # It was handed documents, and gives some of them back, or rewrites what was known, or reranks: these replace those.
    if given and (given & delivered or (given <= known and not searched) or reranks):
        return _replaced(before, given, documents)
    # Nobody says what it was handed, and it brings nothing new: it chose from all that was found.
    if not searched and (reranks or (documents and delivered <= known)):
        return documents
    return before + documents  # it found them


def _texts(found: Iterable[Document]) -> set[str]:
    return {item.text for item in found}


def _replaced(before: list[Document], given: set[str], documents: list[Document]) -> list[Document]:
    """`documents` in the place of the first of those that were `given`, which go."""
    first = next((n for n, found in enumerate(before) if found.text in given), len(before))
    return before[:first] + documents + [found for found in before[first:] if found.text not in given]


def _received_documents(answering: Run, trace: Trace, children: Children) -> Sequence[str] | None:
    """The documents that the step around the answering call was given, if it was, and found none by itself."""
    for run in (answering, *trace.above(answering)):
        around = run is not answering
        if run is trace.root or (around and _finds(run, children)):
            return None
        if run.given:  # under several keys, nobody knows which of them went into the prompt
            return next(iter(run.given.values())) if len(run.given) == 1 else None
    return None


def _finds(run: Run, children: Children) -> bool:
    """Whether a retriever, or something that told of documents, is below this run."""
    waiting = list(children.get(run.id, ()))
    while waiting:
        below = waiting.pop()
        if below.kind == "retriever" or below.recorded:
            return True
        waiting += children.get(below.id, ())
    return False


def _contexts_of_run(trace: Trace, name: str, key: str | None) -> tuple[tuple[Context, ...] | None, str | None]:
    runs = [run for run in trace.runs.values() if run.name == name]
    if not runs:
        return None, f"no run is named {name!r}"
    found: list[Context] = []
    told = False
    for run in runs:
        if run.documents is not None and key is None:
            found += map(context_of, run.documents)
            told = True
            continue
        value = run.outputs.get(key) if key is not None and isinstance(run.outputs, Mapping) else run.outputs
        passages = _passages(value)
        if passages is None and isinstance(value, Mapping):
            passages = contexts_under(value)
        if passages is None and run.kind == "tool":
            passages = tuple(map(context_of, texts_in_result(value) or ())) or None
        if passages is not None:
            found += passages
            told = True
    if not told:
        where = "no output" if key is None else f"nothing under {key!r}"
        return None, f"the run {name!r} has {where} that is passages"
    return unique_contexts(found), None


def _passages(value: Any) -> tuple[Context, ...] | None:
    """Passages given as one text, or as a list of anything that is a passage."""
    if isinstance(value, str):
        return (Context(text=well_formed(value)),) if value.strip() else None
    content = getattr(value, "content", None)  # a tool's message
    if isinstance(content, str):
        return _passages(content)
    if not isinstance(value, (list, tuple)) or (value and all(map(_is_printed, value))):
        return None
    try:
        return unique_contexts(context_of(item) if isinstance(item, Document) else context_text(item) for item in value)
    except InputError:
        return None


def _is_printed(item: Any) -> bool:
    """Whether this is an object as Python prints it, which is what stored traces have of objects that are no JSON."""
    return isinstance(item, str) and _PRINTED.match(item) is not None


def context_of(found: Document) -> Context:
    """Convert a retrieved document to a context.

    The score is the first number in the metadata under a usual key, such as "relevance_score" or "score".

    Args:
        found: The document.

    Returns:
        The context, with the text or the picture, the id, the score, and the metadata that JSON can hold.
    """
    text, image, known = pictured(found)
    metadata = json_object(known)
    score = _score_in(metadata) if metadata else None
    id = None if found.id is None else _id(found.id)
    if image is None:  # all of it is clean by now
        score = None if score is None else finite(score)
        return clean_record(Context, text=text, id=id, score=score, in_prompt=None, metadata=metadata, image=None)
    return Context(text=text, image=image, id=id, score=None if score is None else float(score), metadata=metadata)


def _score_in(metadata: Mapping[str, Any]) -> int | float | None:
    for name in _SCORES:
        score = metadata.get(name)
        if isinstance(score, (int, float)) and not isinstance(score, bool):
            return score
    return None


def _id(id: object) -> str | None:
    """An id as text; one that can be none is left out as metadata would be."""
    if isinstance(id, str):
        return well_formed(str(id))
    known = json_object({"id": id}).get("id")
    return None if known is None else well_formed(str(known))


def _attached(outputs: Any) -> tuple[Context, ...] | None:
    """Documents attached to the messages of this turn, where the tool's own run was not seen."""
    messages = outputs.get("messages") if isinstance(outputs, Mapping) else outputs
    return artifacts_of(after_last_question(messages)) or None if isinstance(messages, (list, tuple)) else None


def _why_none(trace: Trace) -> str:
    lookups = tool_lookups(trace)
    retrievers = [run for run in trace.runs.values() if run.kind == "retriever" and not run.below_retriever]
    if lookups and all(run.id in lookups for run in retrievers):
        return "nothing was looked up but the tools to call"
    if any(run.error is not None for run in retrievers):
        return "the retriever failed"
    if retrievers and all(run.ended is not None for run in retrievers):
        return "the texts of what was retrieved were not recorded"
    if retrievers:
        return "the retriever did not end"
    tools = [run for run in trace.runs.values() if run.kind == "tool" and run.name]
    if tools:
        names = ", ".join(sorted({str(run.name) for run in tools}))
        hint = f"; {BY_RULE}" if any(run.error is None and run.outputs is not None for run in tools) else ""
        return f"no retriever run was seen, and no tool returned documents ({names}){hint}"
    return "no retriever run was seen"
