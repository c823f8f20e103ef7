"""What a user of evaluate() can rely on."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from assay import Context, EmbeddedJudge, InputError, JudgeFailure, Sample, Score, Store, evaluate
from assay._util.sqlite import Database
from assay.errors import SETTLED, Cause, StoreError
from assay.evaluation.evaluate import EvaluationInterrupted, aevaluate
from assay.evaluation.result import Result
from assay.judges.protocol import Answer
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics import Faithfulness
from assay.metrics.base import Metric
from assay.prompts import Claims, JudgePrompt, Support
from assay.store import group_writer
from assay.testing import FavourableJudge

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
    (failure,) = result.errors
    assert (failure.number, failure.id, failure.cause) == (2, "broken", "bad_row")
    assert "contexts" in failure.message


def test_duplicate_ids_keep_their_rows(judge, tmp_path):
    result = evaluate([ROWS[0], {**ROWS[2], "id": "a"}], "faithfulness", judge, store=tmp_path)
    assert [s.values["faithfulness"] for s in result] == [1.0, 0.0]


class Counting(ScriptedJudge):
    """A durable judge: its judgements go to the store, as an LLM's do."""

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
    assert result.cache_hits == 4
    assert [s.values["faithfulness"] for s in result] == [1.0, 0.5, 0.0]


def test_failures_are_asked_again_in_the_next_run(tmp_path):
    failing = counting(claims=lambda text: JudgeFailure(Cause.TIMEOUT, "too slow", raw="half a rep"))
    failed = evaluate(ROWS[:1], "faithfulness", failing, store=tmp_path)
    (failure,) = failed.errors
    assert (failure.cause, failure.raw) == ("timeout", "half a rep")
    assert failed.metrics["faithfulness"].mean is None
    assert evaluate(ROWS[:1], "faithfulness", counting(), store=tmp_path).metrics["faithfulness"].mean == 1.0


def test_metrics_share_judgements(judge, tmp_path):
    evaluate(ROWS, ["faithfulness", "hallucination"], judge, store=tmp_path)
    assert judge.asked == {"claims": 3, "support": 3}  # once per row, not once per metric


class Short(ScriptedJudge):
    """Forgets the last verdict."""

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        answers = await super().answer(prompts)
        return [
            replace(answer, judgement=answer.judgement[:-1]) if isinstance(prompt, Support) else answer
            for prompt, answer in zip(prompts, answers, strict=True)
        ]


def test_a_judgement_of_the_wrong_shape_never_becomes_a_number(tmp_path):
    result = evaluate(ROWS, "faithfulness", Short(support=lambda c, p: "supported"), store=tmp_path)
    assert result.metrics["faithfulness"].causes == {Cause.BUG: 3}
    assert "expected 1 verdicts of 1 cells" in result.errors[0].message


def test_a_judge_that_cannot_tell_contradictions_gives_no_number_for_them(tmp_path):
    class Blind(ScriptedJudge):
        detects_contradiction = False

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


def test_a_broken_metric_is_skipped_and_the_others_are_kept(judge, tmp_path):
    result = evaluate(ROWS, [Exploding(), Faithfulness()], judge, store=tmp_path)
    assert result.metrics["faithfulness"].mean == 0.5
    assert result.metrics["exploding"].causes == {Cause.BUG: 3}
    assert "my own metric is wrong" in result.errors[0].message


class Refusing(ScriptedJudge):
    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        return [Answer(failure=JudgeFailure(Cause.AUTH, "the endpoint refused the key")) for _ in prompts]


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

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        self.count += 1
        if self.after <= self.count < self.until:
            return [Answer(failure=JudgeFailure(self.cause, "the endpoint is gone")) for _ in prompts]
        return await super().answer(prompts)


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


JUDGES_CAUSES = (
    *(Cause.PARSE, Cause.AMBIGUOUS, Cause.TRUNCATED, Cause.REFUSED, Cause.CONTENT_FILTER, Cause.RATE_LIMITED),
    *(Cause.TIMEOUT, Cause.CONNECTION, Cause.BAD_REQUEST, Cause.BUG),
)


