"""Sampling is a pure function of trace, seed and rate: the same everywhere, nested, and close to its rate."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.live.sampling import Sampling, SamplingRule, position, resolve_sampling, sampling_key
from assay.records import Context, Sample

RATES = st.floats(0, 1)
IDS = st.text(min_size=1, max_size=40)


def sample(id: str = "a", **fields: Any) -> Sample:
    return Sample(**{"question": "q", "answer": "An answer.", "contexts": (Context(text="p"),), "id": id, **fields})


@given(IDS, RATES, RATES, st.text(max_size=5))
def test_a_higher_rate_keeps_all_that_a_lower_one_keeps(id: str, one: float, other: float, seed: str) -> None:
    low, high = sorted((one, other))
    if Sampling(low, seed=seed).decide(sample(id)).taken:
        assert Sampling(high, seed=seed).decide(sample(id)).taken


@given(IDS)
def test_all_and_nothing(id: str) -> None:
    assert Sampling(1).decide(sample(id)).taken
    assert not Sampling(0).decide(sample(id)).taken


@given(IDS, RATES)
def test_the_trace_decides_however_it_was_captured(trace: str, rate: float) -> None:
    live = sample("run-1", ids={"otel_trace_id": trace, "langchain_run_id": "1"})
    imported = sample("another", ids={"otel_trace_id": trace}, answer="masked", status="failed")
    assert Sampling(rate).decide(live).taken == Sampling(rate).decide(imported).taken


def test_a_trace_has_one_key_in_every_store() -> None:
    trace = "0af7651916cd43dd8448eb211c80319c"
    stores = [{"otel_trace_id": trace}, {"mlflow_trace_id": "tr-" + trace}, {"langfuse_trace_id": trace.upper()}]
    assert {sampling_key(sample("x", ids=ids)) for ids in stores} == {trace}
    both = {"mlflow_trace_id": "tr-1", "otel_trace_id": "2"}
    assert sampling_key(sample("x", ids=both)) == "2"
    assert sampling_key(sample("x", ids={"otel_trace_id": ""})) == "x"
    assert sampling_key(Sample(answer="a")).startswith("row-")


def test_another_process_decides_the_same() -> None:
    script = "from assay.live.sampling import position; print([position(str(n), 's') for n in range(20)])"
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "77"}
    )
    assert ran.stdout.strip() == str([position(str(n), "s") for n in range(20)])
    # pinned: a change would decide anew on every trace there is
    assert position("trace", "") == 0xB3B58543676FBF2B


@pytest.mark.short_cases(2)
@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 0.9])
def test_the_share_taken_is_the_rate(rate: float) -> None:
    taken = sum(Sampling(rate).decide(sample(f"trace {n}")).taken for n in range(20_000))
    # 20,000 coins: five standard deviations are 5 * sqrt(rate * (1 - rate) / 20,000), at most 0.018
    assert abs(taken / 20_000 - rate) < 5 * (rate * (1 - rate) / 20_000) ** 0.5


def test_seeds_take_different_samples() -> None:
    of = [{n for n in range(1000) if Sampling(0.5, seed=seed).decide(sample(str(n))).taken} for seed in ("a", "b")]
    assert 150 < len(of[0] - of[1]) < 350  # a quarter of 1000 is expected


@pytest.mark.parametrize(
    ("rule", "fields", "matches"),
    [
        ({"tags": ["prod"]}, {"metadata": {"tags": ["a", "prod"]}}, True),
        ({"tags": ["prod", "eu"]}, {"metadata": {"tags": ("eu",)}}, True),
        ({"tags": ["prod"]}, {"metadata": {"tags": ["staging"]}}, False),
        ({"tags": ["prod"]}, {"metadata": {"tags": "prod"}}, False),
        ({"status": ["failed", "cancelled"]}, {"status": "failed"}, True),
        ({"status": ["failed"]}, {}, False),
        ({"metadata": {"user": "x"}}, {"metadata": {"user": "x", "more": 1}}, True),
        ({"metadata": {"user": None}}, {}, False),
        ({"feedback": True}, {"metadata": {"feedback": {"value": 0}}}, True),
        ({"feedback": True}, {}, False),
        ({"feedback": ["bad"]}, {"metadata": {"feedback": {"value": "bad"}}}, True),
        ({"feedback": ["bad"]}, {"metadata": {"feedback": {"value": "good"}}}, False),
        ({"feedback_below": 0.5}, {"metadata": {"feedback": {"value": False}}}, True),
        ({"feedback_below": 0.5}, {"metadata": {"feedback": {"value": 0.5}}}, False),
        ({"feedback_below": 0.5}, {"metadata": {"feedback": {"value": "bad"}}}, False),
        ({"feedback_above": 0.5}, {"metadata": {"feedback": {"value": 5}}}, True),
        ({"feedback_below": 0.5}, {"metadata": {"feedback": "thumbs down"}}, False),
        ({"min_answer": 10}, {"answer": "0123456789"}, True),
        ({"min_answer": 11}, {"answer": "0123456789"}, False),
        ({"max_answer": 0}, {"answer": None}, True),
        ({"max_question": 0}, {}, False),
        ({"max_contexts": 0}, {"contexts": ()}, True),
        ({"max_contexts": 0}, {"contexts": None}, False),
        ({"min_contexts": 2}, {}, False),
        ({"no_context": True}, {"contexts": None}, True),
        ({"no_context": True}, {"contexts": ()}, False),
        ({"no_context": False}, {"contexts": ()}, True),
        ({"tags": ["a"], "status": ["failed"]}, {"metadata": {"tags": ["a"]}}, False),
        ({}, {}, True),
    ],
)
def test_rules(rule: dict[str, Any], fields: dict[str, Any], matches: bool) -> None:
    assert SamplingRule(name="r", **rule).matches(sample(**fields)) is matches


def test_the_first_rule_that_matches_wins_and_is_recorded() -> None:
    sampling = Sampling(
        0.0,
        rules=(
            SamplingRule(name="errors", status=["failed"]),
            SamplingRule(name="noise", tags=["noise"], rate=0),
            SamplingRule(name="long", min_answer=5),
        ),
    )
    taken, marked = sampling.mark(sample(status="failed", metadata={"tags": ["noise"], "mine": 1}))
    assert taken
    assert marked.metadata["sampling"] == {"rate": 1.0, "rule": "errors"}
    assert marked.metadata["mine"] == 1
    assert not sampling.decide(sample(metadata={"tags": ["noise"]})).taken
    assert sampling.decide(sample()).rule == "long"
    taken, marked = sampling.mark(sample(answer="yes"))
    assert (taken, marked.metadata["sampling"]) == (False, {"rate": 0.0})


def test_weights_give_the_mean_back() -> None:
    """1 / rate as weight: the mean over what was taken estimates the mean over all, though rates differ."""
    sampling = Sampling(0.2, rules=(SamplingRule(name="errors", status=["failed"], rate=0.8),))
    weights = values = 0.0
    for n in range(20_000):
        failed = n % 4 == 0  # a quarter fail, with value 0; the others have 1: the mean is 0.75
        taken, marked = sampling.mark(sample(str(n), status="failed" if failed else "complete"))
        if taken:
            weight = 1 / marked.metadata["sampling"]["rate"]
            weights, values = weights + weight, values + weight * (not failed)
    assert abs(values / weights - 0.75) < 0.02


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sampling(1.5), "rate: expected a number in"),
        (lambda: Sampling(float("nan")), "rate"),
        (lambda: Sampling(True), "rate"),
        (lambda: Sampling("0.1"), "rate"),  # type: ignore[arg-type]
        (lambda: Sampling(0.1, rules=("errors",)), "expected SamplingRule objects"),  # type: ignore[arg-type]
        (lambda: Sampling(0.1, rules=(SamplingRule(name="a"), SamplingRule(name="a"))), "two are named 'a'"),
        (lambda: Sampling(0.1, seed=1), "seed"),  # type: ignore[arg-type]
        (lambda: SamplingRule(name=""), "name"),
        (lambda: SamplingRule(name="r", rate=-1), "Rule 'r': rate"),
        (lambda: SamplingRule(name="r", tags="prod"), "tags: expected a sequence"),
        (lambda: SamplingRule(name="r", status=["error"]), r"\['error'\] is none of complete"),
        (lambda: SamplingRule(name="r", feedback="bad"), "feedback"),
        (lambda: SamplingRule(name="r", min_answer=5, max_answer=4), "min_answer 5 is more than max_answer 4"),
        (lambda: resolve_sampling("all"), "sampling: expected a rate"),  # type: ignore[arg-type]
        (lambda: resolve_sampling(True), "sampling"),
    ],
)
def test_what_cannot_be_meant(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_what_is_accepted_where_sampling_is() -> None:
    assert resolve_sampling(None) is None
    assert resolve_sampling(1) == Sampling(1)
    assert resolve_sampling(0.25) == Sampling(0.25)
    assert resolve_sampling(Sampling(0.5)) == Sampling(0.5)
