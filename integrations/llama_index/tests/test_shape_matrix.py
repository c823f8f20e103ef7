"""Every shape of application gives exactly the question, the contexts, the answer and the status that it had."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import pytest
from assay_llama_index import AssayInstrumentation

from integrations.llama_index.tests.fakes import Kept, settled
from integrations.llama_index.tests.shapes import SHAPES, Shape, compared, right


def release(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:3])


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
    if release(version("llama-index-core")) < release(shape.since):
        pytest.skip(f"needs llama-index-core {shape.since}")
    kept = Kept()
    attached: list[AssayInstrumentation] = []

    def attach(**options: Any) -> AssayInstrumentation:
        attached.append(AssayInstrumentation(scorer=kept, **options).attach())
        return attached[-1]

    try:
        shape.run(attach)
        for assay in attached:
            assert settled(lambda assay=assay: assay.health().open)
            assert (assay.health().open_spans, dict(assay._capture.answers.streams)) == (0, {})
    finally:
        for assay in attached:
            assay.close()
    assert not kept.errors, kept.where
    found, expected = compared(shape, kept)
    assert found == expected


def test_names_of_shapes_are_unique() -> None:
    names = [(shape.group, shape.name) for shape in SHAPES]
    assert len(names) == len(set(names)) >= 80


def test_every_application_that_was_written_down_is_tested() -> None:
    written = [name for table in (right.ENGINES, right.RETRIEVERS, right.AGENTS) for name in table]
    assert sorted(shape.name for shape in SHAPES if shape.why) == sorted(written)
    assert len(written) == len(set(written)) >= 17
