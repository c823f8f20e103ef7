"""Agents whose function tools return results or plain texts, and no nodes of LlamaIndex."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.tools import FunctionTool
from pydantic import BaseModel

from assay.capture import CaptureRules
from integrations.llama_index.tests.fakes import Caller
from integrations.llama_index.tests.shapes.agents import UNSEEN, calls, run
from integrations.llama_index.tests.shapes.base import CALM, HEAL, Attach, Expected, Group

shape = Group("Tools' results")

RESULTS = [
    {"title": "Calm", "url": "https://cats.example/calm", "content": CALM},
    {"title": "Heal", "url": "https://cats.example/heal", "content": HEAL},
]


class TextContent(BaseModel):
    """A block, as MCP's client has it."""

    type: str
    text: str


class CallToolResult(BaseModel):
    """What a tool of a server returned, as MCP's client has it."""

    content: list[TextContent]


BLOCKS = CallToolResult(content=[TextContent(type="text", text=text) for text in (CALM, HEAL)])
UNKNOWN = Expected(contexts=None, no_context=UNSEEN.format("search"))


def returning(about: str, returned: Any, expected: Expected | None = None, **rules: Any) -> Callable[[Attach], None]:
    """A shape of an agent whose tool returns this."""

    def use(attach: Attach) -> None:
        def search(query: str) -> Any:
            """Searches the web."""
            return returned

        attach(**({"rules": CaptureRules(**rules)} if rules else {}))
        tool = FunctionTool.from_defaults(search)
        run(FunctionAgent(tools=[tool], llm=Caller(say=calls(("search", {"query": "why"})))))

    use.__name__ = "tool_" + about.partition(":")[0].replace(" ", "_").lower()
    return shape(about, Expected() if expected is None else expected)(use)


returning("results in a mapping: as a web search gives them", {"query": "why", "results": RESULTS})
returning("results in a list: each with its address", RESULTS)
returning("a text: it may be anything", CALM, UNKNOWN)
returning("a text by name: the rule says that it is a passage", CALM, Expected(contexts=((CALM, True),)),
          contexts_tools=["search"])  # fmt: skip
returning("blocks by name: MCP's result, with its blocks", BLOCKS, contexts_tools=["search"])
