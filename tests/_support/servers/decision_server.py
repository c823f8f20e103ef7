"""A local server that speaks both shapes of decision endpoints: `/v1/systemone`, and OpenAI's `/v1/decisions`.

    with DecisionServer() as server:
        judge = SystemOneJudge("fake", base_url=server.base_url)

It answers by word overlap (see `brain`), checks every request as the real endpoints would, and goes wrong as `faults`
(see `service`) and `twist` say. What it says of OpenAI's shape is checked against the types of the `openai` package.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests._support.servers import brain
from tests._support.servers.service import FakeService, Reply, Request, check

#: Shares of the labels for a claim: (what it is, the second, the third).
SURE = (0.9, 0.06, 0.04)
LABELS = ("supported", "contradicted", "not_mentioned")


@dataclass(frozen=True)
class Question:
    """A question in either shape. `labels` are the options or levels; () for a predicate."""

    name: str
    kind: str
    instructions: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Said:
    """The answer to one question: a probability per label, of a predicate under "true"; None for a refusal."""

    question: Question
    shares: Mapping[str, float] | None


#: Changes the answers of a request, or gives a reply of its own.
Twist = Callable[[int, list[Said]], "list[Said] | Reply"]


class DecisionServer(FakeService):
    """See the module. `key` is the key that it wants, if any; `usage` whether it counts tokens."""

    def __init__(self, *, key: str | None = None, usage: bool = True, twist: Twist | None = None) -> None:
        super().__init__()
        self.key = key
        self.usage = usage
        self.twist = twist
        #: the body of each request, and the questions in it
        self.bodies: list[dict[str, Any]] = []
        self.asked: list[list[Question]] = []

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def is_write(self, request: Request) -> bool:
        return request.method == "POST"

    def answer(self, request: Request, keep: bool) -> Reply:
        if self.key is not None and request.headers.get("authorization") != f"Bearer {self.key}":
            return Reply(401, {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}})
        shape = request.path.rsplit("/", 1)[-1]
        if request.path not in ("/v1/systemone", "/v1/decisions", "/api/alpha/decisions"):
            return Reply(404, {"error": {"message": f"no such path: {request.path}"}})
        body = request.json()
        native = request.path == "/v1/decisions"
        check(request.headers.get("content-type") == "application/json", "the body is not declared as JSON")
        check(isinstance(body.get("model"), str) and body["model"], "no model")
        texts, questions = (_from_decisions if native else _from_systemone)(body)
        check(len({q.name for q in questions}) == len(questions), "a question's name is there twice")
        self.bodies.append(body)
        self.asked.append(questions)
        said: list[Said] | Reply = [Said(question, _think(question, texts)) for question in questions]
        if self.twist is not None:
            said = self.twist(len(self.asked) - 1, said)  # type: ignore[arg-type]
        if isinstance(said, Reply):
            return said
        read = len(json.dumps(body)) // 4
        reply = _decisions_reply(body, said, read) if native else _systemone_reply(body, said, read)
        if not self.usage:
            reply.pop("usage")
        assert shape in ("systemone", "decisions")
        return Reply(body=reply)


# ---- reading requests ----


def _from_systemone(body: dict[str, Any]) -> tuple[str, list[Question]]:
    check(set(body) <= {"model", "state", "questions"}, f"unknown keys: {sorted(body)}")
    check(isinstance(body.get("state"), str) and body["state"], "the state is no text")
    check(isinstance(body.get("questions"), dict) and body["questions"], "no questions")
    questions = []
    for name, asked in body["questions"].items():
        kind, criteria = asked.get("type"), asked.get("criteria")
        check(set(asked) <= {"type", "instructions", "criteria"}, f"{name}: unknown keys: {sorted(asked)}")
        check(isinstance(asked.get("instructions"), str) and asked["instructions"], f"{name}: no instructions")
        labels: Sequence[str] = ()
        if kind == "noul":
            check(criteria is None or set(criteria) <= {"true", "false"}, f"{name}: criteria of a noul")
        elif kind == "choice":
            check(isinstance(criteria, dict) and 2 <= len(criteria) <= 255, f"{name}: 2 to 255 options")
            labels = list(criteria)
        else:
            check(kind == "score", f"{name}: type {kind!r}")
            check(isinstance(criteria, list) and 2 <= len(criteria) <= 10, f"{name}: 2 to 10 levels")
            labels = [str(number) for number in range(len(criteria))]
        kind = {"noul": "predicate"}.get(kind, kind)
        questions.append(Question(name, kind, asked["instructions"], tuple(labels)))
    return body["state"], questions


def _from_decisions(body: dict[str, Any]) -> tuple[str, list[Question]]:
    with contextlib.suppress(ImportError):  # openai 2 has no types for this
        from openai.types.decision_create_params import DecisionCreateParams
        from pydantic import TypeAdapter

        TypeAdapter(DecisionCreateParams).validate_python(body)
    check(set(body) <= {"model", "input", "questions"}, f"unknown keys: {sorted(body)}")
    check([message["role"] for message in body["input"]] == ["developer", "user"], "roles of the input")
    check(1 <= len(body["questions"]) <= 400, "1 to 400 questions")
    questions = []
    for asked in body["questions"]:
        listed = asked.get("choices") or asked.get("levels") or ()
        labels = tuple(entry["value" if asked["type"] == "choice" else "label"] for entry in listed)
        check(asked["type"] in ("predicate", "choice", "score"), f"type {asked['type']!r}")
        check(bool(labels) == (asked["type"] != "predicate"), "a predicate has no labels, all else has")
        check(len(set(labels)) == len(labels) and len(labels) <= 255, "labels must be unique and 255 at most")
        questions.append(Question(asked["name"], asked["type"], asked["instructions"], labels))
    return body["input"][1]["content"], questions


# ---- thinking ----


def _think(question: Question, texts: str) -> dict[str, float]:
    sections = [(title, text) for _, title, text in brain.SECTION.findall(texts)]
    passages = [text for title, text in sections if title.startswith("PASSAGE P")]
    asked = question.instructions.partition("\nTrue: ")[0]
    named = dict(sections)
    claim = re.search(r"is claim (C\d+) supported", asked)
    if claim is not None:
        place = re.search(r"what passage P(\d+) alone", asked)
        label = _support(named[f"CLAIM {claim[1]}"], [passages[int(place[1]) - 1]] if place else passages)
        others = [other for other in LABELS if other != label]
        return dict(zip([label, *others], SURE, strict=True))
    if asked.startswith("Does the ANSWER give what the QUESTION asks for"):
        return {"true": 0.9 if brain.directly(named["QUESTION"], named["ANSWER"]) else 0.1}
    passage = re.search(r"Does passage P(\d+) help", asked)
    sentence = re.search(r"Does sentence (\d+) of SENTENCES help", asked)
    criterion = re.search(r"Is the answer to QUESTION (Q\d+)", asked)
    if passage is not None:
        wanted = brain.words(named["QUESTION"])
        if "EXPECTED ANSWER" in asked:
            wanted |= brain.words(named["EXPECTED ANSWER"])
        share = len(wanted & brain.words(passages[int(passage[1]) - 1])) / max(1, len(wanted))
    elif sentence is not None:
        useful = brain.useful_sentences(named["QUESTION"], passages, named["SENTENCES"])
        share = float(int(sentence[1]) in useful)
    else:
        wanted = brain.words(named[f"QUESTION {criterion[1]}"] if criterion else asked)
        others = [text for title, text in sections if not title.startswith("QUESTION Q")]
        share = len(wanted & brain.words(" ".join(others))) / max(1, len(wanted))
    if question.kind == "predicate":
        return {"true": 0.9 if share >= 0.4 else 0.1}
    chosen = min(len(question.labels) - 1, int(share * len(question.labels)))
    rest = 0.2 / (len(question.labels) - 1)
    return {label: 0.8 if n == chosen else rest for n, label in enumerate(question.labels)}


def _support(claim: str, passages: list[str]) -> str:
    labels = [brain.judge_pair(claim, passage)[0] for passage in passages]
    return next((label for label in ("supported", "contradicted") if label in labels), "not_mentioned")


# ---- replies ----


def _systemone_reply(body: dict[str, Any], said: Sequence[Said], read: int) -> dict[str, Any]:
    answers = {one.question.name: _systemone_answer(body, one) for one in said}
    return {"model": body["model"], "answers": answers, "usage": {"input_tokens": read, "output_tokens": 0}}


def _systemone_answer(body: dict[str, Any], said: Said) -> dict[str, Any]:
    question, shares = said.question, said.shares
    if shares is None:
        return {"type": "refusal"}
    if question.kind == "predicate":
        return {"type": "noul", "noul": shares["true"]}
    best = max(shares, key=lambda label: shares[label])
    common = {"probabilities": dict(shares), "confidence": shares[best]}
    if question.kind == "choice":
        return {"type": "choice", "choice": best, **common}
    levels = body["questions"].get(question.name, {}).get("criteria", [])
    score = sum(int(label) * share for label, share in shares.items() if label.isdigit())
    return {"type": "score", "score": score, "legend": dict(enumerate(levels)), **common}


def _decisions_reply(body: dict[str, Any], said: Sequence[Said], read: int) -> dict[str, Any]:
    reply = {
        "model": body["model"],
        "answers": [{"name": one.question.name, **_decisions_answer(one)} for one in said],
        "usage": {
            **{"input_tokens": read, "output_tokens": 0, "total_tokens": read},
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }
    _check_reply(reply)
    return reply


def _decisions_answer(said: Said) -> dict[str, Any]:
    question, shares = said.question, said.shares
    if shares is None:
        return {"type": "refusal"}
    if question.kind == "predicate":
        return {"type": "predicate", "probability": shares["true"]}
    best = max(shares, key=lambda label: shares[label])
    if question.kind == "choice":
        listed = [{"value": label, "probability": share} for label, share in shares.items()]
        return {"type": "choice", "choice": best, "confidence": shares[best], "probabilities": listed}
    levels = [{"label": label, "probability": share, "value": n} for n, (label, share) in enumerate(shares.items())]
    score = sum(level["value"] * level["probability"] for level in levels)
    return {"type": "score", "score": score, "confidence": shares[best], "probabilities": levels}


def _check_reply(reply: dict[str, Any]) -> None:
    """That the fake itself speaks as the real endpoint does, as far as the client's types tell."""
    with contextlib.suppress(ImportError):
        from openai.types.decision import Decision

        Decision.model_validate(reply)
