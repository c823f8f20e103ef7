"""`python -m tests.analysis.diagnosis.measure`: how often the causes of seeded failures are right; writes the page.

With the reader's verdicts, as they are and with 5% and 10% of them changed at random, and with the embedded judge.
"""

from __future__ import annotations

import random
import sys
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
PARTS: tuple[Part, ...] = ("development", "final")
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


def scored_by_embedded(rows: Iterable[SeededRow]) -> Result:
    """Rows scored by the embedded judge with all that the causes need (0.3 to 0.6 s a row)."""
    data = [row.data for row in rows]
    return evaluate(data, ["faithfulness", "grounded", "context_recall", "answer_correctness", "answer_directness"])


def by_reader(rows: Sequence[SeededRow], rate: float = 0.0) -> Confusion:
    """The labels by the reader's verdicts, a share of them changed."""
    found = Confusion()
    for number, row in enumerate(rows):
        found.add(row.label, label_by_reader(row, flips(rate, SEED + number)))
    return found


def by_embedded(rows: Sequence[SeededRow]) -> Confusion:
    """The labels by the embedded judge."""
    causes = find_causes(scored_by_embedded(rows), judge="embedded", read=True)
    labels = {cause.id: cause.label for cause in causes.per_row.values()}
    found = Confusion()
    for row in rows:
        found.add(row.label, labels.get(row.data["id"]))
    return found


def _label(found: Causes) -> str | None:
    return next((cause.label for cause in found.per_row.values()), None)


def reader_table() -> Iterator[str]:
    """The figures by the reader's verdicts, as Markdown."""
    yield "| rows | verdicts changed | right label, of wrong rows | right, of labels said | right rows called failed |"
    yield "|---|--:|--:|--:|--:|"
    for part in PARTS:
        rows = list(seeded_rows(part))
        for rate in RATES:
            found = by_reader(rows, rate)
            figures = " | ".join(f"{one:.1%}" for one in (found.right_share, found.precision, found.false_alarms))
            yield f"| {part} | {rate:.0%} | {figures} |"


def embedded_table() -> Iterator[str]:
    """The figures by the embedded judge, as Markdown."""
    found = by_embedded(list(seeded_rows("final")))
    yield f"| right label, of wrong rows | {found.right_share:.1%} |"
    yield "|---|--:|"
    yield f"| right, of labels said | {found.precision:.1%} |"
    yield f"| right rows called failed | {found.false_alarms:.1%} |"
    yield ""
    yield "| label | rows | of them found | said in all |"
    yield "|---|--:|--:|--:|"
    for label, rows, right, said in found.by_label():
        yield f"| {label} | {rows} | {right} | {said} |"
    yield ""
    yield "What wrong rows are called instead (rows of the right label, columns as found):"
    yield ""
    yield from confusion_table(found)


def confusion_table(found: Confusion) -> Iterator[str]:
    """Right labels against found ones, as Markdown, without what is right."""
    yield "| right label | called |"
    yield "|---|---|"
    for right in [None, *SAID]:
        others = [(label, found.counts[right, label]) for label in EVERY if label != right]
        said = ", ".join(f"{label or 'not failed'} {count}" for label, count in others if count)
        if said:
            yield f"| {right or 'nothing is wrong'} | {said} |"


TABLES = {"reader": reader_table, "embedded": embedded_table}


def main() -> None:
    """Write the tables named on the command line, or all, into the page."""
    page = PAGE.read_text(encoding="utf-8")
    for name in sys.argv[1:] or TABLES:
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        before, _, rest = page.partition(begin)
        page = before + begin + "\n" + "\n".join(TABLES[name]()) + "\n" + end + rest.partition(end)[2]
        PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
