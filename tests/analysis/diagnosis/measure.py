"""`python -m tests.analysis.diagnosis.measure`: how often the causes of seeded failures are right; writes the page.

With the reader's verdicts, as they are and with 5% and 10% of them changed at random, and with the embedded judge.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay import evaluate
from assay.analysis.diagnosis import LABELS, find_causes
from assay.analysis.diagnosis.records import Causes
from assay.evaluation.result import Result
from assay.metrics import AnswerCorrectness
from tests.analysis.diagnosis.seeded_rows import Flip, Part, SeededRow, VerdictJudge, seeded_rows, unchanged

#: By claims alone: a reader gives no similarity.
METRICS = ("faithfulness", "grounded", "context_recall", AnswerCorrectness(weights=(1, 0)), "answer_directness")
PAGE = Path(__file__).parents[3] / "docs" / "evidence" / "causes.md"
RATES = (0.0, 0.05, 0.1)
SEED = 20_251
#: What cannot be said: neither right nor wrong.
NOT_SAID = ("unclear", "not read")
SAID = [label for label in LABELS if label not in NOT_SAID]
EVERY: list[str | None] = [None, *LABELS]


@dataclass
class Confusion:
    """How often each label was found for rows of each right label; None: the row did not fail."""

    counts: Counter[tuple[str | None, str | None]] = field(default_factory=Counter)

    def add(self, right: str | None, found: str | None) -> None:
        self.counts[right, found] += 1

    def of(self, right: Iterable[str | None], found: Iterable[str | None]) -> int:
        """Rows with one of these right labels and one of these found ones."""
        return sum(self.counts[a, b] for a in right for b in found)

    @property
    def right_share(self) -> float:
        """The share of the wrong rows that have the right label; "unclear" and no label count as wrong."""
        return self._agreed / self.of(SAID, EVERY)

    @property
    def precision(self) -> float:
        """The share of right ones among the labels said, those of right rows included."""
        return self._agreed / max(1, self.of(EVERY, SAID))

    @property
    def false_alarms(self) -> float:
        """The share of the right rows that count as failed."""
        return self.of([None], LABELS) / max(1, self.of([None], EVERY))

    @property
    def _agreed(self) -> int:
        return sum(self.counts[label, label] for label in SAID)

    def by_label(self) -> Iterator[tuple[str, int, int, int]]:
        """Each label with its rows, those found, and how often it was said."""
        for label in SAID:
            if self.of([label], EVERY) or self.of(EVERY, [label]):
                yield label, self.of([label], EVERY), self.counts[label, label], self.of(EVERY, [label])


def flips(rate: float, seed: int) -> Flip:
    """Changes each letter with this chance to one of the two others."""
    chance = random.Random(seed)

    def flip(letter: str) -> str:
        return chance.choice([one for one in "SCN" if one != letter]) if chance.random() < rate else letter

    return flip if rate else unchanged


def label_by_reader(row: SeededRow, flip: Flip = unchanged) -> str | None:
    """The label of a row by its reader's verdicts; None: it does not fail."""
    judge = VerdictJudge(row, flip)
    return _label(find_causes(evaluate([row.data], METRICS, judge), judge=judge, read=True))


def scored_by_embedded(part: Part) -> Result:
    """A part, scored by the embedded judge with all that the causes need (two to four minutes)."""
    rows = [row.data for row in seeded_rows(part)]
    return evaluate(rows, ["faithfulness", "grounded", "context_recall", "answer_correctness", "answer_directness"])


def by_reader(rows: Sequence[SeededRow], rate: float = 0.0) -> Confusion:
    """The labels by the reader's verdicts, a share of them changed."""
    found = Confusion()
    for number, row in enumerate(rows):
        found.add(row.label, label_by_reader(row, flips(rate, SEED + number)))
    return found


def by_embedded(part: Part) -> Confusion:
    """The labels by the embedded judge."""
    causes = find_causes(scored_by_embedded(part), judge="embedded", read=True)
    labels = {cause.id: cause.label for cause in causes.per_row.values()}
    found = Confusion()
    for row in seeded_rows(part):
        found.add(row.label, labels.get(row.data["id"]))
    return found


def _label(found: Causes) -> str | None:
    return next((cause.label for cause in found.per_row.values()), None)


def summary(found: Confusion) -> str:
    """The three figures in one line."""
    return (
        f"{found.right_share:.1%} of the wrong rows have the right label, {found.precision:.1%} of the labels said are "
        f"right, {found.false_alarms:.1%} of the right rows count as failed"
    )


def main() -> None:
    for part in ("development", "final"):
        rows = list(seeded_rows(part))
        for rate in RATES:
            print(part, f"{rate:.0%}", summary(by_reader(rows, rate)))
        print(part, "embedded", summary(found := by_embedded(part)))
        for label, total, right, said in found.by_label():
            print(f"  {label:40} {right} of {total} found, said {said} times")
        print({pair: n for pair, n in sorted(found.counts.items(), key=str) if pair[0] != pair[1]}, flush=True)


if __name__ == "__main__":
    main()
