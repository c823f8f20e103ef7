"""What DeepEval's RAG metrics give on the samples of `album`, with pictures among contexts, question and answer.

Run by `python -m tests.differential multimodal_deepeval_rag`; prints the golden file.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
from importlib.metadata import version
from typing import Any

import album
import deepeval.metrics as metrics
from deepeval.errors import MissingTestCaseParamsError
from deepeval.models import OpenAIModel
from deepeval.test_case import LLMTestCase, MLLMImage
from server import Server

METRICS = {
    "deepeval_faithfulness": "Faithfulness",
    "contextual_precision": "ContextualPrecision",
    "contextual_recall": "ContextualRecall",
    "contextual_relevancy": "ContextualRelevancy",
    "relevance": "AnswerRelevancy",
}
_what = ""
_shot: album.Shot


def shown(one: str | bytes) -> str:
    if isinstance(one, str):
        return one
    return str(MLLMImage(dataBase64=base64.b64encode(one).decode(), mimeType="image/png"))


def reply(text: str, body: dict[str, Any]) -> dict[str, Any]:
    asked = body["response_format"]["json_schema"]["name"]
    pictures = [one for one in album.sent(body) if one in _shot.shown]
    if asked == "Claims":
        return {"claims": list(_shot.said)}
    if asked == "Truths":
        return {"truths": ["-"]}
    if asked == "Statements":
        return {"statements": [*_shot.said, *(one.hex() for one in _shot.pieces if isinstance(one, bytes))]}
    if _what == "contextual_relevancy":  # asked of each passage by itself
        passage = pictures[0] if pictures else next(one for one in _shot.texts if one in text)
        said = [(one, album.useful(_shot, one)) for one in album.sentences(passage)]
        return {"verdicts": [{"statement": one, "verdict": "yes" if yes else "no", "reason": "-"} for one, yes in said]}
    words = {
        "deepeval_faithfulness": [album.faithfulness(_shot, one) for one in _shot.said],
        "contextual_precision": ["yes" if album.useful(_shot, one) else "no" for one in album.names(_shot)],
        "contextual_recall": ["yes" if album.recalled(_shot, one) else "no" for one in _shot.known],
        "relevance": [
            *(album.relevance(_shot, one) for one in _shot.said),
            *(album.fits(_shot, album.digest(one)) for one in _shot.pieces if isinstance(one, bytes)),
        ],
    }[_what]
    return {"verdicts": [{"verdict": word, "reason": "-"} for word in words]}


def main() -> None:
    global _what, _shot
    values: dict[str, dict[str, float | None]] = {}
    with Server(reply) as server, contextlib.redirect_stdout(io.StringIO()):
        model = OpenAIModel(model="gpt-4o", base_url=server.url, api_key="none")
        for _shot in album.shots():
            case = LLMTestCase(
                input=_shot.question + shown(album.png(_shot.id, "asked")),
                actual_output="".join(map(shown, _shot.pieces)),
                expected_output=" ".join(_shot.known),
                retrieval_context=list(map(shown, _shot.contexts)),
            )
            for _what, name in METRICS.items():
                metric = getattr(metrics, f"{name}Metric")(model=model, async_mode=False, include_reason=False)
                try:
                    number: float | None = metric.measure(case, _show_indicator=False)
                except MissingTestCaseParamsError:
                    number = None
                values.setdefault(_what, {})[_shot.id] = number
    exports = [f"{name}Metric" for name in METRICS.values()]
    found = {"versions": {"deepeval": version("deepeval")}, "exports": exports, "values": values}
    print(json.dumps(found, indent=1, sort_keys=True))


main()
