"""What a user of evaluate() can rely on."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from assay import InputError, JudgeFailure, Sample, Score, Store, evaluate
from assay.errors import Cause
from assay.evaluation import EvaluationInterrupted, aevaluate
from assay.inquiries import Claims, Inquiry, Support
from assay.judges.base import Answer
from assay.judges.scripted import ScriptedJudge
from assay.metrics import Faithfulness
from assay.metrics.base import Metric
from assay.result import Result

ROWS = [
    {"id": "a", "question": "Capital?", "contexts": ["Paris is the capital."], "answer": "Paris is the capital."},
    {"id": "b", "question": "Age?", "contexts": ["Rome is old."], "answer": "Rome is old. Rome is huge."},
    {"id": "c", "question": "Size?", "contexts": ["Oslo is small."], "answer": "Oslo is vast."},
]


def test_scores_rows_in_their_order_under_their_ids(judge, tmp_path):
    result = evaluate(ROWS, "faithfulness", judge, store=tmp_path)
    # a: 1 of 1 claims supported, b: 1 of 2, c: 0 of 1
    assert [(s.sample.id, s.values["faithfulness"]) for s in result] == [("a", 1.0), ("b", 0.5), ("c", 0.0)]
    summary = result.metrics["faithfulness"]
    assert summary.mean == 0.5  # (1 + 0.5 + 0) / 3
    assert (summary.scored, summary.total) == (3, 3)


def test_means_say_over_how_many_and_what_the_gaps_could_hide(judge, tmp_path):
    rows = [*ROWS[:2], {"id": "d", "contexts": [], "answer": "Nothing was found."}]
    result = evaluate(rows, "faithfulness", judge, store=tmp_path)
    summary = result.metrics["faithfulness"]
    assert summary.mean == 0.75  # (1 + 0.5) / 2, the third row is no measurement
    assert (summary.scored, summary.total) == (2, 3)
    assert summary.bounds == (0.5, pytest.approx(2.5 / 3))  # 1.5 / 3 and (1.5 + 1) / 3
    assert summary.causes == {Cause.NO_CONTEXT: 1}
    table = str(result)
    assert "2/3" in table
    assert "0.500 to 0.833" in table
    assert "no_context 1" in table


def test_missing_columns_are_reported_together_before_any_call(judge, tmp_path):
    with pytest.raises(InputError) as caught:
        evaluate([{"question": "q", "answer": "a"}], ["faithfulness", "context_recall"], judge, store=tmp_path)
    assert "faithfulness needs contexts" in str(caught.value)
    assert "context_recall needs contexts, reference" in str(caught.value)
    assert not judge.asked


def test_unknown_metric_is_an_error_with_the_way_out(judge, tmp_path):
    with pytest.raises(InputError, match="faithfulness"):
        evaluate(ROWS, "faithfullness", judge, store=tmp_path)


def test_without_metrics_takes_those_that_data_and_judge_allow(judge, tmp_path):
    result = evaluate(ROWS, judge=judge, store=tmp_path)
    assert list(result.metrics) == ["faithfulness", "context_utilization", "context_relevance", "answer_relevancy"]
    can_little = ScriptedJudge(support=lambda c, p: "supported")  # claims and support only
    assert list(evaluate(ROWS, judge=can_little, store=tmp_path).metrics) == ["faithfulness"]


def test_a_bad_row_loses_nothing_else(judge, tmp_path):
    rows = [ROWS[0], {"id": "broken", "question": "q", "contexts": 7, "answer": "x"}, ROWS[1]]
    result = evaluate(rows, "faithfulness", judge, store=tmp_path)
    assert [s.values["faithfulness"] for s in result] == [1.0, None, 0.5]
    (failure,) = result.failures
    assert (failure.number, failure.id, failure.cause) == (2, "broken", "bad_row")
    assert "contexts" in failure.message


def test_duplicate_ids_keep_their_rows(judge, tmp_path):
    result = evaluate([ROWS[0], {**ROWS[2], "id": "a"}], "faithfulness", judge, store=tmp_path)
    assert [s.values["faithfulness"] for s in result] == [1.0, 0.0]


class Counting(ScriptedJudge):
    """A durable judge: its findings go to the store, as an LLM's do."""

    durable = True


