"""Budgets are hard: what the server sees never exceeds them, and what finds no room is skipped, never a number."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.errors import Cause, InputError, JudgeFailure
from assay.evaluation.evaluate import evaluate
from assay.judges.base import BaseJudge
from assay.judges.budget.budget import is_final
from assay.judges.budget.sqlite_ledger import FileLedger
from assay.judges.embedded.judge import EmbeddedJudge
from assay.judges.http import latency
from assay.judges.llm.judge import Reply, Request, TextJudge
from assay.judges.llm.openai import OpenAIJudge
from assay.judges.protocol import Answer
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import Budget, LiveScorer, Prices, SampleQueue
from assay.prompts.base import JudgePrompt
from assay.records import Context, Sample, ScoreError, Usage
from tests._support.servers.openai_server import Faults, OpenAIServer


def sample(n: int) -> Sample:
    text = f"House {n} was built in {1500 + n}. It has {n} windows."
    return Sample(question=f"What about house {n}?", answer=text, contexts=(Context(text=text),), id=str(n))


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No call is given up where a busy machine stands still for seconds: it would be charged at its estimate."""
    monkeypatch.setattr(latency, "LEAST", 60.0)


def judge_at(server: OpenAIServer, **options: Any) -> OpenAIJudge:
    return OpenAIJudge("fake", base_url=server.base_url, **{"retry_base": 0.01, "timeout": 60.0, **options})


