"""What the fake model thinks: it reads the fenced sections and the schema of a prompt, and answers by word overlap.

Deterministic, and right often enough for evaluations from end to end: a claim is supported by a passage that has its
words, contradicted by one that has them but for a number or a negation; a passage is useful when it has the words of
the question and the expected answer; an answer is direct when it has words of the question and does not evade.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

SECTION = re.compile(r'<data-([0-9a-f]+) title="([^"]*)">\n(.*?)\n</data-\1>', re.DOTALL)
NEGATIONS = frozenset(re.findall(r"\w+", "not no never none nothing neither without cannot nor"))
STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been by did do does for from had has have he her his how in into is it its of on or she "
        "that the their them there they this to was were what when where which while who whom whose why will "
        "with would",
    )
)


@dataclass(frozen=True)
class Reading:
    """A chat request as the fake model sees it."""

    kind: str
    sections: list[tuple[str, str]]
    task: str
    schema: dict[str, Any]
    user: str

    def texts(self, prefix: str) -> list[str]:
        return [text for title, text in self.sections if title.startswith(prefix)]

    def text(self, prefix: str) -> str:
        return next(iter(self.texts(prefix)), "")


def read(body: dict[str, Any]) -> Reading:
    """The sections, the task and the schema of a request. The kind is told by the keys of the schema."""
    user = next(m["content"] for m in body["messages"] if m["role"] == "user")
    sections = [(title, text) for _, title, text in SECTION.findall(user)]
    task = user.rsplit("\n\nTASK\n", 1)[-1]
    schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
    if schema is None:
        stated = "\n".join(m["content"] for m in body["messages"] if m["role"] != "assistant")
        schema = json.loads(stated[stated.index("\n{", stated.index("JSON schema:")) :].strip().splitlines()[0])
    fused = "\nPART 1: " in f"\n{task}"
    kind = "fused" if fused else kind_of(schema, [title for title, _ in sections])
    return Reading(kind, sections, task, schema, user)


def kind_of(schema: dict[str, Any], titles: list[str]) -> str:
    keys = set(schema.get("required", ()))
    if keys == {"items", "sentences"}:  # all readings of passages have this schema
        if any(title.startswith("CLAIM C") for title in titles):
            return "support"
        return "useful_sentences" if "SENTENCES" in titles else "usefulness"
    kinds = {
        "claims": {"claims"},
        "criterion": {"answers"},
        "back_questions": {"questions", "noncommittal"},
        "key_questions": {"keyphrases", "questions"},
        "entities": {"entities"},
        "rating": {"reason", "label"},
        "directness": {"reason", "label", "quote"},
        "extraction": {"items"},
        "classification": {"verdicts"},
    }
    return next((kind for kind, needs in kinds.items() if keys == needs), "other")


def think(reading: Reading) -> dict[str, Any]:
    """An honest answer."""
    answer = {
        "support": _support,
        "fused": _fused,
        "claims": _claims,
        "usefulness": _usefulness,
        "useful_sentences": _useful_sentences,
        "criterion": _criterion,
        "back_questions": _back_questions,
        "key_questions": _key_questions,
        "entities": _entities,
        "rating": _rating,
        "directness": _directness,
        "extraction": _listing,
        "classification": _sorting,
    }.get(reading.kind)
    return answer(reading) if answer else _fill(reading.schema)


def embed(text: str, size: int = 64) -> list[float]:
    """A bag of hashed words, of length 1: texts that share words are close."""
    vector = [0.0] * size
    for word in re.findall(r"\w+", text.lower()) or ["(blank)"]:
        digest = hashlib.sha256(stem(word).encode()).digest()
        vector[digest[0] % size] += 1.0
        vector[digest[1] % size] += 0.5
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector]


def stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


@lru_cache(maxsize=20_000)
def words(text: str) -> frozenset[str]:
    found = re.findall(r"\d[\d.,]*\d|\w+", text.lower())
    return frozenset(stem(word) for word in found if word not in STOP and word not in NEGATIONS)


def sentences(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?<=[.!?。！？])\s*(?=\S)", text) if part.strip()] or [text.strip()]


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d[\d.,]*\d|\d", text))


def _negated(text: str) -> bool:
    return bool(NEGATIONS & set(re.findall(r"[a-z]+", text.lower()))) or "n't" in text.lower()


def judge_pair(claim: str, passage: str) -> tuple[str, str]:
    """(label, quote) of one claim against one passage."""
    wanted = words(claim)
    plain = {word for word in wanted if not word[0].isdigit()}
    best = max(sentences(passage), key=lambda s: len(wanted & words(s)), default="")
    covered = len(wanted & words(passage)) / max(1, len(wanted))
    nearby = words(best)
    if plain and len(plain & nearby) / len(plain) >= 0.75:
        if _negated(claim) != _negated(best):
            return "contradicted", best
        if _numbers(claim) and _numbers(best) and not _numbers(claim) <= _numbers(passage):
            return "contradicted", best
    if claim.strip().rstrip(".").lower() in passage.lower() or covered >= 0.8:
        return "supported", best
    return "not_mentioned", ""


def _support(reading: Reading) -> dict[str, Any]:
    passages = reading.texts("PASSAGE P")
    verdicts = []
    for number, claim in enumerate(reading.texts("CLAIM C"), 1):
        judged = [judge_pair(claim, passage) for passage in passages]
        labels = [label for label, _ in judged]
        label = "supported" if "supported" in labels else "contradicted" if "contradicted" in labels else None
        together = len(words(claim) & words(" ".join(passages))) / max(1, len(words(claim)))
        label = label or ("supported" if together >= 0.95 and len(passages) > 1 else "not_mentioned")
        cells = [
            {"passage": f"P{n}", "label": cell, "quote": quote}
            for n, (cell, quote) in enumerate(judged, 1)
            if cell != "not_mentioned"
        ]
        if label == "supported" and not cells:
            cells = _together(claim, passages)
        item = {"id": f"C{number}", "reason": f"{together:.2f} covered", "label": label, "quotes": cells}
        verdicts.append(item)
    return {"items": verdicts, "sentences": []}


def _together(claim: str, passages: list[str]) -> list[dict[str, str]]:
    """Of each passage that has words of the claim the sentence with most of them."""
    wanted = words(claim)
    best = [max(sentences(passage), key=lambda s: len(wanted & words(s)), default="") for passage in passages]
    return [
        {"passage": f"P{n}", "label": "together", "quote": quote}
        for n, quote in enumerate(best, 1)
        if wanted & words(quote)
    ]


def parts(task: str) -> list[tuple[list[str], list[str]]]:
    """Of each part of a fused task the ids that it asks for, and the passages that it is about alone."""
    lines = re.findall(r"^PART \d+: (.*?)(?:, on (.*?) alone)?$", task, re.MULTILINE)
    return [(ids.split(", "), places.split(", ") if places else []) for ids, places in lines]


def _fused(reading: Reading) -> dict[str, Any]:
    """Each part as it would be answered alone, with the numbers of the whole."""
    passages = {title.removeprefix("PASSAGE "): text for title, text in reading.sections if title.startswith("PASSAGE")}
    claims = {title.split(",")[0].removeprefix("CLAIM "): text for title, text in reading.sections
              if title.startswith("CLAIM")}  # fmt: skip
    rest = [(title, text) for title, text in reading.sections if not title.startswith(("PASSAGE", "CLAIM"))]
    items = []
    for ids, alone in parts(reading.task):
        places = alone or list(passages)
        own = [(f"PASSAGE P{n}", passages[place]) for n, place in enumerate(places, 1)]
        own += [(f"CLAIM C{n}", claims[name]) for n, name in enumerate(ids, 1) if name in claims]
        ask = _support if ids[0] in claims else _usefulness
        found = ask(Reading("", own + rest, reading.task, reading.schema, reading.user))["items"]
        for name, item in zip(ids, found, strict=True):
            quotes = [{**quote, "passage": places[int(quote["passage"][1:]) - 1]} for quote in item["quotes"]]
            items.append({**item, "id": name, "quotes": quotes})
    return {"items": items, "sentences": []}


def _claims(reading: Reading) -> dict[str, Any]:
    numbered = re.findall(r"^\[(\d+)\] (.*)$", reading.text("TEXT"), re.MULTILINE)
    claims = [
        {"sentence": int(number), "claim": " ".join(sentence.split())}
        for number, sentence in numbered
        if not sentence.strip().endswith("?") and not _evades(sentence)
    ]
    return {"claims": claims}


def _evades(text: str) -> bool:
    return bool(re.search(r"\b(?:I (?:do not|don't|cannot|can't)|not (?:known|available)|no information)\b", text))


def _usefulness(reading: Reading) -> dict[str, Any]:
    wanted = words(reading.text("QUESTION")) | words(reading.text("EXPECTED ANSWER"))
    items = []
    for n, passage in enumerate(reading.texts("PASSAGE P"), 1):
        share = len(wanted & words(passage)) / max(1, len(wanted))
        quote = max(sentences(passage), key=lambda s: len(wanted & words(s)), default="") if share >= 0.4 else ""
        label = "useful" if quote else "not_useful"
        quotes = [{"passage": f"P{n}", "label": "useful", "quote": quote}] if quote else []
        items.append({"id": f"P{n}", "reason": f"{share:.2f} shared", "label": label, "quotes": quotes})
    return {"items": items, "sentences": []}


def _useful_sentences(reading: Reading) -> dict[str, Any]:
    listed = reading.text("SENTENCES")
    return {"items": [], "sentences": useful_sentences(reading.text("QUESTION"), reading.texts("PASSAGE P"), listed)}


def useful_sentences(question: str, passages: list[str], listed: str) -> list[int]:
    """The numbers of sentences that have words of the question, looked up by how they begin."""
    wanted = words(question)
    useful = []
    for line in listed.splitlines():
        number, place, beginning = line.split(" ", 2)
        passage = " ".join(passages[int(place[1:]) - 1].split())
        begins = beginning.removesuffix(" ...")
        sentence = next((s for s in sentences(passage) if s.startswith(begins)), begins)
        if len(wanted & words(sentence)) / max(1, len(wanted)) >= 0.4:
            useful.append(int(number))
    return useful


def _criterion(reading: Reading) -> dict[str, Any]:
    material = words(" ".join(text for title, text in reading.sections if not title.startswith("QUESTION Q")))
    answers = []
    for number, question in enumerate(reading.texts("QUESTION Q"), 1):
        share = len(words(question) & material) / max(1, len(words(question)))
        answers.append({"question": f"Q{number}", "reason": f"{share:.2f}", "label": "yes" if share >= 0.5 else "no"})
    return {"answers": answers}


def _count(task: str, default: int) -> int:
    found = re.search(r"\b(\d+) (?:different|closed) questions", " ".join(task.split()))
    return int(found[1]) if found else default


def _back_questions(reading: Reading) -> dict[str, Any]:
    text = reading.text("ANSWER")
    count = _count(reading.task, 3)
    parts = sentences(text)
    questions = [f"What about this: {parts[n % len(parts)]}" for n in range(count)]
    return {"questions": questions, "noncommittal": _evades(text)}


def _key_questions(reading: Reading) -> dict[str, Any]:
    parts = sentences(reading.text("TEXT"))
    count = _count(reading.task, 5)
    return {
        "keyphrases": sorted(words(reading.text("TEXT")))[:5],
        "questions": [f"Is it true ({n + 1}) that {parts[n % len(parts)]}" for n in range(count)],
    }


def _listing(reading: Reading) -> dict[str, Any]:
    return {"items": [part for _, text in reading.sections for part in sentences(text)]}


def _sorting(reading: Reading) -> dict[str, Any]:
    """The first label for items whose words stand in the other texts, else the last."""
    labels = reading.schema["properties"]["verdicts"]["items"]["properties"]["label"]["enum"]
    known = {word for title, text in reading.sections if not title.startswith("ITEM I") for word in words(text)}
    items = [text for title, text in reading.sections if title.startswith("ITEM I")]
    return {
        "verdicts": [
            {"item": f"I{n}", "reason": "by its words", "label": labels[0 if set(words(text)) <= known else -1]}
            for n, text in enumerate(items, 1)
        ]
    }


def _entities(reading: Reading) -> dict[str, Any]:
    names: dict[str, None] = {}
    for passage in reading.texts("PASSAGE P"):
        names |= dict.fromkeys(re.findall(r"\b(?:[A-Z]\w+(?: [A-Z]\w+)*|\d{4})\b", passage))
    return {"entities": list(names)}


def _rating(reading: Reading) -> dict[str, Any]:
    levels = reading.schema["properties"]["label"]["enum"]
    texts = [words(text) for _, text in reading.sections]
    share = len(texts[0] & texts[-1]) / max(1, len(texts[-1])) if texts else 0.0
    return {"reason": f"{share:.2f} shared", "label": levels[min(len(levels) - 1, int(share * len(levels)))]}


def directly(question: str, answer: str) -> bool:
    """Whether an answer has the words of the question, and does not evade it."""
    wanted = words(question)
    return len(wanted & words(answer)) / max(1, len(wanted)) >= 0.4 and not _evades(answer)


def _directness(reading: Reading) -> dict[str, Any]:
    question, answer = reading.text("QUESTION"), reading.text("ANSWER")
    if not directly(question, answer):
        return {"reason": "words of the question are missing", "label": "indirect", "quote": ""}
    quote = max(sentences(answer), key=lambda s: len(words(question) & words(s)))
    return {"reason": "it has the words of the question", "label": "direct", "quote": quote}


def _fill(schema: dict[str, Any]) -> Any:
    """Any value that fits a schema."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {name: _fill(inner) for name, inner in schema.get("properties", {}).items()}
    return {"array": [], "integer": 0, "number": 0.0, "boolean": False, "null": None}.get(kind, "text")
