"""Workers score each sample of a queue once, deliver it at least once, and lose nothing when they stop or die."""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.errors import Cause, InputError, Undelivered
from assay.judges.llm.openai import OpenAIJudge
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import SampleQueue, Sampling, Worker
from assay.live.queue.queue_file import QueueFile
from assay.live.queue.transitions import Transition
from assay.records import Context, Sample, Score, ScoredSample
from assay.sinks import JsonlSink, MemorySink, Receipt, read_jsonl
from tests._support.servers.openai_server import OpenAIServer
from tests.live.apps import Probe, sample


def filled(path: Path, count: int, **options: Any) -> SampleQueue:
    queue = SampleQueue(path, **options)
    for n in range(count):
        queue.submit(sample(str(n)))
    assert queue.flush(20)
    return queue


def working(queue: Any, *sinks: Any, **options: Any) -> Worker:
    return Worker(queue, [Probe()], ScriptedJudge(), sinks=sinks, **options)


def wait_for(condition: Any, seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.01)


def reconciled(queue: SampleQueue) -> Any:
    """The report, with its sums checked."""
    report = queue.report()
    dropped = sum(report.dropped.values())
    parts = report.appended + report.duplicates + report.sampled_out + report.skipped + dropped + report.unwritten
    assert report.submitted == parts
    assert report.appended == report.scored + report.no_value + report.waiting + report.in_work
    return report


def test_scores_and_delivers_everything_in_order(tmp_path: Path) -> None:
    queue, sink = filled(tmp_path, 30), MemorySink()
    report = working(queue, sink, concurrency=1).run(until_empty=True)
    assert [scored.sample.id for scored in sink.written] == [str(n) for n in range(30)]
    assert sink.closed
    assert (report.scored, report.scores, report.delivered, report.pending, report.undelivered) == (30, 30, 30, 0, 0)
    result = queue.result("7")
    assert result is not None
    assert result.values == {"probe": 1.0}
    assert queue.result("unknown") is None
    reconciled(queue)


def test_the_same_traces_again_add_nothing(tmp_path: Path) -> None:
    queue, sink = filled(tmp_path, 10), MemorySink()
    working(queue, sink, keep=0).run(until_empty=True)
    working(queue, sink, keep=0).run(until_empty=True)  # this one forgets what is delivered
    assert QueueFile(tmp_path).rows("SELECT COUNT(*) FROM samples") == [(0,)]
    for n in range(12):
        queue.submit(sample(str(n)))
    assert queue.flush(10)
    report = working(queue, sink).run(until_empty=True)
    assert (report.appended, report.duplicates, report.scored) == (12, 10, 12)
    assert len(sink.written) == 12
    reconciled(queue)


def test_what_is_delivered_is_kept_for_a_while_only(tmp_path: Path) -> None:
    queue, sink = filled(tmp_path, 30), MemorySink()
    working(queue, sink).run(until_empty=True)
    file = QueueFile(tmp_path)
    assert file.rows("SELECT COUNT(*) FROM samples") == [(30,)]
    assert file.forget(0, keep=10, remember=5) == 20
    assert file.rows("SELECT COUNT(*) FROM samples") == file.rows("SELECT COUNT(*) FROM contents") == [(10,)]
    assert file.rows("SELECT COUNT(*) FROM seen") == [(5,)]
    assert file.forget(time.time() + 1, keep=10, remember=5) == 10
    reconciled(queue)


@pytest.mark.parametrize("seed", [1, 2])
def test_late_long_duplicated_and_reordered_traces_with_three_restarts(tmp_path: Path, seed: int) -> None:
    """The scored set is the sampled set, each once, whatever the order, the repetitions and the restarts."""
    chance = random.Random(seed)
    sampling = Sampling(0.6, seed="s")
    traces = [replace(sample(f"run {n}", "A. " * chance.choice([1, 400])), ids={"otel_trace_id": f"{n:032x}"})
              for n in range(120)]  # fmt: skip
    arrivals = traces + chance.choices(traces, k=80)
    chance.shuffle(arrivals)
    late, arrivals = arrivals[:40], arrivals[40:]
    sink = MemorySink()
    for made, part in enumerate(
        (arrivals[0::3], arrivals[1::3], arrivals[2::3], late)
    ):  # three restarts of application and workers
        queue = SampleQueue(tmp_path, sampling=sampling)
        for one in part:
            queue.submit(one)
        queue.close()
        workers = [working(tmp_path, sink, lease=5, keep=chance.choice([0, 3600])) for _ in range(2)]
        threads = [threading.Thread(target=worker.run, args=(made < 3,)) for worker in workers]
        for thread in threads:
            thread.start()
        if made == 3:  # the last ones are stopped by hand
            file = QueueFile(tmp_path)
            wait_for(lambda file=file: not any(file.totals().get(s, 0) for s in ("waiting", "in_work", "scored")))
            for worker in workers:
                worker.stop()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
    expected = sorted(one.id for one in traces if sampling.decide(one).taken)
    assert sorted(scored.sample.id for scored in sink.written) == expected
    report = reconciled(SampleQueue(tmp_path))
    assert (report.submitted, report.appended, report.scored) == (200, len(expected), len(expected))