def tokens_seen(server: OpenAIServer) -> int:
    """What the server counted: a quarter of the characters that it read and wrote."""
    read = sum(len(m["content"]) // 4 for call in server.calls for m in call.body.get("messages", ()))
    return read


def outcomes(scored: Any, metric: str = "faithfulness") -> list[Cause | None]:
    return [None if (u := one.scores[metric].error) is None else u.cause for one in scored]


def test_fifty_at_once_with_faults_and_retries_stay_within_the_calls() -> None:
    faults = Faults(seed=3, repeat=2, error_500=0.2, rate_limited=0.15, dropped=0.15, malformed=0.1)
    with OpenAIServer(faults=faults, retry_after=0.01) as server:
        done: list[Any] = []
        # 50 first calls go out together; of the other 40 some are retries, and some read the claims of the first
        live = LiveScorer(
            "faithfulness", judge_at(server), concurrency=50, on_score=done.append, budget=Budget(calls_per_day=90)
        )
        for n in range(50):
            live.submit(sample(n))
        assert live.flush(60)
        health = live.close()
        assert len(server.calls) <= 90
        # no request was held back without need, either: faults ate some, and all 90 were used
        assert len(server.calls) == 90
        assert len(done) == 50
        causes = outcomes(done)
        assert causes.count(Cause.BUDGET) > 0
        assert causes.count(None) > 0
        assert set(causes) <= {None, Cause.BUDGET, Cause.CONNECTION, Cause.PARSE}
        assert health.budget["calls_per_day"] == {"spent": 90, "limit": 90}
        assert health.causes["budget"] == causes.count(Cause.BUDGET)
        reasons = [s.scores["faithfulness"].error for s in done]
        reason = next(reason for reason in reasons if reason is not None and reason.cause is Cause.BUDGET)
        assert "calls_per_day=90" in reason.message
        assert "room in 24" in reason.message  # hours


@pytest.mark.long
def test_three_worker_processes_share_one_budget(tmp_path: Path) -> None:
    with OpenAIServer(faults=Faults(seed=5, repeat=1, error_500=0.3), retry_after=0.01) as server:
        queue = SampleQueue(tmp_path / "queue")
        for n in range(40):
            queue.submit(sample(n))
        queue.close()
        command = [sys.executable, "-m", "tests.live.apps", "worker", str(tmp_path / "queue")]
        options = [f"base_url={server.base_url}", "calls=45", "concurrency=8", "until_empty=1"]
        workers = [
            subprocess.Popen([*command, str(tmp_path / f"{n}.jsonl"), *options], stdout=subprocess.DEVNULL)
            for n in range(3)
        ]
        assert [worker.wait(100) for worker in workers] == [0, 0, 0]
        assert len(server.calls) == 45
        report = queue.report()
        assert report.scored > 0
        # what finds no room stays in the queue: no sample is lost to the budget
        assert report.waiting == 40 - report.scored
        assert (report.no_value, report.in_work) == (0, 0)


def test_evaluate_keeps_to_a_budget_and_a_rerun_asks_for_the_rest(tmp_path: Path) -> None:
    rows = [sample(n) for n in range(10)]
    with OpenAIServer() as server:
        judge = judge_at(server)
        first = evaluate(rows, "faithfulness", judge, store=tmp_path, progress=False, budget=Budget(calls_per_day=7))
        assert len(server.calls) == 7
        summary = first.metrics["faithfulness"]
        assert summary.causes["budget"] == 10 - summary.scored
        second = evaluate(rows, "faithfulness", judge, store=tmp_path, progress=False)
        assert second.metrics["faithfulness"].scored == 10
        assert len(server.calls) == 20  # two calls a row, none of them paid twice


def test_tokens_are_reserved_before_and_corrected_after() -> None:
    with OpenAIServer() as server:
        done: list[Any] = []
        budget = Budget(tokens_per_day=12_000)
        live = LiveScorer("faithfulness", judge_at(server), concurrency=20, on_score=done.append, budget=budget)
        for n in range(60):
            live.submit(sample(n))
        assert live.flush(60)
        live.close()
        assert Cause.BUDGET in outcomes(done)
        assert None in outcomes(done)
        assert tokens_seen(server) <= 12_000
        used = sum(usage_of(server, call) for call in server.calls)
        assert budget.state()["tokens_per_day"]["spent"] == used <= 12_000


def usage_of(server: OpenAIServer, call: Any) -> int:
    """The total that the server reported for this call: its read and written tokens."""
    read = sum(len(message["content"]) for message in call.body["messages"]) // 4
    return read + len(call.honest) // 4


def test_what_a_call_took_stays_at_the_estimate_where_nobody_tells() -> None:
    with OpenAIServer(usage=False) as server:
        budget = Budget(tokens_per_day=10**9)
        evaluate([sample(1)], "faithfulness", judge_at(server), store=None, progress=False, budget=budget)
        # two calls: their prompts, and the length that each allowed for its reply
        allowed = sum(call.body["max_tokens"] for call in server.chats)
        assert budget.state()["tokens_per_day"]["spent"] > allowed + tokens_seen(server)


def test_money() -> None:
    with OpenAIServer() as server:
        budget = Budget(dollars_per_day=1.0, prices=Prices(prompt=10, completion=30))
        evaluate([sample(1)], "faithfulness", judge_at(server), store=None, progress=False, budget=budget)
        read = sum(sum(len(m["content"]) for m in call.body["messages"]) // 4 for call in server.chats)
        written = sum(len(call.honest) // 4 for call in server.chats)
        dollars = (10 * read + 30 * written) / 10**6
        assert budget.state()["dollars_per_day"]["spent"] == pytest.approx(dollars)
        spent_up = Budget(dollars_per_day=dollars / 2, prices=Prices(prompt=10, completion=30))
        result = evaluate([sample(1)], "faithfulness", judge_at(server), store=None, progress=False, budget=spent_up)
        assert result.metrics["faithfulness"].causes == {"budget": 1}


def test_embeddings_are_counted() -> None:
    with OpenAIServer() as server:
        judge = judge_at(server, embedding_model="emb")
        rows = [{"answer": f"One {n}.", "reference": f"Two {n}."} for n in range(4)]
        budget = Budget(calls_per_day=2)
        evaluate(rows, "semantic_similarity", judge, store=None, progress=False, budget=budget, concurrency=1)
        assert server.count("embeddings") == 2


class Own(TextJudge):
    """A user's judge over a model of his own."""

    fingerprint = "own"

    def __init__(self, usage: Usage) -> None:
        self.usage, self.asked = usage, 0

    async def generate(self, request: Request) -> Reply:
        self.asked += 1
        await asyncio.sleep(0)
        return Reply('{"claims": []}', usage=self.usage)


def test_the_generate_of_other_judges_is_counted_by_the_driver() -> None:
    judge = Own(Usage(calls=1, prompt_tokens=10, completion_tokens=5))
    budget = Budget(calls_per_day=3, tokens_per_day=10**6)
    rows = [sample(n) for n in range(8)]
    result = evaluate(rows, "faithfulness", judge, store=None, progress=False, budget=budget)
    assert judge.asked == 3
    assert result.metrics["faithfulness"].causes["budget"] >= 5
    assert budget.state()["tokens_per_day"]["spent"] == 3 * 15


def test_judges_that_cost_nothing_are_not_counted() -> None:
    budget = Budget(calls_per_day=1)
    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    result = evaluate([sample(n) for n in range(5)], "faithfulness", judge, store=None, progress=False, budget=budget)
    assert result.metrics["faithfulness"].scored == 5
    assert budget.state()["calls_per_day"]["spent"] == 0
    assert EmbeddedJudge.budgeted


class Unknown(BaseJudge):
    fingerprint = "unknown"

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        raise AssertionError("never asked")


def test_a_judge_that_nobody_can_count_is_refused_with_a_budget() -> None:
    for make in (
        lambda: evaluate([sample(1)], "faithfulness", Unknown(), store=None, budget=Budget(calls_per_day=1)),
        lambda: LiveScorer("faithfulness", Unknown(), budget=Budget(calls_per_day=1)),
    ):
        with pytest.raises(InputError, match="Unknown does not say what it asks"):
            make()


@pytest.mark.long
def test_waiting_for_room_scores_everything_in_time() -> None:
    """With `wait` the samples stay until the window moves on; the clock of the ledger is moved by hand."""
    with OpenAIServer() as server:
        budget = Budget(calls_per_minute=4)
        began = time.monotonic()
        # a clock that runs a hundred times as fast: a minute of the ledger is 0.6 s here
        budget.ledger.now = lambda: 10**6 + 100 * (time.monotonic() - began)  # type: ignore[attr-defined]
        frees_in = budget.frees_in
        budget.frees_in = lambda: min(0.1, frees_in())  # type: ignore[method-assign]
        live = LiveScorer("faithfulness", judge_at(server), budget=budget, when_spent="wait")
        for n in range(6):
            live.submit(sample(n))
        assert live.flush(60)
        health = live.close()
        assert (health.scored, health.no_value) == (6, 0)
        assert len(server.calls) == 12  # what had been found before the wait was not asked again


def test_what_never_fits_does_not_wait_for_ever() -> None:
    with OpenAIServer() as server:
        done: list[Any] = []
        live = LiveScorer(
            "faithfulness",
            judge_at(server),
            budget=Budget(tokens_per_minute=50),
            when_spent="wait",
            on_score=done.append,
        )
        live.submit(sample(1))
        assert live.flush(30)
        live.close()
        reason = done[0].scores["faithfulness"].error
        assert reason.cause is Cause.BUDGET
        assert is_final(reason)
        assert "raise the limit" in reason.message
        assert server.calls == []


def test_a_ledger_that_cannot_be_read_lets_nothing_through(tmp_path: Path) -> None:
    ledger = FileLedger(tmp_path / "ledger.db")
    (tmp_path / "ledger.db").write_bytes(b"no database" * 1000)
    budget = Budget(calls_per_day=5, ledger=ledger)
    with pytest.raises(JudgeFailure, match="cannot be counted") as caught:
        budget.reserve(1, 1)
    assert caught.value.cause is Cause.BUDGET
    assert not is_final(ScoreError(cause=Cause.BUDGET, message=caught.value.message))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give at least one limit"),
        ({"calls_per_day": 0}, "calls_per_day: expected a whole number above 0"),
        ({"calls_per_day": 1.5}, "calls_per_day"),
        ({"tokens_per_minute": True}, "tokens_per_minute"),
        ({"dollars_per_day": 1.0}, "need prices"),
        ({"dollars_per_day": float("nan"), "prices": Prices(prompt=1, completion=1)}, "dollars_per_day"),
    ],
)
def test_budgets_that_cannot_be_meant(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Budget(**options)


def test_prices_and_options_that_cannot_be_meant() -> None:
    with pytest.raises(InputError, match="Prices: completion"):
        Prices(prompt=1, completion=-1)
    with pytest.raises(InputError, match="expected a Budget"):
        LiveScorer("faithfulness", ScriptedJudge(), budget=100)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="when_spent"):
        LiveScorer("faithfulness", ScriptedJudge(), when_spent="later")  # type: ignore[arg-type]


def test_cached_tokens_have_their_price() -> None:
    prices = Prices(prompt=2, completion=8, cached=0.5)
    # (1000 - 600) * 2 + 600 * 0.5 + 100 * 8 = 800 + 300 + 800 dollars per million = 1,900,000 nanodollars
    assert prices.of(1000, 100, 600) == 1_900_000
