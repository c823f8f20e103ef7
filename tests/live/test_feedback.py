"""Feedback comes after the answer: it is attached where the sample waits, and may bring in what was left out."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.judges.scripted_judge import ScriptedJudge
from assay.live import LiveScorer, SampleQueue, Sampling, SamplingRule
from assay.live.feedback import FeedbackSampler
from assay.sinks import MemorySink
from tests.live.apps import Probe, sample

UNHAPPY = Sampling(0.0, rules=(SamplingRule(name="unhappy", feedback_below=0.5),))


def test_feedback_brings_in_what_sampling_left_out() -> None:
    sink = MemorySink()
    live = LiveScorer([Probe()], ScriptedJudge(), sinks=[sink], sampling=UNHAPPY)
    for n in range(4):
        live.submit(sample(str(n)))
    assert live.flush(10)
    assert (live.health().sampled_out, sink.written) == (4, [])
    assert live.feedback("2", 0, comment="wrong year")
    assert live.feedback("3", 1)
    assert live.flush(10)
    (scored,) = sink.written
    assert scored.sample.id == "2"
    assert scored.sample.metadata["feedback"] == {"value": 0, "comment": "wrong year"}
    assert scored.sample.metadata["sampling"] == {"rate": 1.0, "rule": "unhappy"}
    health = live.close()
    assert health.feedback == {"brought_in": 1, "kept": 1}
    # 4 taken in = 1 scored + 3 left out
    assert (health.submitted, health.finished, health.sampled_out, health.pending) == (4, 1, 3, 0)


def test_feedback_meets_a_sample_that_still_waits_and_is_late_for_others() -> None:
    gate = threading.Event()
    sink = MemorySink()
    live = LiveScorer([Probe()], ScriptedJudge(), sinks=[sink], concurrency=1)

    def slow() -> Any:
        gate.wait(10)
        return sample("first")

    live.submit(slow)
    live.submit(sample("second"))
    assert live.feedback("second", "good")  # still in the queue
    gate.set()
    assert live.flush(10)
    assert not live.feedback("first", True)
    assert live.feedback("never seen", True)
    assert not live.feedback("first", {"no": "value"})  # type: ignore[arg-type]
    assert not live.feedback("first", float("nan"))
    by_id = {scored.sample.id: scored.sample.metadata for scored in sink.written}
    assert by_id["second"] == {"feedback": {"value": "good"}}
    assert by_id["first"] == {}
    assert live.close().feedback == {"attached": 1, "late": 1, "refused": 2, "waiting": 1}


def test_feedback_reaches_samples_in_every_place_of_a_queue(tmp_path: Path) -> None:
    queue = SampleQueue(
        tmp_path, sampling=Sampling(0.0, rules=(*UNHAPPY.rules, SamplingRule(name="all", tags=["all"])))
    )
    from dataclasses import replace

    taken = replace(sample("waits in the file"), metadata={"tags": ["all"]})
    queue.submit(taken)
    queue.submit(sample("left out"))
    assert queue.flush(10)
    queue.feedback("waits in the file", 1)
    queue.feedback("left out", 0)
    queue.feedback("comes later", 0)
    queue.submit(sample("comes later"))
    assert queue.flush(10)
    from assay.live import Worker

    sink = MemorySink()
    Worker(queue, [Probe()], ScriptedJudge(), sinks=[sink]).run(until_empty=True)
    assert {s.sample.id: s.sample.metadata["feedback"]["value"] for s in sink.written} == {
        "waits in the file": 1, "left out": 0, "comes later": 0
    }  # fmt: skip
    queue.feedback("left out", 1)
    assert queue.flush(10)
    health = queue.close()
    assert health.feedback == {"attached": 2, "brought_in": 1, "late": 1}
    report = queue.report()
    assert (report.submitted, report.appended, report.sampled_out, report.unwritten) == (3, 3, 0, 0)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 8), st.integers(0, 2000)), max_size=60))
def test_what_is_kept_for_feedback_is_bounded(steps: list[tuple[bool, int, int]]) -> None:
    clock = [0.0]
    sampler = FeedbackSampler(UNHAPPY, max_left=3, max_bytes=8000, max_noted=2, max_age=20, clock=lambda: clock[0])
    given_in = 0
    for is_sample, key, size in steps:
        clock[0] += 1
        if is_sample:
            sampler.choose(sample(str(key), "x" * size))
        else:
            given_in += 1
            if sampler.is_left(str(key)):
                sampler.bring_in(str(key), {"value": 0})
            else:
                sampler.note(str(key), {"value": 0})
        assert sampler.left <= 3
        assert sampler._left_bytes <= 8000
        assert sampler._left_bytes == sum(held for _, held, _ in sampler._left.values())
        # everything said is somewhere: matched, given up, or waiting
        matched = sum(sampler.counts[name] for name in ("attached", "brought_in", "kept", "unmatched"))
        assert matched + sampler.waiting == given_in
        assert sampler.waiting <= 2


def test_old_samples_are_forgotten() -> None:
    clock = [0.0]
    sampler = FeedbackSampler(UNHAPPY, max_age=10, clock=lambda: clock[0])
    assert sampler.choose(sample("a")) is None
    clock[0] = 9.0
    assert sampler.is_left("a")
    clock[0] = 11.0
    assert not sampler.is_left("a")


def test_sampling_in_the_live_scorer_is_counted_and_recorded() -> None:
    sink = MemorySink()
    live = LiveScorer([Probe()], ScriptedJudge(), sinks=[sink], sampling=0.5)
    for n in range(100):
        live.submit(sample(str(n)))
    assert live.flush(20)
    expected = {str(n) for n in range(100) if Sampling(0.5).decide(sample(str(n))).taken}
    assert {scored.sample.id for scored in sink.written} == expected
    assert all(scored.sample.metadata["sampling"] == {"rate": 0.5} for scored in sink.written)
    health = live.close()
    assert (health.submitted, health.sampled_out, health.finished) == (100, 100 - len(expected), len(expected))


def test_the_queue_is_bounded_by_bytes() -> None:
    gate = threading.Event()

    class Stuck(Probe):
        async def measure(self, sample: Any, judge: Any) -> Any:
            await asyncio.to_thread(gate.wait, 20)
            return self.make_score(1.0)

    live = LiveScorer([Stuck()], ScriptedJudge(), concurrency=1, max_bytes=100_000)
    taken = [live.submit(sample(str(n), "x" * 30_000)) for n in range(10)]
    # 3 of 31 kB fit into 100 kB; one more may have been taken up already
    assert 3 <= sum(taken) <= 4

    def big() -> None:
        return None

    big.size = 90_000  # type: ignore[attr-defined]
    assert not live.submit(big)
    assert live.health().dropped == 10 - sum(taken) + 1
    gate.set()
    assert live.flush(10)
    live.close()


@pytest.mark.parametrize("kind", ["live", "queue"])
def test_after_close_feedback_is_refused(kind: str, tmp_path: Path) -> None:
    intake: Any = LiveScorer([Probe()], ScriptedJudge()) if kind == "live" else SampleQueue(tmp_path)
    intake.close()
    assert not intake.feedback("a", 1)
    assert intake.health().feedback == {"refused": 1}


# ---- how many samples a sample with feedback stands for

#: One in ten, and every unhappy one.
TENTH = Sampling(0.1, rules=(SamplingRule(name="unhappy", feedback_below=0.5),))


@pytest.mark.parametrize("through_a_queue", [False, True])
def test_weights_of_unhappy_samples_add_up_to_their_number(tmp_path: Path, through_a_queue: bool) -> None:
    """Of 300 samples, each third is unhappy, and says so after the answers were scored.

    All 100 unhappy ones are taken, at rate 1, also those that sampling had taken at 0.1 before: their weights are
    100 × 1. The weights of the others are 10 each, about 200 in all.
    """
    from assay.live import Worker
    from assay.store.store import Store

    store = tmp_path / "store"
    if through_a_queue:
        intake: Any = SampleQueue(tmp_path / "queue", sampling=TENTH)
    else:
        intake = LiveScorer([Probe()], ScriptedJudge(), store=store, sampling=TENTH)
    for n in range(300):
        intake.submit(sample(f"{n}"))
    assert intake.flush(30)
    if through_a_queue:
        Worker(tmp_path / "queue", [Probe()], ScriptedJudge(), store=store).run(until_empty=True)
    for n in range(0, 300, 3):
        assert intake.feedback(f"{n}", 0)
    health = intake.close()
    if through_a_queue:
        Worker(tmp_path / "queue", [Probe()], ScriptedJudge(), store=store).run(until_empty=True)
        report = intake.report()
        assert report.delivered == report.appended
    with Store(store) as kept:
        rows = {row.scored.sample.id: row.scored.sample.metadata for row in kept.rows("live")}
    unhappy = {key: metadata for key, metadata in rows.items() if "feedback" in metadata}
    assert set(unhappy) == {f"{n}" for n in range(0, 300, 3)}
    assert sum(1 / metadata["sampling"]["rate"] for metadata in unhappy.values()) == 100
    others = sum(1 / metadata["sampling"]["rate"] for key, metadata in rows.items() if key not in unhappy)
    taken = sum(TENTH.decide(sample(f"{n}")).taken for n in range(300) if n % 3)
    assert others == pytest.approx(10 * taken)
    first = sum(TENTH.decide(sample(f"{n}")).taken for n in range(0, 300, 3))
    assert health.feedback == {"brought_in": 100 - first, "added": first}
    assert first > 3


def test_feedback_on_a_sample_in_work_is_attached_and_corrects_its_rate() -> None:
    begun, gate, sink = threading.Event(), threading.Event(), MemorySink()
    always = Sampling(0.999999, rules=(SamplingRule(name="unhappy", feedback_below=0.5),))

    class Slow(Probe):
        async def measure(self, sample: Any, judge: Any) -> Any:
            begun.set()
            while not gate.is_set():
                await asyncio.sleep(0.005)
            return await super().measure(sample, judge)

    live = LiveScorer([Slow()], ScriptedJudge(), sinks=[sink], sampling=always)
    live.submit(sample("a"))
    assert begun.wait(10)
    assert live.feedback("a", 0)
    gate.set()
    assert live.close().feedback == {"attached": 1}
    (scored,) = sink.written
    assert scored.sample.metadata == {"feedback": {"value": 0}, "sampling": {"rate": 1.0, "rule": "unhappy"}}


def test_feedback_an_hour_later_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it would bring nothing in by then."""
    live = LiveScorer([Probe()], ScriptedJudge(), store=tmp_path, sampling=TENTH)
    taken = next(f"{n}" for n in range(100) if TENTH.decide(sample(f"{n}")).taken)
    live.submit(sample(taken))
    live.flush(10)
    monkeypatch.setattr(type(live._sampler), "max_age", -1.0)
    assert not live.feedback(taken, 0)
    assert live.close().feedback == {"late": 1}


