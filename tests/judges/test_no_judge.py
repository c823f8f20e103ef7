"""Metrics that ask nothing leave the judge alone: it is not looked at, and no model is loaded."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assay import Context, InputError, Sample, ScriptedJudge, evaluate, metric
from assay.evaluation.score_sample import score_sample
from assay.judges import BaseJudge
from assay.judges.no_judge import NO_JUDGE, NoJudge, same_judge
from assay.live import LiveScorer, SampleQueue, Worker
from assay.metrics import Metric
from assay.metrics.names import resolve_metrics
from assay.metrics.registry import METRICS
from assay.metrics.systems import SYSTEMS, names

LEXICAL = "ragas:exact_match, ragas:string_presence"
ROWS = [Sample(id=str(n), question="Where?", answer="In Rome", reference="In Rome") for n in range(3)]
TEXT = "Cats purr when they are calm."


class Untouchable(BaseJudge):
    """A judge that nobody may look at."""

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":  # of every object; `isinstance` asks for it
            return object.__getattribute__(self, name)
        raise AssertionError(f"the judge was asked for {name}")

    @property
    def fingerprint(self) -> str:
        raise AssertionError

    async def answer(self, prompts: Any) -> Any:
        raise AssertionError


class Undeclared(Metric):
    """Asks, and does not say so."""

    async def measure(self, sample: Sample, judge: Any) -> float:
        return float(judge.fingerprint == "scripted")


def test_evaluate_does_not_look_at_the_judge_of_lexical_metrics(tmp_path: Path) -> None:
    result = evaluate(ROWS, LEXICAL, Untouchable(), store=tmp_path, progress=False)
    assert [summary.mean for summary in result.metrics.values()] == [1.0, 1.0]
    assert result.judge == NO_JUDGE
    assert {score.judge for row in result for score in row.scores.values()} == {None}


def test_live_scoring_does_not_look_at_the_judge_of_lexical_metrics() -> None:
    scorer = LiveScorer(LEXICAL, Untouchable())
    for sample in ROWS:
        scorer.submit(sample)
    assert scorer.flush(30)
    health = scorer.close()
    assert (health.finished, health.scored, health.errors) == (3, 6, {})


def test_a_worker_does_not_look_at_the_judge_of_lexical_metrics(tmp_path: Path) -> None:
    queue = SampleQueue(tmp_path)
    for sample in ROWS:
        queue.submit(sample)
    queue.close()
    Worker(queue, LEXICAL, Untouchable()).run(until_empty=True)
    assert queue.report().scores == 6


@pytest.mark.parametrize("system", [*SYSTEMS, ""])
def test_no_metric_that_says_so_looks_at_the_judge(system: str) -> None:
    """All metrics of all systems, on a row that has everything."""
    named = list(names(system)) if system else list(METRICS)
    passages = (Context(text=TEXT, id="1"), Context(text="Dogs bark.", id="2"))
    sample = Sample(
        question="When do cats purr?", answer=TEXT, reference=TEXT, contexts=passages, reference_contexts=passages
    )
    metrics = [one for one in resolve_metrics(named) if not one.may_ask]
    scored = asyncio.run(score_sample(sample, metrics, UntouchableByMetrics()))
    wrong = {name: str(s.error) for name, s in scored.scores.items() if s.error is not None and s.error.cause == "bug"}
    assert not wrong


class UntouchableByMetrics:
    """The same without what `score_sample` itself may ask, once for all metrics."""

    def __getattr__(self, name: str) -> Any:
        if name == "batched_groups":
            raise AttributeError
        raise AssertionError(f"the judge was asked for {name}")


def test_loads_no_model_for_lexical_metrics(tmp_path: Path) -> None:
    code = f"""
import sys
from assay import evaluate
rows = [dict(question="Where?", answer="In Rome", reference="In Rome")]
result = evaluate(rows, {LEXICAL!r}, store=None, progress=False)
assert result.metrics["ragas:exact_match"].mean == 1.0
print([name for name in ("assay_embedded", "onnxruntime", "py3langid") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_metric_of_ones_own_that_asks_without_saying_so_has_the_judge(tmp_path: Path) -> None:
    result = evaluate(ROWS, [Undeclared()], ScriptedJudge(), store=tmp_path, progress=False)
    assert result.metrics["undeclared"].mean == 1.0
    assert result.judge == "scripted"


def test_a_function_without_a_judge_asks_none() -> None:
    @metric
    def short(answer: str) -> bool:
        return len(answer) < 10

    result = evaluate(ROWS, [short], Untouchable(), store=None, progress=False)
    assert result.metrics["short"].mean == 1.0


def test_a_wrong_name_is_an_error_all_the_same() -> None:
    with pytest.raises(InputError, match="judge: expected"):
        evaluate(ROWS, LEXICAL, "gpt", store=None, progress=False)


def test_an_unasked_judge_refuses() -> None:
    from assay.prompts import Claims

    (answer,) = asyncio.run(NoJudge().answer([Claims("Rome")]))
    assert answer.failure is not None
    assert "asks nothing" in answer.failure.message


def test_runs_without_a_judge_are_by_the_same_as_any() -> None:
    assert same_judge("a", "a")
    assert same_judge("a", NO_JUDGE)
    assert not same_judge("a", "b")
