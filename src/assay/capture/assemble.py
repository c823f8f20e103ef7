"""From a run tree to samples: what was asked, what was found, what was said. Pure functions.

question   what the user asked in this turn: the input of the root
contexts   what retrieval delivered to the step that answered: see `assay.capture.contexts`
answer     what the user received: the output of the root
history    earlier turns of the conversation, with the contexts they had
messages   the way to the answer where tools were called, or retrieval more than once: see `assay.capture.trajectories`
status     complete, or abandoned, cancelled, failed, interrupted
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assay.capture.answer_text import find_answer_key
from assay.capture.answering_call import answering_runs, mark_prompted, without_passed_over
from assay.capture.contexts import contexts_of
from assay.capture.conversations import named_conversation
from assay.capture.evaluators import is_evaluator
from assay.capture.interrupts import is_interrupted
from assay.capture.messages import last_answer, last_question, last_result, turns_before
from assay.capture.rules import CaptureRules
from assay.capture.structured_answers import PARSING_ERROR, has_raw, is_unreadable, structured_answer
from assay.capture.tool_results import add_tool_results
from assay.capture.trajectories import trajectory_of
from assay.capture.tree import Run, Trace
from assay.records import Sample, SampleStatus, Turn
from assay.records.field_names import ACCEPTED, ANSWER_NAMES, QUESTION_NAMES, json_object, well_formed
from assay.records.messages import is_message, text_of

DEPTH = 3  # how deep a question or an answer may be wrapped in dicts

#: Exceptions, by type name, that do not say that something failed.
_STATUS: Mapping[str, SampleStatus] = {
    "GeneratorExit": "abandoned",
    "CancelledError": "cancelled",
    "KeyboardInterrupt": "cancelled",
}

#: Kinds of roots that are a part of an application, run on their own.
NO_EXCHANGE = ("retriever", "reranker", "tool", "prompt", "parser", "embedding")


def samples_of(trace: Trace, rules: CaptureRules | None = None, *, id_name: str = "run_id") -> list[Sample]:
    """Build the samples of a finished trace, one for each exchange.

    A complete exchange without an answer is left out. See `exchanges` and `sample_of`.

    Args:
        trace: The finished trace.
        rules: Rules on the location of question, answer and contexts. None: the default rules.
        id_name: Key of `Sample.ids` for the id of the root run.

    Returns:
        The samples, in the order of the exchanges. Empty if there are none.
    """
    return [sample for sample, _ in samples_with_exchanges(exchanges(trace), rules, id_name=id_name)]


def samples_with_exchanges(
    found: Iterable[Trace], rules: CaptureRules | None = None, *, id_name: str = "run_id"
) -> list[tuple[Sample, Trace]]:
    """Build the samples of exchanges.

    Args:
        found: The exchanges: see `exchanges`.
        rules: Rules on the location of question, answer and contexts. None: the default rules.
        id_name: Key of `Sample.ids` for the id of the root run.

    Returns:
        Pairs of sample and exchange, in order. Exchanges without a sample are left out.
    """
    made = [(sample_of(exchange, rules, id_name=id_name), exchange) for exchange in found]
    return [(sample, exchange) for sample, exchange in made if sample is not None]


def exchanges(trace: Trace) -> list[Trace]:
    """Find the exchanges in a trace: the outermost runs that have an input, an output or an error.

    A run of kind "other" is not an exchange. A run of another kind without child runs always is.

    Args:
        trace: The finished trace.

    Returns:
        One trace for each exchange, in order of start. They have the same `Run` objects as the whole trace.
    """
    children = trace.children()
    found: list[Trace] = []
    waiting = [trace.root]
    while waiting:
        run = waiting.pop(0)
        says = run.inputs is not None or run.outputs is not None or run.error is not None
        if run.kind != "other" and (says or run.id not in children):
            found.append(trace if run is trace.root else _part(run, children))
        else:
            waiting = [*children.get(run.id, ()), *waiting]
    return found


def sample_of(trace: Trace, rules: CaptureRules | None = None, *, id_name: str = "run_id") -> Sample | None:
    """Build the sample of a finished trace.

    The sample has the id of the root run. If no contexts are found, they are None, and `metadata["no_context"]` gives
    the reason.

    Args:
        trace: The finished trace.
        rules: Rules on the location of question, answer and contexts. None: the default rules.
        id_name: Key of `Sample.ids` for the id of the root run.

    Returns:
        The sample. None if the root is not an exchange, such as a retriever or an evaluator. None if the run is
        complete without an answer. None if `rules.adjust` returns None.
    """
    rules = rules or CaptureRules()
    root = trace.root
    status = status_of(trace)
    question = find_question(trace, rules)
    answer = answer_in(trace, rules)
    if root.kind in NO_EXCHANGE or is_evaluator(root) or (answer is None and status == "complete"):
        return None
    add_tool_results(trace, rules.contexts_tools)
    contexts, why = contexts_of(trace, answer, key=rules.contexts_key, run=rules.contexts_run)
    if contexts is not None:
        contexts = mark_prompted(contexts, *answering_runs(trace, answer))
        if rules.contexts_key is None and rules.contexts_run is None:
            contexts = without_passed_over(trace, contexts)
    name = str(root.id)
    sample = Sample(
        question=question,
        contexts=contexts,
        answer=answer,
        history=history_of(root.inputs, root.outputs),
        id=name,
        ids={id_name: name, **root.ids, **_retriever_ids(trace)},
        status=status,
        metadata=_metadata(root, status, why),
        messages=trajectory_of(trace, question, answer),
    )
    return sample if rules.adjust is None else rules.adjust(sample, trace)


def find_question(trace: Trace, rules: CaptureRules) -> str | None:
    """What the user asked, by the rules; None where nobody asked anything."""
    return _run_question(_run_by_name(trace, rules.question_run, trace.root), rules.question_key)


def answer_in(trace: Trace, rules: CaptureRules) -> str | None:
    """What the user received, by the rules; where something was asked, also under a key with a name of its own."""
    said = _run_by_name(trace, rules.answer_run, trace.root)
    if said is None or is_interrupted(trace):  # what a human is asked is no answer
        return None
    answer = answer_of(said.outputs, rules.answer_key)
    if answer is None and rules.answer_key is None and find_question(trace, rules) is not None:
        answer = find_answer_key(trace, said).answer or _direct_result(trace, said)
    return answer


def _direct_result(trace: Trace, run: Run) -> str | None:
    """What a tool said last, where an agent hands that to the user (`return_direct`) and no human is asked first."""
    if named_conversation(trace.root.metadata) is not None and not trace.hears_interrupts:
        return None  # the graph may have stopped before its model was called again
    messages = run.outputs.get("messages") if isinstance(run.outputs, Mapping) else None
    return last_result(messages) if isinstance(messages, (list, tuple)) else None


def _part(run: Run, children: Mapping[Any, Sequence[Run]]) -> Trace:
    """The part of a trace below one of its runs, as a trace of its own. The runs stay those of the whole."""
    part = Trace(run)
    waiting = list(children.get(run.id, ()))
    members: list[Run] = []
    while waiting:
        below = waiting.pop()
        members.append(below)
        waiting += children.get(below.id, ())
    part.members += sorted(members, key=lambda run: run.started)
    return part


def _run_by_name(trace: Trace, name: str | None, root: Run) -> Run | None:
    if name is None:
        return root
    return next((run for run in reversed(trace.runs.values()) if run.name == name), None)


def _run_question(run: Run | None, key: str | None) -> str | None:
    """The question in a run's inputs; where those hold none, as after an interrupt, in the state that it put out."""
    if run is None:
        return None
    question = question_of(run.inputs, key)
    if question is None and key is None and isinstance(run.outputs, Mapping):
        question = next(
            (found for value in _values_by_name(run.outputs, QUESTION_NAMES) if (found := question_of(value))), None
        )
        messages = run.outputs.get("messages")
        if question is None and isinstance(messages, (list, tuple)):
            question = last_question(messages)
    return question


