"""The mutants that no test can notice: equivalents.toml, each with the reason."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.mutants import Mutant

TABLE = Path(__file__).with_name("equivalents.toml")


@dataclass(frozen=True)
class Equivalent:
    """One entry: the mutant by its file below src/assay, function and change, and why nothing changes by it."""

    file: str
    where: str
    change: str
    reason: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What the mutant is called."""
        return f"src/assay/{self.file}", self.where, self.change


def table() -> list[Equivalent]:
    """All entries."""
    return [Equivalent(**one) for one in tomllib.loads(TABLE.read_text(encoding="utf-8"))["equivalent"]]


def without(mutants: list[Mutant]) -> list[Mutant]:
    """The mutants that a test has to notice."""
    keys = {one.key for one in table()}
    return [one for one in mutants if one.key not in keys]


def outdated(mutants: list[Mutant]) -> list[Equivalent]:
    """The entries that name none of the mutants: what they excuse has changed."""
    keys = {one.key for one in mutants}
    return [one for one in table() if one.key not in keys]
