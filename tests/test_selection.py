"""Every test runs in exactly one stage of `.ci/run`, or in `pytest -m full`: none is dropped, none runs twice."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests._support.full import COLLECTED, REDUCED, is_full, without_a_test
from tests._support.servers.needed import expression
from tests._support.short_cases import short_places

ROOT = Path(__file__).parents[1]
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def expressions() -> list[str]:
    """What `-m` chooses in each stage, where all servers are there."""
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    (default,) = re.findall(r"-m '(.+?)'", options["addopts"])
    chosen = r'\$\(cat "\$fresh/chosen"\)'
    stages = re.findall(rf'project pytest .*? -m "((?:{chosen}|[^"])+)"', CI)
    return [default, *(re.sub(chosen, expression([]), stage) for stage in stages), "full"]


#: A test is `full` only where it is long, or needs a server.
MARKS = [marks for marks in itertools.product((True, False), repeat=3) if marks[0] or marks[1] or not marks[2]]


@pytest.mark.parametrize(("long", "needs", "full"), MARKS)
def test_every_test_runs_in_one_stage(long: bool, needs: bool, full: bool) -> None:
    assert len(expressions()) == 3
    marked = {"long": long, "needs": needs, "full": full}
    assert [eval(each, {}, marked) for each in expressions()].count(True) == 1


@pytest.mark.parametrize(
    ("cases", "count", "places"),
    [(10, 2, [0, 9]), (10, 3, [0, 4, 9]), (3, 2, [0, 2]), (2, 2, [0, 1]), (1, 2, [0]), (5, 1, [0]), (0, 2, [])],
)
def test_the_cases_that_run_by_default_are_spread(cases: int, count: int, places: list[int]) -> None:
    """Of ten, three are 0, 9 / 2 rounded down, and 9."""
    assert short_places(cases, count) == places


def test_a_case_that_is_not_kept_is_full_and_all_others_are_not() -> None:
    kills = "tests/judges/batch/test_batch_kills.py::test_killed_again_and_again"
    forms = "integrations/langchain/tests/test_application_forms.py::test_application_in_another_form"
    assert not is_full(f"{kills}[0]")
    assert is_full(f"{kills}[1]")
    assert is_full(f"{forms}[lcel_dict-ainvoke]")
    assert not is_full("tests/judges/batch/test_batches.py::test_a_batch")


@pytest.mark.long
def test_every_entry_of_the_table_names_a_test(pytestconfig: pytest.Config) -> None:
    files = sorted({entry.partition("::")[0] for entry in REDUCED})
    collected = pytestconfig.stash[COLLECTED]
    if set(files) <= {nodeid.partition("::")[0] for nodeid in collected}:
        assert without_a_test(collected) == []
        return
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-m", "long or needs"]
    done = subprocess.run([*command, *files], cwd=ROOT, capture_output=True, text=True, check=True, timeout=300)
    assert without_a_test([line for line in done.stdout.splitlines() if "::" in line]) == []


def test_the_readme_command_takes_the_default() -> None:
    command = re.search(r"<!-- the test command -->\n```\n(.+?)\n```", (ROOT / "README.md").read_text("utf-8"))
    assert command
    assert " -m " not in command.group(1).split("pytest")[1]
