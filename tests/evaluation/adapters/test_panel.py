"""A panel: one reading for all who ask, from any thread, and a cause where there is no number."""

from __future__ import annotations

import asyncio
import copy
import gc
import multiprocessing
import os
import pickle
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from assay.errors import Cause, InputError, JudgeFailure
from assay.evaluation.adapters import MetricAdapter
from assay.evaluation.adapters.shared_judge import _DESKS
from assay.judges.base import BaseJudge
from assay.judges.budget.budget import Budget
from assay.judges.protocol import SPENDING, Answer
from assay.judges.scripted_judge import ScriptedJudge
from assay.records import Context, Sample, Usage

SAMPLE = Sample(
    question="Why do cats purr?",
    contexts=(Context(text="Cats purr when calm."),),
    answer="Cats purr when calm. They sing.",
    reference="Cats purr when calm.",
)


def literal(**options: Any) -> ScriptedJudge:
    return ScriptedJudge(
        support=lambda claim, passage: "supported" if claim.rstrip(".") in passage else "not_mentioned",
        usefulness=lambda question, passage: True,
        **options,
    )


def sample(number: int) -> Sample:
    return Sample(question="q", contexts=(Context(text=f"Fact {number}."),), answer=f"Fact {number}. More.")


def test_a_score_comes_with_its_evidence() -> None:
    (told,) = MetricAdapter("faithfulness", literal(name="openai/m")).score(SAMPLE, "run-1")
    # "Cats purr when calm." stands in the passage, "They sing." does not: 1 of 2
    assert (told.name, told.value, told.cause) == ("faithfulness", 0.5, None)
    assert "not_mentioned: They sing." in told.explanation
    assert told.metadata["assay.judge"] == "openai/m"


def test_panels_of_one_judge_read_each_text_once() -> None:
    judge = literal()
    one, other = MetricAdapter("faithfulness", judge), MetricAdapter("hallucination", judge)
    parts = MetricAdapter(["faithfulness", "hallucination", "context_utilization"], judge).each()
    for panel in (one, other, *parts):
        assert panel.score(SAMPLE)[0].value is not None
    assert judge.asked["claims"] == judge.asked["support"] == 1


def test_sixteen_threads_share_what_is_found_and_mix_up_nothing() -> None:
    judge = literal()
    panels = MetricAdapter(["faithfulness", "hallucination"], judge).each()
    jobs = [(panel, number) for number in range(60) for panel in panels for _ in range(2)]
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda job: (job, job[0].score(sample(job[1]), str(job[1]))[0]), jobs))
    for (panel, _), told in found:
        assert (told.name, told.value) == (panel.labels[0], 0.5), told.explanation
    assert judge.asked["support"] == 60  # 240 scores of 60 samples
    assert len({told.id for _, told in found}) == 120  # by what was scored and the metric


async def test_many_at_once_in_a_running_loop() -> None:
    panel = MetricAdapter("faithfulness", literal())
    found = await asyncio.gather(*(panel.ascore(sample(number)) for number in range(50)))
    assert [one.value for (one,) in found] == [0.5] * 50
    assert panel.score(SAMPLE)[0].value == 0.5  # a sync caller in a thread with a loop


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        (Sample(), "missing_input"),
        (Sample(answer="a", contexts=()), "no_context"),
        (Sample(answer=" ", contexts=(Context(text="x"),)), "no_claims"),
    ],
)
def test_what_is_missing_is_said(given: Sample, cause: str) -> None:
    (told,) = MetricAdapter("faithfulness", literal()).score(given)
    assert (told.value, told.label, told.cause) == (None, "skipped", cause)


def test_a_sample_that_cannot_be_made_is_one_row_skipped() -> None:
    def broken() -> Sample:
        raise RuntimeError("no such run")

    panel = MetricAdapter(["faithfulness", "hallucination"], literal())
    assert [one.cause for one in panel.score(broken)] == ["bad_row", "bad_row"]
    assert "no such run" in panel.score(broken)[0].explanation
    assert panel.score(SAMPLE)[0].value == 0.5