def _metadata(root: Run, status: SampleStatus, no_context: str | None) -> dict[str, Any]:
    metadata = json_object(root.metadata)
    if root.name:
        metadata["name"] = root.name
    if root.tags:
        metadata["tags"] = [well_formed(str(tag)) for tag in root.tags]
    if status == "failed":
        metadata["error"] = PARSING_ERROR if root.error is None else root.error
    if no_context is not None:
        metadata["no_context"] = no_context
    metadata["started"] = root.started
    if root.ended is not None:
        metadata["ended"] = root.ended
    return metadata


def _retriever_ids(trace: Trace) -> dict[str, str]:
    """The span of the retriever, where there was one alone: its documents can be annotated by position."""
    spans = [
        run.ids["otel_span_id"]
        for run in trace.runs.values()
        if run.kind == "retriever" and not run.below_retriever and "otel_span_id" in run.ids
    ]
    return {"otel_retriever_span_id": spans[0]} if len(spans) == 1 else {}


def status_of(trace: Trace) -> SampleStatus:
    """How the trace ended."""
    if is_interrupted(trace):
        return "interrupted"
    if trace.root.error is not None:
        return _STATUS.get(trace.root.error, "failed")
    if is_unreadable(trace.root.outputs):
        return "failed"
    return "abandoned" if trace.cut_short else "complete"


