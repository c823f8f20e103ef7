"""DeepEval's 13 classifiers: which label of a closed set does the answer get, and is it the expected one?

1 where the label is `expected_labels[NAME]` of the row, else 0; `texts["label"]` is the label. A row that expects none
is skipped, and its label is there as well. DeepEval 4.3.1, `deepeval.classifiers`; the labels are its own, what they
mean is said in our words. Labels of a user, and conversations: see `own_classifiers`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause, InputError
from assay.judges.protocol import Judge
from assay.metrics.deepeval.classifier_labels import KINDS, Kind
from assay.metrics.deepeval.deepeval_metric import DeepEvalMetric
from assay.metrics.systems.base import Entry, Steps, given
from assay.prompts import Question
from assay.records import Sample, Score, Verdict

#: The label of an answer that no other fits, where `allow_none` is set.
NONE = "NONE"


def is_expected(label: str, expected: str) -> float:
    """1.0 where the label is the expected one."""
    return float(label == expected)


def with_none(labels: Mapping[str, str]) -> dict[str, str]:
    """The labels, and one for what fits none of them."""
    return {**labels, NONE: "none of the others fits"}


def goes_by(kind: Kind, sample: Sample, own: str | None = None) -> tuple[tuple[str, str], ...]:
    """The section that says what a classifier goes by: `own`, else the row's column; none where neither says it."""
    about = own if own is not None or not kind.about else sample.metadata.get(kind.about)
    if not kind.about or not about:
        return ()
    return ((kind.about.upper(), about if isinstance(about, str) else "\n".join(map(str, about))),)


@dataclass(frozen=True)
class Classifier(DeepEvalMetric):
    """Whether the answer gets the expected label of the classifier `kind`.

    Attributes:
        about: What the classifier goes by: the disclosures, the scope or the tone; or the column of that name.
        allow_none: Whether "NONE" is a label too.
    """

    needs: ClassVar = ("question", "answer")
    columns: ClassVar[tuple[str, ...]] = ("expected_labels",)
    asks: ClassVar = (Question,)

    name: str = ""  # type: ignore[misc]  # follows from the kind
    kind: str = "refusal"
    about: str | None = None
    allow_none: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"deepeval classifiers: kind: expected one of {', '.join(KINDS)}; got {self.kind!r}")
        object.__setattr__(self, "name", f"deepeval:{self.kind}")
        super().__post_init__()

    @property
    def may_read(self) -> tuple[str, ...]:  # type: ignore[override]  # depends on the kind
        about = KINDS[self.kind].about
        return (about,) if about else ()

    def labels(self) -> Mapping[str, str]:
        """The labels, with what they mean."""
        found = dict(KINDS[self.kind].labels)
        return with_none(found) if self.allow_none else found

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        kind = KINDS[self.kind]
        shown = self.shown(sample, ("retrieval_context", "input", "actual_output"))
        material = (*shown, *goes_by(kind, sample, self.about))
        verdict = await judge.find(Question(kind.question, material, labels=self.labels(), language=sample.spoken))
        return compared(self, self.kind, verdict, self.labels(), sample)


def compared(metric: DeepEvalMetric, kind: str, verdict: Verdict, labels: Collection[str], sample: Sample) -> Score:
    """Whether the label is the one that the row expects of the classifier `kind`."""
    verdicts, texts = {f"answer/{kind}": (verdict,)}, {"label": (verdict.label,)}
    expected = given(sample, metric, "expected_labels", dict, {}).get(kind)
    if expected is None:
        message = f"the label is {verdict.label!r}; metadata['expected_labels'] expects none of {kind}"
        return metric.skip(Cause.MISSING_INPUT, message, verdicts=verdicts, texts=texts)
    if expected not in labels:
        message = f"expected_labels: {expected!r} is no label of {kind} ({', '.join(labels)})"
        return metric.skip(Cause.MISSING_INPUT, message, verdicts=verdicts, texts=texts)
    return metric.make_graded_score(is_expected(verdict.label, expected), verdicts=verdicts, texts=texts)


def _entry(kind: str) -> Entry:
    title = "".join(word.capitalize() for word in kind.split("_"))
    return Entry(
        make=lambda: Classifier(kind=kind),
        source=f"deepeval.classifiers.{title}Classifier",
        compared="deepeval 4.3.1",
        family="classification",
        steps=Steps("the whole answer", "a closed set of labels", "the expected label", "yes or no"),
        empty="no score without an expected label",
    )


ENTRIES = tuple(map(_entry, KINDS))
