"""What ragas 0.0.22 gives for context precision and relevancy, driven through its own client by a scripted server.

Run by `python -m tests.differential ragas0022`, in an environment that has ragas 0.0.22; prints the golden file.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
from importlib.metadata import version
from typing import Any

import ragas_world as world
import worlds
from langchain.chat_models import ChatOpenAI
from ragas import metrics as ragas
from ragas.llms import LangchainLLM
from server import Server

_case: worlds.Case
_metric: str


def reply(text: str, body: dict[str, Any]) -> str | dict[str, Any]:
    """The sentences that are needed, or whether the context, which ends the prompt, is useful for the question."""
    if _metric == "context_relevancy_0_0_22":
        return " ".join(world.extraction(_case, 1)) or "Insufficient Information."
    context = max((one for one in _case.contexts if text.rstrip().endswith(f"{one}\nverification:")), key=len)
    return {"reason": "-", "verdict": "Yes" if worlds.useful(_case.question, context) else "No"}


def value_of(metric: Any, case: worlds.Case) -> float | None:
    """The number that ragas gives; None where it gives none, or raises."""
    global _case
    _case = case
    try:
        number = float(metric.score_single({"question": case.question, "contexts": list(case.contexts)}))
    except Exception:
        return None
    return None if math.isnan(number) else number


def main() -> None:
    global _metric
    with Server(reply) as server, contextlib.redirect_stdout(io.StringIO()):
        chat = ChatOpenAI(model_name="scripted", openai_api_base=server.url, openai_api_key="none", max_retries=1)
        metrics = {
            "context_precision_0_0_22": ragas.ContextPrecision(llm=LangchainLLM(chat)),
            "context_relevancy_0_0_22": ragas.ContextRelevancy(llm=LangchainLLM(chat)),
        }
        values = {}
        for _metric, metric in metrics.items():
            values[_metric] = {case.id: value_of(metric, case) for case in world.all_cases()}
    exports = sorted(ragas.__all__)
    print(json.dumps({"versions": {"ragas": version("ragas")}, "exports": exports, "values": values}))


main()
