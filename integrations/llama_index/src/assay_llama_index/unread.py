"""Steps that return an iterator: it is the host's to read, so what the step delivered is not known."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from assay.capture import Run, Trace

_UNREAD = {"unread": True}

WHY = "{} returned an iterator, which is left to whoever reads it: return a list"


def leave_unread(run: Run) -> None:
    """Note of a step that what it returned can be read only once."""
    run.metadata = _UNREAD


def unread_in(trace: Trace) -> str | None:
    """Why what was found in this trace is not known; None where it is, because a later step told of what it used."""
    if not any(run.metadata is _UNREAD for run in trace.runs.values()):
        return None
    step = _unread(trace.root, trace.children())
    return None if step is None else WHY.format(step.name or "a step")


def _unread(run: Run, children: Mapping[Hashable, Sequence[Run]]) -> Run | None:
    """The step at or below `run` whose documents are missing from what was found once it is over."""
    if run.below_retriever or run.documents is not None:
        return None
    if run.metadata is _UNREAD:
        return run
    missing: Run | None = None
    for below in children.get(run.id, ()):
        if below.kind == "reranker" and below.documents is not None:
            missing = None  # it chose from all that was found
        elif below.given and below.kind == "chain":
            missing = None  # the step that goes on was given a list
        missing = _unread(below, children) or missing
    return missing
