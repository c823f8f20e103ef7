"""The LLM call that gave the answer, and whether a passage stood in its prompt. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Sequence

from assay.capture.tree import Run, Trace
from assay.records import Context


def answering_run(trace: Trace, answer: str | None) -> Run | None:
    """The LLM call that gave the answer: the one that shares most text with it, one holding the other; else the last.

    Of several that share as much it is the last. A grader's "yes" may well stand in the answer by chance.
    """
    calls = calls_of(trace)
    shared = shared_text(calls, answer)
    if shared:
        most = max(shared.values())
        return next(run for run in reversed(calls) if shared.get(run.id) == most)
    return calls[-1] if calls else None


def answering_runs(trace: Trace, answer: str | None) -> tuple[Run, ...]:
    """The LLM calls that gave the answer: several, in order of start, where one step put it together of their texts."""
    answering = answering_run(trace, answer)
    if answering is None:
        return ()
    shared = shared_text(calls_of(trace), answer)
    whole = len(spaced(answer or ""))
    if shared.get(answering.id, whole) >= whole:
        return (answering,)
    step = _step_around(trace, answering)
    return tuple(
        run
        for run in calls_of(trace)
        if run is answering or (shared.get(run.id, whole) < whole and _step_around(trace, run) is step)
    )


def mark_prompted(contexts: Sequence[Context], *answering: Run | None) -> tuple[Context, ...]:
    """The contexts, marked by whether their text stood in the prompt of a call that answered, if that is known."""
    texts = [text for run in answering if run is not None and run.prompt for text in run.prompt]
    if not texts:
        return tuple(contexts)
    raw = "\n".join(texts)
    prompt = spaced(raw)
    return tuple(
        Context(
            text=context.text,
            id=context.id,
            score=context.score,
            metadata=context.metadata,
            in_prompt=stands_in(context.text, prompt, raw),
        )
        for context in contexts
    )


def _step_around(trace: Trace, run: Run) -> Run:
    return next((above for above in trace.above(run) if above.kind not in ("other", "llm")), trace.root)


def calls_of(trace: Trace) -> list[Run]:
    """The LLM calls of a trace, but for those that retrievers make."""
    return [run for run in trace.runs.values() if run.kind == "llm" and not run.below_retriever]


def shared_text(calls: Iterable[Run], answer: str | None) -> dict[Hashable, int]:
    """How many characters the calls share with the answer, by id: those whose text is in it, or holds it."""
    told = spaced(answer or "")
    texts = {run.id: spaced(run.outputs) for run in calls if isinstance(run.outputs, str)}
    return {
        id: min(len(said), len(told)) for id, said in texts.items() if said and told and (said in told or told in said)
    }


def spaced(text: str) -> str:
    """The text with single spaces in the place of all white space."""
    return " ".join(text.split())


def stands_in(text: str, prompt: str, raw: str) -> bool:
    """Whether a text stands in a prompt, given as `spaced` and as it was: its spaces may differ, it may be in JSON."""
    wanted = spaced(text)
    if not wanted or wanted in prompt:
        return True
    return any(json.dumps(text, ensure_ascii=ascii)[1:-1] in raw for ascii in (False, True))
