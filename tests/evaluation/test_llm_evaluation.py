"""Whole evaluations against a real HTTP endpoint of the OpenAI protocol: how many calls, and what faults do."""

from __future__ import annotations

import math
from typing import Any

import pytest

from assay import JudgeFailure, OpenAIJudge, evaluate
from assay.errors import Cause
from assay.evaluation.result import Result
from tests._support.servers.openai_server import Behaviour, Call, Faults, OpenAIServer, Say

FIVE = ["faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness"]

CITIES = ["Oslo", "Bern", "Riga", "Rome", "Cairo", "Lima", "Quito", "Delhi", "Hanoi", "Accra"]


def row(number: int) -> dict[str, Any]:
    """A row with five contexts, of which one answers the question."""
    city = CITIES[number % len(CITIES)]
    year = 1100 + number
    others = [f"{name} has a harbour and {number + n} parks." for n, name in enumerate(CITIES[:4])]
    return {
        "id": str(number),
        "question": f"When was the old town of {city} founded, in record {number}?",
        "contexts": [f"The old town of {city} was founded in {year}. It lies on a river.", *others],
        "answer": f"The old town of {city} was founded in {year}. It has {number} towers.",
        "reference": f"The old town of {city} was founded in {year}.",
    }


def judge_at(server: OpenAIServer, **how: Any) -> OpenAIJudge:
    return OpenAIJudge("fake", base_url=server.base_url, embedding_model="fake-embed", retry_base=0.01, **how)


def test_five_metrics_on_a_sample_with_five_contexts_need_eight_chat_calls(tmp_path):
    with OpenAIServer() as server:
        result = evaluate([row(1)], FIVE, judge_at(server), store=tmp_path)
    assert {name: summary.scored for name, summary in result.metrics.items()} == dict.fromkeys(FIVE, 1)
    # claims of answer and reference; each against the contexts; answer against reference, reference against answer;
    # usefulness of the contexts; questions back from the answer. None shares a request: what one metric asks must not
    # change with what others ask
    assert sorted(call.kind for call in server.chats) == sorted(
        ["claims"] * 2 + ["support"] * 4 + ["usefulness", "back_questions"]
    )


def test_a_run_that_finds_nothing_because_the_address_alone_changed_says_so(tmp_path):
    for named, noted in ((None, True), ("our-fake", False)):
        results = []
        for _ in range(2):
            with OpenAIServer() as server:
                judge = judge_at(server, identity=named)
                results.append(evaluate([row(1)], FIVE, judge, store=tmp_path / str(named)))
        assert not results[0].notes
        assert ("they differ by address alone" in " ".join(str(results[1]).split())) is noted
        assert (results[1].usage.calls == 0) is not noted
    with OpenAIServer() as server:  # another model elsewhere is nobody's twin
        other = OpenAIJudge("other", base_url=server.base_url, embedding_model="fake-embed")
        assert not evaluate([row(1)], FIVE, other, store=tmp_path / "None").notes


@pytest.mark.long
def test_calls_do_not_depend_on_how_many_samples_are_in_flight(tmp_path):
    rows = [row(n) for n in range(20)]
    with OpenAIServer() as server:
        evaluate(rows, FIVE, judge_at(server), store=tmp_path, concurrency=16)
    assert len(server.chats) == 8 * 20


def test_the_cost_of_a_run_is_counted_and_unknown_tokens_stay_unknown(tmp_path):
    with OpenAIServer() as server:
        known = evaluate([row(1)], FIVE, judge_at(server), store=tmp_path / "1")
    with OpenAIServer(usage=False) as server:
        unknown = evaluate([row(1)], FIVE, judge_at(server), store=tmp_path / "2")
    assert known.usage.calls == len(server.calls)
    assert known.usage.prompt_tokens > 0
    per_score = sum(score.usage.calls for scored in known for score in scored.scores.values())
    assert per_score == known.usage.calls  # nothing is counted twice, nothing is lost
    assert unknown.usage.prompt_tokens is None
    assert "unknown tokens" in " ".join(str(unknown).split())


def test_a_wrong_model_name_ends_the_run_at_once_in_plain_words(tmp_path):
    with OpenAIServer(models={"right"}) as server, pytest.raises(JudgeFailure, match="does not know the model 'fake'"):
        evaluate([row(n) for n in range(200)], "faithfulness", judge_at(server), store=tmp_path)
    assert len(server.calls) <= 2 * 16  # the rows that were in flight, and no more


def test_an_endpoint_without_embeddings_costs_the_metrics_that_need_them_and_no_others(tmp_path):
    with OpenAIServer(embeddings=False) as server:
        result = evaluate([row(n) for n in range(40)], ["faithfulness", "semantic_similarity"], judge_at(server),
                          store=tmp_path)  # fmt: skip
    assert result.complete
    assert result.metrics["faithfulness"].scored == 40
    assert result.metrics["semantic_similarity"].causes == {Cause.NO_MODEL: 40}


