from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from assay.errors import InputError
from assay.metrics import METRICS, AnswerCorrectness, ContextRecall, Faithfulness, Hallucination, Metric, resolve


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
    metrics = resolve(spec)
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
        (Faithfulness, r"expected names or metrics"),
        ([Faithfulness], r"Faithfulness is a class; pass an instance, Faithfulness\(\)"),
        ([3], "expected a name or a metric, got 3"),
        (3, "expected names or metrics, got 3"),
    ],
)
def test_what_cannot_be_resolved_says_so(spec: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        resolve(spec)


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
