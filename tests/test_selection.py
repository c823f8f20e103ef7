"""Every test runs in exactly one stage of `.ci/run`: none is dropped, none runs twice."""

from __future__ import annotations

import itertools
import re
import tomllib
from pathlib import Path

import pytest

from tests._support.servers.needed import expression

ROOT = Path(__file__).parents[1]
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def expressions() -> list[str]:
    """What `-m` chooses in each stage, where all servers are there."""
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    (default,) = re.findall(r"-m '(.+?)'", options["addopts"])
    chosen = r'\$\(cat "\$fresh/chosen"\)'
    stages = re.findall(rf'project pytest .*? -m "((?:{chosen}|[^"])+)"', CI)
    return [default, *(re.sub(chosen, expression([]), stage) for stage in stages)]


@pytest.mark.parametrize(("long", "needs"), list(itertools.product((True, False), repeat=2)))
def test_every_test_runs_in_one_stage(long: bool, needs: bool) -> None:
    assert len(expressions()) == 2
    marked = {"long": long, "needs": needs}
    assert [eval(each, {}, marked) for each in expressions()].count(True) == 1


def test_the_readme_command_takes_the_default() -> None:
    command = re.search(r"<!-- the test command -->\n```\n(.+?)\n```", (ROOT / "README.md").read_text("utf-8"))
    assert command
    assert " -m " not in command.group(1).split("pytest")[1]
