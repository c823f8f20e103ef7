"""The shapes of LangChain and LangGraph applications, each with exactly what has to be captured of it.

`SHAPES` is what the tests run and what the table in the documentation is made from.
"""

from __future__ import annotations

from integrations.langchain.tests.shapes import (
    agents,
    agents_today,
    applications_agents,
    applications_chains,
    applications_graphs,
    attaching,
    chains,
    classic,
    conversations,
    documented,
    failures,
    graphs,
    interrupts,
    retrievers,
    streams,
    structured,
    tool_results,
)
from integrations.langchain.tests.shapes.base import Expected, Shape, compared, observed

__all__ = ["SHAPES", "Expected", "Shape", "compared", "observed"]

SHAPES: list[Shape] = [
    shape
    for module in (
        *(chains, classic, retrievers, agents, graphs, documented, conversations, streams, failures, attaching),
        *(tool_results, interrupts, structured, agents_today),
        *(applications_chains, applications_agents, applications_graphs),
    )
    for shape in module.shape.shapes
]
