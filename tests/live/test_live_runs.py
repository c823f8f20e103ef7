"""Live runs: what is scored in an application, or by workers, is a run of the store, and what has no row is counted."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sqlite3
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InputError, StoreError
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import Application, LiveScorer, SampleQueue, Sampling, SamplingRule, Worker, open_intake
from assay.records import Sample, Score, ScoredSample
from assay.sinks import MemorySink
from assay.sinks.store import StoreSink
from assay.store.live_counts import read_counts
from assay.store.store import Store
from tests.live.apps import Probe, sample


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STORE", "APPLICATION", "VERSION", "COMMIT", "PROMPT_VERSION", "SAMPLING", "QUEUE"):
        monkeypatch.delenv(f"ASSAY_{name}", raising=False)


def scorer(**options: Any) -> LiveScorer:
    return LiveScorer([Probe()], ScriptedJudge(), **options)


def ids(store: Path, run: str = "live/shop") -> list[str | None]:
    with Store(store) as kept:
        return [row.scored.sample.id for row in kept.rows(run)]


def counts(store: Path, run: str = "live/shop") -> dict[str, int]:
    with Store(store) as kept:
        return read_counts(kept, run)


# ---- in the application


def test_a_scorer_keeps_a_live_run_with_the_version(tmp_path: Path) -> None:
    live = scorer(store=tmp_path, application=Application("shop", version="1.4"))
    live.submit(sample("a"))
    health = live.close()
    assert (health.delivered, health.confirmed, dict(health.errors)) == (1, 1, {})
    with Store(tmp_path) as store:
        assert store.runs()[0].info["continuous"]
        (row,) = store.rows("live/shop")
    assert row.scored.sample.metadata == {"application": "shop", "version": "1.4"}
    assert row.scored.values == {"probe": 1.0}


def test_the_environment_names_store_and_application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_STORE", str(tmp_path))
    monkeypatch.setenv("ASSAY_APPLICATION", "shop")
    monkeypatch.setenv("ASSAY_COMMIT", "abc")
    live = open_intake([Probe()], ScriptedJudge(), None, {})
    live.submit(sample("a"))
    live.close()
    with Store(tmp_path) as store:
        assert [row.scored.sample.metadata["commit"] for row in store.rows("live/shop")] == ["abc"]


def test_the_code_wins_over_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_STORE", str(tmp_path / "environment"))
    for options in ({"store": tmp_path / "code"}, {"sinks": [StoreSink(tmp_path / "sink")]}, {"store": False}):
        live = scorer(**options)
        live.submit(sample("a"))
        live.close()
    assert not (tmp_path / "environment").exists()
    assert ids(tmp_path / "code", "live") == ids(tmp_path / "sink", "live") == ["a"]


def test_heard_is_scored_or_sampled_out_or_dropped(tmp_path: Path) -> None:
    """300 samples: some half are sampled out by their keys; then a full queue of 5 drops 20 - 5 = 15."""
    live = scorer(store=tmp_path, application="shop", sampling=Sampling(0.5), max_queue=5)
    for n in range(300):
        live.submit(sample(f"{n}"))
        live.flush(10)
    gate = threading.Event()

    def blocked() -> None:
        gate.wait(10)

    for _ in range(4):  # as many as are scored at a time
        live.submit(blocked)
    until = time.monotonic() + 10
    while len(live._box) and time.monotonic() < until:
        time.sleep(0.005)
    gate.set()
    live.flush(10)
    health = live.close()
    assert not live.submit(sample("late"))
    rows = ids(tmp_path)
    found = counts(tmp_path)
    assert found["sampled_out"] == health.sampled_out == 300 - len(rows)
    assert 100 < len(rows) < 200
    assert found["no_sample"] == 4
    assert sum(found.values()) + len(rows) == 304


def test_what_finds_no_room_is_counted(tmp_path: Path) -> None:
    """The thread that scores is held up: the first sample is in work, one waits, 8 find no room."""
    live, held, gate = scorer(store=tmp_path, application="shop", max_queue=1), threading.Event(), threading.Event()

    def hold() -> Sample:
        held.set()
        gate.wait(20)
        return sample("held")

    live.submit(hold)
    assert held.wait(10)
    taken = [live.submit(sample(f"{n}")) for n in range(9)]
    assert taken == [True] + [False] * 8
    gate.set()
    live.close()
    found = counts(tmp_path)
    assert found.pop("dropped") == 8
    assert len(ids(tmp_path)) + found.get("undelivered", 0) == 2  # one delivery may wait, too


def test_counts_are_written_while_the_application_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.live.scorer.COUNTED", 0.01)
    live = scorer(store=tmp_path, application="shop", sampling=Sampling(0.0))
    for n in range(7):
        live.submit(sample(f"{n}"))
    live.flush(10)
    until = time.monotonic() + 20
    while counts(tmp_path) != {"sampled_out": 7}:
        assert time.monotonic() < until
        time.sleep(0.02)
    live.close()
    assert counts(tmp_path) == {"sampled_out": 7}


def test_what_is_not_done_at_the_end_is_counted(tmp_path: Path) -> None:
    live = scorer(store=tmp_path, application="shop", concurrency=1)
    live.submit(sample("first"))
    live.flush(10)
    for n in range(3):
        live.submit(sample(f"{n}", "hang"))
    health = live.close(timeout=0.2)
    assert health.pending == 3
    assert (ids(tmp_path), counts(tmp_path)) == (["first"], {"closed": 3})


def test_feedback_takes_back_that_a_sample_was_left_out(tmp_path: Path) -> None:
    sampling = Sampling(0.0, rules=(SamplingRule(name="unhappy", feedback_below=0.5),))
    live = scorer(store=tmp_path, application="shop", sampling=sampling)
    for n in range(4):
        live.submit(sample(f"{n}"))
    live.flush(10)
    live.feedback("2", 0)
    live.close()
    assert (ids(tmp_path), counts(tmp_path)) == (["2"], {"sampled_out": 3})


@pytest.mark.parametrize("sampling", [0.999999, Sampling(0.999999), None])
def test_each_sampled_sample_has_its_rate(tmp_path: Path, sampling: Any) -> None:
    live = scorer(store=tmp_path, sampling=sampling)
    live.submit(sample("a"))
    live.close()
    with Store(tmp_path) as store:
        (row,) = store.rows("live")
    assert row.scored.sample.metadata.get("sampling") == (None if sampling is None else {"rate": 0.999999})


# ---- the host never notices


def test_a_full_disk_costs_the_host_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = MemorySink()
    live = scorer(store=tmp_path, application="shop", sinks=[memory])
    live.submit(sample("before"))
    live.flush(10)

    def full(self: Store, run: str, scored: ScoredSample) -> int:
        raise StoreError(f"store {self.name!r} cannot be written: the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "merge_row", full)
        assert live.submit(sample("during"))
        live.flush(10)
    live.submit(sample("after"))
    health = live.close()
    assert health.errors == {"Undelivered": 1}
    assert "the disk is full" in (health.last_error or "")
    assert ids(tmp_path) == ["before", "after"]
    assert counts(tmp_path) == {"undelivered": 1}  # counted when the disk had room again
    assert len(memory.written) == 3


def test_sqlite_without_room_costs_the_host_nothing(tmp_path: Path) -> None:
    """SQLite itself says that the file is full: it may not grow by a page."""
    sink = StoreSink(tmp_path, application="shop")
    live = scorer(sinks=[sink])
    live.submit(sample("before"))
    live.flush(10)
    store = sink._store.get()
    store.query("PRAGMA max_page_count = 1")  # as many as there are
    large = random.Random(1).randbytes(50_000).hex()
    assert live.submit(Sample(id="large", question="q", answer=large))
    live.flush(10)
    health = live.close()
    assert health.errors == {"Undelivered": 1}
    assert "the disk is full" in (health.last_error or "")
    assert ids(tmp_path) == ["before"]
    assert counts(tmp_path) == {"undelivered": 1}


def test_counts_of_a_quiet_application_are_written_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sample, and nothing after it."""
    monkeypatch.setattr("assay.live.scorer.COUNTED", 0.01)
    live = scorer(store=tmp_path, application="shop", sampling=Sampling(0.0))
    live.submit(sample("a"))
    until = time.monotonic() + 20
    while counts(tmp_path) != {"sampled_out": 1}:
        assert time.monotonic() < until
        time.sleep(0.02)
    live.close()


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="permissions do not hold here")
def test_a_store_that_cannot_be_made_costs_the_host_nothing(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    live = scorer(store=tmp_path / "store", application="shop")
    assert live.submit(sample("a"))
    assert live.close().errors == {"StoreError": 2}  # the sample, and the counts


def test_a_file_in_the_way_costs_the_host_nothing(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("no folder")
    live = scorer(store=tmp_path / "store", application="shop")
    assert live.submit(sample("a"))
    health = live.close()
    assert health.undelivered == 1
    assert set(health.errors) == {"StoreError"}


def test_a_wrong_store_or_name_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="path: expected the folder"):
        scorer(store="")
    with pytest.raises(InputError, match="Application: name: expected a text or None"):
        scorer(store=tmp_path, application="")


# ---- through a queue


def test_a_worker_keeps_the_live_run_of_each_application(tmp_path: Path) -> None:
    """Of 40 samples of the shop 40 are scored; of 40 of the search some are sampled out."""
    shop = SampleQueue(tmp_path / "queue", application=Application("shop", version="1.4"))
    search = SampleQueue(tmp_path / "queue", application="search", sampling=0.5)
    for n in range(40):
        shop.submit(sample(f"shop {n}"))
        search.submit(sample(f"search {n}"))
    shop.close()
    search.close()
    worker = Worker(tmp_path / "queue", [Probe()], ScriptedJudge(), store=tmp_path / "store")
    worker.run(until_empty=True)
    assert sorted(ids(tmp_path / "store"), key=str) == sorted(f"shop {n}" for n in range(40))
    assert counts(tmp_path / "store") == {}
    left_out = counts(tmp_path / "store", "live/search")["sampled_out"]
    assert left_out + len(ids(tmp_path / "store", "live/search")) == 40
    with Store(tmp_path / "store") as store:
        assert store.get_row("live/shop", "shop 1").scored.sample.metadata["version"] == "1.4"
        assert store.get_row("live/search", 1).scored.sample.metadata["sampling"] == {"rate": 0.5}


def test_two_workers_count_what_the_queue_dropped_once(tmp_path: Path) -> None:
    queue = SampleQueue(tmp_path / "queue", application="shop", max_pending=10)
    for n in range(25):
        queue.submit(sample(f"{n}"))
    queue.close()
    for _ in range(2):
        Worker(tmp_path / "queue", [Probe()], ScriptedJudge(), store=tmp_path / "store").run(until_empty=True)
    assert (len(ids(tmp_path / "store")), counts(tmp_path / "store")) == (10, {"dropped": 15})


def test_a_queue_of_before_counts_from_now_on(tmp_path: Path) -> None:
    queue = SampleQueue(tmp_path / "queue", application="shop", max_pending=1)
    queue.submit(sample("a"))
    queue.close()
    with sqlite3.connect(tmp_path / "queue" / "spool.db") as db:  # as schema 2 was
        db.executescript("DROP TABLE hours; DROP TABLE facts; PRAGMA user_version = 2")
    db.close()
    queue = SampleQueue(tmp_path / "queue", application="shop", max_pending=1)
    queue.submit(sample("b"))
    queue.close()
    Worker(tmp_path / "queue", [Probe()], ScriptedJudge(), store=tmp_path / "store").run(until_empty=True)
    assert (ids(tmp_path / "store"), counts(tmp_path / "store")) == (["a"], {"dropped": 1})


def test_the_command_line_needs_no_set_up(tmp_path: Path, command_line: Any) -> None:
    queue = SampleQueue(tmp_path / "queue", application="shop")
    for n in range(3):
        queue.submit(sample(f"{n}", "A passage."))
    queue.close()
    assert command_line("live", "worker", "queue", "--until-empty", "--metrics", "faithfulness")[0] == 0
    code, out, _ = command_line("runs")
    assert code == 0
    assert "live/shop" in out
    assert "3 rows" in out
    assert command_line("worst", "faithfulness", "live/shop")[0] == 0
    code, out, _ = command_line("show", "live/shop", "1")
    assert (code, "A passage." in out) == (0, True)
    with Store(tmp_path / ".assay") as store:
        assert [run.id for run in store.runs()] == ["live/shop"]


def test_a_worker_without_a_store_says_so_at_once(tmp_path: Path, command_line: Any) -> None:
    SampleQueue(tmp_path / "queue").close()
    (tmp_path / ".assay").write_text("no folder")
    code, _, err = command_line("live", "worker", "queue", "--until-empty")
    assert code != 0
    assert "cannot be opened" in " ".join(err.split())
    assert command_line("live", "worker", "queue", "--until-empty", "--no-store")[0] == 0


def test_one_variable_names_the_store_of_application_and_commands(
    tmp_path: Path, command_line: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "assay.toml").write_text('store = "of the file"\n')
    monkeypatch.setenv("ASSAY_STORE", str(tmp_path / "kept"))
    live = scorer(application="shop")
    live.submit(sample("a"))
    live.close()
    code, out, _ = command_line("runs")
    assert (code, "live/shop" in out) == (0, True)
    assert command_line("runs", "--store", "other")[0] == 2  # there is none


def test_the_command_line_can_keep_no_text_or_nothing(tmp_path: Path, command_line: Any) -> None:
    for options, text in ((["--no-keep-text"], None), (["--no-store"], "nothing kept"), ([], "q")):
        queue = SampleQueue(tmp_path / f"queue{len(options)}{text}", application="shop")
        queue.submit(sample("a"))
        queue.close()
        store = tmp_path / f"store{text}"
        command = (
            "live",
            "worker",
            str(queue.path),
            "--until-empty",
            "--metrics",
            "faithfulness",
            "--store",
            str(store),
        )
        command_line(*command, *options)
        if text == "nothing kept":
            assert not store.exists()
            continue
        with Store(store) as kept:
            (row,) = kept.rows("live/shop")
        assert row.scored.sample.question == text


def test_the_configuration_says_how_live_runs_are_kept(tmp_path: Path, command_line: Any) -> None:
    (tmp_path / "assay.toml").write_text('store = "kept"\n[live]\napplication = "shop"\nkeep_text = false\n')
    queue = SampleQueue(tmp_path / "queue")
    queue.submit(sample("a"))
    queue.close()
    command_line("live", "worker", "queue", "--until-empty", "--metrics", "faithfulness")
    with Store(tmp_path / "kept") as store:
        (row,) = store.rows("live/shop")
    assert (row.scored.sample.id, row.scored.sample.question) == ("a", None)


# ---- processes that are killed


def write_until_killed(path: str, log: str, first: int) -> None:
    sink = StoreSink(path, application="shop")
    written = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    for n in range(first, first + 100_000):
        scored = ScoredSample(sample=Sample(id=f"{n}"), scores={"m": Score(metric="m", value=1.0)})
        sink.write(scored)
        sink.write(scored)  # delivered twice, as by two workers
        os.write(written, f"{n}\n".encode())


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="no kill -9")
def test_kills_lose_no_sample_that_was_acknowledged(tmp_path: Path) -> None:
    context, chance, acknowledged = multiprocessing.get_context("spawn"), random.Random(7), []
    for turn in range(4):
        logs = [tmp_path / f"log {turn} {n}" for n in range(3)]
        workers = [
            context.Process(
                target=write_until_killed, args=(str(tmp_path / "store"), str(log), (turn * 3 + n) * 100_000)
            )
            for n, log in enumerate(logs)
        ]
        for worker in workers:
            worker.start()
        until = time.monotonic() + 120
        while not all(log.exists() for log in logs):
            assert time.monotonic() < until
            time.sleep(0.01)
        for worker in workers:
            time.sleep(chance.uniform(0.0, 0.3))
            worker.kill()
            worker.join(20)
            assert worker.exitcode == -signal.SIGKILL
        acknowledged += [key for log in logs for key in log.read_text().split()]
    rows = ids(tmp_path / "store")
    assert len(rows) == len(set(rows))
    assert set(acknowledged) <= set(rows)
    assert len(rows) <= len(acknowledged) + 12  # one of each process was kept, and not yet acknowledged
    with Store(tmp_path / "store") as store:
        assert store.row_counts("live/shop").missing == 0
        assert store.integrity_errors() == []
