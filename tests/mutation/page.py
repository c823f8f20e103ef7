"""docs/evidence/mutation.md: mutants, and what became of them, by room: of formulas, and of what is asked and told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import astuple, dataclass

from tests.mutation.mutants import ROOMS, ROOT

PAGE = ROOT / "docs" / "evidence" / "mutation.md"
#: The tables by the head of their first column.
FORMULAS, TOLD = "formulas of", "asked and told by"
TABLES = (FORMULAS, TOLD)
ROW = re.compile(r"^\| (\w+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", re.MULTILINE)


@dataclass(frozen=True)
class Figures:
    """Those of one room."""

    mutants: int
    killed: int
    equivalent: int
    survive: int


def figures(text: str, table: str) -> dict[str, Figures]:
    """The figures that a page has in a table."""
    rows = _parts(text, table)[1]
    return {
        found[1]: Figures(*(int(found[i]) for i in range(2, 6))) for found in ROW.finditer(rows) if found[1] in ROOMS
    }


def page(text: str, table: str, new: Mapping[str, Figures]) -> str:
    """The page with the rows of these rooms made anew in a table, and their sum."""
    rows = figures(text, table) | dict(new)
    all_rooms = Figures(*(sum(column) for column in zip((0, 0, 0, 0), *map(astuple, rows.values()), strict=True)))
    lines = [(room, rows[room]) for room in ROOMS if room in rows] + ([("all", all_rooms)] if rows else [])
    made = "".join(f"| {name} | {' | '.join(map(str, astuple(found)))} |\n" for name, found in lines)
    head, _, tail = _parts(text, table)
    return f"{head}{made}{tail}"


def _parts(text: str, table: str) -> tuple[str, str, str]:
    """What stands before the rows of a table, the rows, and what stands behind them."""
    before, head, rest = text.partition(
        f"| {table} | mutants | killed | equivalent | survive |\n|---|---|---|---|---|\n"
    )
    tail = re.sub(r"\A(\|.*\n)*", "", rest)
    return before + head, rest.removesuffix(tail), tail


def write(table: str, new: Mapping[str, Figures]) -> None:
    """Bring a table of the page up to date."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), table, new), encoding="utf-8")
