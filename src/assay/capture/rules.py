"""What an application may say about where its question, contexts and answer are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from assay.records import Sample

if TYPE_CHECKING:
    from assay.capture.tree import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureRules:
    """Where the application keeps question, answer and contexts, if capture does not find them by itself.

    question_key, answer_key, contexts_key  keys of the root's input (question, contexts) and output (answer, contexts)
    question_run, answer_run, contexts_run  names of runs: their input is the question, their output the answer or the
                                            contexts; the last run of that name counts, for contexts all of them.
                                            Where a key is given as well, it is a key of that input or output
    adjust                                  called last, with the sample and the trace; what it returns is the sample,
                                            None leaves the trace out
    """

    question_key: str | None = None
    answer_key: str | None = None
    contexts_key: str | None = None
    question_run: str | None = None
    answer_run: str | None = None
    contexts_run: str | None = None
    adjust: Callable[[Sample, Trace], Sample | None] | None = None

    @property
    def runs(self) -> frozenset[str]:
        """The names of runs whose inputs and outputs have to be kept."""
        named = (getattr(self, field.name) for field in fields(self) if field.name.endswith("_run"))
        return frozenset(name for name in named if name is not None)