@pytest.mark.parametrize("cause", JUDGES_CAUSES)
def test_twenty_rows_without_a_usable_reply_end_the_run_whatever_the_cause(cause: Cause, tmp_path):
    judge = Failing(cause, after=1)
    rows = [{**row, "reference": f"Said {row['answer']}"} for row in many(200)]
    with pytest.raises(JudgeFailure, match="no usable reply of the judge for 20 rows in a row") as caught:
        evaluate(rows, ["faithfulness", "context_recall"], judge, store=tmp_path, concurrency=4)
    assert caught.value.cause == cause
    assert "A rerun goes on from here" in str(caught.value)
    # 20 rows and the 4 in flight, each with at most its two texts to split; 200 rows would be 400
    assert judge.count <= 2 * (20 + 4)
    stopped = Result.load("last", tmp_path)
    assert 20 <= stopped.rows <= 24
    assert "20 rows in a row" in (stopped.stopped or "")


@pytest.mark.parametrize("cause", [*sorted(SETTLED - {Cause.PARTIAL}), Cause.TOO_LONG, Cause.BUDGET])
def test_what_lies_in_the_samples_or_the_budget_does_not_end_the_run(cause: Cause, tmp_path):
    result = evaluate(many(60), "faithfulness", Failing(cause, after=1), store=tmp_path, concurrency=4)
    assert (result.rows, result.metrics["faithfulness"].causes) == (60, {cause: 60})


def test_a_scored_row_begins_the_count_anew(tmp_path):
    """19 rows without a reply, one with, and again."""
    judge = Failing(Cause.PARSE, after=1)
    fails = {str(n) for n in range(200) if n % 20 != 19}

    class Sometimes(ScriptedJudge):
        async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
            number = prompts[0].text.split()[1].rstrip(".") if isinstance(prompts[0], Claims) else ""
            return await (judge.answer(prompts) if number in fails else super().answer(prompts))

    rule = Sometimes(support=lambda claim, passage: "supported")
    result = evaluate(many(200), "faithfulness", rule, store=tmp_path, concurrency=1)
    assert (result.rows, result.metrics["faithfulness"].scored) == (200, 10)


def test_metrics_that_ask_nothing_do_not_hide_a_silent_judge(tmp_path):
    from assay import metric

    @metric
    def short(answer: str) -> bool:
        return len(answer) < 20

    with pytest.raises(JudgeFailure, match="20 rows in a row"):
        evaluate(many(200), [short, "faithfulness"], Failing(Cause.PARSE, after=1), store=tmp_path, concurrency=1)
    assert Result.load("last", tmp_path).rows == 20


def test_a_metric_that_is_wrong_does_not_end_the_run(judge, tmp_path):
    from assay import metric

    @metric
    def nothing(answer: str) -> None:
        return None

    result = evaluate(many(60), [Exploding(), nothing], judge, store=tmp_path)
    assert result.metrics["nothing"].causes == {Cause.BUG: 60}


def test_a_slow_metric_that_asks_nothing_does_not_end_the_run(judge, tmp_path):
    from assay import metric

    @metric
    async def slow(answer: str) -> bool:
        await asyncio.sleep(3600)
        return True

    result = evaluate(many(30), slow, judge, store=tmp_path, sample_deadline=0.01, concurrency=30)
    assert result.metrics["slow"].causes == {Cause.TIMEOUT: 30}


def test_a_judge_that_hangs_ends_the_run_also_for_metrics_of_functions(tmp_path):
    from assay import metric

    class Hanging(ScriptedJudge):
        async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
            await asyncio.Event().wait()
            raise AssertionError

    @metric
    async def split(answer: str, judge: Any) -> bool:
        return bool(await judge.find(Claims(answer)))

    with pytest.raises(JudgeFailure, match="20 rows in a row, the last one timeout"):
        evaluate(many(200), split, Hanging(), store=tmp_path, sample_deadline=0.05, concurrency=10)


