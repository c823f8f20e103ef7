"""The matrix of `shapes.libraries`: run by pytest in an environment that has these libraries."""

from __future__ import annotations

from typing import Any

import pytest
from assay_langchain import AssayCallbackHandler
from assay_opentelemetry import spans_to_samples

from assay.records import Sample
from integrations.langchain.tests.shapes import Shape, compared
from integrations.langchain.tests.shapes.libraries import shape as group
from integrations.llama_index.tests.fakes import Kept
from integrations.opentelemetry.tests.conftest import Exported, langchain_spans
from integrations.opentelemetry.tests.unknowns import other_values

__all__ = ["langchain_spans"]


@pytest.mark.parametrize("shape", [pytest.param(one, id=one.name) for one in group.shapes])
def test_shape(shape: Shape, langchain_spans: Exported) -> None:
    """Live as expected; from the spans of the same run the same, or unknown."""
    kept, given = Kept(), {}

    def attach(**options: Any) -> AssayCallbackHandler:
        given.update(options)
        return AssayCallbackHandler(scorer=kept, **options)

    langchain_spans.clear()
    shape.run(attach)
    assert not kept.errors, kept.where
    found, expected = compared(shape, kept)
    assert found == expected
    read = [one for one in spans_to_samples(langchain_spans.spans, given.get("rules")) if isinstance(one, Sample)]
    assert other_values(read, kept) == []
    assert len(read) == len(kept)
