"""What is found about failed samples: one label each, with what shows it."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from assay._util.table_view import TableView
from assay._util.tabular import Tabular
from assay._util.terminal import pluralize
from assay.analysis.diagnosis.answerability import KINDS, REPLIES, Answerability
from assay.analysis.diagnosis.context_health import ContextHealth
from assay.errors import printable
from assay.records import Usage

Label = Literal[
    "not retrieved",
    "ranked too low",
    "truncated",
    "contradicted by another passage",
    "context not used",
    "hallucination: contradicts the passage",
    "hallucination: unsupported",
    "wrong or incomplete reference",
    "unanswerable and answered",
    "answerable and refused",
    "not read",
    "unexplained",
]
#: Every label, in the order of a pipeline: what goes wrong first stands first; what could not be said stands last.
LABELS: tuple[Label, ...] = get_args(Label)


@dataclass(frozen=True, slots=True)
class RootCause(Tabular):
    """Why one sample failed.

    Attributes:
        label: One of LABELS.
        because: What shows it, in one sentence that names the claim and the passage.
        row: Number of the row, from 1, and its `id` where it has one.
        failed: The metrics that failed it, with their values.
        reads: Prompts that would have to be answered before more can be said; 0 unless the label is "not read".
    """

    _columns, _noun = "row id label because failed reads", "failed row"

    label: Label
    because: str
    row: int = 0
    id: str | None = None
    failed: Mapping[str, float] = field(default_factory=dict)
    reads: int = 0

    def __str__(self) -> str:
        return printable(f"{self.label}: {self.because}")

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "row": self.row,
            "id": self.id,
            "label": self.label,
            "because": self.because,
            "failed": dict(self.failed),
            "reads": self.reads,
        }


@dataclass(frozen=True, slots=True)
class Causes(Tabular):
    """The causes of all failed rows of a run.

    Attributes:
        per_row: The cause of each failed row, by its number from 1, in the order of the data.
        rows: Rows of the run; `unmeasured` of them have no value of any metric that decides, so nobody knows.
        thresholds: What counts as failed: below, or above where less is better; see `find_causes`.
        answered: The table of questions that can be answered and answers that were given, of all rows.
        health: The state of the passages of all rows.
        usage: What reading took; `asked` counts the prompts it needed, those that the store knew included.
    """

    _item_type = RootCause

    def _items(self) -> Collection[RootCause]:
        return self.per_row.values()

    def _view(self) -> TableView:
        first = {str(cause.label): f"row {cause.row}: {cause.because}" for cause in reversed([*self.per_row.values()])}
        found = [
            {"cause": label, "rows": count, "share": self.shares[label], "example": first[label]}
            for label, count in self.counts.items()
        ]
        title = f"{self.failed:,} of {pluralize(self.rows, 'row')} of {self.run} failed"
        return TableView(title, found, len(found))

    run: str
    per_row: Mapping[int, RootCause] = field(default_factory=dict)
    rows: int = 0
    unmeasured: int = 0
    thresholds: Mapping[str, float] = field(default_factory=dict)
    answered: Answerability = field(default_factory=Answerability)
    health: ContextHealth = field(default_factory=ContextHealth)
    usage: Usage = field(default_factory=Usage)
    asked: int = 0

    @property
    def reads(self) -> int:
        """JudgePrompts that the rows that are "not read" would take, at least: one reading may lead to another."""
        return sum(cause.reads for cause in self.per_row.values())

    @property
    def failed(self) -> int:
        """Failed rows."""
        return len(self.per_row)

    @property
    def counts(self) -> dict[str, int]:
        """Failed rows by label, the most frequent first; of equal ones in the order of LABELS."""
        found = Counter(cause.label for cause in self.per_row.values())
        return {label: found[label] for label in sorted(found, key=lambda one: (-found[one], LABELS.index(one)))}

    @property
    def shares(self) -> dict[str, float]:
        """Share of the failed rows by label; they sum to 1. Empty where none failed."""
        return {label: count / self.failed for label, count in self.counts.items()}

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "run": self.run,
            "rows": self.rows,
            "failed": self.failed,
            "unmeasured": self.unmeasured,
            "thresholds": dict(self.thresholds),
            "counts": self.counts,
            "shares": self.shares,
            "reads": self.reads,
            "asked": self.asked,
            "usage": self.usage.to_dict(),
            "answered": self.answered.to_dict(),
            "health": self.health.to_dict(),
            "causes": [cause.to_dict() for cause in self.per_row.values()],
        }

    def told(self, examples: int = 2, columns: int = 80) -> str:
        """All of it in words, with so many examples of each label, in lines of at most so many characters."""

        return causes_text(self, examples, columns)

    def __str__(self) -> str:
        return self.told()


_LONGEST = 300  # characters of an example


def causes_text(causes: Causes, examples: int = 2, columns: int = 80) -> str:
    """The causes as lines of at most `columns` characters (at least 40), with so many examples of each label."""
    columns = max(40, columns)
    lines = [*_failures(causes, examples), *_answered(causes.answered), *_health(causes.health)]
    return printable("\n".join(part for line in lines for part in _wrapped(line, columns)))


def _wrapped(line: str, columns: int) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.wrap(line, columns, subsequent_indent=indent, break_on_hyphens=False) or [""]


def _failures(causes: Causes, examples: int) -> Iterator[str]:
    limits = ", ".join(f"{name} {limit:g}" for name, limit in causes.thresholds.items())
    yield f"{causes.failed} of {pluralize(causes.rows, 'row')} of {causes.run} failed (thresholds: {limits})."
    if causes.unmeasured:
        rows = pluralize(causes.unmeasured, "row")
        yield f"{rows} without a value of any of these: whether they failed is not known."
    for label, count in causes.counts.items():
        yield ""
        yield f"{causes.shares[label]:4.0%}  {label} ({pluralize(count, 'row')})"
        shown = [cause for cause in causes.per_row.values() if cause.label == label][:examples]
        yield from (f"      {_example(cause)}" for cause in shown)
    if causes.reads:
        yield ""
        yield (
            f"What is not read takes {pluralize(causes.reads, 'prompt')} or more: `assay causes "
            f"{causes.run} --read` asks the run's judge, for these rows alone."
        )
    if causes.asked:
        yield ""
        yield (
            f"Read for this: {pluralize(causes.asked, 'prompt')} at most, "
            f"{pluralize(causes.usage.calls, 'call')} of the judge."
        )


def _example(cause: RootCause) -> str:
    named = "" if cause.id is None else f" ({cause.id[:40]})"
    because = " ".join(cause.because.split())
    return f"row {cause.row}{named}: {because if len(because) <= _LONGEST else because[: _LONGEST - 1] + '…'}"


def _answered(table: Answerability) -> Iterator[str]:
    if not table.known:
        return
    yield ""
    yield f"{'question':<31}" + "".join(f"{reply:>10}" for reply in REPLIES)
    for kind in KINDS:
        counts = table.row(kind)
        if any(counts.values()):
            yield f"{kind:<31}" + "".join(f"{counts[reply]:>10}" for reply in REPLIES)


def _health(health: ContextHealth) -> Iterator[str]:
    if not health.rows:
        return
    yield ""
    yield f"Passages: {health.passages} in {pluralize(health.rows, 'row')}."
    said = f"{health.duplicates} say nearly what an earlier one of their row says"
    first = [f"row {one.row}: {one.first} and {one.second}" for one in health.repeated[:2]]
    yield f"  {said}" + (f", in {pluralize(health.repeating, 'row')} ({'; '.join(first)})." if first else ".")
    if health.compared:
        pairs = [f"row {one.row}: {one.first} and {one.second}" for one in health.against[:2]]
        yield (
            f"  They contradict each other in {health.contradicting} of {pluralize(health.compared, 'row')} in which "
            f"what single passages say was read" + (f" ({'; '.join(pairs)})." if pairs else ".")
        )
    if health.share_unused is not None:
        yield (
            f"  {health.share_unused:.0%} of their text is in passages that no claim of the answer rests on "
            f"(known of {pluralize(health.used_known, 'row')})."
        )