def test_feedback_in_a_live_run_without_texts_has_no_comment(tmp_path: Path) -> None:
    from assay.sinks.store import StoreSink
    from assay.store.store import Store

    live = LiveScorer([Probe()], ScriptedJudge(), sinks=[StoreSink(tmp_path, keep_text=False)])
    live.submit(sample("a"))
    live.flush(10)
    with Store(tmp_path) as store:
        ((at,),) = store.query("SELECT at FROM rows")
    assert live.feedback("a", 0, comment="Ann is unhappy")
    assert not live.feedback("1", "good") or live.health().feedback["waiting"] == 1  # no number of a row
    live.close()
    with Store(tmp_path) as store:
        (row,) = store.rows("live")
    assert row.scored.sample.metadata == {"ended": at, "feedback": {"value": 0}}
    assert row.scored.values == {"probe": 1.0}


def test_later_feedback_is_masked_and_what_is_kept_is_not_masked_again(tmp_path: Path) -> None:
    from dataclasses import replace

    from assay.sinks.store import StoreSink
    from assay.store.store import Store

    live = LiveScorer([Probe()], ScriptedJudge(), sinks=[StoreSink(tmp_path, mask=lambda text: f"<{text}>")])
    live.submit(replace(sample("a"), metadata={"user": "ann", "ended": 12.5}))
    live.flush(10)
    assert live.feedback("a", 0, comment="bad")
    live.close()
    with Store(tmp_path) as store:
        (row,) = store.rows("live")
    assert row.scored.sample.metadata == {
        "user": "<ann>", "ended": 12.5, "feedback": {"value": 0, "comment": "<bad>"}
    }  # fmt: skip
    assert row.scored.sample.question == "<q>"
