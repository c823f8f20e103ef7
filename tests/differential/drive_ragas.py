"""What ragas gives on the samples of `worlds`, driven through its own client by a scripted server.

Run by `python -m tests.differential ragas`, in an environment that has ragas; prints the golden file.
"""

from __future__ import annotations

import asyncio
import json
import math
from importlib.metadata import version
from typing import Any

import worlds
from openai import AsyncOpenAI
from ragas.llms import llm_factory
from ragas.metrics.collections import Faithfulness
from server import Server


def reply(text: str, body: dict[str, Any]) -> dict[str, Any]:
    """The world's answer to a prompt of ragas: which it is, is told by the schema of the answer."""
    case = _case
    if '"verdict"' in text and '"statements"' in text and "context" in text:  # NLI
        return {
            "statements": [
                {"statement": one, "reason": "-", "verdict": int(worlds.supported(one, case.contexts))}
                for one in case.said
            ]
        }
    return {"statements": list(case.said)}


_case: worlds.Case


async def main() -> None:
    global _case
    values: dict[str, dict[str, float | None]] = {}
    with Server(reply) as server:
        llm = llm_factory("scripted", client=AsyncOpenAI(base_url=server.url, api_key="none"))
        for case in worlds.cases():
            _case = case
            if not case.contexts:
                continue  # ragas refuses these
            found = await Faithfulness(llm=llm).ascore(
                user_input=case.question, response=case.answer, retrieved_contexts=list(case.contexts)
            )
            number = float(found.value)
            values.setdefault("faithfulness", {})[case.id] = None if math.isnan(number) else number
    print(json.dumps({"versions": {"ragas": version("ragas")}, "values": values}, indent=1, sort_keys=True))


asyncio.run(main())
