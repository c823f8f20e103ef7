"""`install()` without an argument, and the switch that turns everything off."""

from __future__ import annotations

import threading

import pytest
from assay_langchain import AssayCallbackHandler, install, uninstall

from assay.judges.scripted_judge import ScriptedJudge
from assay.live import LiveScorer
from integrations.langchain.tests.shapes.parts import rag


def test_install_alone_uses_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_SAMPLING", "0")
    assert install() is None
    try:
        rag().invoke("Why do cats purr?")
    finally:
        handler = uninstall()
    assert handler is not None
    assert isinstance(handler.scorer, LiveScorer)
    assert handler.flush(20)
    assert handler.close().live.sampled_out == 1


@pytest.mark.parametrize("shared", [False, True])
def test_off_means_no_thread_and_nothing_captured(monkeypatch: pytest.MonkeyPatch, shared: bool) -> None:
    monkeypatch.setenv("ASSAY_ENABLED", "false")
    before = set(threading.enumerate())
    handler = AssayCallbackHandler(scorer=LiveScorer("faithfulness", ScriptedJudge()) if shared else None)
    assert rag().invoke("Why do cats purr?", {"callbacks": [handler]})
    assert handler.flush(0)
    health = handler.close()
    assert (health.events, health.open_traces, health.live.submitted) == (0, 0, 0)
    assert set(threading.enumerate()) <= before


def test_the_argument_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_ENABLED", "false")
    handler = AssayCallbackHandler("faithfulness", ScriptedJudge(), enabled=True)
    rag().invoke("Why do cats purr?", {"callbacks": [handler]})
    assert handler.close().live.submitted == 1
