"""The causes of a run in words: a table of labels with examples, the table of refusals, the state of the passages."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay.causes.answerability import KINDS, REPLIES, Answerability
from assay.causes.health import Health
from assay.terminal import counted, printable

if TYPE_CHECKING:
    from assay.causes.records import Causes, RootCause

_LONGEST = 300  # characters of an example


def told(causes: Causes, examples: int = 2, columns: int = 80) -> str:
    """The causes as lines of at most `columns` characters (at least 40), with so many examples of each label."""
    columns = max(40, columns)
    lines = [*_failures(causes, examples), *_answered(causes.answered), *_health(causes.health)]
    return printable("\n".join(part for line in lines for part in _wrapped(line, columns)))


def _wrapped(line: str, columns: int) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.wrap(line, columns, subsequent_indent=indent, break_on_hyphens=False) or [""]


def _failures(causes: Causes, examples: int) -> Iterator[str]:
    limits = ", ".join(f"{name} {limit:g}" for name, limit in causes.thresholds.items())
    yield f"{causes.failed} of {counted(causes.rows, 'row')} of {causes.run} failed (thresholds: {limits})."
    if causes.unmeasured:
        yield f"{counted(causes.unmeasured, 'row')} without a value of any of these: whether they failed is not known."
    for label, count in causes.counts.items():
        yield ""
        yield f"{causes.shares[label]:4.0%}  {label} ({counted(count, 'row')})"
        shown = [cause for cause in causes.per_row.values() if cause.label == label][:examples]
        yield from (f"      {_example(cause)}" for cause in shown)
    if causes.reads:
        yield ""
        yield (
            f"What is not read takes {counted(causes.reads, 'inquiry')} or more: `assay causes "
            f"{causes.run} --read` asks the run's judge, for these rows alone."
        )
    if causes.asked:
        yield ""
        yield (
            f"Read for this: {counted(causes.asked, 'inquiry')} at most, "
            f"{counted(causes.usage.calls, 'call')} of the judge."
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


def _health(health: Health) -> Iterator[str]:
    if not health.rows:
        return
    yield ""
    yield f"Passages: {health.passages} in {counted(health.rows, 'row')}."
    said = f"{health.duplicates} say nearly what an earlier one of their row says"
    first = [f"row {one.row}: {one.first} and {one.second}" for one in health.repeated[:2]]
    yield f"  {said}" + (f", in {counted(health.repeating, 'row')} ({'; '.join(first)})." if first else ".")
    if health.compared:
        pairs = [f"row {one.row}: {one.first} and {one.second}" for one in health.against[:2]]
        yield (
            f"  They contradict each other in {health.contradicting} of {counted(health.compared, 'row')} in which "
            f"what single passages say was read" + (f" ({'; '.join(pairs)})." if pairs else ".")
        )
    if health.share_unused is not None:
        yield (
            f"  {health.share_unused:.0%} of their text is in passages that no claim of the answer rests on "
            f"(known of {counted(health.used_known, 'row')})."
        )
