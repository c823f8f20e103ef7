"""Canary rows: scored once a day beside the samples; a judge that drifts is told from an application that does."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import evaluate
from assay.errors import InputError, StoreError
from assay.judges.llm.openai import OpenAIJudge
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import Budget, SampleQueue, Worker
from assay.live.alerts.check import AlertChecker, SlotCheck
from assay.live.alerts.payload import MessageWriter, in_words
from assay.live.canaries.drift import JudgeChange, attribute_drop, judge_changes
from assay.live.canaries.drift import in_words as change_in_words
from assay.live.canaries.rows import CanaryRows, load_canaries, missing_metrics
from assay.live.canaries.scoring import CanaryScorer
from assay.live.trends import trend
from assay.records import Context, Sample, Score, ScoredSample
from assay.sinks import JsonlSink, MemorySink
from assay.stats.drop_monitor import DropState
from assay.store.alerts import AlertStore
from assay.store.canary_scorings import DAY, CanaryScoring, CanaryScorings, read_scorings
from assay.store.store import Store
from tests._support.servers.openai_server import OpenAIServer
from tests.live.alerts.fakes import Clock, Columns, rule
from tests.live.apps import Probe, sample
from tests.live.test_worker import wait_for

ROOT = Path(__file__).parents[2]
NOW = 1_800_000_000.0
HOUR = 3600.0


def colour_judge(name: str = "scripted", **rules: Any) -> ScriptedJudge:
    """Supports a claim that the passage has."""
    given = {"support": lambda claim, passage: "supported" if claim in passage else "not_mentioned"}
    return ScriptedJudge(name=name, **{**given, **rules})


def canary_rows(count: int = 20) -> list[dict[str, Any]]:
    """Each has one claim, which its passage supports."""
    return [
        {"id": f"c{n}", "question": "Which?", "answer": f"House {n} is red.", "contexts": [f"House {n} is red."]}
        for n in range(count)
    ]


@pytest.fixture
def canaries(tmp_path: Path) -> Path:
    """A file with 20 scored rows, as `assay score --out` writes it: all have faithfulness 1."""
    result = evaluate(canary_rows(), "faithfulness", colour_judge(), store=None, progress=False)
    return result.to_jsonl(tmp_path / "canaries.jsonl")


# ---- the file


def test_rows_and_stored_verdicts_are_read_from_any_format(canaries: Path, tmp_path: Path) -> None:
    rows = load_canaries(canaries)
    assert len(rows.samples) == 20
    assert set(rows.values["faithfulness"].values()) == {1.0}
    assert rows.judge == "scripted"
    assert missing_metrics(rows, ["faithfulness", "hallucination"]) == ["hallucination"]
    result = evaluate(canary_rows(), "faithfulness", colour_judge(), store=tmp_path / "store", run="c", progress=False)
    sink = JsonlSink(tmp_path / "sink.jsonl")
    for scored in result:
        sink.write(scored)
    sink.close()
    for other in (tmp_path / "sink.jsonl", result.to_csv(tmp_path / "rows.csv"), Path(f"{tmp_path / 'store'}#c")):
        assert load_canaries(other).samples.keys() == rows.samples.keys()


def _lines(count: int, **changes: Any) -> str:
    score = {"metric": "faithfulness", "value": 1.0}
    row = {"sample": {"question": "q", "answer": "a", "contexts": [{"text": "c"}]}, "scores": {"faithfulness": score}}
    lines = [{**row, "sample": {**row["sample"], "answer": f"a {n}"}, **changes} for n in range(count)]
    return "".join(json.dumps(line) + "\n" for line in lines)


@pytest.mark.parametrize(
    ("text", "said"),
    [(_lines(9), "at least 10 different rows, got 9"), (_lines(1001), "at most 1,000 rows"),
     ("\x00\x01\x02", "canaries: "), ("", "canaries: "),
     (_lines(12).replace('"a 7"', "7x"), "1 row cannot be read"),
     ('{"question": "q", "answer": "a"}\n' * 12, "Score it first"),
     (_lines(12, sample={"id": "x"}), "row 1 has no texts"),
     (_lines(12).replace('"value": 1.0', '"value": null, "error": {"cause": "parse", "message": "m"}'),
      "no row has a score")],
    ids=["few", "many", "binary", "empty", "damaged row", "not scored", "no texts", "no values"],
)  # fmt: skip
def test_a_file_that_cannot_be_canary_rows_is_named(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "canaries.jsonl"
    file.write_text(text)
    with pytest.raises(InputError, match=said) as raised:
        load_canaries(file)
    assert str(raised.value).startswith("canaries: ")
    assert "canaries.jsonl" in str(raised.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^canaries: there is no file or folder '.*nothing.jsonl'"):
        load_canaries(tmp_path / "nothing.jsonl")


# ---- scoring


def run_worker(
    folder: Path, canaries: Any, judge: Any, clock: Clock, metrics: Any = "faithfulness", **more: Any
) -> Any:
    """A worker with an empty queue, which scores what is due and ends."""
    scorer = CanaryScorer(folder / "store", canaries, application="shop", clock=clock)
    queue = SampleQueue(folder / "queue")
    assert queue.flush(10)
    return Worker(folder / "queue", metrics, judge, canaries=scorer, **more).run(until_empty=True)


def scorings(folder: Path) -> list[CanaryScoring]:
    with Store(folder / "store") as store:
        return read_scorings(store, "shop")


def changes(folder: Path) -> dict[str, JudgeChange]:
    return {one.metric: one for one in judge_changes(scorings(folder))}


def test_rows_are_scored_once_a_day_and_at_once_by_another_judge(canaries: Path, tmp_path: Path) -> None:
    rows, clock, judge = load_canaries(canaries), Clock(NOW), colour_judge()
    for hours in (0, 1, 23, 24.1, 47):
        clock.now = NOW + hours * HOUR
        run_worker(tmp_path, rows, judge, clock)
    assert judge.asked["support"] == 2 * 20  # no cached judgement is used
    other = colour_judge("another")
    run_worker(tmp_path, rows, other, clock)
    run_worker(tmp_path, rows, other, clock)
    assert other.asked["support"] == 20
    found = scorings(tmp_path)
    assert [(one.stored, one.judge) for one in found] == [
        (True, "scripted"), (False, "scripted"), (False, "scripted"), (False, "another")]  # fmt: skip
    assert all(one.values == found[0].values for one in found)


def test_a_judge_that_changes_on_day_5_drifts_from_then_on(canaries: Path, tmp_path: Path) -> None:
    """From day 5 on it supports nothing of the houses 10 to 19: the mean falls from 1 to 0.5."""
    rows, clock, day = load_canaries(canaries), Clock(NOW), [0]

    def support(claim: str, passage: str) -> str:
        return "not_mentioned" if day[0] >= 5 and "House 1" in claim and "House 1 " not in claim else "supported"

    judge, verdicts = colour_judge(support=support), []
    for day[0] in range(8):
        clock.now = NOW + day[0] * DAY + 60
        run_worker(tmp_path, rows, judge, clock)
        verdicts.append(changes(tmp_path)["faithfulness"].verdict)
    assert "drift" not in verdicts[:5]
    assert verdicts[5:] == ["drift"] * 3
    found = changes(tmp_path)["faithfulness"]
    assert (found.then, found.now, found.rows, found.scorings) == (1.0, 0.5, 20, 9)
    assert found.since == NOW + 5 * DAY + 60
    assert found.difference == pytest.approx(-0.5)
    assert "mean then 1.000, now 0.500: drift since day 5, -0.500" in change_in_words(found, "day 5")


def test_a_metric_that_is_missing_in_the_file_is_compared_with_its_first_scoring(
    canaries: Path, tmp_path: Path
) -> None:
    rows, clock = load_canaries(canaries), Clock(NOW)
    for day in range(3):
        clock.now = NOW + day * DAY + 60
        run_worker(tmp_path, rows, colour_judge(), clock, "faithfulness,hallucination")
    found = changes(tmp_path)
    assert {name: one.scorings for name, one in found.items()} == {"faithfulness": 4, "hallucination": 3}
    assert {one.verdict for one in found.values()} <= {"stable", "inconclusive"}


def test_new_stored_verdicts_are_the_reference_from_then_on(canaries: Path, tmp_path: Path) -> None:
    rows, clock = load_canaries(canaries), Clock(NOW)
    refusing = colour_judge(support=lambda *_: "not_mentioned")
    run_worker(tmp_path, rows, refusing, clock)
    assert changes(tmp_path)["faithfulness"].verdict == "drift"
    again = CanaryRows(rows.name, rows.samples, {"faithfulness": dict.fromkeys(rows.samples, 0.0)}, rows.ranges,
                       "scripted", NOW + 1)  # fmt: skip
    clock.now = NOW + DAY + 60
    run_worker(tmp_path, again, refusing, clock)
    found = changes(tmp_path)["faithfulness"]
    assert (found.verdict != "drift", found.then, found.now) == (True, 0.0, 0.0)


def test_two_workers_of_one_store_score_the_rows_once(canaries: Path, tmp_path: Path) -> None:
    judge, rows = colour_judge(), load_canaries(canaries)
    queue = SampleQueue(tmp_path / "queue")
    for n in range(40):
        queue.submit(sample(str(n)))
    assert queue.flush(10)
    sink = MemorySink()
    workers = [
        Worker(queue, "faithfulness", judge, sinks=[sink], canaries=CanaryScorer(tmp_path / "store", rows))
        for _ in range(2)
    ]
    threads = [threading.Thread(target=worker.run, args=(True,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert len(sink.written) == 40
    with Store(tmp_path / "store") as store:
        assert [one.stored for one in read_scorings(store, "")] == [True, False]
    canary_claims = 20  # those of the samples are equal: the cache has them
    assert judge.asked["support"] <= canary_claims + 40


def test_samples_go_before_canary_rows(canaries: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker whose every slot is taken scores no canary row; as soon as one is free, it does."""
    monkeypatch.setattr("assay.live.queue.canary_task.TURN", 60.0)
    gate, begun = threading.Event(), []

    class Held(Probe):
        async def measure(self, sample: Any, judge: Any) -> Score:
            begun.append(sample.id)
            while not gate.is_set() and not str(sample.id).startswith("c"):
                await asyncio.sleep(0.01)
            return self.make_score(1.0)

    queue, sink = SampleQueue(tmp_path / "queue"), MemorySink()
    for n in range(6):
        queue.submit(sample(str(n)))
    assert queue.flush(10)
    scorer = CanaryScorer(tmp_path / "store", canaries)
    honest = scorer.claim
    monkeypatch.setattr(scorer, "claim", lambda *given: (wait_for(lambda: len(begun) == 2), honest(*given))[1])
    worker = Worker(queue, [Held()], ScriptedJudge(), sinks=[sink], concurrency=2, canaries=scorer)
    thread = threading.Thread(target=worker.run, args=(True,))
    thread.start()
    wait_for(lambda: scorer._opened is not None)
    assert begun == ["0", "1"]
    gate.set()
    thread.join(60)
    assert not thread.is_alive()
    assert len(sink.written) == 6
    assert sum(str(name).startswith("c") for name in begun) == 20


