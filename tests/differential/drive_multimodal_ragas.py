"""What ragas' metrics with pictures give on the samples of `album`, driven through its own client.

Run by `python -m tests.differential multimodal_ragas`; prints the golden file.
"""

from __future__ import annotations

import asyncio
import json
from importlib.metadata import version
from typing import Any

import album
from openai import AsyncOpenAI
from ragas.llms import llm_factory
from ragas.metrics.collections import MultiModalFaithfulness, MultiModalRelevance
from server import Server

_shot: album.Shot


def reply(text: str, body: dict[str, Any]) -> dict[str, Any]:
    pictures = album.sent(body)
    if "User" in text or _shot.question in text:
        return {"relevant": album.relevant(_shot, pictures), "reason": "-"}
    return {"faithful": album.faithful(_shot, pictures), "reason": "-"}


async def main() -> None:
    global _shot
    values: dict[str, dict[str, float | None]] = {"ragas_faithfulness": {}, "ragas_relevance": {}}
    with Server(reply) as server:
        llm = llm_factory("scripted", client=AsyncOpenAI(base_url=server.url, api_key="none"))
        for _shot in album.shots():
            contexts = [album.uri(one) if isinstance(one, bytes) else one for one in _shot.contexts]
            given = {"response": _shot.answer, "retrieved_contexts": contexts}
            for name, metric, more in (
                ("ragas_faithfulness", MultiModalFaithfulness(llm=llm), {}),
                ("ragas_relevance", MultiModalRelevance(llm=llm), {"user_input": _shot.question}),
            ):
                try:
                    values[name][_shot.id] = float((await metric.ascore(**given, **more)).value)
                except ValueError:  # something is missing
                    values[name][_shot.id] = None
    found = {"versions": {"ragas": version("ragas")}, "values": values}
    print(json.dumps(found | {"exports": ["MultiModalFaithfulness", "MultiModalRelevance"]}, indent=1, sort_keys=True))


asyncio.run(main())
