"""Question: one question of a user's own about texts, answered with a label of a closed set; yes or no by default.

Question("Is the tone of the ANSWER polite?", {"ANSWER": answer})
Question("How does the ANSWER address its reader?", {"ANSWER": answer}, labels={"formal": "…", "casual": "…"})
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from assay.errors import InputError, InvalidReply
from assay.prompts.base import Division, JudgePrompt, LabelQuestion, PromptContent, PromptSection, Rule, whole
from assay.prompts.row_rubric import ASKED, by_own_label, fenced_labels, label_sections
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
T = TypeVar("T")


@dataclass(frozen=True, init=False)
class Question(JudgePrompt[Verdict]):
    """Question about texts, with an answer from a closed set of labels.

    Args:
        question: The question, which names the texts by their titles. Put judged text into `material`, because the
            judge is told not to follow instructions there.
        material: Texts by title, or pairs of title and text. Default: no texts. Several texts under one title get
            numbers: "PASSAGE P1", "PASSAGE P2".
        labels: Meaning of each label, at least two, the affirmative label first. `Verdict.probability` is the
            probability of that label. A metric that returns the verdict scores it 1.0. None: "yes" and "no".
        vote: Number of an independent answer to the question, sampled if the judge can sample. 0: the one best answer.
        language: ISO 639-1 code of the texts.
        choices: Pairs of label and meaning, in place of `labels`. None: `labels`.
        instructions: Instructions of the judge's user for this kind of prompt.
        images: Pairs of title and picture (see `assay.records.images.load`). The picture belongs to the text of that
            title.
        fenced: Whether question and labels come with the row. Then they stand between fences, like the material.

    Raises:
        InputError: The question is empty, a value in `material` is not a text, or there are fewer than two different
            labels.
    """

    name: ClassVar[str] = "question"
    judgement: ClassVar[Any] = Verdict
    divisible: ClassVar[bool] = True

    question: str
    material: tuple[tuple[str, str], ...]
    choices: tuple[tuple[str, str], ...]
    vote: int
    language: str
    fenced: bool = field(default=False, kw_only=True, repr=False)  # in the address are the texts that it moves

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
        fenced: bool = False,
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
            "fenced": fenced,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if not isinstance(question, str) or not question.strip():
            raise InputError(f"Question: question: expected a text, got {question!r}")
        if len(given) < 2 or len({_tidy(label) for label, _ in given} - {""}) != len(given):
            raise InputError(f"Question: labels: expected two or more that differ, got {[label for label, _ in given]}")

    def content(self) -> PromptContent:
        """Write the question as a prompt.

        Returns:
            The texts, the task with the labels, and the JSON schema of the reply.
        """
        texts = tuple(PromptSection(title, text) for title, text in self.material)
        rubric = label_sections(self.question, self.choices) if self.fenced else ()
        listed = "\n".join(label if meaning in ("", label) else f"{label}: {meaning}" for label, meaning in self._shown)
        return PromptContent(
            material=texts + rubric,
            task=TASK.format(question=self._asked, labels=listed),
            schema=record(reason=TEXT, label=one_of(*(label for label, _ in self._shown))),
            output_tokens=120,
            vote=self.vote,
            shared=len(texts),
        )

    def read(self, reply: Mapping[str, Any]) -> Verdict:
        """Read the verdict from a reply.

        Args:
            reply: The reply as parsed JSON, with `label` and `reason`, and `probs` if the endpoint returns
                probabilities.

        Returns:
            The verdict.

        Raises:
            InvalidReply: The label is not one of the labels.
        """
        label = self._label(reply.get("label"))
        if label is None:
            known = ", ".join(label for label, _ in self._shown)
            raise InvalidReply(f"The label must be one of {known}, not {reply.get('label')!r}.")
        probability = probability_of(reply, self._shown[0][0])
        return Verdict(label=label, probability=probability, reason=text_of(reply, "reason"))

    def fit(self, chars: int) -> Division[Verdict] | None:
        """Check whether the texts fit a size limit. The question is not divided.

        Args:
            chars: Maximum number of characters of the texts together.

        Returns:
            A division into one part. None if the texts are longer.
        """
        return whole(self) if sum(len(text) for _, text in self.material) <= chars else None

    def questions(self) -> tuple[LabelQuestion, ...]:
        """Return the question as a decision for a classifier endpoint.

        Returns:
            One decision with the name "question".
        """
        return (LabelQuestion("question", self._asked, dict(self._shown)),)

    def from_decisions(self, answers: Mapping[str, Mapping[str, float]]) -> Verdict:
        """Build the verdict from the probabilities of the labels.

        Args:
            answers: Probability of each label, under the name "question".

        Returns:
            The verdict with the most probable label, and the probability of the affirmative label.
        """
        odds = self.own_labels(answers["question"])
        label = max(self.labels(), key=lambda one: odds.get(one, 0.0))
        return Verdict(label=label, probability=odds.get(self.labels()[0], 0.0))

    def labels(self) -> tuple[str, ...]:
        """Return the labels.

        Returns:
            The labels, the affirmative one first.
        """
        return tuple(label for label, _ in self.choices)

    def verdicts(self, judgement: Verdict) -> tuple[Verdict, ...]:
        """Return the verdicts of a judgement.

        Args:
            judgement: The verdict.

        Returns:
            The verdict alone, as a tuple.
        """
        return (judgement,)

    def apply_rule(self, rule: Rule) -> Verdict:
        """Build the verdict of a scripted judge.

        Args:
            rule: Function that takes the question and returns a label. With two labels, True stands for the affirmative
                one and False for the other.

        Returns:
            The verdict, without a probability.

        Raises:
            InputError: The rule returns a value that is not a label.
        """
        said = rule(self.question)
        if isinstance(said, bool) and len(self.choices) == 2:
            return Verdict(label=self.labels()[0 if said else 1])
        label = self._label(said)
        if label is None:
            expected = ", ".join(map(repr, self.labels()))
            raise InputError(f"question rule: expected one of {expected} for {self.question!r}, got {said!r}")
        return Verdict(label=label)

    @property
    def _asked(self) -> str:
        return ASKED if self.fenced else self.question

    @property
    def _shown(self) -> tuple[tuple[str, str], ...]:
        return fenced_labels(self.choices) if self.fenced else self.choices

    def own_labels(self, found: Mapping[str, T]) -> Mapping[str, T]:
        """Map what a judge says of the labels that it is shown to the labels of the question.

        Args:
            found: A value for each label that the judge is shown.

        Returns:
            The values by the labels of the question.
        """
        return by_own_label(found, self.choices) if self.fenced else found

    def _label(self, said: object) -> str | None:
        wanted = _tidy(said) if isinstance(said, str) else None
        shown = self.own_labels({label: label for label, _ in self._shown})
        return next((own for own in self.labels() if wanted in (_tidy(shown[own]), _tidy(own))), None)


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
