"""RAGChecker's four tables of verdicts, from which all of its metrics are counted.

    answer2response      is each claim of the response entailed by the reference?
    response2answer      is each claim of the reference entailed by the response?
    retrieved2response   is each claim of the response entailed by each passage?  a row a claim, a column a passage
    retrieved2answer     is each claim of the reference entailed by each passage?

A claim is entailed or it is not: "Neutral" and "Contradiction" count alike. A claim is found in the retrieval where
some passage entails it alone, and a passage is relevant where it entails some claim of the reference.

Where a sample's metadata have the tables under these names, as RAGChecker writes them with `response_claims` and
`gt_answer_claims`, no judge is asked. Else the verdicts are those that assay's own metrics share.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, Literal

from assay.errors import Cause, JudgeFailure
from assay.judges.base import BaseJudge
from assay.judges.protocol import Answer, Judge
from assay.metrics.shared_prompts import (
    Field,
    ask,
    claims_of,
    gather,
    probabilities,
    support,
    texts_not_judged,
    with_cells,
)
from assay.metrics.systems.base import SystemMetric
from assay.metrics.systems.input_rules import TAKES_BLANK_PASSAGES
from assay.prompts import Claims, JudgePrompt, Support
from assay.records import Cell, Claim, Sample, Score, ScoreError, Span, SupportLabel, Verdict

Table = Literal["answer2response", "response2answer", "retrieved2response", "retrieved2answer"]

#: RAGChecker's labels and ours.
LABELS: Mapping[str, SupportLabel] = {
    "Entailment": "supported",
    "Contradiction": "contradicted",
    "Neutral": "not_mentioned",
}
#: Table -> what it is called among the verdicts of a score.
READINGS: Mapping[Table, str] = {
    "answer2response": "answer/reference",
    "response2answer": "reference/answer",
    "retrieved2response": "answer/contexts",
    "retrieved2answer": "reference/contexts",
}
_CLAIMS: Mapping[Table, str] = {
    "answer2response": "response_claims",
    "response2answer": "gt_answer_claims",
    "retrieved2response": "response_claims",
    "retrieved2answer": "gt_answer_claims",
}

Tables = Mapping[Table, tuple[Verdict, ...]]
Texts = dict[str, tuple[str, ...]]


def entailed(verdicts: Iterable[Verdict]) -> list[bool]:
    """Of each claim, whether the one text that it was read against entails it."""
    return [verdict.label == "supported" for verdict in verdicts]


def cells(verdicts: Iterable[Verdict]) -> list[list[bool]]:
    """Of each claim, which passages entail it alone."""
    return [[cell.label == "supported" for cell in verdict.cells] for verdict in verdicts]


def found(matrix: Iterable[Sequence[bool]]) -> list[bool]:
    """Of each claim, whether some passage entails it alone."""
    return [any(row) for row in matrix]


def chances(verdicts: Iterable[Verdict]) -> list[float] | None:
    """Of each claim, how probable it is that some passage entails it alone, by the one that most probably does.

    What others add is left out. None where the judge gave one of the cells no probability.
    """
    rows = [probabilities(verdict.cells) for verdict in verdicts]
    return [max(row) for row in rows if row] if all(rows) else None


def expected_found(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """The share of claims that some passage entails, as their `chances` lead one to expect: `mean_probability`."""
    known = chances(verdicts)
    return {"mean_probability": math.fsum(known) / len(known)} if known else {}


def relevant(matrix: Sequence[Sequence[bool]]) -> list[bool]:
    """Of each passage, whether it entails some claim, from the table of the reference's claims."""
    return [any(column) for column in zip(*matrix, strict=True)]


def share(counted: Sequence[bool]) -> float:
    """Those that are true / all. Expects at least one."""
    return sum(counted) / len(counted)


def stored(sample: Sample, wanted: Iterable[Table]) -> bool:
    """Whether a sample brings these tables along."""
    return all(isinstance(sample.metadata.get(table), list) for table in wanted)


class TableJudge(BaseJudge):
    """Stands in for the judge where nothing has to be asked, so that scores say where their verdicts are from."""

    fingerprint = "ragchecker: stored verdicts"

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        raise TypeError("stored verdicts are not asked")


STORED = TableJudge()


