"""The LLM call that gave the answer, and whether a passage stood in its prompt. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property

from assay.capture.tree import Run, Trace
from assay.records import Context
from assay.records.base import with_clean

_BEGIN = 32  # characters of a passage that are looked for first


def answering_run(trace: Trace, answer: str | None) -> Run | None:
    """Find the LLM call that produced the answer.

    The call with the most text in common with the answer counts. One of the two texts must contain the other. Of calls
    with the same amount, the last one counts. Length decides, because a short reply, such as the "yes" of a grader, can
    occur in the answer by chance.

    Args:
        trace: The trace. Calls within a retriever are ignored.
        answer: The answer. None, or an answer without a match: the last call counts.

    Returns:
        The run. None if the trace has no LLM call.
    """
    calls = calls_of(trace)
    return _most_shared(calls, shared_text(calls, answer))


def _most_shared(calls: Sequence[Run], shared: Mapping[Hashable, int]) -> Run | None:
    if shared:
        most = max(shared.values())
        return next(run for run in reversed(calls) if shared.get(run.id) == most)
    return calls[-1] if calls else None


def answering_runs(trace: Trace, answer: str | None) -> tuple[Run, ...]:
    """The LLM calls that gave the answer: several, in order of start, where one step put it together of their texts."""
    calls = calls_of(trace)
    shared = shared_text(calls, answer)
    answering = _most_shared(calls, shared)
    if answering is None:
        return ()
    if answering.outputs == answer:
        return (answering,)
    whole = len(spaced(answer or ""))
    if shared.get(answering.id, whole) >= whole:
        return (answering,)
    step = _step_around(trace, answering)
    return tuple(
        run
        for run in calls
        if run is answering or (shared.get(run.id, whole) < whole and _are_one(_step_around(trace, run), step))
    )


def mark_prompted(contexts: Sequence[Context], *answering: Run | None) -> tuple[Context, ...]:
    """The contexts, marked by whether their text stood in the prompt of a call that answered, if that is known."""
    texts = [text for run in answering if run is not None and run.prompt for text in run.prompt]
    if not texts:
        return tuple(contexts)
    prompt = PromptText(texts)
    return tuple(
        with_clean(context, in_prompt=prompt.holds(context.text) if context.text or not context.image else None)
        for context in contexts
    )


def without_passed_over(trace: Trace, contexts: Sequence[Context]) -> tuple[Context, ...]:
    """The contexts without those that tools found and the answer was not given from, where it was from others of them.

    An agent that graded a first search as useless, and searched again, answers from the second. What a tool found that
    has a model of its own reached the answer by what that model wrote, and stays.
    """
    found = _tool_result_texts(trace)
    if not found:
        return tuple(contexts)
    used = any(context.in_prompt and context.text in found for context in contexts)
    return tuple(context for context in contexts if not (used and context.in_prompt is False and context.text in found))


def _tool_result_texts(trace: Trace) -> set[str]:
    """The texts that were found in tools, and nowhere else, but for tools in which a model was called."""
    if not any(run.kind == "tool" for run in trace.members):
        return set()
    with_model = {tool.id for run in calls_of(trace) if (tool := _outermost_tool(trace, run)) is not None}
    inside: set[str] = set()
    outside: set[str] = set()
    for run in trace.runs.values():
        if run.kind not in ("retriever", "reranker", "tool") and not run.recorded:
            continue  # chains pass on what was found elsewhere
        tool = _outermost_tool(trace, run)
        texts = {item.text for item in (*(run.documents or ()), *run.recorded)}
        (outside if tool is None or tool.id in with_model else inside).update(texts)
    return inside - outside


def _outermost_tool(trace: Trace, run: Run) -> Run | None:
    around = [above for above in (run, *trace.above(run)) if above.kind == "tool"]
    return around[-1] if around else None


class PromptText:
    """What a model was given, for looking up texts in it."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._raw = "\n".join(texts)

    @cached_property
    def _spaced(self) -> str:
        return spaced(self._raw)

    def _has(self, text: str) -> bool:
        """`text in raw`; where a long one stands in it, by its begin, which is found in a fifth of the time."""
        at = self._raw.find(text[:_BEGIN])
        return at >= 0 and (self._raw.startswith(text, at) or text in self._raw)

    def holds(self, text: str) -> bool:
        """Whether a text stands in it: its spaces may differ, and it may be in JSON. An empty one always does."""
        if self._has(text):  # as it is: the usual case, and cheap
            return True
        wanted = spaced(text)
        if not wanted or wanted in self._spaced:
            return True
        return any(json.dumps(text, ensure_ascii=ascii)[1:-1] in self._raw for ascii in (False, True))


def _are_one(step: Run, other: Run) -> bool:
    """Whether two steps are the same, or one that ran several times side by side."""
    return step is other or (step.name is not None and step.name == other.name and step.parent == other.parent)


def _step_around(trace: Trace, run: Run) -> Run:
    return next((above for above in trace.above(run) if above.kind not in ("other", "llm")), trace.root)


def calls_of(trace: Trace) -> list[Run]:
    """The LLM calls of a trace, but for those that retrievers make."""
    return [run for run in trace.runs.values() if run.kind == "llm" and not run.below_retriever]


def shared_text(calls: Iterable[Run], answer: str | None) -> dict[Hashable, int]:
    """How many characters the calls share with the answer, by id: those whose text is in it, or holds it."""
    said_by = {run.id: run.outputs for run in calls if isinstance(run.outputs, str)}
    if answer and not answer.isspace() and all(said == answer for said in said_by.values()):  # the usual case
        return dict.fromkeys(said_by, len(answer))
    told = spaced(answer or "")
    texts = {id: told if said == answer else spaced(said) for id, said in said_by.items()}
    return {
        id: min(len(said), len(told)) for id, said in texts.items() if said and told and (said in told or told in said)
    }


def spaced(text: str) -> str:
    """The text with single spaces in the place of all white space."""
    return " ".join(text.split())
