"""What a cascade decided where. Reports add up: one for each prompt while it works, their sum when asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from assay._util.tabular import Tabular
from assay.records import Record, Usage

_COUNTED = ("decided", "escalated", "kept", "passed_on")


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeReport(Tabular, Record):
    """What a cascade decided where.

    Attributes:
        decided: Verdicts that stayed with the first judge, by kind of prompt.
        escalated: Verdicts in doubt, which the second judge was asked for.
        kept: Of those, the ones that are the first judge's all the same, because the second failed.
        passed_on: Prompts that went to the second judge whole.
        calls_alone: Requests that the second judge alone would have had, where prompts that share one count once.
        calls: Of those, the ones that it was sent.
    """

    _columns = (
        "decided escalated kept passed_on calls_alone calls first_calls=first_usage.calls then_calls=then_usage.calls"
    )

    decided: Mapping[str, int] = field(default_factory=dict)
    escalated: Mapping[str, int] = field(default_factory=dict)
    kept: Mapping[str, int] = field(default_factory=dict)
    passed_on: Mapping[str, int] = field(default_factory=dict)
    calls_alone: int = 0
    calls: int = 0
    first_usage: Usage = field(default_factory=Usage)
    then_usage: Usage = field(default_factory=Usage)

    def __add__(self, other: CascadeReport) -> CascadeReport:
        counts = {name: Counter(getattr(self, name)) + Counter(getattr(other, name)) for name in _COUNTED}
        return CascadeReport(
            **{name: dict(sorted(by_kind.items())) for name, by_kind in counts.items()},
            calls_alone=self.calls_alone + other.calls_alone,
            calls=self.calls + other.calls,
            first_usage=self.first_usage + other.first_usage,
            then_usage=self.then_usage + other.then_usage,
        )

    @property
    def share_escalated(self) -> float | None:
        """Verdicts in doubt / all verdicts that the first judge gave; None where it gave none."""
        doubtful = sum(self.escalated.values())
        verdicts = doubtful + sum(self.decided.values())
        return doubtful / verdicts if verdicts else None

    @property
    def calls_saved(self) -> int:
        """Requests that the second judge was spared."""
        return self.calls_alone - self.calls

    def text(self) -> str:
        """The report in one line."""
        share, doubtful = self.share_escalated, sum(self.escalated.values())
        asked = "no verdicts" if share is None else f"{doubtful} of {doubtful + sum(self.decided.values())} verdicts"
        percent = "" if share is None else f" ({share:.0%})"
        passed = sum(self.passed_on.values())
        return (
            f"cascade: {asked}{percent} went to the second judge"
            + (f", and {passed} prompts whole" if passed else "")
            + (f"; {sum(self.kept.values())} of them failed there and were kept" if self.kept else "")
            + f"; {self.calls_saved} of {self.calls_alone} calls saved"
        )
