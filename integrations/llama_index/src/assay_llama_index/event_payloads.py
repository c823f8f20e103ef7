"""What is noted of an outermost call for as long as its trace is open, and is no part of the sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.extension import Run

_KEY = "assay_llama_index_notes"


@dataclass(frozen=True, slots=True)
class Notes:
    """by_memory: its conversation has the name of a memory. looks_up: see `tool_retrievers.of`."""

    by_memory: bool = False
    looks_up: frozenset[int] = frozenset()


NOTHING = Notes()


def noted(notes: Notes) -> dict[str, Any]:
    """Metadata that hold these notes."""
    return {} if notes == NOTHING else {_KEY: notes}


def notes_of(run: Run) -> Notes:
    """What was noted of the run."""
    found: Notes = run.metadata.get(_KEY, NOTHING)
    return found


def without_notes(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata that are the application's."""
    return {key: value for key, value in metadata.items() if key != _KEY}
