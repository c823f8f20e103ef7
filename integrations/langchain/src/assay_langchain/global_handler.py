"""For `assay live capture --check`: everything that LangChain runs within the block, handed to an intake."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from assay.extension import CaptureRules, Intake
from assay_langchain.attach import install, uninstall
from assay_langchain.handler import AssayCallbackHandler


@contextmanager
def listening(intake: Intake, rules: CaptureRules) -> Iterator[Callable[[], Mapping[str, int]]]:
    """Listen within the block. Gives a function that says what was left out so far, by reason."""
    handler = AssayCallbackHandler(scorer=intake, rules=rules, enabled=True)
    before = install(handler)
    try:
        yield lambda: handler.health().left_out
    finally:
        uninstall()
        if before is not None:
            install(before)
