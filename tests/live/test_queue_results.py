"""A queue's folder as a run: what it has of scored samples, and what it says of the others."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.evaluation.external_runs import open_run
from assay.live.queue.queue_file import QueueFile
from assay.records import Sample, Score, ScoredSample
from assay.store.store import Store


def queue_of(folder: Path, scored: int, waiting: int = 0) -> QueueFile:
    """A queue whose samples 0, 1, ... have the values 0, 0.1, ...; those that wait come after them."""
    file = QueueFile(folder)
    file.create()
    samples = [Sample(id=str(n), question=f"Q{n}?", answer="So.") for n in range(scored + waiting)]
    file.append([(one.key(), json.dumps(one.to_dict())) for one in samples], {}, "app", 1000, 2**30)
    for one in file.lease("w", scored, file.now() + 60):
        sample = Sample.from_dict(json.loads(one.sample))
        scores = {"m": Score(metric="m", value=int(one.key) / 10, judge="scripted")}
        assert file.finish("w", one.number, ScoredSample(sample=sample, scores=scores))
    return file


def test_scored_delivered_and_parked_samples_are_rows(tmp_path: Path) -> None:
    file = queue_of(tmp_path, scored=4, waiting=2)
    parcels = {one.key: one.number for one in file.lease_parcels("w", 10, file.now() + 60)}
    file.delivered("w", [parcels["0"]], ["sink"], {})
    file.undelivered("w", parcels["1"], [], "refused", file.now(), {}, park=True)
    found = open_run(tmp_path)
    assert [(row.scored.sample.id, row.scored.values) for row in found.numbered_rows()] == [
        (str(n), {"m": n / 10}) for n in range(4)
    ]
    assert (found.judge, found.complete) == ("scripted", True)
    assert any("2 samples of the queue are not scored yet" in note for note in found.notes)
    assert open_run(tmp_path / "spool.db").rows == 4


def test_samples_that_were_forgotten_are_counted(tmp_path: Path) -> None:
    file = queue_of(tmp_path, scored=3)
    parcels = {one.key: one.number for one in file.lease_parcels("w", 10, file.now() + 60)}
    file.delivered("w", [parcels["0"], parcels["1"]], ["sink"], {})
    assert file.forget(file.now() + 1, keep=10, remember=10) == 2
    found = open_run(tmp_path)
    assert [row.sample.id for row in found] == ["2"]
    assert any("2 delivered samples are not in the queue any more" in note for note in found.notes)


def test_a_queue_is_the_queue_though_its_judgements_lie_in_a_store_beside_it(tmp_path: Path) -> None:
    queue_of(tmp_path, scored=1)
    with Store(tmp_path) as store:
        store.put_judgement("k", "claims", "judge", b"{}")
    assert open_run(tmp_path).rows == 1
    assert not open_run(tmp_path).notes


def test_a_row_that_cannot_be_read_counts_and_a_queue_without_scores_is_no_run(tmp_path: Path) -> None:
    queue_of(tmp_path / "a", scored=2).close()
    with closing(sqlite3.connect(tmp_path / "a" / "spool.db")) as db:
        db.execute("UPDATE results SET scores = 'no json' WHERE number = 1")
        db.commit()
    found = open_run(tmp_path / "a")
    assert (found.rows, found.unreadable, found.metrics["m"].total) == (1, 1, 2)
    queue_of(tmp_path / "b", scored=0, waiting=1)
    with pytest.raises(InputError, match="has no rows with scores"):
        open_run(tmp_path / "b")


def test_looking_changes_nothing(tmp_path: Path) -> None:
    queue_of(tmp_path, scored=2, waiting=1).close()
    open_run(tmp_path)
    file = QueueFile(tmp_path)
    assert file.totals() == {"waiting": 1, "scored": 2, "in_work": 0}
    assert sorted(path.name for path in tmp_path.iterdir() if "-" not in path.name) == ["spool.db"]
