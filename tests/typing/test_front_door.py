"""What type checkers make of right and wrong uses: see `uses.py`."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import assay
from assay._util.lazy_exports import names_by_module

USES = Path(__file__).with_name("uses.py")

ROOT = Path(__file__).parents[2]
WRONG = {number for number, line in enumerate(USES.read_text().splitlines(), 1) if line.endswith("# wrong")}


def run(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, text=True, timeout=280, check=False, cwd=ROOT
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


@pytest.mark.long
def test_mypy_complains_of_every_wrong_use_and_of_no_other() -> None:
    said = run("mypy", "--no-error-summary", str(USES))  # strict, by the project's options
    found = {int(number) for number in re.findall(rf"{USES.name}:(\d+): error", said)}
    assert found == WRONG, said


@pytest.mark.long
def test_pyright_complains_of_every_wrong_use_and_of_no_other() -> None:
    said = json.loads(run("pyright", "--outputjson", "--pythonpath", sys.executable, str(USES)))
    errors = [found for found in said["generalDiagnostics"] if found["severity"] == "error"]
    assert said["summary"]["filesAnalyzed"] == 1
    assert {found["range"]["start"]["line"] + 1 for found in errors} == WRONG, json.dumps(errors, indent=1)


def test_both_names_take_the_same_arguments() -> None:
    """The sync name is the async one for callers without a loop; nothing hides behind **options."""
    sync, other = inspect.signature(assay.evaluate), inspect.signature(assay.aevaluate)
    assert sync.parameters == other.parameters
    assert all(one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in sync.parameters.values())
    assert not any(name.startswith("_") for name in sync.parameters)


def test_every_public_name_is_known_to_type_checkers() -> None:
    """The imports that checkers see are the table from which names are loaded."""
    source = Path(assay.__file__).read_text(encoding="utf-8")
    seen = {name: module for module, name in re.findall(r"^    from ([\w.]+) import (\w+) as \w+$", source, re.M)}
    assert seen.pop("metrics") == "assay"
    assert seen == names_by_module(assay._HOMES)
    assert set(assay.__all__) == {*seen, "metrics"}
    for name in assay.__all__:
        getattr(assay, name)
