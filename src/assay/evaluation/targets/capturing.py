"""Handlers of frameworks, attached while a target runs: the passages that LangChain and LlamaIndex retrieve.

A handler hands a finished trace over where it ran, so a context variable tells which question it belongs to.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from importlib.metadata import entry_points
from typing import Any

from assay.capture import CaptureRules, Document
from assay.capture.contexts import context_of
from assay.capture.record_context import add_recorder
from assay.records import Sample

GROUP = "assay.captures"


class Captured:
    """What is captured of one call."""

    def __init__(self) -> None:
        self.submissions: list[Any] = []
        self.documents: list[Document] = []

    def samples(self) -> list[Sample]:
        """The samples, in the order in which their traces ended; one that cannot be made is left out."""
        found: list[Sample] = []
        for one in self.submissions:
            try:
                made = one() if callable(one) else one
            except Exception:  # noqa: S112  # the answer itself is there; its passages are then not known
                continue
            if isinstance(made, Sample):
                found.append(made)
        if self.documents and not any(sample.contexts for sample in found):
            found.append(Sample(contexts=tuple(context_of(document) for document in self.documents)))
        return found


CURRENT: ContextVar[Captured | None] = ContextVar("assay_target_call", default=None)


def _record(documents: tuple[Document, ...]) -> bool:
    """The recorder of `record_context` for functions that use no framework."""
    call = CURRENT.get()
    if call is None:
        return False
    call.documents.extend(documents)
    return True


class _Intake:
    """An intake that keeps what is submitted with the call that it belongs to."""

    def submit(self, sample: Any) -> bool:
        call = CURRENT.get()
        if call is not None:
            call.submissions.append(sample)
        return call is not None

    def flush(self, timeout: float | None = None) -> bool:
        return True

    def result(self, key: str, timeout: float | None = 0) -> None:
        return None

    def feedback(self, key: str, value: object, comment: str | None = None) -> bool:
        return False

    def health(self) -> None:
        return None

    def count_error(self, error: BaseException, where: str) -> None:
        """The handler counts it; the call goes on."""

    def close(self, timeout: float | None = 30) -> None:
        return None


@contextmanager
def capturing() -> Iterator[list[str]]:
    """Listen to all frameworks that are imported. Gives the names of those that no installed package listens to."""
    add_recorder(_record)
    points = {point.name: point for point in entry_points(group=GROUP)}
    with ExitStack() as stack:
        for name in sorted(points.keys() & sys.modules.keys()):
            stack.enter_context(points[name].load()(_Intake(), CaptureRules()))
        yield sorted({"langchain_core", "llama_index"} & (sys.modules.keys() - points.keys()))
