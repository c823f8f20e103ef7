"""Live scores in assay's own store: a run like any other, one row for each sample."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from assay.errors import InputError, StoreError, Undelivered
from assay.evaluation.result import Result
from assay.records import Sample, Score, ScoredSample
from assay.sinks.store import StoreSink
from assay.store.store import Store
from assay.testing.bench import exchange


@pytest.mark.long
def test_a_live_score_can_be_explained(tmp_path: Path) -> None:
    sink = StoreSink(tmp_path / ".assay")
    sink.write(exchange({}, id="first"))
    sink.write(exchange({}, id="second"))
    sink.close()
    command = [sys.executable, "-m", "assay.cli", "show", "live", "second", "--store", str(tmp_path / ".assay")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "faithfulness = 0.500" in said
    assert "Paris has 2.1 million inhabitants." in said
    by_number = subprocess.run([*command[:5], "2", *command[6:]], capture_output=True, text=True, check=True).stdout
    assert by_number == said


def test_the_run_has_its_metrics_and_judge(tmp_path: Path) -> None:
    sink = StoreSink(tmp_path)
    sink.write(exchange({}))
    later = Score(metric="answer_relevancy", value=1.0, judge="judge-b")
    sink.write(ScoredSample(sample=Sample(id="sample-1", question="?"), scores={"answer_relevancy": later}))
    sink.close()
    result = Result.load("live", tmp_path)
    assert list(result.metrics) == ["faithfulness", "hallucination", "context_recall", "answer_relevancy"]
    assert result.rows == 1
    assert result.metrics["faithfulness"].mean == 0.5
    assert set(result.row("sample-1").scores) == set(result.metrics)


def test_another_process_adds_to_the_run(tmp_path: Path) -> None:
    for name in ("a", "b"):
        sink = StoreSink(tmp_path)  # knows nothing of the one before
        score = Score(metric=f"metric_{name}", value=1.0, judge="j")
        sink.write(ScoredSample(sample=Sample(id=name), scores={score.metric: score}))
        sink.close()
    assert list(Result.load("live", tmp_path).metrics) == ["metric_a", "metric_b"]


@pytest.mark.long
def test_processes_at_the_same_time_lose_no_row(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom assay.records import *\nfrom assay.sinks.store import StoreSink\n"
        "sink = StoreSink(sys.argv[1])\n"
        "for n in range(40):\n"
        "    for id in (f'{sys.argv[2]}-{n}', f'shared-{n}'):\n"
        "        sink.write(ScoredSample(sample=Sample(id=id), scores={'m': Score(metric='m', value=1.0)}))\n"
    )
    workers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(n)]) for n in range(3)]
    assert [worker.wait(120) for worker in workers] == [0, 0, 0]
    with Store(tmp_path) as store:
        rows = list(store.rows("live"))
    assert len(rows) == 3 * 40 + 40
    assert [row.number for row in rows] == list(range(1, 161))
    assert len({row.scored.sample.id for row in rows}) == 160


def test_a_sample_without_id_is_found_by_its_content(tmp_path: Path) -> None:
    sink = StoreSink(tmp_path)
    for value in (0.0, 1.0):
        scores = {"m": Score(metric="m", value=value)}
        sink.write(ScoredSample(sample=Sample(question="q", answer="a"), scores=scores))
    sink.close()
    (scored,) = Result.load("live", tmp_path)
    assert scored.values == {"m": 1.0}


def test_hidden_texts_leave_the_row_its_key(tmp_path: Path) -> None:
    for texts in (True, False):
        sink = StoreSink(tmp_path, run="other", texts=texts)
        scores = {"m": Score(metric="m", value=1.0)}
        sink.write(ScoredSample(sample=Sample(question="q", answer="a"), scores=scores))
        sink.close()
    (scored,) = Result.load("other", tmp_path)
    assert (scored.sample.question or "").startswith("sha256:")


@pytest.mark.parametrize("run", ["", "last"])
def test_a_run_needs_a_name(tmp_path: Path, run: str) -> None:
    with pytest.raises(InputError, match=r"^run: "):
        StoreSink(tmp_path, run)


def test_a_store_that_fails_names_the_scores_it_did_not_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = StoreSink(tmp_path)
    sink.write(exchange({}, id="first"))
    with monkeypatch.context() as patch:
        patch.setattr(Store, "merge_row", full)
        with pytest.raises(Undelivered, match=r"StoreSink: .*the disk is full") as failed:
            sink.write(exchange({}, id="second"))
    assert "faithfulness" in failed.value.scores
    sink.write(exchange({}, id="second"))
    assert [row.scored.sample.id for row in Store(tmp_path).rows("live")] == ["first", "second"]


def full(self: Store, run: str, scored: ScoredSample) -> int:
    raise StoreError(f"store {self.name!r} cannot be written: the disk is full")
