"""A decision as Markdown, for a summary of a CI job or a comment on a pull request.

What others wrote stands in code spans, in which nothing is a link, a mention or HTML.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay._util.markdown import code, code_cell, table
from assay.analysis.gates.decision import DecidingRow, GateDecision, Ruling

_MARKS = {"PASS": "✅", "FAIL": "❌", "INCONCLUSIVE": "❔"}


def as_markdown(decision: GateDecision) -> str:
    """The verdict, a table of the rules, and the rows that decided those that do not pass."""
    against = "" if decision.baseline is None else f" against {code(decision.baseline)}"
    lines = [
        f"### {_MARKS[decision.verdict]} assay: {decision.verdict}",
        "",
        f"Run {code(decision.run)}{against}.",
        "",
        *table(("", "rule", "found"), map(_ruling, decision.rulings)),
    ]
    for one in decision.rulings:
        lines += _decisive(one)
    if decision.notes:
        lines += ["", *(f"- {code(note)}" for note in decision.notes)]
    return "\n".join(lines)


def _ruling(one: Ruling) -> Sequence[str]:
    return f"{_MARKS[one.verdict]} {one.verdict}", code_cell(str(one.rule)), code_cell(one.because)


def _decisive(ruling: Ruling) -> list[str]:
    if not ruling.decisive:
        return []
    return ["", f"Rows that decided {code(str(ruling.rule))}:", "", *map(_row, ruling.decisive)]


def _row(one: DecidingRow) -> str:
    now = "no value" if one.value is None else f"{one.value:.2f}"
    was = "" if one.before is None else f"{one.before:.2f} → "
    return "\n".join([f"- {code(one.name)} (row {one.row}): {was}{now}", *(f"  - {code(why)}" for why in one.because)])
