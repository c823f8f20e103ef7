"""DeepEval's `Classifier` with labels of one's own, of an answer or of a whole conversation.

1 where the label is `expected_labels[TITLE]` of the row, else 0, as in `classifiers`. The labels are a parameter or the
column `labels`: names, or an object of names and what they mean. DeepEval 4.3.1, `deepeval.classifiers.Classifier` on
an `LLMTestCase` and on a `ConversationalTestCase`; the latter with `kind` is one of the 13 of `classifiers`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause, InputError
from assay.judges.protocol import Judge
from assay.metrics.deepeval.classifier_labels import KINDS
from assay.metrics.deepeval.classifiers import compared, goes_by, with_none
from assay.metrics.deepeval.deepeval_metric import DeepEvalMetric
from assay.metrics.deepeval.turn_fields import TURN_FIELDS, Sections, case_sections, turn_sections
from assay.metrics.systems.base import Entry, Steps
from assay.prompts import Question
from assay.records import Sample, Score

READ_AS = "In the CONVERSATION the QUESTION is what the user says, and the ANSWER what the assistant says, all along."
FITS = "Which label fits the {what} best, by what the labels mean?"


def labels_of(given: object) -> tuple[tuple[str, str], ...]:
    """Labels and what they mean, from names or from an object. Raises InputError."""
    if isinstance(given, str) or not isinstance(given, Mapping | Sequence):
        raise InputError(f"labels: expected names, or an object of names and meanings, got {type(given).__name__}")
    pairs = given.items() if isinstance(given, Mapping) else ((label, "") for label in given)
    found = {str(label).strip(): str(meaning or "") for label, meaning in pairs}
    if len(found) < 2 or "" in found:
        raise InputError(f"labels: expected two or more names, got {list(found)!r}")
    return tuple(found.items())


@dataclass(frozen=True)
class OwnClassifier(DeepEvalMetric):
    """Whether the answer gets the expected one of `labels` (pairs of label and what it means).

    Attributes:
        title: Its name in `expected_labels`.
        allow_none: Whether "NONE" is a label too.
    """

    name: ClassVar[str] = "deepeval:classifier"
    needs: ClassVar[tuple[str, ...]] = ("question", "answer")
    asks: ClassVar = (Question,)
    what: ClassVar[str] = "ANSWER"
    columns: ClassVar[tuple[str, ...]] = ("expected_labels", "labels")

    labels: tuple[tuple[str, str], ...] | None = None
    title: str = "classifier"
    allow_none: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.labels is not None:
            labels_of(dict(self.labels))

    def sections(self, sample: Sample) -> Sections:
        """What the judge is shown."""
        return self.shown(sample, ("retrieval_context", "input", "actual_output"))

    def question_and_labels(self, sample: Sample) -> tuple[str, dict[str, str]]:
        """The question and its labels. Raises InputError for labels of the row that are none."""
        labels = self.labels or labels_of(self.setting(sample, "labels", object))
        return FITS.format(what=self.what), dict(labels)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        material = self.sections(sample)
        try:
            question, labels = self.question_and_labels(sample)
        except InputError as error:
            return self.skip(Cause.MISSING_INPUT, f"{self.label}: {error}")
        labels = with_none(labels) if self.allow_none else labels
        fenced = self.labels is None and not self._has_kind
        verdict = await judge.find(Question(question, material, labels=labels, language=sample.spoken, fenced=fenced))
        return compared(self, self.title, verdict, labels, sample)

    @property
    def _has_kind(self) -> bool:
        """Whether the labels are those of one of DeepEval's own classifiers."""
        return False


@dataclass(frozen=True)
class ConversationalClassifier(OwnClassifier):
    """The same for a conversation; `kind`, such as "resolution", takes labels and name of that classifier."""

    name: ClassVar[str] = "deepeval:conversational_classifier"
    needs: ClassVar[tuple[str, ...]] = ()
    what: ClassVar[str] = "CONVERSATION"
    columns: ClassVar[tuple[str, ...]] = ("expected_labels", "labels")
    may_read: ClassVar[tuple[str, ...]] = ("chatbot_role", "scenario")

    kind: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind and self.kind not in KINDS:
            raise InputError(f"{self.name}: kind: expected one of {', '.join(KINDS)}; got {self.kind!r}")
        if self.kind:
            object.__setattr__(self, "title", self.kind)

    def sections(self, sample: Sample) -> Sections:
        case = tuple(name for name in ("scenario", "chatbot_role") if sample.metadata.get(name))
        about = goes_by(KINDS[self.kind], sample) if self.kind else ()
        return (*turn_sections(sample, self, TURN_FIELDS), *case_sections(sample, self, case), *about)

    @property
    def _has_kind(self) -> bool:
        return bool(self.kind)

    def question_and_labels(self, sample: Sample) -> tuple[str, dict[str, str]]:
        if not self.kind:
            return super().question_and_labels(sample)
        return f"{READ_AS} {KINDS[self.kind].question}", dict(KINDS[self.kind].labels)


def _entry(make: type[OwnClassifier], unit: str) -> Entry:
    return Entry(
        make=make,
        source="deepeval.classifiers.Classifier",
        compared="deepeval 4.3.1",
        family="classification",
        steps=Steps(unit, "labels of one's own", "the expected label", "yes or no"),
        empty="no score without an expected label",
    )


ENTRIES = (
    _entry(OwnClassifier, "the whole answer"),
    _entry(ConversationalClassifier, "the whole conversation"),
)
