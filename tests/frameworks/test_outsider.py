"""The plugin that keeps outcomes, in a real pytest of its own; and what it attaches is heard."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.frameworks.outcomes import Run
from tests.frameworks.running import PLUGIN

pytestmark = pytest.mark.long

KINDS_OF_TESTS = """
import pytest

def test_passes(): pass
def test_fails(): raise KeyError("which")
def test_skips(): pytest.skip("not here")
@pytest.mark.xfail
def test_expected(): assert False
@pytest.mark.xfail
def test_unexpected(): pass
@pytest.fixture
def broken(): raise OSError("no disk")
def test_setup(broken): pass
@pytest.fixture
def leaving():
    yield
    raise OSError("left late")
def test_teardown(leaving): pass
@pytest.mark.parametrize("x", [object()], ids=[hex(140001234567890)])
def test_address(x): pass
"""

LANGCHAIN = """
from langchain_core.runnables import RunnableLambda

def test_chain():
    assert RunnableLambda(lambda text: text.upper()).invoke("why") == "WHY"
"""

LLAMA_INDEX = """
from llama_index.core import Document, SummaryIndex
from llama_index.core.llms import MockLLM

def test_query():
    engine = SummaryIndex.from_documents([Document(text="Cats purr.")]).as_query_engine(llm=MockLLM())
    assert str(engine.query("Why?"))
"""


def outsider(tmp_path: Path, code: str, framework: str, attached: str) -> Run:
    (tmp_path / "test_theirs.py").write_text(code)
    report = tmp_path / "report.json"
    settings = {
        "ASSAY_OUTSIDER_FRAMEWORK": framework,
        "ASSAY_OUTSIDER_ATTACHED": attached,
        "ASSAY_OUTSIDER_REPORT": str(report),
        "PYTHONPATH": str(PLUGIN),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "assay_outsider", "-p", "no:cacheprovider", "--rootdir=."]
    done = subprocess.run(
        [*command, "--continue-on-collection-errors", "."],
        cwd=tmp_path,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert report.exists(), done.stdout + done.stderr
    return Run(**json.loads(report.read_text()))


def test_what_became_of_each_test(tmp_path):
    (tmp_path / "test_unreadable.py").write_text("import a_module_that_is_nowhere\n")
    found = outsider(tmp_path, KINDS_OF_TESTS, "langchain", "nothing")
    assert found.outcomes == {
        "test_unreadable.py": "error",
        "test_theirs.py::test_passes": "passed",
        "test_theirs.py::test_fails": "failed",
        "test_theirs.py::test_skips": "skipped",
        "test_theirs.py::test_expected": "xfailed",
        "test_theirs.py::test_unexpected": "xpassed",
        "test_theirs.py::test_setup": "error",
        "test_theirs.py::test_teardown": "error",
        "test_theirs.py::test_address[0x]": "passed",
    }
    assert found.reasons["test_theirs.py::test_fails"] == "KeyError: 'which'"


@pytest.mark.parametrize(("framework", "code"), [("langchain", LANGCHAIN), ("llama_index", LLAMA_INDEX)])
def test_what_is_attached_hears_the_suite(tmp_path, framework, code):
    plain, empty, attached = (outsider(tmp_path, code, framework, how) for how in ("nothing", "empty", "assay"))
    assert list(plain.outcomes.values()) == ["passed"]
    assert plain.outcomes == empty.outcomes == attached.outcomes
    assert plain.seen == {}
    assert empty.seen["events"] > 0
    assert attached.seen["flushed"]
    assert attached.seen["health"]["live"]["submitted"] == 1
    assert attached.seen["health"]["live"]["errors"] == {}
