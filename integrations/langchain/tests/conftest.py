"""A handler that keeps what it captured, and the parts that the shapes are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from assay_langchain import AssayCallbackHandler

from assay.judges.scripted_judge import ScriptedJudge
from assay.records import Sample, ScoredSample
from assay.sinks import MemorySink
from integrations.langchain.tests.shapes.parts import DOCUMENTS, Broken, Shelf, call, model, rag


class Captured:
    """A handler, and what it delivered."""

    def __init__(self, **options: Any) -> None:
        self.sink = MemorySink()
        judge = options.pop("judge", None) or ScriptedJudge(support=lambda claim, passage: "supported")
        self.handler = AssayCallbackHandler(options.pop("metrics", "faithfulness"), judge, sinks=[self.sink], **options)
        self.config: Any = {"callbacks": [self.handler]}

    @property
    def scored(self) -> list[ScoredSample]:
        assert self.handler.flush(20)
        return self.sink.written

    @property
    def samples(self) -> list[Sample]:
        return [scored.sample for scored in self.scored]

    @property
    def sample(self) -> Sample:
        samples = self.samples
        assert len(samples) == 1, samples
        return samples[0]


@pytest.fixture
def captured() -> Iterator[Callable[..., Captured]]:
    made: list[Captured] = []

    def make(**options: Any) -> Captured:
        made.append(Captured(**options))
        return made[-1]

    yield make
    for one in made:
        one.handler.close(5)


@pytest.fixture
def kit() -> SimpleNamespace:
    """The parts of the shapes."""
    return SimpleNamespace(Shelf=Shelf, Broken=Broken, DOCUMENTS=DOCUMENTS, model=model, rag=rag, call=call)
