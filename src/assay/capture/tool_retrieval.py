"""Retrieval that finds tools for an agent to call, and not passages to answer from. Pure functions."""

from __future__ import annotations

from collections.abc import Hashable

from assay.capture.answering_call import spaced
from assay.capture.tree import Trace

LEAST = 20  # characters of a tool's description that do not stand in a passage by chance


def tool_lookups(trace: Trace) -> set[Hashable]:
    """The ids of runs that delivered nothing but descriptions of tools: of those offered to models, or called."""
    described = {text for run in trace.members if run.offered for text in map(spaced, run.offered) if text}
    if not described:
        return set()
    long = tuple(text for text in described if len(text) >= LEAST)

    def is_tool(text: str) -> bool:
        return text in described or any(about in text for about in long)

    return {
        run.id
        for run in trace.runs.values()
        if run.documents and run is not trace.root and all(is_tool(spaced(found.text)) for found in run.documents)
    }
