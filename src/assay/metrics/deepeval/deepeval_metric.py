"""What DeepEval's metrics have in common: a threshold, strict mode, parameters that may stand in the row.

The threshold does not change a value: `parts["threshold"]` and `parts["passed"]` say what it makes of it. In strict
mode only the best value passes, and DeepEval gives the worst for every other; ours does with `profile="original"`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from assay.errors import InputError
from assay.metrics.systems.base import SystemMetric, given
from assay.metrics.systems.input_rules import InputRules
from assay.records import Sample, Score, Verdict

T = TypeVar("T")

#: DeepEval's names for what a judge may be shown, in the order in which it is shown -> the title of the section.
SHOWN: Mapping[str, str] = {
    "retrieval_context": "PASSAGE",
    "context": "IDEAL PASSAGE",
    "input": "QUESTION",
    "actual_output": "ANSWER",
    "expected_output": "REFERENCE",
    "tools_called": "TOOLS CALLED",
    "expected_tools": "EXPECTED TOOLS",
    "metadata": "METADATA",
    "tags": "TAGS",
}


def share_counted(labels: Sequence[str], counted: Sequence[str]) -> float:
    """Labels that are among `counted` / labels. Expects at least one."""
    return sum(label in counted for label in labels) / len(labels)


@dataclass(frozen=True)
class DeepEvalMetric(SystemMetric):
    """A metric of DeepEval 4: `threshold` from 0 to 1; `strict_mode` makes it the best value.

    `lowers`: whether DeepEval gives the worst value in strict mode for all but the best.
    """

    lowers: ClassVar[bool] = True
    input_rules: ClassVar = InputRules(refuses_empty=("answer",))  # no convention: it raises

    threshold: float = field(default=0.5, kw_only=True)
    strict_mode: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:  # NaN fails this as well
            raise InputError(f"{self.name}: threshold must be from 0 to 1, not {self.threshold!r}")

    @property
    def best(self) -> float:
        """The good end of the range."""
        return self.high if self.direction == "higher" else self.low

    def make_graded_score(
        self,
        value: float,
        *,
        verdicts: Mapping[str, tuple[Verdict, ...]] | None = None,
        parts: Mapping[str, float] | None = None,
        texts: Mapping[str, tuple[str, ...]] | None = None,
    ) -> Score:
        """The score, with what the threshold makes of it."""
        needed = self.best if self.strict_mode else self.threshold
        passed = value >= needed if self.direction == "higher" else value <= needed
        if self.original and self.strict_mode and self.lowers and not passed:
            value = self.low if self.direction == "higher" else self.high
        judged = {"threshold": needed, "passed": float(passed)}
        return self.make_score(value, verdicts=verdicts, parts={**(parts or {}), **judged}, texts=texts)

    def setting(self, sample: Sample, key: str, kind: type[T]) -> T:
        """The parameter `key`; where it is None, what the row has under this name. Raises JudgeFailure without both."""
        own: T | None = getattr(self, key)
        return own if own is not None else given(sample, self, key, kind)

    def shown(self, sample: Sample, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """The sections of these of `SHOWN` that the sample has; passages and question first, as everywhere."""
        return tuple(section for name in SHOWN if name in names for section in _sections(sample, name))


def _sections(sample: Sample, name: str) -> list[tuple[str, str]]:
    title = SHOWN[name]
    if name in ("retrieval_context", "context"):
        passages = sample.contexts if name == "retrieval_context" else sample.reference_contexts
        return [(f"{title} P{number}", passage.text) for number, passage in enumerate(passages or (), 1)]
    own = {"input": sample.question, "actual_output": sample.answer, "expected_output": sample.reference}
    if name in own:
        text = own[name] or ""
    else:
        found = sample.metadata if name == "metadata" else sample.metadata.get(name)
        text = "" if not found else json.dumps(dict(found) if name == "metadata" else found, ensure_ascii=False)
    return [(title, text)] if text.strip() else []
