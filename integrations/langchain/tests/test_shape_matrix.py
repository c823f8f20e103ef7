"""Every shape of application gives exactly the question, the contexts, the answer and the status that it had."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import pytest
from assay_langchain import AssayCallbackHandler

from assay.judges.scripted_judge import ScriptedJudge
from assay.sinks import MemorySink
from integrations.langchain.tests.shapes import SHAPES, Shape, compared, right


def release(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2])


def cases() -> list[Any]:
    """The shapes; of those that are known to be captured wrong it is said when they no longer are."""
    return [
        pytest.param(
            shape,
            id=f"{shape.group}-{shape.name}".replace(" ", "_"),
            marks=[pytest.mark.xfail(strict=True, raises=AssertionError, reason=shape.wrong)] if shape.wrong else [],
        )
        for shape in SHAPES
    ]


@pytest.mark.parametrize("shape", cases())
def test_shape(shape: Shape) -> None:
    if release(version("langchain-core")) < release(shape.since):
        pytest.skip(f"needs langchain-core {shape.since}")
    sink = MemorySink()
    handlers = []

    def attach(**options: Any) -> AssayCallbackHandler:
        judge = ScriptedJudge(usefulness=lambda question, passage: True)
        handlers.append(AssayCallbackHandler("context_utilization", judge, sinks=[sink], concurrency=1, **options))
        return handlers[-1]

    shape.run(attach)
    for handler in handlers:
        assert handler.flush(20)
        health = handler.health()
        assert (health.open_traces, dict(health.errors), health.live.pending) == (0, {}, 0)
        handler.close(5)
    found, expected = compared(shape, [scored.sample for scored in sink.written])
    assert found == expected


def test_names_of_shapes_are_unique() -> None:
    names = [shape.name for shape in SHAPES]
    assert len(names) == len(set(names)) >= 75


def test_every_application_that_was_written_down_is_tested() -> None:
    written = [name for table in (right.AGENTS, right.GRAPHS, right.CHAINS) for name in table]
    assert sorted(shape.name for shape in SHAPES if shape.why) == sorted(written)
    assert len(written) == len(set(written)) >= 27