def test_a_flagged_input_is_filtered_not_a_refused_key(tmp_path):
    def moderated(call: Call) -> Say | None:
        if "in record 3?" in str(call.body["messages"]):
            error = {"message": "The model requires moderation and your input was flagged", "code": 403}
            return Say(status=403, body={"error": error})
        return None

    with OpenAIServer(plan=moderated) as server:
        result = evaluate([row(n) for n in range(8)], "faithfulness", judge_at(server), store=tmp_path)
    assert result.metrics["faithfulness"].scored == 7
    assert result.metrics["faithfulness"].causes == {Cause.CONTENT_FILTER: 1}


ROWS = 200
HOPELESS = {"17": "malformed", "58": "malformed", "90": "silent", "133": "silent", "171": "filtered"}


def hopeless(call: Call) -> Say | None:
    """Five rows whose answers the endpoint never judges, however often it is asked."""
    text = str(call.body["messages"][1:2])
    for number, how in HOPELESS.items():
        if f"in record {number}?" in text and call.kind == "claims":
            if how == "malformed":
                return Say("I would say that most of it is true.")
            if how == "silent":
                return Say(hang=True)
            error = {"message": "The prompt was filtered.", "code": "content_filter"}
            return Say(status=400, body={"error": error})
    return None


def faulty() -> Behaviour:
    """5% HTTP 500, 5% malformed, 2% truncated, 5% HTTP 429 with Retry-After, 1% never answered; once per request."""
    return Behaviour(
        faults=Faults(seed=3, error_500=0.05, malformed=0.05, truncated=0.02, rate_limited=0.05, silent=0.01)
    )


@pytest.fixture(scope="module")
def faulted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, OpenAIServer, Any]:
    folder = tmp_path_factory.mktemp("faults")
    rows = [row(n) for n in range(ROWS)]
    with OpenAIServer(faulty(), plan=hopeless) as server:
        judge = judge_at(server, timeout=5.0, deadline=60.0, max_attempts=8)
        result = evaluate(rows, FIVE, judge, store=folder, concurrency=24)
    return result, server, folder


@pytest.mark.long
def test_all_rows_end_and_every_recoverable_one_is_scored(faulted):
    result, server, _ = faulted
    assert (result.rows, result.complete) == (ROWS, True)
    bad = {call.status for call in server.calls} | {None}
    assert {500, 429, 200} <= bad  # the faults did happen
    for scored in result:
        if scored.sample.id not in HOPELESS:
            assert all(score.value is not None for score in scored.scores.values()), scored.values


@pytest.mark.long
def test_every_other_one_is_skipped_with_its_cause_and_the_raw_reply(faulted):
    result, _, _ = faulted
    causes = {"malformed": Cause.PARSE, "silent": Cause.TIMEOUT, "filtered": Cause.CONTENT_FILTER}
    failures = {(failure.id, failure.metric): failure for failure in result.errors}
    for number, how in HOPELESS.items():
        failure = failures.pop((number, "faithfulness"))
        assert failure.cause == causes[how], failure
        if how == "malformed":
            assert failure.raw == "I would say that most of it is true."
        if how == "filtered":
            assert "filtered" in (failure.raw or "")
        # what needs no claims is scored on these rows as well
        values = result.row(number).values
        assert values["context_precision"] is not None
        assert values["answer_relevancy"] is not None
    others = [failure for (number, _), failure in failures.items() if number not in HOPELESS]
    assert others == []


@pytest.mark.long
def test_no_fault_becomes_a_number(faulted):
    result, _, _ = faulted
    for scored in result:
        for score in scored.scores.values():
            assert (score.value is None) == (score.error is not None)
            assert score.value is None or math.isfinite(score.value)
        if scored.values["faithfulness"] is not None:
            assert scored.values["faithfulness"] == 0.5  # the founding is in the contexts, the towers are not
    assert "nan" not in str(result).lower()


@pytest.mark.long
def test_a_rerun_asks_only_for_what_is_missing(faulted):
    _, faulty_server, folder = faulted
    # the same address, now without faults: judgements are filed under model, parameters and address
    port = int(faulty_server.base_url.rsplit(":", 1)[1].split("/")[0])
    with OpenAIServer(port=port) as server:
        judge = judge_at(server, timeout=5.0, deadline=60.0, max_attempts=8)
        again = evaluate([row(n) for n in range(ROWS)], FIVE, judge, store=folder, concurrency=24)
    assert again.errors == []
    # per hopeless row: its claims (of answer and reference) and the four readings that waited for them; nothing else
    assert len(server.chats) == 6 * len(HOPELESS)
    questions = str([call.body["messages"] for call in server.chats])
    assert "in record 18?" not in questions
