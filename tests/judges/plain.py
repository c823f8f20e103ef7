"""A judge that writes, and answers by the texts alone: what stands beside them, and where they stand, changes nothing.

A claim is supported by a passage that holds it word for word, a passage is useful when it has a word of what is
expected. `spoil(content, reply)` changes a reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from assay.judges import prompt_rendering as fences
from assay.judges.llm.judge import Reply, Request, TextJudge
from assay.prompts.base import PromptContent
from assay.records import Usage
from tests._support.servers import brain

Spoil = Callable[[PromptContent, dict[str, Any]], Any]


class Plain(TextJudge):
    fingerprint = "plain"

    def __init__(self, spoil: Spoil | None = None) -> None:
        self.spoil = spoil
        self.asked: list[PromptContent] = []

    async def generate(self, request: Request) -> Reply:
        self.asked.append(request.content)
        material = tuple(replace(section, text=fences.clean(section.text)) for section in request.content.material)
        reply = answer(replace(request.content, material=material))  # it quotes what it is shown
        if self.spoil is not None:
            reply = self.spoil(request.content, reply)
        return Reply(json.dumps(reply), usage=Usage(calls=1, prompt_tokens=10, completion_tokens=5))

    def kinds(self) -> list[str]:
        """What was asked: "fused", "claims" or "alone", in order."""
        return [kind(content) for content in self.asked]


def kind(content: PromptContent) -> str:
    if "claims" in content.required:
        return "claims"
    return "fused" if brain.parts(content.task) else "alone"


def texts(content: PromptContent, prefix: str) -> dict[str, str]:
    """The sections of this kind, by their short names: P1, C2."""
    found = [(s.title.split(",")[0].split(" "), s.text) for s in content.material if s.title.startswith(prefix)]
    return {words[-1]: text for words, text in found}


def answer(content: PromptContent) -> dict[str, Any]:
    if "claims" in content.required:
        numbered = re.findall(r"^\[(\d+)\] (.*)$", content.material[-1].text, re.MULTILINE)
        return {"claims": [{"sentence": int(n), "claim": text} for n, text in numbered]}
    passages, claims = texts(content, "PASSAGE"), texts(content, "CLAIM")
    expected = next((s.text for s in content.material if s.title == "EXPECTED ANSWER"), "")
    parts = brain.parts(content.task) or [(list(claims or passages), [])]
    items = []
    for ids, alone in parts:
        for name in ids:
            if name in claims:
                items.append(_claim(name, claims[name], {p: passages[p] for p in alone or passages}))
            else:
                useful = bool(set(expected.split()) & set(passages[name].split()))
                label = "useful" if useful else "not_useful"
                items.append({"id": name, "reason": "", "label": label, "quotes": []})
    return {"items": items, "sentences": []}


def _claim(name: str, claim: str, passages: dict[str, str]) -> dict[str, Any]:
    holding = [place for place, text in passages.items() if claim.strip() and claim in text]
    quotes = [{"passage": place, "label": "supported", "quote": claim} for place in holding]
    label = "supported" if holding else "not_mentioned"
    return {"id": name, "reason": "", "label": label, "quotes": quotes}
