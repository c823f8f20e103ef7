"""Evaluations through batches: what is sent, how many files, what comes back, what it says of the cost."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import assay
from assay import Budget, InputError, OpenAIJudge, evaluate
from assay.cli.checks import examine
from assay.errors import Cause, Detached, StoreError
from assay.evaluation.adapters import MetricAdapter
from assay.evaluation.result import Result
from assay.evaluation.sharded.job import evaluate_in_processes
from assay.judges import Prices
from assay.judges.batch.judge import AnthropicBatchJudge, OpenAIBatchJudge
from assay.judges.batch.state import BatchState
from assay.judges.calibrated_judge import Calibration, ProbabilityMap, calibrate_judge
from assay.judges.cascade.judge import CascadeJudge
from assay.judges.llm.judge import Request
from assay.judges.resolve import resolve_judge
from assay.live import LiveScorer, SampleQueue, Worker
from assay.prompts import Similarity, Support
from tests._support.servers.batch_server import BatchServer
from tests._support.servers.openai_server import OpenAIServer
from tests.evaluation.test_llm_evaluation import FIVE, row
from tests.judges.conftest import PASSAGES, claims

pytestmark = pytest.mark.long

WRITTEN = ["faithfulness", "context_precision", "context_recall"]
#: Of one row with these three: claims of the answer, claims of the reference and usefulness; then two readings.
FIRST, SECOND = 3, 2


def judge_at(server: BatchServer, kind: str = "openai", **how: Any) -> OpenAIBatchJudge:
    options = {"base_url": server.base_url, "poll": 0.01, "list_lag": 0.05, "retry_base": 0.01, "discount": 0.5, **how}
    return OpenAIBatchJudge("fake", **options) if kind == "openai" else AnthropicBatchJudge("fake", **options)


def values(result: Result) -> list[dict[str, float | None]]:
    return [dict(scored.values) for scored in result]


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_run_takes_one_batch_a_round_and_finds_what_single_calls_find(kind, tmp_path):
    rows = [row(n) for n in range(4)]
    with OpenAIServer() as server:
        single = evaluate(rows, WRITTEN, OpenAIJudge("fake", base_url=server.base_url), store=tmp_path / "single")
    with BatchServer() as server:
        result = evaluate(rows, WRITTEN, judge_at(server, kind), store=tmp_path / kind, concurrency=1)
        assert [len(batch.requests) for batch in server.batches.values()] == [4 * FIRST, 4 * SECOND]
    assert values(result) == values(single)
    assert result.usage.calls == single.usage.calls == 4 * (FIRST + SECOND)
    assert result.usage.completion_tokens == single.usage.completion_tokens


def test_embeddings_go_into_batches_of_their_own(tmp_path):
    with BatchServer() as server:
        judge = judge_at(server, embedding_model="embed")
        result = evaluate([row(n) for n in range(3)], FIVE, judge, store=tmp_path)
        by_endpoint = {batch.endpoint for batch in server.batches.values()}
        assert len(server.batches) == 4  # two rounds, each with a file of chat calls and one of embeddings
    assert by_endpoint == {"/v1/chat/completions", "/v1/embeddings"}
    assert {summary.scored for summary in result.metrics.values()} == {3}


def test_a_round_is_cut_at_the_limits_of_a_file(tmp_path):
    with BatchServer() as server:
        result = evaluate([row(n) for n in range(5)], WRITTEN, judge_at(server, most_requests=4), store=tmp_path)
        sizes = [len(batch.requests) for batch in server.batches.values()]
    assert sizes == [4, 4, 4, 3, 4, 4, 2]  # 15 and then 10 requests
    assert result.usage.calls == 25

    with BatchServer() as server:
        evaluate([row(n) for n in range(5)], WRITTEN, judge_at(server, most_bytes=20_000), store=tmp_path / "bytes")
        assert len(server.files) > 4
        assert all(len(content) <= 20_000 for name, (_, content) in server.files.items() if name.startswith("file-"))


def test_a_window_of_rows_bounds_what_waits_together(tmp_path):
    with BatchServer() as server:
        judge = judge_at(server, rows_in_flight=2)
        evaluate([row(n) for n in range(6)], WRITTEN, judge, store=tmp_path, concurrency=1)
        assert max(len(batch.requests) for batch in server.batches.values()) <= 2 * FIRST
        assert sum(len(batch.requests) for batch in server.batches.values()) == 6 * (FIRST + SECOND)


def test_it_says_what_was_saved(tmp_path):
    prices = Prices(prompt=10.0, completion=20.0)
    with BatchServer() as server:
        result = evaluate([row(1)], WRITTEN, judge_at(server), store=tmp_path)
        told = evaluate(
            [row(2)], WRITTEN, judge_at(server), store=tmp_path, budget=Budget(calls_per_day=100, prices=prices)
        )
        unknown = evaluate([row(3)], WRITTEN, judge_at(server, discount=None), store=tmp_path)
    usage = result.usage
    assert usage.prompt_tokens is not None
    assert usage.completion_tokens is not None
    tokens = f"{usage.prompt_tokens:,} prompt and {usage.completion_tokens:,} completion tokens"
    less = f"{usage.prompt_tokens / 2:,.0f} and {usage.completion_tokens / 2:,.0f}"
    assert f"5 requests in 2 batches at half the usual price: {tokens}, which saved the price of {less}" in str(
        result.notes
    )
    # dollars a million: 10 for prompts, 20 for replies
    assert told.usage.prompt_tokens is not None
    assert told.usage.completion_tokens is not None
    full = (10 * told.usage.prompt_tokens + 20 * told.usage.completion_tokens) / 1e6
    assert f"for ${full / 2:.4f} in place of ${full:.4f}" in str(told.notes)
    assert "is not known: give discount=" in str(unknown.notes)


def test_a_budget_counts_batch_calls_at_their_price(tmp_path):
    prices = Prices(prompt=10.0, completion=20.0)
    with BatchServer() as server:
        budget = Budget(calls_per_day=4, dollars_per_day=100, prices=prices)
        result = evaluate([row(n) for n in range(3)], WRITTEN, judge_at(server), store=tmp_path, budget=budget)
        assert sum(server.submitted.values()) == 4
    assert sum(summary.causes.get(Cause.BUDGET, 0) for summary in result.metrics.values()) > 0
    assert result.usage.prompt_tokens is not None
    assert result.usage.completion_tokens is not None
    full = (10 * result.usage.prompt_tokens + 20 * result.usage.completion_tokens) / 1e6
    assert budget.state()["dollars_per_day"]["spent"] == pytest.approx(full / 2)


def test_nothing_of_a_run_that_ended_is_left_in_the_file_of_batches(tmp_path):
    with BatchServer() as server:
        evaluate([row(1)], WRITTEN, judge_at(server), store=tmp_path)
    state = BatchState(tmp_path)
    assert state._rows("SELECT COUNT(*) FROM requests") == [(0,)]
    assert not state.batches()
    assert not list(tmp_path.glob("*.jsonl"))


def test_it_works_without_a_run(tmp_path):
    async def found(server: BatchServer) -> Any:
        judge = judge_at(server, state=tmp_path, embedding_model="embed")
        verdicts, alike = await asyncio.gather(
            judge.find(Support(claims("The bridge opened in 1889."), PASSAGES)),
            judge.find(Similarity("a bridge", ("a bridge",))),
        )
        await judge.release()
        return verdicts[0].label, alike

    with BatchServer() as server:
        assert asyncio.run(found(server)) == ("supported", (1.0,))
        assert len(server.batches) == 1


def test_detached_it_submits_and_ends_and_the_same_call_goes_on(tmp_path):
    rows = [row(n) for n in range(3)]
    with BatchServer(takes=3600.0) as server:
        judge = judge_at(server)

        def one_pass() -> Result:
            return evaluate(rows, WRITTEN, judge, store=tmp_path, run="nightly", replace=True, detach=True)

        with pytest.raises(Detached, match="run nightly waits for 1 batch with 9 requests") as caught:
            one_pass()
        assert (caught.value.run, caught.value.batches) == ("nightly", 1)
        with pytest.raises(Detached, match="run nightly waits for 1 batch with 9 requests"):
            one_pass()
        server.takes, result = 0.0, None
        while result is None:  # the second round's batch may have ended before this pass looks for the last time
            with suppress(Detached):
                result = one_pass()
        assert set(server.submitted.values()) == {1}
        assert len(server.batches) == 2
    assert {summary.scored for summary in result.metrics.values()} == {3}
    assert "15 requests in 2 batches" in str(result.notes)  # of all passes


def test_what_structured_output_refuses_is_asked_with_the_schema_in_the_prompt(tmp_path):
    for kind, rejects in (("openai", {"json_schema", "response_format"}), ("anthropic", {"response_format"})):
        with BatchServer(rejects=rejects) as server:
            result = evaluate([row(1), row(2)], WRITTEN, judge_at(server, kind), store=tmp_path / kind)
            last = list(server.batches.values())[-1].requests[0]
        body = last.get("body") or last["params"]
        assert {summary.scored for summary in result.metrics.values()} == {2}
        assert "response_format" not in body
        assert "output_config" not in body
        assert "JSON schema" in json.dumps(body)


def test_readings_of_a_text_are_apart(tmp_path):
    with BatchServer() as server:
        for reading in (1, 2):
            evaluate([row(1)], WRITTEN, judge_at(server), store=tmp_path, reading=reading)
        assert sum(server.submitted.values()) == 2 * (FIRST + SECOND)
        evaluate([row(1)], WRITTEN, judge_at(server), store=tmp_path)
        assert sum(server.submitted.values()) == 2 * (FIRST + SECOND)


def test_judgements_are_those_of_the_same_model_asked_one_by_one(tmp_path):
    with BatchServer() as server:
        evaluate([row(1)], WRITTEN, judge_at(server), store=tmp_path)
        single = OpenAIJudge("fake", base_url=server.base_url)
        assert evaluate([row(1)], WRITTEN, single, store=tmp_path).usage.calls == 0


def test_keys_go_where_each_provider_wants_them(tmp_path):
    with BatchServer() as server:
        evaluate([row(1)], ["faithfulness"], judge_at(server, api_key="secret-key"), store=tmp_path / "one")
        assert {headers.get("authorization") for headers in server.seen_headers} == {"Bearer secret-key"}
    with BatchServer() as server:
        judge = judge_at(server, "anthropic", api_key="secret-key")
        evaluate([row(1)], ["faithfulness"], judge, store=tmp_path / "other")
        assert {headers.get("x-api-key") for headers in server.seen_headers} == {"secret-key"}
        assert {headers.get("anthropic-version") for headers in server.seen_headers} == {"2023-06-01"}
        assert not any("authorization" in headers for headers in server.seen_headers)
    assert not any(b"secret-key" in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_azure_names_paths_without_a_version(tmp_path):
    with BatchServer() as server:
        address = server.base_url.removesuffix("/v1")
        judge = OpenAIBatchJudge(
            "fake", azure_endpoint=address, api_version="2025-04-01", api_key="secret-key", poll=0.01
        )
        result = evaluate([row(1)], ["faithfulness"], judge, store=tmp_path)
        assert {headers.get("api-key") for headers in server.seen_headers} == {"secret-key"}
        assert {batch.endpoint for batch in server.batches.values()} == {"/chat/completions"}
    assert result.metrics["faithfulness"].scored == 1
    assert "at half the usual price" in str(result.notes)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"rows_in_flight": 0}, "rows_in_flight: expected at least 1"),
        ({"most_requests": 0}, "most_requests: expected at least 1"),
        ({"poll": 0}, "poll, list_lag: expected seconds"),
        ({"discount": 1.5}, "discount: expected what is taken off"),
        ({"colour": 1}, "there is no option 'colour'"),
    ],
)
def test_arguments_that_cannot_work_are_named(how, said):
    with pytest.raises(InputError, match=said):
        resolve_judge("openai-batch:fake", base_url="http://127.0.0.1:1/v1", **how)


def test_what_anthropic_has_not_is_said(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(InputError, match="set ANTHROPIC_API_KEY"):
        resolve_judge("anthropic-batch:fake")
    with pytest.raises(InputError, match="embedding_model: goes with 'openai-batch:MODEL'"):
        resolve_judge("anthropic-batch:fake", api_key="key", embedding_model="embed")


def test_only_batches_can_be_left(tmp_path):
    with pytest.raises(InputError, match="detach: goes with a judge that answers in batches"):
        evaluate([row(1)], ["faithfulness"], OpenAIJudge("fake", base_url="http://127.0.0.1:1/v1"), detach=True)


def test_whoever_cannot_wait_for_a_day_refuses_such_a_judge(tmp_path: Path):
    judge = resolve_judge("openai-batch:fake", base_url="http://127.0.0.1:1/v1")
    queue = SampleQueue(tmp_path / "spool.db")
    how = {"on_timeout": "block", "on_error": "block", "on_skipped": "block", "fallback": "-"}
    refusing = {
        "live scoring": lambda: LiveScorer("faithfulness", judge),
        "a worker": lambda: Worker(queue, "faithfulness", judge),
        "a guard": lambda: assay.guard("faithfulness", judge, **how),
        "another tool's evaluation": lambda: MetricAdapter("faithfulness", judge),
    }
    for who, make in refusing.items():
        with pytest.raises(InputError, match=f"OpenAIBatchJudge answers in batches.* and {who} cannot wait"):
            make()
    data = tmp_path / "a.jsonl"
    data.write_text(json.dumps(row(1)), "utf-8")
    with pytest.raises(InputError, match="jobs: OpenAIBatchJudge answers in batches"):
        evaluate_in_processes(data, "faithfulness", judge, jobs=2, store=tmp_path / "s")


def test_two_runs_do_not_carry_the_same_batches(tmp_path: Path):
    async def both(server: BatchServer) -> list[Any]:
        from assay import aevaluate

        runs = [aevaluate([row(n)], WRITTEN, judge_at(server), store=tmp_path) for n in range(2)]
        return await asyncio.gather(*runs, return_exceptions=True)

    with BatchServer(takes=0.2) as server:
        one, other = asyncio.run(both(server))
        assert isinstance(one, Result)
        assert isinstance(other, InputError)
        assert "another run is at work on those in" in str(other)
        assert set(server.submitted.values()) == {1}


def test_in_a_cascade_the_rows_of_a_run_fill_its_batches(tmp_path):
    with BatchServer() as server:
        judge = CascadeJudge("embedded", judge_at(server), band=(0.0, 1.0))  # all is in doubt
        result = evaluate([row(n) for n in range(4)], ["faithfulness"], judge, store=tmp_path, concurrency=1)
        sizes = [len(batch.requests) for batch in server.batches.values()]
        # not a batch for each row; where the machine is busy the first judge may still read when the others are sent
        assert (sum(sizes), len(sizes) <= 3) == (4, True)
    assert result.metrics["faithfulness"].scored == 4


def test_a_calibrated_one_is_asked_like_any_other(tmp_path):
    with BatchServer() as server:
        judge = judge_at(server)
        maps = {"support": ProbabilityMap(slope=1.0, intercept=0.0)}
        kept = calibrate_judge(judge, Calibration(judge=judge.fingerprint, made="2026-01-31", maps=maps))
        result = evaluate([row(n) for n in range(4)], ["faithfulness"], kept, store=tmp_path, concurrency=1)
        assert [len(batch.requests) for batch in server.batches.values()] == [4, 4]
    assert result.metrics["faithfulness"].scored == 4
    assert "at half the usual price" in str(result.notes)


def test_where_nothing_can_be_written_down_nothing_is_sent(tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(BatchState, "ask", full)
    with BatchServer() as server:
        with pytest.raises(StoreError, match="the disk is full"):
            evaluate([row(n) for n in range(4)], ["faithfulness"], judge_at(server), store=tmp_path)
        assert not server.batches
        monkeypatch.undo()
        assert evaluate([row(1)], ["faithfulness"], judge_at(server), store=tmp_path).usage.calls == 2


def test_votes_in_the_same_words_are_asked_each(tmp_path):
    async def found(server: BatchServer, seed: int | None) -> int:
        judge = judge_at(server, state=tmp_path, seed=seed)
        prompt = Support(claims("The bridge opened in 1889."), PASSAGES)
        content = prompt.full_content
        assert content is not None
        replies = [judge.generate(Request(replace(content, vote=vote))) for vote in range(3)]
        await asyncio.gather(*replies)
        await judge.release()
        bodies = [request["body"] for batch in server.batches.values() for request in batch.requests]
        assert all("_vote" not in body for body in bodies)
        return len(bodies)

    with BatchServer() as server:
        assert asyncio.run(found(server, None)) == 3
        assert asyncio.run(found(server, 7)) == 6


def test_the_doctor_asks_for_nothing_that_takes_a_day():
    with BatchServer() as server:
        checks = {check.name: (check.fine, check.text) for check in examine(judge_at(server))}
        assert checks["reachable"] == (True, "yes")
        assert checks["lists_batches"] == (None, "yes")
        assert not server.batches
    with BatchServer(lists=False) as server:
        checks = {check.name: (check.fine, check.text) for check in examine(judge_at(server))}
        assert checks["lists_batches"] == (None, "no")


def test_many_rows_with_the_default_metrics_take_two_files_a_round(tmp_path):
    with BatchServer() as server:
        judge = judge_at(server, embedding_model="embed")
        result = evaluate((row(n) for n in range(300)), None, judge, store=tmp_path)
        sizes = [(batch.endpoint.rsplit("/", 1)[-1], len(batch.requests)) for batch in server.batches.values()]
    # of each row: six chat calls and one for embeddings at once, then four chat calls and one that waited for them
    # the two files of a round are made side by side, in any order
    assert sorted(sizes[:2]) == [("completions", 1800), ("embeddings", 300)]
    assert sorted(sizes[2:]) == [("completions", 1200), ("embeddings", 300)]
    assert result.rows == 300
    assert result.usage.calls == 12 * 300
