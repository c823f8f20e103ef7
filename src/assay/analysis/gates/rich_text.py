"""A decision for a terminal: as wide as it is, in colours where it has some."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.gates.decision import GateDecision, Verdict

if TYPE_CHECKING:
    from rich.console import RenderableType

_STYLE: dict[Verdict, str] = {"PASS": "green", "FAIL": "bold red", "INCONCLUSIVE": "yellow"}


def as_rich(decision: GateDecision) -> RenderableType:
    """The verdict, each rule with what was found, and the rows that decided it, with the claims below them."""
    from rich.console import Group
    from rich.padding import Padding

    from assay._util.rich_text import SafeText as Text

    lines: list[RenderableType] = [Text(decision.headline, style=_STYLE[decision.verdict])]
    for one in decision.rulings:
        lines.append(Text(one.verdict, style=_STYLE[one.verdict]).append(f" {one.rule}", style="bold"))
        lines.append(Padding(Text(one.because), (0, 0, 0, 2)))
        for seen in one.decisive:
            lines.append(Padding(Text(seen.moved), (0, 0, 0, 4)))
            lines += [Padding(Text(why, style="dim"), (0, 0, 0, 8)) for why in seen.because]
    return Group(*lines, *(Text(note) for note in decision.notes))
