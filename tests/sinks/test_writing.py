"""Scores of an evaluation in sinks: all that arrived is counted, and what did not is named."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from assay import JsonlSink, Sample, ScoredSample, ScriptedJudge, evaluate
from assay.errors import Undelivered
from assay.evaluation.result import Result
from assay.sinks import MemorySink, Receipt, read_jsonl

ROWS = [{"id": f"row {n}", "question": "q", "contexts": ["Cats purr."], "answer": "Cats purr."} for n in range(8)]


class Store:
    """A sink that confirms one score of each sample, loses the samples it is told to, and notes its threads."""

    def __init__(self, lost: tuple[str, ...] = (), broken: tuple[str, ...] = ()) -> None:
        self.lost, self.broken = lost, broken
        self.threads: set[int] = set()
        self.closed = 0

    def write(self, scored: ScoredSample) -> Receipt:
        self.threads.add(threading.get_ident())
        if scored.sample.id in self.lost:
            raise Undelivered("the store is full", scores=["faithfulness"])
        if scored.sample.id in self.broken:
            raise ValueError("no such span")
        return Receipt(sent=2, confirmed=1)

    def close(self) -> None:
        self.closed += 1


def run(tmp_path: Path, *sinks: object) -> Result:
    metrics = ["faithfulness", "hallucination"]
    return evaluate(ROWS, metrics, ScriptedJudge(), store=tmp_path / "store", sinks=sinks, progress=False)


def test_every_row_reaches_every_sink_from_one_thread_and_sinks_are_closed(tmp_path: Path) -> None:
    memory, store = MemorySink(), Store()
    result = run(tmp_path, memory, JsonlSink(tmp_path / "scores.jsonl"), store)
    assert sorted(scored.sample.key() for scored in memory.written) == [f"row {n}" for n in range(8)]
    assert len(read_jsonl(tmp_path / "scores.jsonl")) == 8
    assert memory.closed
    assert store.closed == 1
    assert len(store.threads) == 1
    # 8 rows x 2 metrics; the sink without receipts took all, the store confirmed one of each two
    assert (result.deliveries["MemorySink"].sent, result.deliveries["MemorySink"].confirmed) == (16, 0)
    assert (result.deliveries["Store"].sent, result.deliveries["Store"].confirmed) == (16, 8)
    assert "Store: 16 sent, 8 of them confirmed" in str(result)


def test_what_did_not_arrive_is_counted_and_named_and_survives_in_the_store(tmp_path: Path) -> None:
    store = Store(lost=("row 3",), broken=("row 5",))
    result = run(tmp_path, store, MemorySink())
    found = result.deliveries["Store"]
    # row 3 lost one of its two scores, row 5 both: 8 x 2 - 1 - 2 sent
    assert (found.sent, found.undelivered) == (13, 3)
    assert sorted(found.listed) == [
        "row 3: faithfulness: the store is full",
        "row 5: faithfulness, hallucination: ValueError: no such span",
    ]
    assert result.deliveries["MemorySink"].sent == 16
    assert result.complete
    assert "not delivered: row 3: faithfulness: the store is full" in str(result)
    assert Result.load("last", tmp_path / "store").deliveries["Store"] == found


def test_two_sinks_of_one_kind_are_told_apart(tmp_path: Path) -> None:
    assert set(run(tmp_path, MemorySink(), MemorySink(), MemorySink()).deliveries) == {
        "MemorySink",
        "MemorySink#2",
        "MemorySink#3",
    }


@pytest.mark.parametrize("status", ["abandoned", "failed"])
def test_partial_answers_reach_sinks_as_skipped(tmp_path: Path, status: str) -> None:
    memory = MemorySink()
    rows = [Sample(id="x", question="q", answer="par", contexts=(), status=status)]  # type: ignore[arg-type]
    evaluate(rows, ["faithfulness"], ScriptedJudge(), store=tmp_path / "s", sinks=[memory], progress=False)
    error = memory.written[0].scores["faithfulness"].error
    assert error is not None
    assert error.cause == "partial"
