"""DeepEval's 13 classifiers: which label of a closed set does the answer get, and is it the expected one?

1 where the label is `expected_labels[NAME]` of the row, else 0; `texts["label"]` is the label. A row that expects none
is unscored, and its label is there as well. DeepEval 4.3.1, `deepeval.classifiers`; the labels are its own, what they
mean is said in our words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause, InputError
from assay.inquiries import Ask
from assay.judges.base import Judge
from assay.records import Sample, Score
from assay.systems.base import Entry, Steps, given
from assay.systems.deepeval.classifier_labels import KINDS
from assay.systems.deepeval.graded import DeepEvalMetric

#: The label of an answer that no other fits, where `allow_none` is set.
NONE = "NONE"


def is_expected(label: str, expected: str) -> float:
    """1.0 where the label is the expected one."""
    return float(label == expected)


@dataclass(frozen=True)
class Classifier(DeepEvalMetric):
    """Whether the answer gets the expected label of the classifier `kind`.

    about       what the classifier goes by: the disclosures, the scope or the tone; or the column of that name
    allow_none  whether "NONE" is a label too
    """

    needs: ClassVar = ("question", "answer")
    asks: ClassVar = (Ask,)

    name: str = ""  # type: ignore[misc]  # follows from the kind
    kind: str = "refusal"
    about: str | None = None
    allow_none: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"deepeval classifiers: kind: expected one of {', '.join(KINDS)}; got {self.kind!r}")
        object.__setattr__(self, "name", f"deepeval:{self.kind}")
        super().__post_init__()

    def labels(self) -> Mapping[str, str]:
        """The labels, with what they mean."""
        found = dict(KINDS[self.kind].labels)
        return {**found, NONE: "none of the others fits"} if self.allow_none else found

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        kind = KINDS[self.kind]
        material = list(self.shown(sample, ("retrieval_context", "input", "actual_output")))
        about = self.about if self.about is not None or not kind.about else sample.metadata.get(kind.about)
        if kind.about and about:
            listed = about if isinstance(about, str) else "\n".join(map(str, about))
            material.append((kind.about.upper(), listed))
        verdict = await judge.find(Ask(kind.question, material, labels=self.labels(), language=sample.spoken))
        verdicts, texts = {f"answer/{self.kind}": (verdict,)}, {"label": (verdict.label,)}
        expected = given(sample, self, "expected_labels", dict, {}).get(self.kind)
        if expected is None:
            message = f"the label is {verdict.label!r}; metadata['expected_labels'] expects none of {self.kind}"
            return self.unscored(Cause.MISSING_INPUT, message, verdicts=verdicts, texts=texts)
        if expected not in self.labels():
            known = ", ".join(self.labels())
            message = f"expected_labels: {expected!r} is no label of {self.kind} ({known})"
            return self.unscored(Cause.MISSING_INPUT, message, verdicts=verdicts, texts=texts)
        return self.graded(is_expected(verdict.label, expected), verdicts=verdicts, texts=texts)


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
