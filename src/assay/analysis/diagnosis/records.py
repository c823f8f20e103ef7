"""What is found about failed samples: one label each, with what shows it."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay._util.table_view import TableView
from assay._util.tabular import Tabular
from assay._util.terminal import pluralize
from assay.analysis.diagnosis.answerability import KINDS, REPLIES, Answerability
from assay.analysis.diagnosis.context_health import ContextHealth
from assay.analysis.diagnosis.labels import FIRST_STEPS, Label, in_order
from assay.analysis.diagnosis.slices import CauseSlices
from assay.analysis.diagnosis.themes import Theme
from assay.errors import printable
from assay.records import Usage


@dataclass(frozen=True, slots=True)
class RootCause(Tabular):
    """Why one sample failed.

    Attributes:
        label: One of LABELS.
        because: What shows it, in one sentence that quotes the claim and the passage.
        probability: Of the label; None unless a model gave it (`assay.analysis.diagnosis.cause_model`).
        also: Other causes that claims of the row have, the first in the pipeline first.
        row: Number of the row, from 1, and its `id` where it has one.
        failed: The metrics that failed it, with their values.
        reads: Prompts that would have to be answered before more can be said; 0 unless the label is "not read".
    """

    _columns, _noun = "row id label because first_step also failed probability reads", "failed row"

    label: Label
    because: str
    row: int = 0
    id: str | None = None
    failed: Mapping[str, float] = field(default_factory=dict)
    reads: int = 0
    also: tuple[Label, ...] = ()
    probability: float | None = None

    @property
    def first_step(self) -> str | None:
        """What to do first; None where the cause is not known."""
        return FIRST_STEPS.get(self.label)

    def __str__(self) -> str:
        return printable(f"{self.label}: {self.because}")

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "row": self.row,
            "id": self.id,
            "label": self.label,
            "also": list(self.also),
            "probability": self.probability,
            "because": self.because,
            "first_step": self.first_step,
            "failed": dict(self.failed),
            "reads": self.reads,
        }


@dataclass(frozen=True, slots=True)
class Causes(Tabular):
    """The causes of all failed rows of a run.

    Attributes:
        per_row: The cause of each failed row, by its number from 1, in the order of the data.
        rows: Rows of the run; `unmeasured` of them have no value of any metric that decides, so nobody knows.
        doubtful: Rows beyond a threshold that do not count as failed: the judge's verdicts on them are too unsure.
        thresholds: What counts as failed: below, or above where less is better; see `find_causes`.
        answered: The table of questions that can be answered and answers that were given, of all rows.
        health: The state of the passages of all rows.
        slices: The causes by the values of columns, where that was asked for.
        themes: What the questions of failed rows are about, where that was asked for.
        usage: What reading took; `asked` counts the prompts it needed, those that the store knew included.
    """

    _item_type = RootCause

    def _items(self) -> Collection[RootCause]:
        return self.per_row.values()

    def _view(self) -> TableView:
        first = {str(cause.label): f"row {cause.row}: {cause.because}" for cause in reversed([*self.per_row.values()])}
        found = [
            {"cause": label, "rows": count, "share": count / self.failed, "example": first[label]}
            for label, count in self.counts.items()
        ]
        title = f"{self.failed:,} of {pluralize(self.rows, 'row')} of {self.run} failed"
        return TableView(title, found, len(found))

    run: str
    per_row: Mapping[int, RootCause] = field(default_factory=dict)
    rows: int = 0
    unmeasured: int = 0
    doubtful: int = 0
    thresholds: Mapping[str, float] = field(default_factory=dict)
    answered: Answerability = field(default_factory=Answerability)
    health: ContextHealth = field(default_factory=ContextHealth)
    slices: CauseSlices = field(default_factory=CauseSlices)
    themes: tuple[Theme, ...] = ()
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
        return in_order(Counter(cause.label for cause in self.per_row.values()))

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
            "doubtful": self.doubtful,
            "thresholds": dict(self.thresholds),
            "counts": self.counts,
            "shares": self.shares,
            "reads": self.reads,
            "asked": self.asked,
            "usage": self.usage.to_dict(),
            "answered": self.answered.to_dict(),
            "health": self.health.to_dict(),
            "slices": self.slices.to_dict(),
            "themes": [theme.to_dict() for theme in self.themes],
            "causes": [cause.to_dict() for cause in self.per_row.values()],
        }

    def to_text(self, examples: int = 2, columns: int = 80) -> str:
        """All of it in words, with so many examples of each label, in lines of at most so many characters."""

        return causes_text(self, examples, columns)

    def __str__(self) -> str:
        return self.to_text()


_LONGEST = 300  # characters of an example
_SLICES = 12  # slices of a column, and themes, that are shown


def causes_text(causes: Causes, examples: int = 2, columns: int = 80) -> str:
    """The causes as lines of at most `columns` characters (at least 40), with so many examples of each label."""
    columns = max(40, columns)
    lines = [
        *_failures(causes, examples),
        *_slices(causes.slices),
        *_themes(causes.themes),
        *_answered(causes.answered),
        *_health(causes.health),
    ]
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
    if causes.doubtful:
        rows = pluralize(causes.doubtful, "more row")
        yield f"{rows} beyond a threshold: the judge's verdicts on them are too unsure to call them failed."
    for label, count in causes.counts.items():
        yield ""
        yield f"{causes.shares[label]:4.0%}  {label} ({pluralize(count, 'row')})"
        shown = [cause for cause in causes.per_row.values() if cause.label == label][:examples]
        yield from (f"      {_example(cause)}" for cause in shown)
        if label in FIRST_STEPS:
            yield f"      First: {FIRST_STEPS[label]}"
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
    also = f" (also: {', '.join(cause.also)})" if cause.also else ""
    shown = because if len(because) <= _LONGEST else because[: _LONGEST - 1] + "…"
    return f"row {cause.row}{named}: {shown}{also}"


def _slices(slices: CauseSlices) -> Iterator[str]:
    for column in slices.columns:
        yield ""
        yield f"{column}, the slice with most failures first (95% CI):"
        for one in slices.of(column)[:_SLICES]:
            low, high = one.interval
            causes = ", ".join(f"{label} {count}" for label, count in in_order(one.counts).items())
            share = f"{one.failed} of {one.rows}, {one.share:.0%} ({low:.0%} to {high:.0%})"
            yield f"  {one.value[:40]}: {share}" + (f": {causes}" if causes else "")
        if (more := len(slices.of(column)) - _SLICES) > 0:
            yield f"  and {more} more"


def _themes(themes: tuple[Theme, ...]) -> Iterator[str]:
    if not themes:
        return
    yield ""
    yield "Failed rows with questions about one thing:"
    for theme in themes[:_SLICES]:
        causes = ", ".join(f"{label} {count}" for label, count in theme.counts.items())
        rows = ", ".join(map(str, theme.rows[:5])) + (", …" if len(theme.rows) > 5 else "")
        yield f"  {', '.join(theme.terms) or 'one question'}: {pluralize(len(theme.rows), 'row')} ({rows}): {causes}"


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
