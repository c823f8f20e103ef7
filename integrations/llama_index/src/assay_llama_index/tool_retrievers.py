"""Look-ups of tools: agents with a `tool_retriever` search for descriptions of tools, which are no passages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay_llama_index.kinds import has_base


def of(agent: Any) -> frozenset[int]:
    """The identities of what this agent, or the agents of this workflow, look for tools with. None of it is kept."""
    if not has_base(agent, "BaseWorkflowAgent", "AgentWorkflow"):
        return frozenset()
    agents = [agent, *dict(getattr(agent, "agents", None) or {}).values()]
    given = [getattr(one, "tool_retriever", None) for one in agents]
    found: list[Any] = []
    for retriever in given:
        if retriever is not None:
            found += [retriever, getattr(retriever, "_retriever", None)]
            found += getattr(retriever, "_node_postprocessors", None) or ()
    return frozenset(id(part) for part in found if part is not None)


def are_tools(nodes: Sequence[Any]) -> bool:
    """Whether these nodes are what an `ObjectIndex` makes of tools: a fixed form of text, and a name that agrees."""
    for node in nodes:  # hardly ever more than one is looked at
        if not _is_tool(getattr(node, "node", node)):
            return False
    return bool(nodes)


def _is_tool(node: Any) -> bool:
    metadata = node.metadata
    if not metadata or len(metadata) != 1 or "name" not in metadata:
        return False
    return str(node.get_content()).startswith(f"Tool name: {metadata['name']}\nTool description: ")
