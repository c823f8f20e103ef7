"""Real LlamaIndex components around a scripted model, and a capture that keeps what it delivers."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest
from assay_llama_index import AssayInstrumentation
from assay_llama_index.capture import Capture
from llama_index.core import Settings

from assay.judges.scripted_judge import ScriptedJudge
from assay.records import Sample
from integrations.llama_index.tests import fakes


@pytest.fixture(autouse=True)
def default_llm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some engines make helpers that take the default model."""
    monkeypatch.setattr(Settings, "_llm", fakes.FakeLLM())


@pytest.fixture
def kit() -> ModuleType:
    """Classes for tests that build shapes of their own."""
    return fakes


class Heard(fakes.Kept):
    """The samples captured so far, and the capture behind them."""

    assay: AssayInstrumentation

    @property
    def capture(self) -> Capture:
        return self.assay._capture

    def idle(self) -> bool:
        return len(self.capture.collector) == 0 and self.capture.open_spans == 0 and not self.capture.answers.streams

    @property
    def one(self) -> Sample:
        assert len(self) == 1, self
        assert self.idle()
        assert not self.errors
        return self[0]


@pytest.fixture
def heard() -> Iterator[Heard]:
    """What an attached capture delivers."""
    heard = Heard()
    heard.assay = AssayInstrumentation(scorer=heard)
    with heard.assay:
        yield heard


@pytest.fixture
def judge() -> ScriptedJudge:
    """Reads literally: a passage supports a claim that it contains, and the quote is the claim."""

    def support(claim: str, passage: str) -> str:
        return claim if claim in passage else "not_mentioned"

    return ScriptedJudge(support=support, usefulness=lambda question, passage: "calm" in passage)