def counting(**rules: Any) -> Counting:
    return Counting(support=lambda c, p: "supported" if c in p else "not_mentioned", **rules)


def test_a_rerun_asks_only_for_what_is_missing(tmp_path):
    first = counting()
    evaluate(ROWS[:2], "faithfulness", first, store=tmp_path)
    assert first.asked == {"claims": 2, "support": 2}
    second = counting()
    result = evaluate(ROWS, "faithfulness", second, store=tmp_path)
    assert second.asked == {"claims": 1, "support": 1}  # the third row alone
    assert result.reused == 4
    assert [s.values["faithfulness"] for s in result] == [1.0, 0.5, 0.0]


def test_failures_are_asked_again_in_the_next_run(tmp_path):
    failing = counting(claims=lambda text: JudgeFailure(Cause.TIMEOUT, "too slow", raw="half a rep"))
    failed = evaluate(ROWS[:1], "faithfulness", failing, store=tmp_path)
    (failure,) = failed.failures
    assert (failure.cause, failure.raw) == ("timeout", "half a rep")
    assert failed.metrics["faithfulness"].mean is None
    assert evaluate(ROWS[:1], "faithfulness", counting(), store=tmp_path).metrics["faithfulness"].mean == 1.0


def test_metrics_share_findings(judge, tmp_path):
    evaluate(ROWS, ["faithfulness", "hallucination"], judge, store=tmp_path)
    assert judge.asked == {"claims": 3, "support": 3}  # once per row, not once per metric


class Short(ScriptedJudge):
    """Forgets the last verdict."""

    async def answer(self, inquiries: Sequence[Inquiry[Any]]) -> Sequence[Answer]:
        answers = await super().answer(inquiries)
        return [
            replace(answer, finding=answer.finding[:-1]) if isinstance(inquiry, Support) else answer
            for inquiry, answer in zip(inquiries, answers, strict=True)
        ]


def test_a_finding_of_the_wrong_shape_never_becomes_a_number(tmp_path):
    result = evaluate(ROWS, "faithfulness", Short(support=lambda c, p: "supported"), store=tmp_path)
    assert result.metrics["faithfulness"].causes == {Cause.BUG: 3}
    assert "shape" in result.failures[0].message


def test_a_judge_that_cannot_tell_contradictions_gives_no_number_for_them(tmp_path):
    class Blind(ScriptedJudge):
        tells_contradiction = False

    judge = Blind(support=lambda claim, passage: "not_mentioned")
    result = evaluate(ROWS, ["hallucination", "hallucination_contradicted"], judge, store=tmp_path)
    assert result.metrics["hallucination"].mean == 1.0
    assert result.metrics["hallucination_contradicted"].causes == {Cause.JUDGE_CANNOT: 3}


def test_the_run_remembers_the_parameters_of_its_metrics(judge, tmp_path):
    run = evaluate(ROWS, "hallucination_contradicted", judge, store=tmp_path).run
    assert Result.load(run, tmp_path).parameters == {"hallucination_contradicted": "Hallucination(kind='contradicted')"}


class Exploding(Metric):
    name = "exploding"
    needs = ("answer",)
    asks = ()

    async def measure(self, sample: Sample, judge: Any) -> Score:
        raise ZeroDivisionError("my own metric is wrong")


def test_a_broken_metric_is_unscored_and_the_others_are_kept(judge, tmp_path):
    result = evaluate(ROWS, [Exploding(), Faithfulness()], judge, store=tmp_path)
    assert result.metrics["faithfulness"].mean == 0.5
    assert result.metrics["exploding"].causes == {Cause.BUG: 3}
    assert "my own metric is wrong" in result.failures[0].message


