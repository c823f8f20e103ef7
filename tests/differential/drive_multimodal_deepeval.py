"""What DeepEval's metrics of pictures give on the samples of `album`, driven through its own client.

Run by `python -m tests.differential multimodal_deepeval`; prints the golden file.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import re
from importlib.metadata import version
from typing import Any

import album
import deepeval.metrics as metrics
from deepeval.errors import MissingTestCaseParamsError
from deepeval.models import OpenAIModel
from deepeval.test_case import LLMTestCase, MLLMImage
from server import Server

_what = ""
_size: int | None = None
_shot: album.Shot


def image(data: bytes) -> str:
    return str(MLLMImage(dataBase64=base64.b64encode(data).decode(), mimeType="image/png"))


def reply(text: str, body: dict[str, Any]) -> dict[str, Any]:
    pictures = album.sent(body)
    (picture,) = pictures
    # what stands around is found by its own words: prompts of others are not read here
    before, after = album.around(_shot, picture, _size)
    assert before.strip() in text
    assert after.strip() in text
    return {"score": album.level(_what, picture, before, after), "reasoning": "-"}


def main() -> None:
    global _what, _shot, _size
    values: dict[str, dict[str, float | None]] = {}
    with Server(reply) as server, contextlib.redirect_stdout(io.StringIO()):
        model = OpenAIModel(model="gpt-4o", base_url=server.url, api_key="none")
        for _shot in album.shots():
            answer = "".join(image(one) if isinstance(one, bytes) else one for one in _shot.pieces)
            for name in ("ImageCoherence", "ImageHelpfulness", "ImageReference"):
                for _size in (None, 12):
                    _what = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
                    metric = getattr(metrics, f"{name}Metric")(model=model, async_mode=False, max_context_size=_size)
                    case = LLMTestCase(input=_shot.question, actual_output=answer)
                    try:
                        number: float | None = metric.measure(case, _show_indicator=False)
                    except (ValueError, MissingTestCaseParamsError):
                        number = None
                    values.setdefault(_what if _size is None else f"{_what} {_size}", {})[_shot.id] = number
    exports = sorted(name for name in dir(metrics) if "Image" in name)
    found = {"versions": {"deepeval": version("deepeval")}, "exports": exports, "values": values}
    print(json.dumps(found, indent=1, sort_keys=True))


main()
