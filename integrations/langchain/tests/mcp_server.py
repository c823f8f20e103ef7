"""A server of the Model Context Protocol over stdio: run as a program, with tools that return what servers return."""

from __future__ import annotations

from typing import Any

from mcp.server.fastmcp import FastMCP
from mcp.types import EmbeddedResource, TextResourceContents

CALM, HEAL = "Cats purr when they are calm.", "Cats also purr to heal."
RESULTS = [
    {"title": "Calm", "url": "https://a", "content": CALM},
    {"title": "Heal", "url": "https://b", "content": HEAL},
]

server = FastMCP("cats", log_level="ERROR")


@server.tool()
def search_list(query: str) -> list[dict[str, str]]:
    """Searches for cats."""
    return RESULTS


@server.tool()
def search_object(query: str) -> dict[str, Any]:
    """Searches for cats."""
    return {"query": query, "results": RESULTS}


@server.tool()
def search_texts(query: str) -> list[str]:
    """Searches for cats."""
    return [CALM, HEAL]


@server.tool()
def search_text(query: str) -> str:
    """Searches for cats."""
    return f"{CALM}\n\n{HEAL}"


@server.tool(structured_output=False)
def search_resources(query: str) -> Any:
    """Searches for cats."""
    return [
        EmbeddedResource(type="resource", resource=TextResourceContents(uri=f"file:///{n}.txt", text=text))  # type: ignore[arg-type]
        for n, text in enumerate((CALM, HEAL))
    ]


@server.tool()
def fails(query: str) -> str:
    """Fails."""
    raise ValueError("no index")


if __name__ == "__main__":
    server.run()
