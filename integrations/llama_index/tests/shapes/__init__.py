"""The shapes of LlamaIndex applications, each with exactly what has to be captured of it.

`SHAPES` is what the tests run and what the table in the documentation is made from.
"""

from __future__ import annotations

from integrations.llama_index.tests.shapes import (
    agents,
    applications_agents,
    applications_engines,
    applications_retrievers,
    chats,
    engines,
    failures,
    library,
    look_ups,
    recorded,
    retrievers,
    streams,
    synthesis,
    tool_results,
    workflows,
    workflows_today,
)
from integrations.llama_index.tests.shapes.base import Expected, Shape, compared, observed

__all__ = ["SHAPES", "Expected", "Shape", "compared", "observed"]

SHAPES: list[Shape] = [
    shape
    for module in (
        *(engines, synthesis, retrievers, streams, chats, agents, look_ups, workflows, recorded, library, failures),
        *(tool_results, workflows_today),
        *(applications_engines, applications_retrievers, applications_agents),
    )
    for shape in module.shape.shapes
]
