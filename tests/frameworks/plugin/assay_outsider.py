"""A pytest plugin for somebody else's suite: attaches assay, or an empty handler, or nothing, and writes what became
of each test.

It lies in a folder of its own, which is put on the path of the suite's process: there `tests` is the suite's.

    ASSAY_OUTSIDER_FRAMEWORK  "langchain" or "llama_index"
    ASSAY_OUTSIDER_ATTACHED   "nothing", "empty" or "assay"
    ASSAY_OUTSIDER_REPORT     the file to write, JSON
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

#: Ends of the words in which a process's addresses stand in the name of a test.
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_ORDER = ("passed", "xpassed", "xfailed", "skipped", "failed", "error")  # later ones win: setup, call and teardown

Attached = Callable[[], dict[str, Any]]  # detaches, and says what was seen


def pytest_configure(config: pytest.Config) -> None:
    how = os.environ["ASSAY_OUTSIDER_ATTACHED"]
    config.pluginmanager.register(Outsider(_ATTACH[os.environ["ASSAY_OUTSIDER_FRAMEWORK"], how]()), "assay-outsider")


class Outsider:
    """Keeps outcomes, and writes the report when the session ends."""

    def __init__(self, attached: Attached) -> None:
        self.attached = attached
        self.outcomes: dict[str, str] = {}
        self.reasons: dict[str, str] = {}
        self.began = time.process_time()
        self.repeated: dict[str, int] = {}

    def pytest_collection_finish(self) -> None:
        self.began = time.process_time()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        name = _ADDRESS.sub("0x", nodeid)
        self.repeated[name] = self.repeated.get(name, 0) + 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._keep(report.nodeid, "error", report.longreprtext)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = _ADDRESS.sub("0x", report.nodeid)
        times = self.repeated.get(name, 1)
        self._keep(name if times == 1 else f"{name} #{times}", _outcome(report), report.longreprtext)

    def _keep(self, name: str, outcome: str, text: str) -> None:
        before = self.outcomes.get(name, "passed")
        self.outcomes[name] = max(before, outcome, key=_ORDER.index)
        if outcome in ("failed", "error"):
            self.reasons.setdefault(name, _reason(text))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        seen = self.attached()
        report = {
            "outcomes": self.outcomes,
            "reasons": self.reasons,
            "cpu_seconds": round(time.process_time() - self.began, 3),
            "seen": seen,
        }
        Path(os.environ["ASSAY_OUTSIDER_REPORT"]).write_text(json.dumps(report, indent=1), encoding="utf-8")


def _outcome(report: pytest.TestReport) -> str:
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    return "error" if report.failed and report.when != "call" else report.outcome


def _reason(text: str) -> str:
    """The last line of what pytest shows of an exception, or the first that it marks as the error."""
    lines = [line for line in text.splitlines() if line.strip()]
    marked = [line[1:].strip() for line in lines if line.startswith("E ")]
    return (marked or [line.strip() for line in lines[-1:]] or [""])[0][:300]


def _nothing() -> Attached:
    return dict


# -- LangChain --------------------------------------------------------------------------------------------------------


class _Installed:
    """Stands where LangChain expects a context variable: the same handler in every thread."""

    def __init__(self, handler: Any) -> None:
        self.handler = handler

    def get(self) -> Any:
        return self.handler


def _langchain_empty() -> Attached:
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.tracers.context import register_configure_hook

    class Empty(BaseCallbackHandler):
        """Not inline, and does nothing."""

        starts = 0

        def on_chain_start(self, *args: Any, **kwargs: Any) -> None:
            Empty.starts += 1

    installed: Any = _Installed(Empty())
    register_configure_hook(installed, True)
    return lambda: {"events": Empty.starts}


def _langchain_assay() -> Attached:
    from assay_langchain import AssayCallbackHandler, install, uninstall

    logs = _logs()
    handler = AssayCallbackHandler(metrics=["faithfulness"], judge=_judge(), score_partial=True)
    install(handler)
    return lambda: _leave(handler, uninstall, logs)


# -- LlamaIndex -------------------------------------------------------------------------------------------------------


def _llama_index_empty() -> Attached:
    from llama_index_instrumentation import get_dispatcher
    from llama_index_instrumentation.event_handlers import BaseEventHandler
    from llama_index_instrumentation.span import BaseSpan
    from llama_index_instrumentation.span_handlers import BaseSpanHandler

    counted = {"events": 0, "spans": 0}

    class EmptyEvents(BaseEventHandler):
        def handle(self, event: Any, **kwargs: Any) -> Any:
            counted["events"] += 1

    class EmptySpans(BaseSpanHandler[BaseSpan]):
        def new_span(self, *args: Any, **kwargs: Any) -> None:
            counted["spans"] += 1

        def prepare_to_exit_span(self, *args: Any, **kwargs: Any) -> None:
            pass

        def prepare_to_drop_span(self, *args: Any, **kwargs: Any) -> None:
            pass

    root = get_dispatcher()
    root.add_event_handler(EmptyEvents())
    root.add_span_handler(EmptySpans())
    return lambda: counted


def _llama_index_assay() -> Attached:
    from assay_llama_index import AssayInstrumentation

    logs = _logs()
    instrumentation = AssayInstrumentation(metrics=["faithfulness"], judge=_judge(), score_partial=True).attach()
    return lambda: _leave(instrumentation, instrumentation.detach, logs)


# -- both -------------------------------------------------------------------------------------------------------------


def _judge() -> Any:
    """Reads literally. The scorer around it is the real one."""
    from assay.judges.scripted_judge import ScriptedJudge

    return ScriptedJudge(support=lambda claim, passage: "supported" if claim in passage else "not_mentioned")


def _logs() -> list[str]:
    """What assay logs from now on as a warning or worse, and what it logs at the same level elsewhere."""
    said: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(f"{record.name}: {record.getMessage()}"[:300])

    for name in ("assay", "assay_langchain", "assay_llama_index"):
        logging.getLogger(name).addHandler(Keep(logging.WARNING))
    return said


def _leave(attached: Any, detach: Callable[[], None], logs: list[str]) -> dict[str, Any]:
    """Detach; what was heard, how it went, which threads are there, and which others assay has not told of."""
    flushed = attached.flush(60)
    threads = sorted(thread.name for thread in threading.enumerate() if thread.name.startswith("assay"))
    health = attached.health().to_dict()
    detach()
    began = time.monotonic()
    attached.close()
    closed = time.monotonic() - began
    return {
        "flushed": flushed,
        "health": health,
        "threads": threads,
        "logs": logs[:50],
        "close_seconds": round(closed, 2),
    }


def _module(name: str) -> Callable[[], Attached]:
    """Imports the framework as the other two do, and attaches nothing."""

    def attach() -> Attached:
        importlib.import_module(name)
        return _nothing()

    return attach


_ATTACH: dict[tuple[str, str], Callable[[], Attached]] = {
    ("langchain", "nothing"): _module("langchain_core.callbacks"),
    ("langchain", "empty"): _langchain_empty,
    ("langchain", "assay"): _langchain_assay,
    ("llama_index", "nothing"): _module("llama_index_instrumentation"),
    ("llama_index", "empty"): _llama_index_empty,
    ("llama_index", "assay"): _llama_index_assay,
}
