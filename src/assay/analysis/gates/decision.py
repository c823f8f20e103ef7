"""What a gate decides, and what it was decided by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from assay._util.tabular import Tabular
from assay.analysis.gates.rules import GateRule
from assay.errors import printable
from assay.judges.thresholds import Threshold
from assay.records.range_ends import plain_values

Verdict = Literal["PASS", "FAIL", "INCONCLUSIVE"]

#: The exit codes of gates; 0 to 4 are taken by what went wrong on the way (see `assay.cli.main`).
EXITS: dict[Verdict, int] = {"PASS": 0, "FAIL": 5, "INCONCLUSIVE": 6}


@dataclass(frozen=True, slots=True)
class DecidingRow(Tabular):
    """A row that decided a rule. Rows count from 1.

    Attributes:
        value, before: The score, and that in the baseline; None where there is none.
        because: What to look at: claims that flipped, claims that cost the score, or why there is no score.
    """

    _columns, _noun = "name row value before because", "deciding row"

    name: str
    row: int
    value: float | None
    before: float | None = None
    because: tuple[str, ...] = ()

    @property
    def moved(self) -> str:
        """Its name, and its score."""
        now = "no value" if self.value is None else f"{self.value:.2f}"
        was = "" if self.before is None else f"{self.before:.2f} -> "
        return printable(f"{self.name}: {was}{now}")

    def __str__(self) -> str:
        reasons = "; ".join(self.because)
        return printable(self.moved + (f": {reasons}" if reasons else ""))


@dataclass(frozen=True, slots=True)
class Ruling(Tabular):
    """One rule and what became of it.

    Attributes:
        because: The verdict in a sentence.
        value: The mean, or for a rule against a baseline the change of the mean, over the rows with a value; of
            good_share the share of rows that people would call good.
        interval: Where that lies; None where nothing is tested, or too few rows tell. Of a mean with the confidence of
            the gate; of a change each of its ends is wrong with probability 1 - confidence at most.
        bounds: The value, were every missing one as bad and as good as can be.
        p: How surprising this is where the rule holds: corrected for all rules (Holm); None where nothing is tested.
        rows: That the rule speaks of; `measured` of them have a value.
        left_out: Rows without a value that are none of the rule's.
        only_before: Rows of the baseline that the run has not.
        tolerance: What the judge alone may make of it; None where no noise is known.
        threshold: Of good_share: by what rows are told apart; `good`: how many are on its good side. None for other
            rules.
        decisive: The rows that decided it, the worst first.
    """

    _noun = "rule"
    _columns = (
        "rule verdict value low=interval.0 high=interval.1 because least=bounds.0 most=bounds.1 p rows measured "
        "left_out only_before tolerance threshold=threshold.value good"
    )

    rule: GateRule
    verdict: Verdict
    because: str
    value: float | None = None
    interval: tuple[float, float] | None = None
    bounds: tuple[float, float] | None = None
    p: float | None = None
    rows: int = 0
    measured: int = 0
    left_out: int = 0
    only_before: int = 0
    decisive: tuple[DecidingRow, ...] = ()
    tolerance: float | None = None
    threshold: Threshold | None = None
    good: int | None = None

    def __str__(self) -> str:
        lines = [f"{self.verdict} {self.rule}: {self.because}", *(f"  {one}" for one in self.decisive)]
        return printable("\n".join(lines))


@dataclass(frozen=True, slots=True)
class GateDecision(Tabular):
    """The rulings of a gate on a run: FAIL where one fails, else INCONCLUSIVE where one is, else PASS.

    Attributes:
        run: Name of the run.
        baseline: Name of the baseline; None without one.
        confidence: Confidence of tests and intervals, from 0 to 1.
        rulings: One for each rule.
        notes: Sentences that a reader should know.
        incomplete: Why the run or its baseline is incomplete, in words; empty where both are complete.
    """

    _item_type = Ruling

    def _items(self) -> tuple[Ruling, ...]:
        return self.rulings

    run: str
    baseline: str | None
    confidence: float
    rulings: tuple[Ruling, ...]
    notes: tuple[str, ...] = ()
    incomplete: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """PASS, FAIL or INCONCLUSIVE."""
        return joined([one.verdict for one in self.rulings])

    @property
    def exit_code(self) -> int:
        """What a command ends with: 0, 5 or 6."""
        return EXITS[self.verdict]

    @property
    def headline(self) -> str:
        """The verdict in one sentence."""
        against = "" if self.baseline is None else f" against {self.baseline}"
        telling = [str(one.rule) for one in self.rulings if one.verdict == self.verdict]
        kept = ", ".join(telling) if len(telling) == 1 else f"all {len(telling)} rules"
        said = {"PASS": f"keeps {kept}", "FAIL": f"breaks {', '.join(telling)}"}
        unsure = "; ".join([f"may or may not keep {', '.join(telling)}", *self.incomplete])
        return printable(f"{self.verdict}: {self.run}{against} {said.get(self.verdict, unsure)}")

    def __str__(self) -> str:
        return printable("\n".join([self.headline, *map(str, self.rulings), *self.notes]))

    def to_dict(self) -> dict[str, Any]:
        """Describe the decision as plain JSON values.

        Returns:
            All of it, rulings and rows included.
        """
        return {"verdict": self.verdict, "exit_code": self.exit_code, "headline": self.headline, **plain_values(self)}


def joined(verdicts: Sequence[Verdict]) -> Verdict:
    """One verdict of several: the worst."""
    worst: tuple[Verdict, ...] = ("FAIL", "INCONCLUSIVE")
    return next((one for one in worst if one in verdicts), "PASS")
