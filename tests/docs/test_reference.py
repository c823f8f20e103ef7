"""The reference leaves out nothing that is public."""

from __future__ import annotations

import re
import tomllib

import assay
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")


def test_every_name_of_assay_stands_in_the_reference() -> None:
    named = set(re.findall(r"auto(?:class|function):: assay\.(\w+)", PAGE))
    assert named == set(assay.__all__) - {"metrics"}  # a module, with a section of its own


def test_every_part_stands_in_the_reference() -> None:
    modules = set(re.findall(r"automodule:: (\w+)", PAGE))
    for project in ROOT.glob("integrations/*/pyproject.toml"):
        name = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["name"].replace("-", "_")
        assert name in modules