class Refusing(ScriptedJudge):
    async def answer(self, inquiries: Sequence[Inquiry[Any]]) -> Sequence[Answer]:
        return [Answer(failure=JudgeFailure(Cause.AUTH, "the endpoint refused the key")) for _ in inquiries]


def test_a_refused_key_stops_the_run_at_once(tmp_path):
    many = ROWS * 1000
    with pytest.raises(JudgeFailure, match="refused the key"):
        evaluate(many, "faithfulness", Refusing(support=lambda c, p: "supported"), store=tmp_path)
    stopped = Result.load("last", tmp_path)
    assert stopped.rows < 100
    assert "refused the key" in (stopped.stopped or "")


class Failing(ScriptedJudge):
    """Fails with a cause from its n-th answer on."""

    def __init__(self, cause: Cause, after: int, until: int = 10**9) -> None:
        super().__init__(support=lambda c, p: "supported")
        self.cause, self.after, self.until, self.count = cause, after, until, 0

    async def answer(self, inquiries: Sequence[Inquiry[Any]]) -> Sequence[Answer]:
        self.count += 1
        if self.after <= self.count < self.until:
            return [Answer(failure=JudgeFailure(self.cause, "the endpoint is gone")) for _ in inquiries]
        return await super().answer(inquiries)


def many(count: int) -> list[dict[str, Any]]:
    return [{"id": str(n), "question": "?", "contexts": ["x"], "answer": f"Row {n}."} for n in range(count)]


def test_an_endpoint_that_goes_away_ends_the_run_and_keeps_what_was_scored(tmp_path):
    with pytest.raises(JudgeFailure, match="20 rows in a row"):
        evaluate(many(1000), "faithfulness", Failing(Cause.CONNECTION, after=101), store=tmp_path, concurrency=1)
    stopped = Result.load("last", tmp_path)
    # two answers a row: 50 rows were scored, 20 failed
    assert (stopped.rows, stopped.metrics["faithfulness"].scored) == (70, 50)


def test_an_endpoint_that_comes_back_does_not_end_the_run(tmp_path):
    judge = Failing(Cause.CONNECTION, after=101, until=110)
    result = evaluate(many(200), "faithfulness", judge, store=tmp_path, concurrency=1)
    assert result.complete
    assert result.metrics["faithfulness"].causes == {Cause.CONNECTION: 9}


def test_an_unknown_model_ends_the_run_at_once(tmp_path):
    with pytest.raises(JudgeFailure, match="gone") as caught:
        evaluate(many(1000), "faithfulness", Failing(Cause.NO_MODEL, after=1), store=tmp_path, concurrency=1)
    assert caught.value.cause == Cause.NO_MODEL
    assert Result.load("last", tmp_path).rows == 1


class Slow(ScriptedJudge):
    async def answer(self, inquiries: Sequence[Inquiry[Any]]) -> Sequence[Answer]:
        if any(isinstance(i, Claims) and "never" in i.text for i in inquiries):
            await asyncio.sleep(3600)
        return await super().answer(inquiries)


def test_a_judge_that_never_answers_costs_its_row_and_no_more(tmp_path):
    rows = [*ROWS, {"id": "d", "question": "?", "contexts": ["x"], "answer": "It never ends."}]
    slow = Slow(support=lambda c, p: "supported")
    result = evaluate(rows, "faithfulness", slow, store=tmp_path, sample_deadline=1.0, concurrency=1)
    assert [s.values["faithfulness"] is None for s in result] == [False, False, False, True]
    assert result.failures[0].cause == "timeout"


def test_the_run_deadline_leaves_a_partial_result_that_says_so(tmp_path):
    rows = [*ROWS, {"id": "d", "question": "?", "contexts": ["x"], "answer": "It never ends."}]
    result = evaluate(rows, "faithfulness", Slow(support=lambda c, p: "supported"), store=tmp_path, deadline=1.5)
    assert not result.complete
    assert result.rows == 3
    assert "deadline" in str(result)