def test_a_store_that_fails_holds_up_no_sample(canaries: Path, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file, and no folder")
    queue, sink = SampleQueue(tmp_path / "queue"), MemorySink()
    for n in range(20):
        queue.submit(sample(str(n)))
    assert queue.flush(10)
    worker = Worker(
        queue, [Probe()], ScriptedJudge(), sinks=[sink], canaries=CanaryScorer(tmp_path / "store", canaries)
    )
    assert worker.run(until_empty=True).scored == 20
    assert worker.errors


def test_a_budget_that_is_spent_ends_the_scoring_and_the_worker(canaries: Path, tmp_path: Path) -> None:
    """Each row takes two calls, for claims and support: five calls a day are two rows and a half."""
    with OpenAIServer() as server:
        judge = OpenAIJudge("fake", base_url=server.base_url, retry_base=0.01)
        for _ in range(2):
            run_worker(tmp_path, canaries, judge, Clock(NOW), budget=Budget(calls_per_day=5))
        assert len(server.calls) <= 5
    assert scorings(tmp_path) == [one for one in scorings(tmp_path) if one.stored]
    with Store(tmp_path / "store") as store:  # given back, and for later
        ((leased, attempts),) = store.query("SELECT leased, attempts FROM canary_scorings WHERE kind = 'measured'")
        assert (leased > NOW + 3600, attempts) == (True, 1)


def test_a_judge_that_is_out_of_reach_says_nothing_of_the_rows(
    canaries: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.live.canaries.scoring.TRIES", 1)
    judge = OpenAIJudge("fake", base_url="http://127.0.0.1:9/v1", max_attempts=1)
    run_worker(tmp_path, canaries, judge, Clock(NOW))
    assert [one.stored for one in scorings(tmp_path)] == [True]


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="no kill -9")
def test_a_worker_that_is_killed_in_the_middle_leaves_the_scoring_to_the_next(canaries: Path, tmp_path: Path) -> None:
    SampleQueue(tmp_path / "queue").close()
    given = [str(tmp_path / name) for name in ("queue", "store", "canaries.jsonl")]
    command = [sys.executable, "-m", "tests.live.canary_app", *given]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "scoring\n"
        process.send_signal(signal.SIGKILL)
    with Store(tmp_path / "store") as store:
        ((begun,),) = store.query("SELECT begun FROM canary_scorings WHERE kind = 'measured'")

        def next_worker(later: float) -> list[CanaryScoring]:
            scorer = CanaryScorer(tmp_path / "store", canaries, clock=Clock(begun + later))
            Worker(tmp_path / "queue", [Probe()], ScriptedJudge(), canaries=scorer).run(until_empty=True)
            return [one for one in read_scorings(store, "") if not one.stored]

        assert next_worker(30) == []  # the claim of the one that died
        (one,) = next_worker(200)
    assert one.values == {"probe": dict.fromkeys(one.values["probe"], 1.0)}
    assert len(one.values["probe"]) == 20


# ---- whose change a drop is


def live_values(days: int, drop: float, hourly: int = 20) -> tuple[Any, Any]:
    """Times and scores of rows: 0.9 of them good, from two days before the end on `drop` fewer."""
    chance, rows = np.random.default_rng(3), hourly * 24 * days
    times = NOW - days * DAY + np.sort(chance.random(rows)) * days * DAY
    values = (chance.random(rows) < np.where(times < NOW - 2 * DAY, 0.9, 0.9 - drop)).astype(float)
    return times, values


def daily(days: int, drop: float, seed: int = 5) -> list[tuple[float, dict[str, float]]]:
    """A scoring of 100 canary rows at each noon; 90 are good, and in the last two days `drop` fewer are."""
    chance = np.random.default_rng(seed)
    found = []
    for day in range(days):
        at = NOW - (days - day - 0.5) * DAY
        good = np.arange(100) < 90
        if at > NOW - 2 * DAY:
            good &= np.arange(100) >= 100 * drop
        noise = chance.random(100) < 0.02
        found.append((at, {f"r{n}": float(one) for n, one in enumerate(good != noise)}))
    return found


def keep(store: Store, scorings: Sequence[tuple[float, dict[str, float]]], application: str = "shop") -> None:
    kept = CanaryScorings(store, application)
    for at, values in scorings:
        claim = kept.claim("work", "judge", at - 60, 120, every=HOUR)
        assert claim is not None
        assert kept.finish(claim, at, {"faithfulness": values}, {"faithfulness": (0.0, 1.0)})


def checked_drop(store: Store) -> SlotCheck:
    """The last check of a drop rule, on rows that dropped by 0.3 two days ago."""
    times, values = live_values(22, 0.3)
    store.create_run("shop", {"judge": "", "metrics": ["faithfulness"]})
    slot = None
    for now in (NOW - 2 * DAY, NOW):
        seen = Columns(values[times < now].tolist(), times=times[times < now].tolist())
        checker = AlertChecker(store, [rule(kind="drop", limit=0.05)], lambda *_, seen=seen: seen)  # type: ignore[misc]
        (slot,) = checker.check(now).slots
    assert slot is not None
    assert slot.event == "opened"
    return slot


@pytest.mark.parametrize(
    ("drop", "verdict", "said"),
    [(0.3, "judge", "the judge changed"), (0.0, "application", "the application changed"),
     (None, None, "")],
    ids=["the judge's", "the application's", "no canary rows"],
)  # fmt: skip
def test_an_alert_says_whose_change_a_drop_is(
    tmp_path: Path, drop: float | None, verdict: str | None, said: str
) -> None:
    with Store(tmp_path) as store:
        if drop is not None:
            keep(store, daily(22, drop))
        slot = checked_drop(store)
        assert slot.evidence.attribution == verdict
        assert slot.evidence.reason.partition("; ")[2] == said
        (alert,) = AlertStore(store).alerts()
        message = MessageWriter(store).payload(rule(kind="drop", limit=0.05), alert, "opened")
        assert message["attribution"] == verdict
        assert message["dropped_at"].startswith("2027-01-1")  # NOW is 2027-01-15, 08:00
        assert ("changed" in in_words(message)) is (verdict is not None)


def test_canary_rows_of_before_the_drop_alone_are_inconclusive(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        keep(store, daily(22, 0.0)[:15])
        slot = checked_drop(store)
    assert slot.evidence.attribution == "inconclusive"
    assert slot.evidence.reason.endswith("; the canary rows are inconclusive")


def test_canary_rows_that_cannot_be_read_keep_no_alert_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise StoreError("the disk fails")

    monkeypatch.setattr("assay.live.alerts.check.scorings_of_run", failing)
    with Store(tmp_path) as store:
        slot = checked_drop(store)
    assert slot.evidence.attribution is None
    assert slot.evidence.reason.count(";") == 0


def test_stored_verdicts_of_another_judge_are_no_time_before_a_drop() -> None:
    """The file is by a judge that was stricter by 0.9; the one in use never changed: it is the application."""
    rows = [f"r{n}" for n in range(100)]
    old = CanaryScoring(NOW - 30 * DAY, "old", True, {"m": dict.fromkeys(rows, 0.0)})
    new = [CanaryScoring(NOW + day * DAY, "new", False, {"m": dict.fromkeys(rows, 0.9)}) for day in range(-6, 6)]
    state = DropState(True, NOW, 0.6, 0.9, -0.3, 1e6, 500.0, (NOW - HOUR, NOW + HOUR), 0.01)
    found = attribute_drop("m", [old, *new], state)
    assert found is not None
    assert (found.verdict, found.judge.difference) == ("application", 0.0)
    assert attribute_drop("other", [old, *new], state) is None


@pytest.mark.parametrize(("drop", "verdict"), [(0.3, "judge"), (0.0, "application")])
def test_a_trend_shows_the_judge_and_whose_change_it_is(tmp_path: Path, drop: float, verdict: str) -> None:
    times, values = live_values(22, 0.3, hourly=8)
    with Store(tmp_path) as store:
        store.create_run("live/shop", {"judge": "", "metrics": ["faithfulness"]})
        store.put_rows("live/shop", [(n, _row(n, *one)) for n, one in enumerate(zip(times, values, strict=True), 1)])
        assert trend("live/shop", store).judge == ()
        keep(store, daily(22, drop))
        found = trend("live/shop", store)
        assert found.attributions == {"faithfulness": (verdict,)}
        (judge,) = found.judge
        assert (judge.verdict == "drift") is (verdict == "judge")
        assert judge.then == pytest.approx(0.9, abs=0.06)
        from assay.report.trend_view import change_lines, judge_lines, write_trend_page

        (line,) = change_lines(found, "faithfulness")
        assert line.endswith(f"; the {verdict} changed")
        (said,) = judge_lines(found, "faithfulness")
        assert ("drift since 2027-01-1" in said) is (verdict == "judge")
        page = write_trend_page(found, tmp_path / "trend.html").read_text(encoding="utf-8")
        assert f"the {verdict} changed" in page
        assert "canary rows of faithfulness" in page


def _row(n: int, at: float, value: float) -> ScoredSample:
    context = (Context(text="c"),)
    one = Sample(question="q", answer="a", contexts=context, id=f"id-{n}", metadata={"ended": float(at)})
    return ScoredSample(sample=one, scores={"faithfulness": Score(metric="faithfulness", value=float(value))})
