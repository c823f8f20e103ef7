"""What LlamaIndex' evaluators with pictures give on the samples of `album`, driven through its own client.

Run by `python -m tests.differential multimodal_llamaindex`; prints the golden file.
"""

from __future__ import annotations

import json
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import album
from llama_index.core.evaluation import multi_modal
from llama_index.core.evaluation.retrieval.metrics import MRR, HitRate, Precision, Recall
from llama_index.llms.openai_like import OpenAILike
from server import Server

_shot: album.Shot


def reply(text: str, body: dict[str, Any]) -> str:
    pictures = album.sent(body)
    asked = album.relevant if f"Question: {_shot.question}" in text else album.faithful
    return "YES" if asked(_shot, pictures) else "NO"


def main() -> None:
    global _shot
    values: dict[str, dict[str, float | None]] = {}
    with Server(reply) as server, tempfile.TemporaryDirectory() as folder:
        llm = OpenAILike(model="scripted", api_base=server.url, api_key="none", is_chat_model=True)
        evaluators = {
            "llamaindex_faithfulness": multi_modal.MultiModalFaithfulnessEvaluator(multi_modal_llm=llm),
            "llamaindex_relevancy": multi_modal.MultiModalRelevancyEvaluator(multi_modal_llm=llm),
        }
        for _shot in album.shots():
            paths = []
            for n, data in enumerate(one for one in _shot.contexts if isinstance(one, bytes)):
                paths.append(str(Path(folder) / f"{n}.png"))
                Path(paths[-1]).write_bytes(data)
            for name, evaluator in evaluators.items():
                found = evaluator.evaluate(
                    query=_shot.question, response=_shot.answer, contexts=_shot.texts, image_paths=paths
                )
                values.setdefault(name, {})[_shot.id] = found.score
            expected, retrieved = album.expected(_shot), _shot.shown
            for name, metric in (
                ("hit_rate", HitRate()),
                ("mrr", MRR()),
                ("precision", Precision()),
                ("recall", Recall()),
            ):
                try:
                    number: float | None = metric.compute("", expected, retrieved).score
                except ValueError:
                    number = None
                values.setdefault(f"image_{name}", {})[_shot.id] = number
    versions = {"llama-index-core": version("llama-index-core")}
    exports = [*multi_modal.__all__, "MultiModalRetrieverEvaluator"]
    print(json.dumps({"versions": versions, "exports": exports, "values": values}, indent=1, sort_keys=True))


main()