def question_of(inputs: Any, key: str | None = None, depth: int = DEPTH) -> str | None:
    """Find the question in the input of a run.

    The question is a text, the value under an accepted name, or the last message of the user. The only value of a dict
    counts as well if it is a text.

    Args:
        inputs: Input of the run: a text, a mapping, a message, a list of messages or a prompt object.
        key: Key of the question, if `inputs` is a mapping. None: the names in `QUESTION_NAMES`, then "messages".
        depth: Levels of mappings to search.

    Returns:
        The question. None if there is none, or only white space.
    """
    if isinstance(inputs, str):
        return _text(inputs)
    if depth == 0 or inputs is None:
        return None
    if isinstance(inputs, Mapping):
        if key is not None:
            return question_of(inputs.get(key), None, depth - 1)
        for value in _values_by_name(inputs, QUESTION_NAMES, "messages"):
            found = question_of(value, None, depth - 1)
            if found is not None:
                return found
        return _only_text(inputs)
    if is_message(inputs):
        return _text(text_of(inputs))
    return last_question(_messages(inputs))


def answer_of(outputs: Any, key: str | None = None, depth: int = DEPTH) -> str | None:
    """Find the answer in the output of a run.

    The answer is a text, the value under an accepted name, or the last text of the assistant after the last user
    message. The only value of a dict counts as well if it is a text.

    Args:
        outputs: Output of the run: a text, a mapping, a message, a list of messages or an object with attributes.
        key: Key of the answer in a mapping, or its attribute in an object. None: the names in `ANSWER_NAMES`, then
            other usual keys.
        depth: Levels of mappings to search.

    Returns:
        The answer. None if there is none, or only white space.
    """
    if isinstance(outputs, str):
        return _text(outputs)
    if depth == 0 or outputs is None:
        return None
    if has_raw(outputs):  # what was read of the message, else its text
        return answer_of(outputs["parsed"], key, depth - 1) or answer_of(outputs["raw"], None, depth - 1)
    if isinstance(outputs, Mapping):
        if key is not None:
            return answer_of(outputs.get(key), None, depth - 1)
        if is_message(outputs):
            return _text(text_of(outputs))
        for value in _values_by_name(outputs, ANSWER_NAMES, "structured_response", "messages", "text", "content"):
            found = answer_of(value, None, depth - 1)
            if found is not None:
                return found
        return _only_text(outputs)
    if is_message(outputs):
        return _text(text_of(outputs))
    if isinstance(outputs, (list, tuple)):
        return last_answer(_messages(outputs))
    return _text(structured_answer(outputs, key) or "")


def history_of(inputs: Any, outputs: Any) -> tuple[Turn, ...]:
    """Earlier exchanges: a chat history in the input, or the messages before the last human one."""
    if isinstance(inputs, Mapping):
        for value in _values_by_name(inputs, ACCEPTED["history"]):
            if isinstance(value, (list, tuple)):
                return turns_before(value, whole=True)
    for value in (outputs, inputs):
        messages = value.get("messages") if isinstance(value, Mapping) else value
        if isinstance(messages, (list, tuple)):
            return turns_before(_messages(messages))
    return ()


def has_history(root: Run) -> bool:
    """Check whether the root run of a trace contains the conversation so far.

    Args:
        root: The root run.

    Returns:
        True if its input has a list under an accepted name of `history`. True if its output has `messages` with a text
        of the user.
    """
    if isinstance(root.inputs, Mapping) and any(
        isinstance(value, (list, tuple)) for value in _values_by_name(root.inputs, ACCEPTED["history"])
    ):
        return True
    messages = root.outputs.get("messages") if isinstance(root.outputs, Mapping) else None
    return isinstance(messages, (list, tuple)) and last_question(messages) is not None


def _values_by_name(values: Mapping[Any, Any], names: Sequence[str], *more: str) -> Iterable[Any]:
    return (values[name] for name in (*names, *more) if values.get(name) is not None)


def _only_text(values: Mapping[Any, Any]) -> str | None:
    texts = [value for value in values.values() if isinstance(value, str)]
    return _text(texts[0]) if len(texts) == 1 and len(values) == 1 else None


def _text(text: str) -> str | None:
    return well_formed(text) if text.strip() else None


def _messages(value: Any) -> Sequence[Any]:
    to_messages = getattr(value, "to_messages", None)  # a prompt
    if callable(to_messages):
        value = to_messages()
    if not isinstance(value, (list, tuple)):
        return ()
    if len(value) == 1 and isinstance(value[0], list):  # a batch of one
        return value[0]
    return value
