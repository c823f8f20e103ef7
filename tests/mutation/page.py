"""docs/evidence/mutation.md: mutants, and what became of them, by room."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import astuple, dataclass

from tests.mutation.mutants import ROOMS, ROOT

PAGE = ROOT / "docs" / "evidence" / "mutation.md"
HEAD = "| formulas of | mutants | killed | equivalent | survive |\n|---|---|---|---|---|\n"
ROW = re.compile(r"^\| (\w+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", re.MULTILINE)


@dataclass(frozen=True)
class Figures:
    """Those of one room."""

    mutants: int
    killed: int
    equivalent: int
    survive: int


def figures(text: str) -> dict[str, Figures]:
    """The figures that a page has."""
    return {
        found[1]: Figures(*(int(found[i]) for i in range(2, 6))) for found in ROW.finditer(text) if found[1] in ROOMS
    }


def page(text: str, new: Mapping[str, Figures]) -> str:
    """The page with the rows of these rooms made anew, and their sum."""
    rows = figures(text) | dict(new)
    all_rooms = Figures(*(sum(column) for column in zip((0, 0, 0, 0), *map(astuple, rows.values()), strict=True)))
    lines = [(room, rows[room]) for room in ROOMS if room in rows] + ([("all", all_rooms)] if rows else [])
    table = "".join(f"| {name} | {' | '.join(map(str, astuple(found)))} |\n" for name, found in lines)
    head, _, rest = text.partition(HEAD)
    tail = re.sub(r"\A(\|.*\n)*", "", rest)
    return f"{head}{HEAD}{table}{tail}"


def write(new: Mapping[str, Figures]) -> None:
    """Bring the page up to date."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), new), encoding="utf-8")