def test_a_run_that_may_go_on_whatever_comes(tmp_path):
    judge = Failing(Cause.REFUSED, after=1)
    result = evaluate(many(50), "faithfulness", judge, store=tmp_path, stop_after=None)
    assert result.metrics["faithfulness"].causes == {Cause.REFUSED: 50}
    with pytest.raises(InputError, match="stop_after: expected at least 1"):
        evaluate(many(50), "faithfulness", judge, store=tmp_path, stop_after=0)


# ---- runs have names of their own ----


def test_a_run_name_that_is_taken_is_an_error_before_anything_is_asked(judge, tmp_path):
    evaluate(ROWS, "faithfulness", judge, store=tmp_path, run="nightly")
    before = sum(judge.asked.values())
    with pytest.raises(InputError, match=r"run: 'nightly' is in the store .* replace=True"):
        evaluate(ROWS[:1], "context_recall", judge, store=tmp_path, run="nightly", column_map={"reference": "id"})
    assert sum(judge.asked.values()) == before
    assert Result.load("nightly", tmp_path).rows == 3


def test_replace_scores_anew_under_the_name(tmp_path):
    evaluate(ROWS, "faithfulness", counting(), store=tmp_path, run="nightly")
    again = counting()
    result = evaluate(ROWS[:1], "faithfulness", again, store=tmp_path, run="nightly", replace=True)
    assert (result.rows, len(list(result)), len(list(Result.load("nightly", tmp_path)))) == (1, 1, 1)
    assert not again.asked  # its judgements stayed


@pytest.mark.parametrize("name", ["", " ", "last", "n" * 501])
def test_what_cannot_name_a_run(name: str, judge, tmp_path):
    with pytest.raises(InputError, match=r"cannot be a name|at most 500 characters, got one of 501"):
        evaluate(ROWS, "faithfulness", judge, store=tmp_path, run=name)


def test_two_new_runs_never_share_a_name(monkeypatch, judge, tmp_path):
    """A second of equal random bits: the second run draws again."""
    drawn = iter(["aa", "aa", "bb"])
    monkeypatch.setattr("assay.evaluation.run_names.secrets.token_hex", lambda bits: next(drawn))
    monkeypatch.setattr("assay.evaluation.run_names.time.strftime", lambda form: "20261122-103000-")
    runs = [evaluate(ROWS, "faithfulness", judge, store=tmp_path).run for _ in range(2)]
    assert runs == ["20261122-103000-aa", "20261122-103000-bb"]


def test_new_names_have_64_random_bits():
    from assay.evaluation.run_names import new_name

    assert re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{16}", new_name())
    assert len({new_name() for _ in range(1000)}) == 1000


# ---- what one sample, one score or a full disk may cost ----


def test_half_an_emoji_and_an_object_in_metadata_cost_nothing(judge, tmp_path):
    samples = [
        Sample(question="?", contexts=(Context(text="Rome is old."),), answer=answer, metadata=metadata)
        for answer, metadata in [("Rome is old.", {}), ("Rome is old \ud83d", {"model": object()}), ("No.", {"x": 1})]
    ]
    result = evaluate(samples, "faithfulness", judge, store=tmp_path)
    assert [scored.values["faithfulness"] for scored in result] == [1.0, 0.0, 0.0]
    assert [scored.sample.metadata for scored in result] == [{}, {}, {"x": 1}]


def test_a_score_that_cannot_be_written_is_one_skipped_score(judge, tmp_path):
    from assay import metric

    @metric
    def torn(answer: str) -> Score:
        return Score(metric="torn", value=1.0, texts={"reason": ("half \ud83d",)})

    @metric
    def alive(answer: str) -> Score:
        return Score(metric="alive", value=1.0, parts={"model": object()})

    result = evaluate(ROWS, [torn, "faithfulness", alive], judge, store=tmp_path)
    assert result.metrics["faithfulness"].mean == 0.5
    assert result.metrics["torn"].causes == result.metrics["alive"].causes == {Cause.BUG: 3}
    assert "the score of torn cannot be kept: UnicodeEncodeError" in result.errors[0].message


