"""What the probes found, as a table for people and as JSON."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay._util.tabular import Tabular
from assay.errors import printable
from assay.records.range_ends import plain_values
from assay.stats import Estimate


@dataclass(frozen=True, slots=True)
class ProbeFailure(Tabular):
    """A case in which the judge did not do what it must: the row, the change, what it said before and after."""

    _noun = "failure"

    row: int
    change: str
    before: str | None
    after: str


@dataclass(frozen=True, slots=True)
class ProbeResult(Tabular):
    """One probe.

    Attributes:
        passed, cases: Of the cases that could tell something.
        share: Passed / cases with its interval; None without cases.
        rows: Rows that the cases are of.
        unusable: Cases of statements that the judge did not support to begin with.
        unanswered: Cases without a verdict; `why` is the first reason.
        cannot: Why the judge cannot be asked this at all.
    """

    _noun = "probe"
    _columns = (
        "name expects passed cases share=share.mean low=share.low high=share.high rows unusable unanswered why "
        "cannot failed"
    )

    name: str
    expects: str
    passed: int = 0
    cases: int = 0
    rows: int = 0
    share: Estimate | None = None
    unusable: int = 0
    unanswered: int = 0
    why: str | None = None
    cannot: str | None = None
    failed: tuple[ProbeFailure, ...] = ()


@dataclass(frozen=True, slots=True)
class ProbeReport(Tabular):
    """All probes of one judge; `rows` had a statement to probe, of `read`."""

    _item_type = ProbeResult

    def _items(self) -> Collection[ProbeResult]:
        return self.probes.values()

    judge: str
    rows: int
    read: int
    probes: Mapping[str, ProbeResult] = field(default_factory=dict)

    def __str__(self) -> str:
        from assay._util.rich_text import render_text

        return printable(render_text(self.rich(), 80))

    def rich(self, examples: int = 1) -> Any:
        """As rich draws it: the table, and under it `examples` of each probe's failures."""
        from rich.console import Group

        from assay._util.rich_text import SafeText

        told: list[Any] = [SafeText(f"{self.judge}, on statements from {self.rows} of {self.read} rows"), self._table()]
        for one in self.probes.values():
            if one.cannot is not None:
                told.append(SafeText(f"{one.name}: {one.cannot}"))
            elif one.unanswered:
                told.append(SafeText(f"{one.name}: {one.unanswered} without a verdict: {one.why}"))
        shown = [(one, failed) for one in self.probes.values() for failed in one.failed[:examples]]
        if shown:
            told += ["", SafeText("Where it failed", style="bold")]
        for one, failed in shown:
            said = failed.after if failed.before is None else f"{failed.before} -> {failed.after}"
            told.append(SafeText(f"{one.name}, row {failed.row} ({said}): {_short(failed.change)}"))
        return Group(*told)

    def _table(self) -> Any:
        from assay._util.tables import Column, make_table, number

        rows = []
        for one in self.probes.values():
            share = "–" if one.share is None else f"{one.share.mean:.2f} ({one.share.low:.2f}–{one.share.high:.2f})"
            passed = "cannot" if one.cannot is not None else f"{one.passed}/{one.cases}"
            rows.append((one.name, one.expects, passed, share))
        must = Column(title="must", fills=True)
        return make_table(["probe", must, number("passed"), number("share (95% interval)")], rows)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        return plain_values(self)


def _short(text: str, most: int = 300) -> str:
    flat = " ".join(text[: 4 * most].split())
    return flat if len(flat) <= most else f"{flat[:most]}…"