def test_result_round_trips_through_the_store(judge, tmp_path):
    result = evaluate(ROWS, "faithfulness", judge, store=tmp_path)
    again = Result.load(result.run, tmp_path)
    assert [s.to_dict() for s in again] == [s.to_dict() for s in result]
    assert str(again.metrics["faithfulness"]) == str(result.metrics["faithfulness"])
    with pytest.raises(InputError, match="no-such-run"):
        Result.load("no-such-run", tmp_path)


def test_to_pandas_keeps_gaps_as_gaps(judge, tmp_path):
    rows = [ROWS[0], {"id": "d", "contexts": [], "answer": "Nothing."}]
    frame = evaluate(rows, "faithfulness", judge, store=tmp_path).to_pandas()
    assert list(frame["id"]) == ["a", "d"]
    assert frame["faithfulness"].isna().tolist() == [False, True]
    assert frame["faithfulness"].mean() == 1.0
    assert frame["faithfulness_unscored"].tolist()[1] == "no_context"


def test_to_jsonl_writes_every_row_with_its_evidence(judge, tmp_path):
    result = evaluate(ROWS, "faithfulness", judge, store=tmp_path)
    lines = [json.loads(line) for line in result.to_jsonl(tmp_path / "out.jsonl").read_text().splitlines()]
    assert [line["row"] for line in lines] == [1, 2, 3]
    verdicts = lines[1]["scores"]["faithfulness"]["verdicts"]["answer/contexts"]
    assert [v["label"] for v in verdicts] == ["supported", "not_mentioned"]


def test_explain_names_the_claim_the_verdict_and_the_passage(tmp_path):
    judge = ScriptedJudge(support=lambda claim, passage: "Rome is old" if "old" in claim else "not_mentioned")
    result = evaluate(ROWS, "faithfulness", judge, store=tmp_path)
    text = str(result.explain("b"))
    assert "faithfulness = 0.500" in text
    assert "supported  Rome is old." in text
    assert "passage 1, characters 0–11: “Rome is old”" in text
    assert "not mentioned  Rome is huge." in text
    assert str(result.explain(2)) == text
    with pytest.raises(InputError, match="row 99"):
        result.explain(99)
    with pytest.raises(InputError, match="recall"):
        result.explain("b", "recall")


def test_worst_follows_the_direction_of_the_metric(judge, tmp_path):
    result = evaluate(ROWS, ["faithfulness", "hallucination"], judge, store=tmp_path)
    assert result.worst("faithfulness").scored.sample.id == "c"
    assert result.worst("hallucination").scored.sample.id == "c"  # 1.0 is bad here


def test_temporary_store_leaves_nothing_behind(judge, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = evaluate(ROWS, "faithfulness", judge, store=None)
    folder = result.store.path.parent
    assert folder.exists()
    result.store.close()
    assert not folder.exists()
    assert list(tmp_path.iterdir()) == []


def test_a_store_object_can_be_shared(judge, tmp_path):
    with Store(tmp_path / "mine.db") as store:
        runs = {evaluate(ROWS, "faithfulness", judge, store=store).run for _ in range(3)}
        assert len(runs) == 3


SCRIPT = """
import sys, time
from assay import ScriptedJudge, evaluate
from assay.inquiries import Claims

class Judge(ScriptedJudge):
    durable = True
    async def answer(self, inquiries):
        import asyncio
        await asyncio.sleep(0.02)
        with open(sys.argv[2], "a") as log:
            for inquiry in inquiries:
                if isinstance(inquiry, Claims):
                    log.write(inquiry.text + "\\n")
        return await super().answer(inquiries)

rows = ({"id": str(n), "question": "?", "contexts": ["x"], "answer": f"Row {n}."} for n in range(200))
print("ready", flush=True)
result = evaluate(rows, "faithfulness", Judge(support=lambda c, p: "supported"), store=sys.argv[1], concurrency=2)
print(result.rows, result.metrics["faithfulness"].scored, flush=True)
"""


def run_script(tmp_path, **kwargs) -> subprocess.Popen[str]:
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    command = [sys.executable, str(script), str(tmp_path / "store"), str(tmp_path / "asked.log")]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs)


