"""A judge that does not let go: what waits for it waits until the test is over."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import pytest

from assay.judges.base import BaseJudge
from assay.judges.scripted_judge import ScriptedJudge

#: How it does not let go.
STUCK = ("hangs", "blocks its event loop", "ignores cancellation")


def shorten_grace(monkeypatch: pytest.MonkeyPatch, *places: tuple[ModuleType, str]) -> None:
    """Half a second for what holds its thread beyond a deadline, at these places; a tenth for what is cancelled."""
    for module, name in places:
        monkeypatch.setattr(module, name, 0.5)
    monkeypatch.setattr(sys.modules["assay.evaluation.score_sample"], "GRACE", 0.1)


class StuckJudge(BaseJudge):
    """Answers as a scripted judge, but nothing about texts with the word `stuck`, by default any, until `over` is set.

    Attributes:
        began: Set when it is stuck.
        thread: Where it was asked last.
    """

    durable = False

    def __init__(self, how: str, over: threading.Event, stuck: str = "") -> None:
        self.how, self.over, self.stuck = how, over, stuck
        self.began = threading.Event()
        self.thread: threading.Thread | None = None
        self._scripted = ScriptedJudge(support=lambda claim, passage: "supported")

    @property
    def fingerprint(self) -> str:
        return self.how

    async def answer(self, prompts: Sequence[Any]) -> Any:
        if not any(self.stuck in repr(prompt) for prompt in prompts):
            return await self._scripted.answer(prompts)
        self.thread = threading.current_thread()
        self.began.set()
        if self.how == "blocks its event loop":
            self.over.wait()
        while not self.over.is_set():
            if self.how == "hangs":
                await asyncio.Event().wait()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(3600)
        raise RuntimeError("over")