def test_a_store_that_cannot_be_written_any_more_keeps_what_was_scored(judge, tmp_path, monkeypatch):
    put_rows, kept = group_writer.put_rows, []

    def full(db: Any, run: str, rows: Any, *rest: Any, **how: Any) -> None:
        if len(kept) >= 30:
            raise sqlite3.OperationalError("database or disk is full")
        put_rows(db, run, rows, *rest, **how)
        kept.extend(rows)

    monkeypatch.setattr(group_writer, "put_rows", full)
    with pytest.raises(StoreError) as caught:
        evaluate(many(200), "faithfulness", judge, store=tmp_path, run="nightly")
    assert "disk is full" in str(caught.value)
    assert str(tmp_path / "assay.db") in str(caught.value)
    stopped = Result.load("nightly", tmp_path)
    assert (stopped.rows, stopped.metrics["faithfulness"].total) == (len(kept), 200)
    assert 30 <= len(kept) < 200  # whole groups
    assert "rows scored before are in run nightly" in str(caught.value)
    assert "disk is full" in (stopped.stopped or "")


def test_the_command_line_ends_with_one_line_when_the_store_cannot_be_written(tmp_path, monkeypatch, capsys):
    from assay.cli.main import main

    def full(*rows: Any, **how: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    monkeypatch.setattr(group_writer, "put_rows", full)
    monkeypatch.setattr("assay.cli.options.JudgeOptions.resolve", lambda _: counting())
    monkeypatch.setattr(sys, "argv", ["assay", "score", str(tmp_path / "rows.jsonl"), "--store", str(tmp_path)])
    with pytest.raises(SystemExit) as caught:
        main()
    said = capsys.readouterr().err
    assert caught.value.code == 2
    assert said.startswith("assay: error: store")
    assert "disk is full" in said
    assert len(said.splitlines()) == 1


def test_what_the_caller_breaks_is_said_in_the_run(judge, tmp_path):
    def broken(scored: Any) -> None:
        raise RuntimeError("my own callback")

    with pytest.raises(RuntimeError, match="my own callback"):
        evaluate(ROWS, "faithfulness", judge, store=tmp_path, on_score=broken, run="nightly")
    assert Result.load("nightly", tmp_path).stopped == "RuntimeError: my own callback"


# ---- judgements of the same model at another address ----


def named(fingerprint: str) -> Counting:
    class Named(Counting):
        pass

    made = Named(support=lambda claim, passage: "supported", name=fingerprint)
    return made


def test_a_run_that_finds_nothing_because_the_address_changed_says_so(tmp_path):
    evaluate(ROWS, "faithfulness", named("openai/llama3@10.0.0.1:8080#abcd"), store=tmp_path)
    moved = evaluate(ROWS, "faithfulness", named("openai/llama3@10.0.0.2:8080#abcd"), store=tmp_path)
    note = "has judgements of openai/llama3@10.0.0.1:8080#abcd and none of openai/llama3@10.0.0.2:8080#abcd"
    assert note in str(moved).replace("\n", " ")
    assert Result.load(moved.run, tmp_path).notes == moved.notes
    assert not evaluate(ROWS, "faithfulness", named("openai/llama3@10.0.0.2:8080#abcd"), store=tmp_path).notes


@pytest.mark.parametrize("other", ["openai/llama4@b#abcd", "openai/llama3@b#ffff", "embedded/abcd", "openai/llama3"])
def test_another_model_is_no_change_of_address(other: str, tmp_path):
    evaluate(ROWS, "faithfulness", named("openai/llama3@a#abcd"), store=tmp_path)
    assert not evaluate(ROWS, "faithfulness", named(other), store=tmp_path).notes


class Slow(ScriptedJudge):
    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        if any(isinstance(i, Claims) and "never" in i.text for i in prompts):
            await asyncio.sleep(3600)
        return await super().answer(prompts)


def test_a_judge_that_never_answers_costs_its_row_and_no_more(tmp_path):
    rows = [*ROWS, {"id": "d", "question": "?", "contexts": ["x"], "answer": "It never ends."}]
    slow = Slow(support=lambda c, p: "supported")
    result = evaluate(rows, "faithfulness", slow, store=tmp_path, sample_deadline=1.0, concurrency=1)
    assert [s.values["faithfulness"] is None for s in result] == [False, False, False, True]
    assert result.errors[0].cause == "timeout"


@pytest.mark.long
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
    assert frame["faithfulness_error"].tolist()[1] == "no_context"


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
    assert "not_mentioned  Rome is huge." in text
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
    folder = result.store.folder
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
from assay.prompts import Claims

class Judge(ScriptedJudge):
    durable = True
    async def answer(self, prompts):
        import asyncio
        await asyncio.sleep(0.02)
        with open(sys.argv[2], "a") as log:
            for prompt in prompts:
                if isinstance(prompt, Claims):
                    log.write(prompt.text + "\\n")
        return await super().answer(prompts)

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


@pytest.mark.long
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

        async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
            Interrupting.count += 1
            if Interrupting.count == 5:
                os.kill(os.getpid(), signal.SIGINT)
            return await super().answer(prompts)

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
@pytest.mark.parametrize("number", [20_000, 100_000])
def test_many_rows_in_flat_memory(tmp_path, number):
    import psutil

    process, sizes = psutil.Process(), []

    def watch(scored: Any) -> None:
        sizes.append(process.memory_info().rss if len(sizes) % 5000 == 0 else 0)

    rows = ({"question": "q?", "contexts": ["Rome.", "Oslo."], "answer": f"Row {n}."} for n in range(number))
    judge = ScriptedJudge(usefulness=lambda question, passage: passage == "Rome.")
    result = evaluate(rows, "context_utilization", judge, store=tmp_path, on_score=watch)
    assert result.rows == len(sizes) == number
    assert result.metrics["context_utilization"].mean == 1.0
    measured = [size for size in sizes if size]
    # the memo holds its 4,096 judgements after the first 5,000 rows; nothing else may grow
    assert max(measured[1:]) - measured[1] <= 8_000_000
    assert sum(1 for _ in itertools.islice(result, 10_000)) == 10_000
    assert process.memory_info().rss - measured[1] <= 16_000_000


def test_a_full_disk_ends_the_run_and_says_which_file(judge, tmp_path, monkeypatch):
    honest = Database._connected

    def full(self):
        db = honest(self)
        db.execute("PRAGMA max_page_count = 1")
        return db

    store = Store(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(Database, "_connected", full)
        big = [{**row, "contexts": [" ".join(f"{n} {row['id']}" for n in range(9000))]} for row in ROWS]
        with pytest.raises(StoreError, match=r"assay\.db' cannot be written: the disk is full"):
            evaluate(big, "faithfulness", judge, store=store)
    store.close()
    assert evaluate(ROWS, "faithfulness", judge, store=store).rows == 3  # there is room again


def test_a_run_says_that_what_was_paid_for_could_not_be_kept(tmp_path):
    class Durable(FavourableJudge):
        durable = True

    store = Store(tmp_path)
    store.put_judgements([])  # makes the file
    with closing(sqlite3.connect(tmp_path / "assay.db")) as db:
        db.execute("CREATE TRIGGER full BEFORE INSERT ON judgements BEGIN SELECT RAISE(ABORT, 'no room'); END")
        db.commit()
    result = evaluate(ROWS, "faithfulness", Durable(), store=store)
    assert result.metrics["faithfulness"].scored == len(ROWS)
    (note,) = result.notes
    assert note.startswith("judgements could not be kept, and a rerun pays for them again: store ")
    assert "no room" in note
    assert Result.load(result.run, store=store).notes == [note]


def test_a_run_says_which_metrics_its_judge_cannot_do():
    result = evaluate(ROWS, ["faithfulness", "ragas:aspect_critic"], EmbeddedJudge(), store=None)
    assert result.notes == [
        "1 of 2 metrics ask what this judge cannot answer: ragas:aspect_critic; the failures say which judge can"
    ]
    assert result.notes[0] in str(result).replace("\n", " ")
    assert dict(result.metrics["ragas:aspect_critic"].causes) == {"judge_cannot": len(ROWS)}
    assert not evaluate(ROWS, "ragas:aspect_critic", FavourableJudge(), store=None).notes
