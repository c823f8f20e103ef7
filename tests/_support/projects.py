"""The distributions of this repository, as their pyproject files describe them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
OWN_PREFIX = "assay-"


@dataclass(frozen=True)
class Project:
    """One distribution: its folder and the contents of its pyproject.toml."""

    folder: Path
    content: dict[str, Any]

    @property
    def name(self) -> str:
        """The name under which it is installed."""
        return str(self.content["project"]["name"])

    @property
    def module(self) -> str:
        """The name under which it is imported."""
        return "assay" if self.folder == ROOT else self.name.replace("-", "_")

    def requirements(self) -> Iterator[Requirement]:
        """All requirements: of the package, its extras and its dependency groups."""
        project = self.content["project"]
        lists = [project["dependencies"], *project.get("optional-dependencies", {}).values()]
        lists += self.content.get("dependency-groups", {}).values()
        for line in (line for lines in lists for line in lines):
            if isinstance(line, str):  # a table includes another group
                yield Requirement(line)


def projects() -> list[Project]:
    """The core first, then the integrations by folder."""
    files = [ROOT / "pyproject.toml", *sorted(ROOT.glob("integrations/*/pyproject.toml"))]
    return [Project(file.parent, tomllib.loads(file.read_text(encoding="utf-8"))) for file in files]
