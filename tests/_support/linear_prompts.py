"""Every prompt with texts of any length in it, and replies with such texts in them: see test_linear_time.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from assay.errors import InvalidReply
from assay.judges.prompt_rendering import render
from assay.prompts import (
    BackQuestions,
    Checklist,
    Claims,
    Classification,
    Criterion,
    Directness,
    Distance,
    Entities,
    Extraction,
    JudgePrompt,
    KeyQuestions,
    MultipleChoice,
    Question,
    QuestionBatch,
    Rating,
    Similarity,
    Support,
    SupportCells,
    Usefulness,
    UsefulSentences,
)  # fmt: skip
from assay.records import Claim, Evidence, Span

ROOM = 1000  # characters of the parts that a prompt is divided into


@dataclass(frozen=True)
class Asked:
    """A prompt with a text in it, replies to it with the same text in them, and a rule by which a script answers."""

    make: Callable[[str], JudgePrompt[Any]]
    replies: Callable[[str], Sequence[Mapping[str, Any]]]
    rule: Callable[..., Any]


def run(asked: Asked, text: str) -> None:
    """All that is done with a prompt on its way to a judge and back."""
    prompt = asked.make(text)
    prompt.key("judge")
    prompt.questions()
    prompt.halve()
    if prompt.full_content is not None:
        render(prompt.full_content, show_schema=True)
    for times in range(4):  # some texts do not count as what is divided
        division = prompt.fit(times * len(text) + ROOM)
        if division is not None and len(division.parts) > 1:
            _look_at(prompt, division.join([part.apply_rule(asked.rule) for part in division.parts]))
    for reply in asked.replies(text):
        with suppress(InvalidReply):
            _look_at(prompt, prompt.read(reply))


def _look_at(prompt: JudgePrompt[Any], judgement: Any) -> None:
    prompt.check(judgement)
    prompt.load(prompt.dump(judgement))


def _pieces(text: str, size: int = 50) -> tuple[str, ...]:
    return tuple(text[at : at + size] for at in range(0, len(text), size))


def _many(text: str) -> tuple[str, ...]:
    """One long passage, and many short ones."""
    return (text, *_pieces(text))


def _numbers(text: str) -> range:
    """Of those."""
    return range(1, len(_many(text)) + 1)


def _sentences(text: str) -> UsefulSentences:
    """Very many sentences of one passage, which is read in very many pieces."""
    spans = [Span(at, min(at + 10, len(text))) for at in range(0, len(text), 10)]
    return UsefulSentences("?", (text,), tuple(Evidence(passage=0, span=span, text=span.of(text)) for span in spans))


def _items(text: str, names: Sequence[str], label: str) -> list[Mapping[str, Any]]:
    """Items of replies to readings, good and bad; each holds about the text."""
    half = len(text) // 2
    said = [text, text[1:] + "y", text[:half].upper() + " ... " + text[half:]]
    quotes = [{"passage": "P1", "label": label, "quote": quote} for quote in said]
    good = {"id": names[0], "reason": text, "label": label, "quotes": quotes}
    rest = [{"id": name, "reason": "-", "label": label, "quotes": []} for name in names[1:]]
    bad = [{"id": text}, {"label": text}, {"quotes": [{"passage": text}]}, {"quotes": text}]
    return [{"items": [good, *rest]}, {"items": text}, *({"items": [good | one, *rest]} for one in bad)]


def _answers(text: str) -> list[Mapping[str, Any]]:
    good = {"question": "Q1", "reason": text, "label": "yes"}
    bad = [{"question": text}, {"label": text}]
    return [{"answers": [good]}, {"answers": text}, *({"answers": [good | one]} for one in bad)]


def _labelled(text: str, label: str, **more: str) -> list[Mapping[str, Any]]:
    return [{"reason": text, "label": label, **more}, {"reason": "-", "label": text, **more}]


#: Each prompt of the core.
PROMPTS: dict[type[JudgePrompt[Any]], list[Asked]] = {
    Question: [
        Asked(
            lambda t: Question(t, {"TEXT": t, "PIECES": _pieces(t)}, labels={t: "-", "b": t}),
            lambda t: _labelled(t, "b"),
            lambda *about: "b",
        )
    ],
    BackQuestions: [
        Asked(
            lambda t: BackQuestions(t), lambda t: [{"questions": [t] * 3, "noncommittal": True}], lambda *about: ("?",)
        )
    ],
    Checklist: [
        Asked(
            lambda t: Checklist(_many(t), (("TEXT", t),)),
            lambda t: [{"answers": [{"question": f"Q{n}", "label": "no"} for n in _numbers(t)]}, *_answers(t)],
            lambda *about: True,
        )
    ],
    MultipleChoice: [
        Asked(
            lambda t: MultipleChoice(t, ((t, "-"), ("b", t)), (("TEXT", t),)),
            lambda t: _labelled(t, "b"),
            lambda *about: "b",
        )
    ],
    Claims: [
        Asked(
            lambda t: Claims(t, "Is it? " + t),
            lambda t: [
                {"claims": [{"sentence": 1, "claim": piece} for piece in _many(t)]},
                {"claims": [{"sentence": t, "claim": t}]},
            ],
            lambda text: [text],
        )
    ],
    Criterion: [Asked(lambda t: Criterion(t, (("TEXT", t),)), _answers, lambda *about: True)],
    Directness: [
        Asked(
            lambda t: Directness("Is it?", t),
            lambda t: _labelled(t, "direct", quote=t[1:] + "y"),
            lambda *about: True,
        )
    ],
    Entities: [
        Asked(
            lambda t: Entities((t, t[1:])),
            lambda t: [{"entities": [t, t[1:] + "y", t.upper()]}],
            lambda text: [text[:9]],
        ),
        Asked(lambda t: Entities(_many(t)), lambda t: [{"entities": ["a", "Dr."]}], lambda text: [text[:9]]),
    ],
    QuestionBatch: [
        Asked(
            lambda t: QuestionBatch(
                (Support((Claim(text=t, span=Span(0, len(t))),), _many(t)), Usefulness("?", _many(t), t))
            ),
            lambda t: _items(t, ["C1", *(f"P{n}" for n in _numbers(t))], "supported"),
            lambda *about: "supported",
        ),
        Asked(
            lambda t: QuestionBatch((Support((Claim(text=t, span=Span(0, len(t))),), (t,)), Usefulness("", (t,), t))),
            lambda t: [
                {"items": [*one["items"], {"id": "P1", "label": "useful", "quotes": [{"passage": "P1", "quote": t}]}]}
                for one in _items(t, ["C1"], "supported")
                if isinstance(one["items"], list)
            ],
            lambda *about: "supported",
        ),
    ],
    KeyQuestions: [Asked(lambda t: KeyQuestions(t), lambda t: [{"questions": [t] * 5}], lambda text: ["?"])],
    Extraction: [
        Asked(lambda t: Extraction("all", "-", (("TEXT", t),)), lambda t: [{"items": [t, t[1:]]}], lambda *about: ["?"])
    ],
    Rating: [
        Asked(lambda t: Rating(t, ((1, t), (2, "-")), (("TEXT", t),)), lambda t: _labelled(t, "1"), lambda *about: 1)
    ],
    Similarity: [Asked(lambda t: Similarity(t, _many(t)), lambda t: [], lambda *about: 0.5)],
    Distance: [Asked(lambda t: Distance(t, _many(t)), lambda t: [], lambda *about: 0.5)],
    Classification: [
        Asked(  # few items, as of Support few claims: many are asked in parts, each with all of the text
            lambda t: Classification("kinds", "Is it?", (t, t[1:]), (("yes", "-"), ("no", "-")), (("TEXT", t),)),
            lambda t: [{"verdicts": [{"item": f"I{n}", "reason": t, "label": "no"} for n in (1, 2)]}],
            lambda *about: "yes",
        )
    ],
    Support: [
        Asked(
            lambda t: Support((Claim(text=t, span=Span(0, len(t))),), _many(t), "Is it?"),
            lambda t: _items(t, ["C1"], "supported"),
            lambda *about: "supported",
        )
    ],
    SupportCells: [
        Asked(
            lambda t: SupportCells((Claim(text=t, span=Span(0, len(t))),), _many(t), "Is it?"),
            lambda t: _items(t, ["C1"], "supported"),
            lambda *about: "supported",
        )
    ],
    Usefulness: [
        Asked(
            lambda t: Usefulness("Is it?", _many(t), t),
            lambda t: _items(t, [f"P{n}" for n in _numbers(t)], "useful"),
            lambda *about: True,
        )
    ],
    UsefulSentences: [
        Asked(
            lambda t: UsefulSentences.of("Is it?", _many(t)),
            lambda t: [{"sentences": [1]}, {"sentences": [t]}],
            lambda *about: True,
        ),
        Asked(_sentences, lambda t: [{"sentences": list(range(1, len(t) // 10))}], lambda *about: True),
    ],
}  # fmt: skip
