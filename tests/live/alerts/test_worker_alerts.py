"""Alerts beside a queue worker: checked while it scores, and never in its way."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from assay.errors import StoreError
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import SampleQueue, Worker
from assay.live.alerts.watcher import AlertWatcher
from assay.sinks import MemorySink
from assay.sinks.store import StoreSink
from assay.store.alerts import AlertStore
from assay.store.store import Store
from tests._support.servers.alert_receiver import AlertReceiver
from tests.live.alerts.fakes import rule, webhook
from tests.live.apps import Probe, sample


def filled(path: Path, count: int) -> SampleQueue:
    queue = SampleQueue(path)
    for n in range(count):
        queue.submit(sample(str(n)))
    assert queue.flush(20)
    return queue


def probe(url: str, **given: Any) -> Any:
    """The probe's score is always 1."""
    return rule(**{"metric": "probe", "kind": "above", "limit": 0.5, "to": (webhook(url),)} | given)


def test_a_worker_that_ends_has_checked_what_it_scored(tmp_path: Path) -> None:
    queue, store = filled(tmp_path / "queue", 60), tmp_path / "store"
    with AlertReceiver() as receiver:
        alerts = AlertWatcher(store, [probe(receiver.url)], interval=3600)
        sink = StoreSink(store, "shop")
        report = Worker(queue, [Probe()], ScriptedJudge(), sinks=[sink], alerts=alerts).run(until_empty=True)
        assert report.scored == 60
        (message,) = receiver.messages
    data = message.json()
    assert (data["event"], data["mean"], data["scored"]) == ("opened", 1.0, 60)
    assert all(row["id"] is not None for row in data["worst"])


def test_a_target_that_hangs_and_a_store_that_fails_do_not_slow_the_scoring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue, sink = filled(tmp_path / "queue", 40), MemorySink()
    with AlertReceiver("hang") as receiver:
        alerts = AlertWatcher(tmp_path / "store", [probe(receiver.url)], interval=0.05)
        monkeypatch.setattr(AlertStore, "claim", lambda *_: time.sleep(30))
        monkeypatch.setattr("assay.live.alerts.watcher.GRACE", 0.2)
        monkeypatch.setattr(Store, "has_run", _failing)
        begun = time.monotonic()
        report = Worker(queue, [Probe()], ScriptedJudge(), sinks=[sink], alerts=alerts).run(until_empty=True)
        assert report.scored == len(sink.written) == 40
        assert time.monotonic() - begun < 20


def _failing(*_: object) -> bool:
    raise StoreError("the disk fails")


def test_a_store_that_cannot_be_opened_is_logged_once_and_the_scores_are_delivered(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "store").write_text("a file, and no folder")
    queue, sink = filled(tmp_path / "queue", 20), MemorySink()
    alerts = AlertWatcher(tmp_path / "store", [probe("http://127.0.0.1:9/")], interval=0.01)
    assert Worker(queue, [Probe()], ScriptedJudge(), sinks=[sink], alerts=alerts).run(until_empty=True).scored == 20
    logged = [record.getMessage() for record in caplog.records if "alerts cannot be checked" in record.getMessage()]
    assert len(logged) == 1