def wait_for_rows(tmp_path, count: int) -> None:
    import time

    for _ in range(2400):
        log = tmp_path / "asked.log"
        if log.exists() and len(log.read_text().splitlines()) >= count:
            return
        time.sleep(0.05)
    raise AssertionError("the script did not get going")


@pytest.mark.long
def test_kill_9_and_rerun_continues(tmp_path):
    first = run_script(tmp_path)
    wait_for_rows(tmp_path, 30)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    done_before = len((tmp_path / "asked.log").read_text().splitlines())
    second = run_script(tmp_path)
    out, err = second.communicate(timeout=120)
    assert out.split()[-2:] == ["200", "200"], err
    asked = (tmp_path / "asked.log").read_text().splitlines()
    # every row asked once; those in flight at the kill (2 rows at a time) may be asked twice
    assert len(set(asked)) == 200
    assert len(asked) <= 200 + 4
    assert done_before >= 30


def test_ctrl_c_leaves_a_complete_partial_result(tmp_path):
    process = run_script(tmp_path)
    wait_for_rows(tmp_path, 20)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "EvaluationInterrupted" in err
    partial = Result.load("last", tmp_path / "store")
    assert partial.stopped == "interrupted"
    assert 10 <= partial.rows < 200
    assert all(s.values["faithfulness"] == 1.0 for s in partial)


def test_interruption_carries_the_partial_result(tmp_path):
    class Interrupting(ScriptedJudge):
        count = 0

        async def answer(self, inquiries: Sequence[Inquiry[Any]]) -> Sequence[Answer]:
            Interrupting.count += 1
            if Interrupting.count == 5:
                os.kill(os.getpid(), signal.SIGINT)
            return await super().answer(inquiries)

    with pytest.raises(EvaluationInterrupted) as caught:
        evaluate(ROWS * 50, "faithfulness", Interrupting(support=lambda c, p: "supported"), store=tmp_path,
                 concurrency=1)  # fmt: skip
    assert 1 <= caught.value.result.rows < 150


async def test_aevaluate_in_a_running_loop(judge, tmp_path):
    result = await aevaluate(ROWS, "faithfulness", judge, store=tmp_path)
    assert result.metrics["faithfulness"].mean == 0.5


async def test_evaluate_in_a_running_loop(judge, tmp_path):
    assert evaluate(ROWS, "faithfulness", judge, store=tmp_path).metrics["faithfulness"].mean == 0.5


@pytest.mark.long
def test_a_hundred_thousand_rows_in_flat_memory(tmp_path):
    import psutil

    process, sizes = psutil.Process(), []

    def watch(scored: Any) -> None:
        sizes.append(process.memory_info().rss if len(sizes) % 5000 == 0 else 0)

    rows = ({"question": "q?", "contexts": ["Rome.", "Oslo."], "answer": f"Row {n}."} for n in range(100_000))
    judge = ScriptedJudge(usefulness=lambda question, passage: passage == "Rome.")
    result = evaluate(rows, "context_utilization", judge, store=tmp_path, on_score=watch)
    assert result.rows == len(sizes) == 100_000
    assert result.metrics["context_utilization"].mean == 1.0
    measured = [size for size in sizes if size]
    # the memo holds its 4,096 findings after the first 5,000 rows; nothing else may grow
    assert max(measured[1:]) - measured[1] <= 8_000_000
    assert sum(1 for _ in itertools.islice(result, 10_000)) == 10_000
    assert process.memory_info().rss - measured[1] <= 16_000_000
