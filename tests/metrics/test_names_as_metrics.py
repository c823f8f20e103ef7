"""`from assay.metrics import faithfulness` is the metric."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from assay import evaluate, metrics
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics import METRICS, context_recall, faithfulness

ROW = {"question": "Why?", "contexts": ["Cats purr."], "answer": "Cats purr.", "reference": "Dogs bark."}


def test_a_name_is_the_metric_with_its_defaults() -> None:
    judge = ScriptedJudge(support=lambda claim, passage: "supported" if claim in passage else "not_mentioned")
    result = evaluate([ROW], metrics=[faithfulness, context_recall], judge=judge, progress=False)
    # the one claim of the answer is in the passage, the one of the reference is not
    assert {name: one.mean for name, one in result.metrics.items()} == {"faithfulness": 1.0, "context_recall": 0.0}


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_there_under_its_label(name: str) -> None:
    assert getattr(metrics, name).label == METRICS[name]().label
    assert name in metrics.__all__


def test_type_checkers_know_the_names() -> None:
    tree = ast.parse(Path(str(metrics.__file__)).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name))
    assert [line.target.id for line in block.body if isinstance(line, ast.AnnAssign)] == list(METRICS)  # type: ignore[union-attr]


def test_another_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'faithfullness'"):
        _ = metrics.faithfullness
