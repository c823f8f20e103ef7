"""The sync facade runs anywhere, keeps context, and gives Ctrl-C to the coroutine."""

from __future__ import annotations

import asyncio
import contextvars
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from assay._util.sync import run_sync

VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("variable")


async def answer(value: Any = 42) -> Any:
    await asyncio.sleep(0)
    return value


def test_plain() -> None:
    assert run_sync(answer) == 42
    assert run_sync(lambda: answer("again")) == "again"


async def test_inside_a_running_loop() -> None:
    VARIABLE.set("seen")

    async def look() -> tuple[str, bool]:
        return VARIABLE.get(), threading.current_thread() is threading.main_thread()

    assert run_sync(look) == ("seen", False)


def test_inside_uvloop() -> None:
    uvloop = pytest.importorskip("uvloop")

    async def main() -> Any:
        return run_sync(answer)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(main()) == 42


async def test_errors_pass_through_with_their_type() -> None:
    async def fail() -> None:
        raise RuntimeError("the judge's own")

    with pytest.raises(RuntimeError, match="the judge's own"):
        run_sync(fail)


def interrupt_soon(started: threading.Event) -> None:
    def interrupt() -> None:
        started.wait(5)
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()


def waiting(started: threading.Event, cleaned: list[bool], end: Callable[[], Any]) -> Callable[[], Any]:
    async def wait() -> Any:
        started.set()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            await asyncio.sleep(0.05)
            cleaned.append(True)
            return end()

    return wait


def cancelled() -> Any:
    raise asyncio.CancelledError


@pytest.mark.parametrize("in_loop", [False, True])
def test_interrupt_cancels_and_waits_for_the_cleaning_up(in_loop: bool) -> None:
    started, cleaned = threading.Event(), []
    make = waiting(started, cleaned, cancelled)

    async def main() -> Any:
        return run_sync(make)

    loop = asyncio.new_event_loop()
    interrupt_soon(started)
    with pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(main()) if in_loop else run_sync(make)
    loop.close()
    assert cleaned == [True]


def test_what_the_interrupted_coroutine_raises_is_the_outcome() -> None:
    class Interrupted(KeyboardInterrupt):
        """With a partial result."""

    def end() -> Any:
        raise Interrupted

    started, cleaned = threading.Event(), []

    async def main() -> Any:
        return run_sync(waiting(started, cleaned, end))

    interrupt_soon(started)
    loop = asyncio.new_event_loop()
    with pytest.raises(Interrupted):
        loop.run_until_complete(main())
    loop.close()
