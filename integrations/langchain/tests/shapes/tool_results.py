"""Agents whose tools return results, content blocks of MCP or plain texts, and no documents of LangChain."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import tool

from assay.capture import CaptureRules
from integrations.langchain.tests.shapes.base import CALM, HEAL, QUESTION, Expected, Group, on
from integrations.langchain.tests.shapes.parts import ANSWER, call, model
from integrations.langchain.tests.shapes.right import NO_DOCUMENTS

shape = Group("Tools' results")

RESULTS = [
    {"title": "Calm", "url": "https://cats.example/calm", "content": CALM, "score": 0.9},
    {"title": "Heal", "url": "https://cats.example/heal", "content": HEAL, "score": 0.5},
]
BLOCKS = [{"type": "text", "text": CALM}, {"type": "text", "text": HEAL}]
UNKNOWN = Expected(contexts=None, no_context=NO_DOCUMENTS.format("search"))


def ask(handler: Any, returned: Any) -> None:
    """An agent that searches once with a tool that returns this."""

    @tool
    def search(query: str) -> Any:
        """Searches the web."""
        return returned

    create_agent(model(call(QUESTION), ANSWER), [search]).invoke({"messages": [("user", QUESTION)]}, on(handler))


def returning(about: str, returned: Any, expected: Expected | None = None, **rules: Any) -> Callable[[Any], None]:
    """A shape of an agent whose tool returns this."""

    def run(handler: Any) -> None:
        ask(handler(rules=CaptureRules(**rules)) if rules else handler(), returned)

    run.__name__ = "tool_" + about.partition(":")[0].replace(" ", "_").replace(",", "").lower()
    return shape(about, Expected() if expected is None else expected)(run)


returning("results in a mapping: as Tavily gives them", {"query": "why", "results": RESULTS})
returning("results in a list: each with its address", RESULTS)
returning("results as JSON: a text that a server sent", json.dumps({"web": {"results": RESULTS}}))
returning(
    "blocks with results: MCP's, one result in each", [{"type": "text", "text": json.dumps(one)} for one in RESULTS]
)
returning("blocks of text: MCP's, which may be anything", BLOCKS, UNKNOWN)
returning("blocks of text by name: the rule says that they are passages", BLOCKS, contexts_tools=["search"])
returning("a text: it may be anything", CALM, UNKNOWN)
returning("texts by name: one text, with the separator", f"{CALM}\n\n{HEAL}", contexts_tools={"sea*": "\n\n"})
returning("rows by name: as the one text that they are", [{"cat": "Tom"}],
          Expected(contexts=(('[{"cat": "Tom"}]', True),)), contexts_tools=["search"])  # fmt: skip
