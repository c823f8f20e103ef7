"""For `assay live capture --check`: everything that LlamaIndex runs within the block, handed to an intake."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from assay.extension import CaptureRules, Intake
from assay_llama_index.instrumentation import AssayInstrumentation


@contextmanager
def listening(intake: Intake, rules: CaptureRules) -> Iterator[Callable[[], Mapping[str, int]]]:
    """Listen within the block. Gives a function that says what was left out so far, by reason."""
    instrumentation = AssayInstrumentation(scorer=intake, rules=rules, enabled=True)
    instrumentation.attach()
    try:
        yield lambda: instrumentation.health().left_out
    finally:
        instrumentation.detach()