@pytest.mark.long
def test_three_processes_share_a_queue_and_score_each_sample_once(tmp_path: Path) -> None:
    queue = filled(tmp_path / "queue", 400)
    command = [sys.executable, "-m", "tests.live.apps", "worker", str(tmp_path / "queue")]
    workers = [
        subprocess.Popen(
            [*command, str(tmp_path / f"{n}.jsonl"), "until_empty=1", "lease=60"], stdout=subprocess.DEVNULL
        )
        for n in range(3)
    ]
    assert [worker.wait(100) for worker in workers] == [0, 0, 0]
    rows = [row["sample"]["id"] for n in range(3) if (tmp_path / f"{n}.jsonl").exists()
            for row in read_jsonl(tmp_path / f"{n}.jsonl")]  # fmt: skip
    assert sorted(rows, key=int) == [str(n) for n in range(400)]
    assert reconciled(queue).scored == 400


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGTERM handlers")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_hands_back_what_is_in_work_at_once(tmp_path: Path, number: int) -> None:
    queue = SampleQueue(tmp_path / "queue")
    queue.submit(sample("stuck", "hang"))
    queue.submit(sample("fine"))
    assert queue.flush(10)
    command = [sys.executable, "-m", "tests.live.apps", "worker", str(tmp_path / "queue"), str(tmp_path / "out")]
    with subprocess.Popen([*command, "lease=60"], stdout=subprocess.PIPE) as process:
        wait_for(lambda: queue.report().delivered == 1)
        process.send_signal(number)
        assert process.wait(20) == 0
    report = reconciled(queue)
    assert (report.waiting, report.in_work, report.scored, report.undelivered) == (1, 0, 1, 0)
    # it was no fault of the sample
    assert QueueFile(tmp_path / "queue").rows("SELECT attempts FROM samples WHERE key = 'stuck'") == [(0,)]


