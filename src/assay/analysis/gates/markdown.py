"""A decision as Markdown, for a summary of a CI job or a comment on a pull request.

What others wrote stands in code spans, in which nothing is a link, a mention or HTML.
"""

from __future__ import annotations

import re

from assay.analysis.gates.decision import DecidingRow, GateDecision, Ruling
from assay.errors import printable

_MARKS = {"PASS": "✅", "FAIL": "❌", "INCONCLUSIVE": "❔"}
_TICKS = re.compile(r"`+")


def as_markdown(decision: GateDecision) -> str:
    """The verdict, a table of the rules, and the rows that decided those that do not pass."""
    against = "" if decision.baseline is None else f" against {code(decision.baseline)}"
    lines = [
        f"### {_MARKS[decision.verdict]} assay: {decision.verdict}",
        "",
        f"Run {code(decision.run)}{against}.",
        "",
        "| | rule | found |",
        "|---|---|---|",
        *(f"| {_MARKS[one.verdict]} {one.verdict} | {_cell(str(one.rule))} | {_cell(one.because)} |"
          for one in decision.rulings),
    ]  # fmt: skip
    for one in decision.rulings:
        lines += _decisive(one)
    if decision.notes:
        lines += ["", *(f"- {code(note)}" for note in decision.notes)]
    return "\n".join(lines)


def _decisive(ruling: Ruling) -> list[str]:
    if not ruling.decisive:
        return []
    return ["", f"Rows that decided {code(str(ruling.rule))}:", "", *map(_row, ruling.decisive)]


def _row(one: DecidingRow) -> str:
    now = "no value" if one.value is None else f"{one.value:.2f}"
    was = "" if one.before is None else f"{one.before:.2f} → "
    return "\n".join([f"- {code(one.name)} (row {one.row}): {was}{now}", *(f"  - {code(why)}" for why in one.because)])


def code(text: str) -> str:
    """A text on one line as a code span, whatever ticks it has."""
    flat = " ".join(printable(text).split())
    longest = max(map(len, _TICKS.findall(flat)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") or not flat else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def _cell(text: str) -> str:
    """A text in a cell of a table: there a bar ends the cell even in a code span."""
    return code(text.replace("|", "¦"))
