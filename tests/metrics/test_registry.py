from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assay import evaluate
from assay.errors import InputError
from assay.metrics import METRICS, AnswerCorrectness, ContextRecall, Faithfulness, Hallucination, Metric
from assay.metrics.names import resolve_metrics


@pytest.mark.parametrize(
    ("spec", "labels"),
    [
        ("faithfulness", ["faithfulness"]),
        ("faithfulness, context_recall,", ["faithfulness", "context_recall"]),
        (Faithfulness(), ["faithfulness"]),
        (["faithfulness", ContextRecall()], ["faithfulness", "context_recall"]),
        (("coherence,conciseness", "faithfulness"), ["coherence", "conciseness", "faithfulness"]),
        ([Hallucination(), Hallucination(kind="contradicted")], ["hallucination", "hallucination_contradicted"]),
        (list(METRICS), list(METRICS)),
    ],
)
def test_resolve_takes_names_and_metrics(spec: Any, labels: list[str]) -> None:
    metrics = resolve_metrics(spec)
    assert [metric.label for metric in metrics] == labels
    assert all(isinstance(metric, Metric) for metric in metrics)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("faithfullness", "did you mean 'faithfulness'"),
        ("Context-Recall", "did you mean 'context_recall'"),
        ("zzz", "no metric 'zzz'; `assay metrics` lists all"),
        ("", "none is given"),
        ([], "none is given"),
        ("faithfulness,faithfulness", "'faithfulness' is given twice"),
        ([AnswerCorrectness(), AnswerCorrectness(beta=2)], "'answer_correctness' is given twice"),
        (Faithfulness, r"Faithfulness is a class; pass an instance, Faithfulness\(\)"),
        ([Faithfulness], r"Faithfulness is a class; pass an instance, Faithfulness\(\)"),
        ([3], "expected names, metrics or functions, got 3"),
        ([len], r"len\(\): parameter 'obj' cannot be passed by name; .*question, contexts"),
        (3, "expected names, metrics or functions, got 3"),
    ],
)
def test_what_cannot_be_resolved_says_so(spec: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        resolve_metrics(spec)


def test_metrics_are_values() -> None:
    """Equal parameters, equal metrics: nothing is kept on them."""
    for make in METRICS.values():
        assert make() == make()
        assert hash(make()) == hash(make())


def test_import_is_cheap() -> None:
    heavy = "{'pydantic', 'numpy', 'openai', 'pysbd', 'rich', 'typer', 'tenacity', 'langchain', 'llama_index'}"
    code = f"import sys, assay.metrics; print(sorted({heavy} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


PACKAGE = """
from assay import metric
from assay.metrics import Metric


@metric
def mypkg_short(answer):
    return len(answer) < 20


class Long(Metric):
    name = "mypkg_long"

    async def measure(self, sample, judge):
        return len(sample.answer or "") >= 20


def plain(answer):
    return 1
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package with metrics of its own."""
    (tmp_path / "mypkg.py").write_text(PACKAGE)
    info = tmp_path / "mypkg-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mypkg\nVersion: 1.0\n")
    names = {
        "mypkg_short": "mypkg:mypkg_short",
        "mypkg_long": "mypkg:Long",
        "mypkg_plain": "mypkg:plain",
        "mypkg_gone": "mypkg:gone",
        "faithfulness": "mypkg:Long",
    }
    lines = [f"{name} = {where}" for name, where in names.items()]
    (info / "entry_points.txt").write_text("[assay.metrics]\n" + "\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("package")
def test_metrics_of_other_packages_go_by_their_names(tmp_path: Path, judge: Any) -> None:
    rows = [{"answer": "A short one."}]
    result = evaluate(rows, "mypkg_short, mypkg_long", judge, store=tmp_path / "store")
    assert {name: summary.mean for name, summary in result.metrics.items()} == {"mypkg_short": 1.0, "mypkg_long": 0.0}
    assert resolve_metrics("faithfulness") == (Faithfulness(),)  # ours is not replaced


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mypkg_shrot", "did you mean 'mypkg_short'"),
        (
            "mypkg_plain",
            r"'mypkg_plain' of mypkg is <function plain.*expected a metric: a function with @assay\.metric",
        ),
        ("mypkg_gone", "'mypkg_gone' of mypkg cannot be loaded: AttributeError"),
    ],
)
def test_what_is_wrong_with_another_package_is_said(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        resolve_metrics(name)


@pytest.mark.long
@pytest.mark.usefixtures("package")
def test_the_command_line_lists_metrics_of_other_packages(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "assay.cli", "metrics"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert "mypkg_short" in done.stdout
    assert "faithfulness" in done.stdout
    assert "'mypkg_gone' of mypkg cannot be loaded" in done.stderr  # and the others are listed all the same
