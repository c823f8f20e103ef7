"""What an application may say about where its question, contexts and answer are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from assay.records import Sample

if TYPE_CHECKING:
    from assay.capture.tree import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureRules:
    """Rules on the location of question, answer and contexts, if capture does not find them.

    A rule that is None leaves the search to capture.

    Attributes:
        question_key: Key of the question in the input of the root run, or of `question_run`.
        answer_key: Key of the answer in the output of the root run, or of `answer_run`.
        contexts_key: Key of the contexts in the output or input of the root run, or in the output of `contexts_run`.
        question_run: Name of the run whose input is the question. The last run of that name counts.
        answer_run: Name of the run whose output is the answer. The last run of that name counts.
        contexts_run: Name of the runs whose output is the contexts. All runs of that name count.
        contexts_tools: Names of the tools whose texts are passages, also as patterns such as "docs_*". A mapping gives
            for each what separates the passages in its text; in a collection, a text is one passage. Lists of results
            with their sources are passages whether a tool is named here or not.
        adjust: Function that takes the sample and the trace at the end. It returns the sample to use, or None to leave
            the trace out.
    """

    question_key: str | None = None
    answer_key: str | None = None
    contexts_key: str | None = None
    question_run: str | None = None
    answer_run: str | None = None
    contexts_run: str | None = None
    contexts_tools: Collection[str] | Mapping[str, str | None] | None = None
    adjust: Callable[[Sample, Trace], Sample | None] | None = None

    @property
    def runs(self) -> frozenset[str]:
        """The names of runs whose inputs and outputs have to be kept."""
        named = (getattr(self, field.name) for field in fields(self) if field.name.endswith("_run"))
        return frozenset(name for name in named if name is not None)