@pytest.mark.long
def test_a_sample_that_kills_its_worker_ends_skipped(tmp_path: Path) -> None:
    queue = SampleQueue(tmp_path / "queue")
    for one in (sample("deadly", "kill"), sample("fine")):
        queue.submit(one)
    assert queue.flush(10)
    command = [sys.executable, "-m", "tests.live.apps", "worker", str(tmp_path / "queue"), str(tmp_path / "out")]
    codes = []
    while len(codes) < 6 and 0 not in codes:
        ran = subprocess.run(
            [*command, "lease=0.3", "max_attempts=3", "until_empty=1", "concurrency=1"], timeout=60, check=False,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        codes.append(ran.returncode)
    assert codes == [-9, -9, -9, 0]
    result = queue.result("deadly")
    assert result is not None
    reason = result.scores["probe"].error
    assert reason is not None
    assert (reason.cause, "3 times" in reason.message) == (Cause.BUG, True)
    report = reconciled(queue)
    assert (report.scored, report.no_value, report.causes) == (1, 1, {"bug": 1})


def test_a_lease_that_expired_is_lost_and_its_scores_are_not_kept(tmp_path: Path) -> None:
    filled(tmp_path, 1).close()
    file = QueueFile(tmp_path)
    (mine,) = file.lease("slow", 5, time.time() - 1)  # expired from the start
    (again,) = file.lease("quick", 5, time.time() + 60)
    assert (again.number, again.attempts) == (mine.number, 1)
    scored = ScoredSample(sample=sample("0"), scores={"probe": Score(metric="probe", value=1.0)})
    assert not file.finish("slow", mine.number, scored)
    assert file.finish("quick", again.number, scored)
    assert not file.finish("quick", again.number, scored)
    assert file.counts()["scored"] == 1


@pytest.mark.long
def test_a_lease_is_renewed_for_as_long_as_its_worker_lives(tmp_path: Path) -> None:
    gate = threading.Event()

    class Long(Probe):
        async def measure(self, sample: Any, judge: Any) -> Score:
            while not gate.is_set():
                await asyncio.sleep(0.02)
            return self.make_score(1.0)

    queue, sink = filled(tmp_path, 1), MemorySink()
    workers = [Worker(queue, [Long()], ScriptedJudge(), sinks=[sink], lease=2.0) for _ in range(2)]
    threads = [threading.Thread(target=worker.run, args=(True,)) for worker in workers]
    for thread in threads:
        thread.start()
    file = QueueFile(tmp_path)
    until = "SELECT leased_until FROM samples WHERE state = 'in_work'"
    wait_for(lambda: file.rows(until))
    first = file.rows(until)[0][0]
    wait_for(lambda: file.rows(until)[0][0] > first + 2.5)  # beyond the end of the first lease, and still held
    gate.set()
    for thread in threads:
        thread.join(30)
    assert len(sink.written) == 1
    assert file.rows("SELECT attempts FROM samples") == [(1,)]


@pytest.mark.long
def test_a_metric_that_blocks_its_loop_loses_no_lease(tmp_path: Path) -> None:
    measured: list[str | None] = []

    class Blocking(Probe):
        async def measure(self, sample: Any, judge: Any) -> Score:
            time.sleep(0.8)  # a model on the CPU: four of them take longer than the lease
            measured.append(sample.id)
            return self.make_score(1.0)

    queue, sink = filled(tmp_path, 8), MemorySink()
    workers = [Worker(queue, [Blocking()], ScriptedJudge(), sinks=[sink], lease=2.0) for _ in range(2)]
    threads = [threading.Thread(target=worker.run, args=(True,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(measured, key=str) == [str(n) for n in range(8)]
    assert len(sink.written) == 8
    assert reconciled(queue).causes == {}


def test_outcomes_are_kept_in_groups(tmp_path: Path, monkeypatch: Any) -> None:
    class Quick(Probe):
        async def measure(self, sample: Any, judge: Any) -> Score:
            return self.make_score(1.0)

    groups: list[int] = []
    honest = QueueFile.turn

    def turn(self: QueueFile, worker: str, turn: Transition, until: float) -> Any:
        groups.append(len(turn.outcomes))
        return honest(self, worker, turn, until)

    monkeypatch.setattr(QueueFile, "turn", turn)
    queue = filled(tmp_path, 600)
    report = Worker(queue, [Quick()], ScriptedJudge()).run(until_empty=True)
    assert (report.scored, sum(groups)) == (600, 600)
    assert sum(group > 0 for group in groups) < 600 / 4  # a group of four is what is scored at the same time
    reconciled(queue)


def test_slow_samples_are_left_to_others(tmp_path: Path) -> None:
    gate = threading.Event()

    class Held(Probe):
        async def measure(self, sample: Any, judge: Any) -> Score:
            while not gate.is_set():
                await asyncio.sleep(0.01)
            return self.make_score(1.0)

    queue, sink = filled(tmp_path, 40), MemorySink()
    worker = Worker(queue, [Held()], ScriptedJudge(), sinks=[sink], concurrency=3)
    thread = threading.Thread(target=worker.run, args=(True,))
    thread.start()
    wait_for(lambda: queue.report().in_work == 3)
    assert queue.report().waiting == 37
    gate.set()
    thread.join(30)
    assert len(sink.written) == 40


def test_what_may_have_killed_a_worker_takes_no_others_with_it(tmp_path: Path) -> None:
    """Samples lie ready only where no worker died with them: a death costs an attempt to what was begun at most."""
    filled(tmp_path, 10).close()
    file = QueueFile(tmp_path)
    taken = file.turn("dies", Transition(room=2, ahead=4), time.time() - 1)
    assert [one.key for one in taken] == ["0", "1", "2", "3", "4", "5"]
    again = file.turn("next", Transition(room=2, ahead=4), time.time() + 60)
    assert [(one.key, one.attempts) for one in again] == [
        *(("0", 1), ("1", 1)),  # to be begun at once
        *(("6", 0), ("7", 0), ("8", 0), ("9", 0)),
    ]
    assert file.turn("next", Transition(room=5, held=[one.number for one in again]), time.time() + 60)[0].key == "2"


def test_scores_that_are_no_json_are_a_bug_of_that_sample_alone(tmp_path: Path) -> None:
    class Odd(Probe):
        async def measure(self, sample: Any, judge: Any) -> Score:
            parts: Any = {"x": object()} if sample.id == "1" else {}
            return replace(self.make_score(1.0), parts=parts)

    queue, sink = filled(tmp_path, 3), MemorySink()
    report = Worker(queue, [Odd()], ScriptedJudge(), sinks=[sink]).run(until_empty=True)
    assert (report.scored, report.no_value, report.causes) == (2, 1, {"bug": 1})
    reason = next(one for one in sink.written if one.sample.id == "1").scores["probe"].error
    assert reason is not None
    assert "the scores cannot be kept" in reason.message


def test_half_an_emoji_keeps_its_score_and_its_neighbours(tmp_path: Path) -> None:
    class Odd(Probe):
        async def measure(self, sample: Any, judge: Any) -> Score:
            return replace(self.make_score(1.0), texts={"said": ("half \ud83d \x00",)})

    queue, sink = filled(tmp_path, 3), MemorySink()
    Worker(queue, [Odd()], ScriptedJudge(), sinks=[sink]).run(until_empty=True)
    assert {one.sample.id for one in sink.written} == {"0", "1", "2"}
    assert all(one.scores["probe"].value == 1.0 for one in sink.written)


class Faulty:
    """A sink that fails as told, and keeps what it took."""

    def __init__(self, fails: Any) -> None:
        self.fails, self.took, self.asked = fails, [], 0

    def write(self, scored: ScoredSample) -> Receipt:
        self.asked += 1
        if self.fails(scored, self.asked):
            raise Undelivered("no such trace", scores=list(scored.scores))
        self.took.append(scored.sample.id)
        return Receipt(sent=2, confirmed=1)

    def close(self) -> None:
        pass


def test_undeliverable_scores_are_tried_again_then_parked_and_listed(tmp_path: Path) -> None:
    queue = filled(tmp_path, 6)
    fine, faulty = MemorySink(), Faulty(lambda scored, asked: scored.sample.id == "3")
    report = working(queue, fine, faulty, max_tries=3, backoff=0.01).run(until_empty=True)
    assert sorted(faulty.took) == ["0", "1", "2", "4", "5"]
    assert [scored.sample.id for scored in fine.written].count("3") == 1  # it has it, and is not asked again
    assert (report.delivered, report.parked, report.undelivered) == (5, 1, 0)
    (parked,) = report.parked_samples
    assert (parked.key, parked.tries) == ("3", 3)
    assert parked.error == "Faulty: Undelivered: no such trace"
    assert (report.confirmed, report.unconfirmed) == (5, 5)
    assert QueueFile(tmp_path).retry_parked() == 1
    faulty.fails = lambda scored, asked: False
    report = working(queue, fine, faulty).run(until_empty=True)
    assert (report.delivered, report.parked) == (6, 0)
    assert [scored.sample.id for scored in fine.written].count("3") == 1
    reconciled(queue)


def test_a_sink_that_is_down_is_left_alone_and_holds_up_nobody(tmp_path: Path) -> None:
    queue = filled(tmp_path, 60)
    fine, down = MemorySink(), Faulty(lambda scored, asked: True)
    worker = working(queue, fine, down, backoff=0.2, max_tries=50)
    thread = threading.Thread(target=worker.run)
    thread.start()
    wait_for(lambda: len(fine.written) == 60)
    asked = down.asked
    assert asked < 60  # not once for every sample
    down.fails = lambda scored, asked: False
    wait_for(lambda: len(down.took) == 60, 60)
    wait_for(lambda: queue.report().delivered == 60)
    worker.stop()
    thread.join(20)
    assert not thread.is_alive()
    assert len(fine.written) == 60
    assert worker.errors["Undelivered"] == down.asked - 60


def test_without_sinks_scores_stay_and_are_delivered_later(tmp_path: Path) -> None:
    queue = filled(tmp_path, 3)
    assert working(queue).run(until_empty=True).undelivered == 3
    sink = MemorySink()
    report = working(queue, sink).run(until_empty=True)
    assert (report.undelivered, report.delivered, len(sink.written)) == (0, 3, 3)


def test_judgements_of_an_interrupted_sample_are_not_paid_for_twice(tmp_path: Path) -> None:
    one = Sample(question="q", answer="It is 4.", contexts=(Context(text="It is 4."),), id="a")
    queue = SampleQueue(tmp_path)
    queue.submit(one)
    assert queue.flush(10)
    with OpenAIServer() as server:
        gate = threading.Event()
        server.plan = lambda call: _held(call, gate)
        first = Worker(queue, "faithfulness", OpenAIJudge("fake", base_url=server.base_url), sinks=[MemorySink()])
        thread = threading.Thread(target=first.run)
        thread.start()
        wait_for(lambda: server.count("support") == 1)
        first.stop()
        thread.join(20)
        assert not thread.is_alive()
        assert (server.count("claims"), queue.report().waiting) == (1, 1)
        gate.set()
        server.plan = None
        judge = OpenAIJudge("fake", base_url=server.base_url)
        report = Worker(queue, "faithfulness", judge, sinks=[MemorySink()]).run(until_empty=True)
        assert report.scored == 1
        assert server.count("claims") == 1  # from the folder of the queue
        assert server.count("support") == 2


def _held(call: Any, gate: threading.Event) -> Any:
    from tests._support.servers.openai_server import Say

    return Say(hang=True) if call.kind == "support" and not gate.is_set() else None


@pytest.mark.long
def test_samples_wait_while_the_judge_cannot_be_reached(tmp_path: Path) -> None:
    queue, sink = filled(tmp_path, 5), MemorySink()
    with OpenAIServer() as server:
        down = [True]
        from tests._support.servers.openai_server import Say

        server.plan = lambda call: Say(status=503, body={"error": {"message": "down"}}) if down[0] else None
        judge = OpenAIJudge("fake", base_url=server.base_url, max_attempts=1)
        worker = Worker(queue, "faithfulness", judge, sinks=[sink], concurrency=2)
        thread = threading.Thread(target=worker.run)
        thread.start()
        wait_for(lambda: len(server.calls) >= 2)
        down[0] = False
        wait_for(lambda: len(sink.written) == 5)
        worker.stop()
        thread.join(20)
    report = reconciled(queue)
    assert (report.scored, report.no_value) == (5, 0)


def test_patience_with_a_judge_that_stays_away_ends(tmp_path: Path) -> None:
    queue = filled(tmp_path, 2)
    judge = OpenAIJudge("fake", base_url="http://127.0.0.1:9/v1", max_attempts=1)
    report = Worker(queue, "faithfulness", judge, sinks=[MemorySink()], patience=0.1).run(until_empty=True)
    assert (report.no_value, report.causes) == (2, {"connection": 2})


def test_a_sample_that_cannot_be_read_is_skipped(tmp_path: Path) -> None:
    queue = filled(tmp_path, 1)
    with QueueFile(tmp_path).write() as db:
        db.execute("UPDATE contents SET sample = '{\"status\": 7}'")
    report = working(queue, MemorySink()).run(until_empty=True)
    assert (report.no_value, report.causes, report.parked) == (1, {"bad_row": 1}, 1)


def test_partial_answers_are_skipped_unless_asked(tmp_path: Path) -> None:
    queue = SampleQueue(tmp_path)
    queue.submit(replace(sample("a"), status="abandoned"))
    assert queue.flush(10)
    assert working(queue, MemorySink()).run(until_empty=True).causes == {"partial": 1}


@pytest.mark.long
def test_a_blocked_file_only_delays(tmp_path: Path) -> None:
    import sqlite3

    queue, sink = filled(tmp_path, 5), MemorySink()
    worker = working(queue, sink)
    worker._file._timeout = 0.05
    blocker = sqlite3.connect(tmp_path / "spool.db", isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    thread = threading.Thread(target=worker.run, args=(True,))
    thread.start()
    wait_for(lambda: worker.errors.get("OperationalError", 0) >= 2)
    blocker.execute("COMMIT")
    blocker.close()
    thread.join(30)
    assert not thread.is_alive()
    assert len(sink.written) == 5


async def test_run_does_not_mind_a_loop_elsewhere(tmp_path: Path) -> None:
    queue, sink = filled(tmp_path, 2), MemorySink()
    await asyncio.to_thread(working(queue, sink).run, True)
    assert len(sink.written) == 2


def test_wrong_arguments_raise_at_once(tmp_path: Path) -> None:
    for name in ("concurrency", "max_attempts", "max_tries", "deadline", "lease", "backoff"):
        with pytest.raises(InputError, match=name):
            Worker(tmp_path, [Probe()], ScriptedJudge(), **{name: 0})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no metric"):
        Worker(tmp_path, "faithfulnes", ScriptedJudge())


def cli(*arguments: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "assay.cli", "live", "worker", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.long
def test_the_command_line(tmp_path: Path) -> None:
    import json

    queue = SampleQueue(tmp_path / "queue")
    for n in range(3):
        text = f"House {n} has {n} windows."
        queue.submit(Sample(question="q", answer=text, contexts=(Context(text=text),), id=str(n)))
    queue.submit(lambda: None)
    queue.close()
    out = tmp_path / "scores.jsonl"
    status = cli(tmp_path / "queue", "--status")
    assert status.returncode == 0
    assert "appended    3: 0 scored, 0 without a value, 3 waiting" in status.stdout
    with OpenAIServer() as server:
        judge = ("--judge", "openai:fake", "--base-url", server.base_url, "--metrics", "faithfulness")
        spent = cli(tmp_path / "queue", *judge, "--sink", f"jsonl:{out}", "--until-empty", "--budget-calls-per-day", 2)
        assert spent.returncode == 1
        assert len(server.calls) == 2
        ran = cli(tmp_path / "queue", *judge, "--sink", f"jsonl:{out}", "--until-empty", "--json")
    assert (ran.returncode, ran.stderr) == (0, "")
    report = json.loads(ran.stdout)
    assert (report["submitted"], report["skipped"], report["scored"], report["delivered"]) == (4, 1, 3, 3)
    assert sorted(row["sample"]["id"] for row in read_jsonl(out)) == ["0", "1", "2"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "--status"], "queue: there is none in 'nowhere'"),
        (["queue", "--sink", "paper:x"], "paper"),
        (["queue", "--sink", "jsonl:a", "--sink", "jsonl:a"], "given twice"),
        (["queue", "--budget-dollars-per-day", "1"], "need prices"),
        (["queue", "--budget-price-prompt", "1"], "give both"),
    ],
)
def test_wrong_usage_is_one_line(tmp_path: Path, monkeypatch: Any, arguments: list[str], message: str) -> None:
    SampleQueue(tmp_path / "queue").close()
    monkeypatch.chdir(tmp_path)
    ran = cli(*arguments, "--judge", "openai:fake", "--base-url", "http://127.0.0.1:9/v1")
    assert ran.returncode == 2
    assert message in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1


def test_a_jsonl_sink_shared_by_workers_holds_whole_lines(tmp_path: Path) -> None:
    queue = filled(tmp_path / "queue", 100)
    workers = [working(queue, JsonlSink(tmp_path / "scores.jsonl")) for _ in range(3)]
    threads = [threading.Thread(target=worker.run, args=(True,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    rows = read_jsonl(tmp_path / "scores.jsonl")
    assert rows.torn == ()
    assert sorted(int(row["sample"]["id"]) for row in rows) == list(range(100))


class GroupSink(MemorySink):
    """Takes several at once; `broken`: takes nothing. `groups`: how many each time."""

    def __init__(self, broken: bool = False) -> None:
        super().__init__()
        self.groups: list[int] = []
        self.broken = broken

    def write_many(self, group: Any) -> list[Any]:
        self.groups.append(len(group))
        if self.broken:
            raise OSError("away")
        return [self.write(one) if one.sample.id != "3" else Undelivered("not this one", scores=()) for one in group]


def test_a_sink_that_takes_several_at_once_gets_them_so(tmp_path: Path) -> None:
    queue, sink = filled(tmp_path, 40), GroupSink()
    report = working(tmp_path, sink, max_tries=2, backoff=0.01).run(until_empty=True)
    assert (report.delivered, report.parked) == (39, 1)
    assert sorted(int(one.sample.id or 0) for one in sink.written) == [n for n in range(40) if n != 3]
    assert max(sink.groups) > 1
    assert queue.report().parked == 1


def test_a_sink_that_is_down_costs_few_of_a_group_a_try(tmp_path: Path) -> None:
    filled(tmp_path, 40)
    sink = GroupSink(broken=True)
    worker = working(tmp_path, sink, max_tries=50, backoff=30.0)
    thread = threading.Thread(target=worker.run)
    thread.start()
    wait_for(lambda: worker.report().scored == 40 and sink.groups)
    worker.stop()
    thread.join(30)
    assert len(sink.groups) <= 2  # two failures, then a pause; the first group may be one sample
    tries = [n for (n,) in QueueFile(tmp_path).rows("SELECT tries FROM samples")]
    assert 1 <= sum(tries) <= 3
