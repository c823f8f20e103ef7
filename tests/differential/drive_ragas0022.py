"""What ragas 0.0.22 gives for its context precision, driven through its own client by a scripted server.

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


def reply(text: str, body: dict[str, Any]) -> dict[str, Any]:
    """Whether the context, which ends the prompt, is useful for the question."""
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
    with Server(reply) as server, contextlib.redirect_stdout(io.StringIO()):
        chat = ChatOpenAI(model_name="scripted", openai_api_base=server.url, openai_api_key="none", max_retries=1)
        metric = ragas.ContextPrecision(llm=LangchainLLM(chat))
        found = {case.id: value_of(metric, case) for case in world.all_cases()}
    values = {"context_precision_0_0_22": found}
    exports = sorted(ragas.__all__)
    print(json.dumps({"versions": {"ragas": version("ragas")}, "exports": exports, "values": values}))


main()
