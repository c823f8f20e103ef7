"""Question: one question of a user's own about texts, answered with a label of a closed set; yes or no by default.

Question("Is the tone of the ANSWER polite?", {"ANSWER": answer})
Question("How does the ANSWER address its reader?", {"ANSWER": answer}, labels={"formal": "…", "casual": "…"})
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.errors import InputError, InvalidReply
from assay.prompts.base import Division, JudgePrompt, LabelQuestion, PromptContent, PromptSection, Rule, whole
from assay.prompts.schemas import TEXT, one_of, probability_of, record, text_of
from assay.records import Verdict
from assay.records.images import Image

#: The labels of a question for which none are given.
YES_NO: Mapping[str, str] = {"yes": "yes", "no": "no"}

TASK = """\
{question}

Choose exactly one label:
{labels}

Give a "reason" of one or two sentences and then the "label"."""

Texts = str | Sequence[str]


@dataclass(frozen=True, init=False)
class Question(JudgePrompt[Verdict]):
    """What label fits `question`, asked of `material`?

    question  in your own words, naming the texts by their titles. Judged texts belong into `material`, where the judge
              is told not to follow what they say
    material  title -> text, or pairs of both; several texts under one title are numbered ("PASSAGE P1", "PASSAGE P2")
    labels    label -> what it means, the affirmative one first: it is what `Verdict.probability` is of, and the 1.0 of
              a metric that returns the verdict. Default: "yes" and "no"
    vote      numbers independent answers to one question: each is asked on its own, sampled where the judge can sample
    choices   the labels as pairs, as the field holds them
    images    pairs of a title and a picture (`assay.records.images.load`) that belongs to the text of that title
    """

    name: ClassVar[str] = "question"
    judgement: ClassVar[Any] = Verdict
    divisible: ClassVar[bool] = True

    question: str
    material: tuple[tuple[str, str], ...]
    choices: tuple[tuple[str, str], ...]
    vote: int
    language: str

    def __init__(
        self,
        question: str,
        material: Mapping[str, Texts] | Iterable[tuple[str, Texts]] = (),
        *,
        labels: Mapping[str, str] | None = None,
        vote: int = 0,
        language: str = "en",
        choices: tuple[tuple[str, str], ...] | None = None,
        instructions: str = "",
        images: tuple[tuple[str, Image], ...] = (),
    ) -> None:
        given = choices if choices is not None else tuple((YES_NO if labels is None else labels).items())
        values = {
            "question": question,
            "material": tuple(_sections(material)),
            "choices": given,
            "vote": vote,
            "language": language,
            "instructions": instructions,
            "images": images,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if not isinstance(question, str) or not question.strip():
            raise InputError(f"Question: question: expected a text, got {question!r}")
        if len(given) < 2 or len({_tidy(label) for label, _ in given} - {""}) != len(given):
            raise InputError(f"Question: labels: expected two or more that differ, got {[label for label, _ in given]}")

    def content(self) -> PromptContent:
        texts = tuple(PromptSection(title, text) for title, text in self.material)
        listed = "\n".join(
            label if meaning in ("", label) else f"{label}: {meaning}" for label, meaning in self.choices
        )
        return PromptContent(
            material=texts,
            task=TASK.format(question=self.question, labels=listed),
            schema=record(reason=TEXT, label=one_of(*self.labels())),
            output_tokens=120,
            vote=self.vote,
            shared=len(texts),
        )

    def read(self, reply: Mapping[str, Any]) -> Verdict:
        label = self._label(reply.get("label"))
        if label is None:
            raise InvalidReply(f"The label must be one of {', '.join(self.labels())}, not {reply.get('label')!r}.")
        probability = probability_of(reply, self.labels()[0])
        return Verdict(label=label, probability=probability, reason=text_of(reply, "reason"))

    def fit(self, chars: int) -> Division[Verdict] | None:
        return whole(self) if sum(len(text) for _, text in self.material) <= chars else None

    def questions(self) -> tuple[LabelQuestion, ...]:
        return (LabelQuestion("question", self.question, dict(self.choices)),)

    def decided(self, answers: Mapping[str, Mapping[str, float]]) -> Verdict:
        odds = answers["question"]
        label = max(self.labels(), key=lambda one: odds.get(one, 0.0))
        return Verdict(label=label, probability=odds.get(self.labels()[0], 0.0))

    def labels(self) -> tuple[str, ...]:
        return tuple(label for label, _ in self.choices)

    def verdicts(self, judgement: Verdict) -> tuple[Verdict, ...]:
        return (judgement,)

    def scripted(self, rule: Rule) -> Verdict:
        """The judgement of a script: `rule(question)` gives a label, or True for the affirmative one and False else."""
        said = rule(self.question)
        if isinstance(said, bool) and len(self.choices) == 2:
            return Verdict(label=self.labels()[0 if said else 1])
        label = self._label(said)
        if label is None:
            expected = ", ".join(map(repr, self.labels()))
            raise InputError(f"question rule: expected one of {expected} for {self.question!r}, got {said!r}")
        return Verdict(label=label)

    def _label(self, said: object) -> str | None:
        wanted = _tidy(said) if isinstance(said, str) else None
        return next((label for label in self.labels() if _tidy(label) == wanted), None)


def _sections(material: Mapping[str, Texts] | Iterable[tuple[str, Texts]]) -> Iterable[tuple[str, str]]:
    for title, texts in material.items() if isinstance(material, Mapping) else material:
        if isinstance(texts, str):
            yield title, texts
            continue
        if not isinstance(texts, Iterable):
            raise InputError(f"Question: material {title!r}: expected a text or several, got {type(texts).__name__}")
        for number, text in enumerate(texts, 1):
            if not isinstance(text, str):
                raise InputError(f"Question: material {title!r}: expected a text or several, got {type(text).__name__}")
            yield f"{title} {title[:1].upper()}{number}", text


def _tidy(label: str) -> str:
    return label.strip().lower().replace(" ", "_").replace("-", "_")