@dataclass(frozen=True)
class TableMetric(SystemMetric):
    """A metric that is counted from some of the tables. Derived classes say which, and count.

    Attributes:
        tables: The tables that it is counted from.
        claimed: Those without a claim in which nothing can be counted.
    """

    tables: ClassVar[tuple[Table, ...]]
    claimed: ClassVar[tuple[Table, ...]]
    asks: ClassVar = (Claims, Support)
    input_rules: ClassVar = TAKES_BLANK_PASSAGES  # passages without text are passages there
    conventions: ClassVar = {Cause.NO_CLAIMS: 0.0, Cause.NO_CONTEXT: 0.0}

    @property
    def may_read(self) -> tuple[str, ...]:  # type: ignore[override]  # the tables, and the claims that they are about
        return tuple(dict.fromkeys((*self.tables, *(_CLAIMS[table] for table in self.tables))))

    async def score(self, sample: Sample, judge: Judge) -> Score:
        return await super().score(sample, STORED if stored(sample, self.tables) else judge)

    def missing(self, sample: Sample) -> ScoreError | None:
        return None if stored(sample, self.tables) else super().missing(sample)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        tables: Tables
        left: Texts = {}
        if stored(sample, self.tables):
            tables = {table: _stored_table(sample, table) for table in self.tables}
        else:
            tables, left = await _ask_tables(sample, self.tables, judge)
        evidence = {READINGS[table]: verdicts for table, verdicts in tables.items()}
        for table in self.claimed:
            if not tables[table]:
                field = READINGS[table].partition("/")[0]
                return self.skip(Cause.NO_CLAIMS, f"the {field} makes no checkable claim", texts=left)
        if self.needs_passages and self._without_passages(tables):
            return self.skip(Cause.NO_CONTEXT, "nothing was retrieved", verdicts=evidence, texts=left)
        value = self.compute(tables)
        if isinstance(value, ScoreError):
            return self.skip(value.cause, value.message, verdicts=evidence, texts=left)
        return self.make_score(value, verdicts=evidence, parts=self.parts(tables), texts=left)

    def compute(self, tables: Tables) -> float | ScoreError:
        """The value, from tables that have a claim each where `claimed` says so."""
        raise NotImplementedError

    def parts(self, tables: Tables) -> Mapping[str, float]:
        """Intermediate numbers of the formula."""
        return {}

    def _without_passages(self, tables: Tables) -> bool:
        return any(
            table.startswith("retrieved") and verdicts and not verdicts[0].cells for table, verdicts in tables.items()
        )


async def _ask_tables(sample: Sample, wanted: Sequence[Table], judge: Judge) -> tuple[Tables, Texts]:
    """The tables, asked of the judge; and the sentences that no claim speaks of."""
    fields: list[Field] = []
    if any(READINGS[table].startswith("answer") for table in wanted):
        fields.append("answer")
    if any(READINGS[table].startswith("reference") for table in wanted):
        fields.append("reference")
    said = await ask(judge, *(claims_of(sample, field) for field in fields))
    claims = dict(zip(fields, said, strict=True))
    read = await gather(*(_ask_table(table, claims, sample, judge) for table in wanted))
    left = [texts_not_judged(sample, one, field).get("not_judged", ()) for field, one in claims.items()]
    sentences = tuple(chain.from_iterable(left))
    return dict(zip(wanted, read, strict=True)), {"not_judged": sentences} if sentences else {}


async def _ask_table(
    table: Table, claims: Mapping[Field, tuple[Claim, ...]], sample: Sample, judge: Judge
) -> tuple[Verdict, ...]:
    named, _, by = READINGS[table].partition("/")
    of: Field = "answer" if named == "answer" else "reference"
    if by != "contexts":
        return await support(claims[of], (getattr(sample, by) or "",), sample, judge)
    verdicts = await support(claims[of], sample.passages, sample, judge)
    return await with_cells(verdicts, sample.passages, sample, judge)


def _stored_table(sample: Sample, table: Table) -> tuple[Verdict, ...]:
    """A table that the sample brings along. Raises JudgeFailure(missing_input) where it is none."""
    rows = sample.metadata[table]
    claims = _claims(sample.metadata.get(_CLAIMS[table]), len(rows))
    if len(claims) != len(rows):
        raise _unfit(table, f"{len(rows)} rows for {len(claims)} claims")
    if not table.startswith("retrieved"):
        return tuple(Verdict(label=_label(table, row), claim=claim) for row, claim in zip(rows, claims, strict=True))
    if any(not isinstance(row, list) or len(row) != len(rows[0]) for row in rows):
        raise _unfit(table, "a row that is not a list of labels as long as the others")
    made = []
    for row, claim in zip(rows, claims, strict=True):
        alone = tuple(Cell(label=_label(table, label)) for label in row)
        made.append(Verdict(label=_together([cell.label for cell in alone]), claim=claim, cells=alone))
    return tuple(made)


def _claims(given: Any, count: int) -> list[Claim | None]:
    """The claims of a table, whose span is the whole claim, since none is stored; None each where there are none."""
    if not isinstance(given, list):
        return [None] * count
    words = [" ".join(map(str, claim)) if isinstance(claim, list) else str(claim) for claim in given]
    return [Claim(text=text, span=Span(0, len(text))) for text in words]


def _label(table: Table, label: Any) -> SupportLabel:
    if not isinstance(label, str) or label not in LABELS:
        raise _unfit(table, f"the label {label!r}; known are {', '.join(LABELS)}")
    return LABELS[label]


def _together(labels: Sequence[SupportLabel]) -> SupportLabel:
    """What all passages say, where each was read alone: one that supports counts most."""
    return next((label for label in ("supported", "contradicted") if label in labels), "not_mentioned")


def _unfit(table: Table, why: str) -> JudgeFailure:
    return JudgeFailure(Cause.MISSING_INPUT, f"metadata[{table!r}] has {why}")