@pytest.mark.parametrize("error", [RuntimeError("x"), SystemExit(3), JudgeFailure(Cause.RATE_LIMITED, "slow down")])
def test_a_judge_that_raises_is_a_cause(error: BaseException) -> None:
    def rule(*_: Any) -> Any:
        raise error

    class Raising(BaseJudge):
        fingerprint = "raising"

        async def answer(self, prompts: Sequence[Any]) -> Sequence[Answer]:
            raise error

    for judge in (ScriptedJudge(support=rule), Raising()):
        (told,) = MetricAdapter("faithfulness", judge).score(SAMPLE)
        assert told.cause == ("rate_limited" if isinstance(error, JudgeFailure) else "bug")


def test_the_next_evaluation_asks_again_what_failed_in_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model was not there; somebody has loaded it, and evaluates once more with the same objects."""
    failures = [JudgeFailure(Cause.NO_MODEL, "no such model")]

    def rule(claim: str, passage: str) -> Any:
        return failures[0] if failures else "supported"

    judge = ScriptedJudge(support=rule)
    panels = MetricAdapter(["faithfulness", "hallucination"], judge).each()
    assert [panel.score(SAMPLE)[0].cause for panel in panels] == ["no_model", "no_model"]
    assert judge.asked["support"] == 1  # within an evaluation a failure is shared as well
    failures.clear()
    monkeypatch.setattr("assay.evaluation.adapters.shared_judge.QUIET", 0.0)
    assert panels[0].score(SAMPLE)[0].value == 1.0


def test_a_judge_that_is_too_slow_is_a_cause_and_holds_up_nobody() -> None:
    class Slow(BaseJudge):
        fingerprint = "slow"

        async def answer(self, prompts: Sequence[Any]) -> Sequence[Answer]:
            await asyncio.sleep(3600)
            return []

    (told,) = MetricAdapter("faithfulness", Slow(), deadline=0.1).score(SAMPLE)
    assert told.cause == "timeout"


def test_a_judge_that_holds_its_thread_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.evaluation.adapters.adapter.LATE", 1.2)
    let_go = threading.Event()
    held = [True]

    class Holding(ScriptedJudge):
        async def answer(self, prompts: Sequence[Any]) -> Sequence[Answer]:
            if held.pop() if held else False:
                let_go.wait()
            return await super().answer(prompts)

    panel = MetricAdapter("faithfulness", Holding(support=lambda claim, passage: "supported"), deadline=0.1)
    assert panel.score(SAMPLE)[0].cause == "timeout"
    slow = MetricAdapter("faithfulness", panel.judge, deadline=30)
    assert slow.score(sample(1))[0].value == 1.0  # on another thread
    let_go.set()


def test_wrong_arguments_are_named_before_anything_is_asked() -> None:
    with pytest.raises(InputError, match="there is no metric 'faithfullness'; did you mean 'faithfulness'"):
        MetricAdapter("faithfullness", literal())
    with pytest.raises(InputError, match="this judge can never score 'semantic_similarity'"):
        MetricAdapter(["faithfulness", "semantic_similarity"], literal())
    with pytest.raises(InputError, match="deadline"):
        MetricAdapter("faithfulness", literal(), deadline=0)
    with pytest.raises(InputError, match="judge: expected"):
        MetricAdapter("faithfulness", "gpt-9")
    with pytest.raises(InputError, match="none is given"):
        MetricAdapter([], literal())


def test_a_budget_holds_over_all_rows() -> None:
    asked: list[int] = []

    class Paid(ScriptedJudge):
        async def answer(self, prompts: Sequence[Any]) -> Sequence[Answer]:
            budget = SPENDING.get()
            assert budget is not None
            try:
                budget.reserve(1, 1).settle(Usage(calls=1))
            except JudgeFailure as failure:
                return [Answer(failure=failure) for _ in prompts]
            asked.append(len(prompts))
            return await super().answer(prompts)

    judge = Paid(support=lambda claim, passage: "supported")
    panel = MetricAdapter("faithfulness", judge, budget=Budget(calls_per_day=4))
    causes = [panel.score(sample(number))[0].cause for number in range(6)]
    assert causes.count("budget") >= 3
    assert len(asked) == 4


def test_texts_can_be_kept_back_or_masked() -> None:
    (told,) = MetricAdapter("faithfulness", literal(), texts=False).score(SAMPLE)
    assert "sing" not in told.explanation
    assert "sing" not in str(told.metadata)
    (told,) = MetricAdapter("faithfulness", literal(), mask=lambda text: text.replace("sing", "***")).score(SAMPLE)
    assert "***" in told.explanation


def test_a_mask_that_fails_lets_nothing_out_and_raises_nothing() -> None:
    def mask(text: str) -> str:
        raise KeyError(text)

    (told,) = MetricAdapter("faithfulness", literal(), mask=mask).score(SAMPLE)
    assert (told.value, told.cause) == (None, "bug")
    assert "KeyError" in told.explanation
    assert "purr" not in str(told)


def test_metrics_of_ones_own_are_scorers_too() -> None:
    import assay

    @assay.metric(needs=("answer",))
    def shouting(sample: Sample) -> float:
        return float((sample.answer or "").isupper())

    @assay.metric(needs=("answer",))
    def broken(sample: Sample) -> float:
        raise ZeroDivisionError

    one, other = MetricAdapter([shouting, broken], literal()).score(Sample(answer="PURR"))
    assert (one.name, one.value) == ("shouting", 1.0)
    assert (other.value, other.cause) == (None, "bug")


def test_a_store_keeps_what_was_found(tmp_path: Any) -> None:
    class Durable(ScriptedJudge):
        durable = True

    first, second = (Durable(support=lambda claim, passage: "supported", name="same") for _ in range(2))
    for judge in (first, second):
        assert MetricAdapter("faithfulness", judge, store=tmp_path / "kept").score(SAMPLE)[0].value == 1.0
    assert (first.asked["support"], second.asked["support"]) == (1, 0)


@pytest.mark.long
def test_huge_texts_are_cut_in_the_explanation_and_nowhere_else() -> None:
    whole = " ".join(f"Fact {number} is so." for number in range(5_000))
    started = time.perf_counter()
    (told,) = MetricAdapter("faithfulness", literal()).score(Sample(answer=whole, contexts=(Context(text=whole),)))
    assert told.value == 1.0
    assert len(told.explanation) <= 4_000
    assert time.perf_counter() - started < 60


def test_copies_are_the_panel_itself() -> None:
    panel = MetricAdapter("faithfulness", literal())
    assert copy.copy(panel) is panel
    assert copy.deepcopy([panel])[0] is panel


def test_pickled_with_a_named_judge_it_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    panel = MetricAdapter(["faithfulness", "hallucination"], "openai:m", deadline=9).each()[1]
    again = pickle.loads(pickle.dumps(panel))
    assert (again.labels, again.deadline, again.judge.fingerprint) == (["hallucination"], 9, panel.judge.fingerprint)


def test_a_judge_object_is_not_pickled() -> None:
    with pytest.raises(InputError, match="give the judge by its name"):
        pickle.dumps(MetricAdapter("faithfulness", literal()))


def test_a_models_keys_are_not_pickled() -> None:
    langchain = pytest.importorskip("langchain_core.language_models")
    pytest.importorskip("assay_langchain")
    with pytest.raises(InputError, match="give the judge by its name"):
        pickle.dumps(MetricAdapter("faithfulness", langchain.FakeListChatModel(responses=["{}"])))


def test_a_forked_child_goes_on() -> None:
    panel = MetricAdapter("faithfulness", literal())
    assert panel.score(SAMPLE)[0].value == 0.5
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe()

    def child() -> None:
        sender.send([panel.score(sample(number))[0].value for number in range(3)])
        os._exit(0)

    process = context.Process(target=child)
    process.start()
    assert receiver.poll(60)
    assert receiver.recv() == [0.5] * 3
    process.join()
    assert panel.score(sample(9))[0].value == 0.5


@pytest.mark.long
def test_a_panel_that_is_let_go_takes_its_thread_with_it() -> None:
    gc.collect()
    before = {thread for thread in threading.enumerate() if thread.name == "assay-scorer"}
    panel = MetricAdapter("faithfulness", literal())
    panel.score(SAMPLE)
    (own,) = {thread for thread in threading.enumerate() if thread.name == "assay-scorer"} - before
    assert any(desk.judge is panel.judge for desk in _DESKS.values())
    del panel
    gc.collect()
    own.join(10)
    assert not own.is_alive()
