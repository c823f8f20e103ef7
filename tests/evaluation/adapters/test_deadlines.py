"""The deadline of an evaluation holds in every tool's way in, also where the judge does not let go.

The judges below end only when the test says so: an evaluation that waited for them would never return.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import types
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import assay_langchain
import assay_llama_index
import assay_mlflow
import assay_phoenix
import pytest
from assay_langchain.classic import AssayStringEvaluator
from assay_langchain.langsmith import AssayRunEvaluator
from assay_langsmith import AssayEvaluator as LangSmithEvaluator

from assay.errors import InputError
from assay.evaluation.adapters import adapter
from assay.judges.scripted_judge import ScriptedJudge
from tests._support.stuck_judge import STUCK, StuckJudge

QUESTION, ANSWER, PASSAGES = "Why do cats purr?", "Cats purr when calm.", ["Cats purr when calm."]
DEADLINE = 0.3


def _run() -> Any:
    return types.SimpleNamespace(
        id=uuid.uuid4(), inputs={"question": QUESTION}, outputs={"answer": ANSWER, "contexts": PASSAGES}, child_runs=[]
    )


def mlflow(judge: StuckJudge) -> tuple[Any, Any]:
    scorer = assay_mlflow.AssayScorer("faithfulness", judge, deadline=DEADLINE)
    found = scorer.run(inputs={"question": QUESTION}, outputs={"answer": ANSWER, "contexts": PASSAGES})
    return found.value, found.error.error_code


def phoenix(judge: StuckJudge) -> tuple[Any, Any]:
    evaluator = assay_phoenix.AssayEvaluator("faithfulness", judge, deadline=DEADLINE)
    (found,) = evaluator.evaluate({"input": QUESTION, "output": ANSWER, "context": PASSAGES})
    return found.score, found.explanation


def langsmith(judge: StuckJudge) -> tuple[Any, Any]:
    evaluator = LangSmithEvaluator(["faithfulness"], judge, deadline=DEADLINE)
    (found,) = evaluator.evaluate_run(_run(), None)["results"]
    return found.score, found.value


def langchain_runs(judge: StuckJudge) -> tuple[Any, Any]:
    (found,) = AssayRunEvaluator("faithfulness", judge, deadline=DEADLINE).evaluate_run(_run())["results"]
    return found.score, found.value


def langchain_strings(judge: StuckJudge) -> tuple[Any, Any]:
    evaluator = AssayStringEvaluator("faithfulness", judge, deadline=DEADLINE)
    found = evaluator.evaluate_strings(prediction=ANSWER, contexts=PASSAGES)
    return found["score"], found["value"]


def langchain_function(judge: StuckJudge) -> tuple[Any, Any]:
    evaluator = assay_langchain.as_evaluator("faithfulness", judge, deadline=DEADLINE)
    found = evaluator(inputs={"question": QUESTION}, outputs={"answer": ANSWER}, contexts=PASSAGES)
    return found["score"], found["metadata"]["error"]["cause"]


def llama_index(judge: StuckJudge) -> tuple[Any, Any]:
    evaluator = assay_llama_index.AssayEvaluator("faithfulness", judge, deadline=DEADLINE)
    found = evaluator.evaluate(query=QUESTION, response=ANSWER, contexts=PASSAGES)
    return found.score, found.invalid_reason


def llama_index_in_a_loop(judge: StuckJudge) -> tuple[Any, Any]:
    """The application's own loop goes on meanwhile."""

    async def main() -> tuple[Any, Any]:
        evaluator = assay_llama_index.AssayEvaluator("faithfulness", judge, deadline=DEADLINE)
        work = asyncio.create_task(evaluator.aevaluate(query=QUESTION, response=ANSWER, contexts=PASSAGES))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not work.done()
        found = await work
        return found.score, found.invalid_reason

    return asyncio.run(main())


WAYS = [
    *(mlflow, phoenix, langsmith, langchain_runs, langchain_strings),
    *(langchain_function, llama_index, llama_index_in_a_loop),
]


@pytest.fixture
def over(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    monkeypatch.setattr(adapter, "LATE", 0.5)  # what a judge that holds its thread may take beyond the deadline
    monkeypatch.setattr(sys.modules["assay.evaluation.score_sample"], "GRACE", 0.1)
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.short_cases(6)
@pytest.mark.parametrize("how", STUCK)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_an_evaluation_ends_though_its_judge_does_not(
    way: Callable[[StuckJudge], tuple[Any, Any]], how: str, over: threading.Event
) -> None:
    value, reason = way(StuckJudge(how, over))
    assert value is None
    assert "timeout" in str(reason)
    assert not over.is_set()


@pytest.mark.parametrize("deadline", [0, -1.0, float("nan"), "5", [1], True])
def test_a_deadline_is_a_positive_number(deadline: Any) -> None:
    with pytest.raises(InputError, match="deadline: expected a positive number of seconds, or None, got"):
        adapter.MetricAdapter("faithfulness", deadline=deadline)


@pytest.mark.parametrize("deadline", [float("inf"), 1e300, 1e10])
def test_a_deadline_may_be_as_long_as_one_likes(deadline: float) -> None:
    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    evaluator = assay_langchain.as_evaluator("faithfulness", judge, deadline=deadline)
    assert evaluator(inputs=QUESTION, outputs=ANSWER, contexts=PASSAGES)["score"] == 1.0
