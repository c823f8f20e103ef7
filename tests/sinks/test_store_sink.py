"""Live scores in assay's own store: a run like any other, one row for each sample."""

from __future__ import annotations

import multiprocessing
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from assay._util.compression import unpack
from assay.errors import Cause, InputError, StoreError, Undelivered
from assay.evaluation.result import Result
from assay.records import Claim, Context, Sample, Score, ScoredSample, ScoreError, Span, Turn, Verdict
from assay.sinks.store import MOST_RUNS, StoreSink
from assay.store.integrity import check_store
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


SECRET = "Ann's secret"


def secret_sample() -> ScoredSample:
    """A sample of which every text, and of the evidence, says the secret."""
    sample = Sample(
        id="s1", question=SECRET, answer=SECRET, reference=SECRET, contexts=(Context(text=SECRET, id="p1"),),
        history=(Turn(question=SECRET, answer=SECRET),), ids={"run": "r1"},
        metadata={
            "user": "ann", "version": "1.4", "note": SECRET, "ended": 12.5, "tags": [SECRET],
            "sampling": {"rate": 0.1, "rule": "x"}, "feedback": {"value": 0, "comment": SECRET},
        },
    )  # fmt: skip
    verdict = Verdict(claim=Claim(text=SECRET, span=Span(start=0, end=9)), label="supported", reason=SECRET)
    error = ScoreError(cause=Cause.BAD_REQUEST, message=f"cannot read {SECRET}", raw=SECRET)
    scores = {
        "m": Score(metric="m", value=0.5, verdicts={"a": (verdict,)}, texts={"t": (SECRET,)}, parts={"n": 2.0}),
        "e": Score(metric="e", error=error, judge="j"),
    }
    return ScoredSample(sample=sample, scores=scores)


def test_without_texts_scores_causes_and_ids_are_kept_alone(tmp_path: Path) -> None:
    sink = StoreSink(tmp_path, keep_text=False)
    sink.write(secret_sample())
    sink.close()
    with Store(tmp_path) as store:
        ((_, _, body),) = store.row_bodies("live")
        row = store.get_row("live", "s1")
    assert SECRET not in unpack(body).decode()
    assert row.scored.sample.metadata == {
        "user": "ann", "version": "1.4", "ended": 12.5, "sampling": {"rate": 0.1, "rule": "x"},
        "feedback": {"value": 0},
    }  # fmt: skip
    assert (row.scored.sample.id, row.scored.sample.ids, row.scored.sample.question) == ("s1", {"run": "r1"}, None)
    assert row.scored.values == {"m": 0.5, "e": None}
    error = row.scored.scores["e"].error
    assert error is not None
    assert (error.cause, error.message, error.raw) == (Cause.BAD_REQUEST, "bad_request", None)
    assert row.scored.scores["m"].parts == {"n": 2.0}


def test_texts_are_masked_before_they_are_kept(tmp_path: Path) -> None:
    sink = StoreSink(tmp_path, mask=lambda text: text.replace(SECRET, "[hidden]"))
    sink.write(secret_sample())
    sink.close()
    with Store(tmp_path) as store:
        ((_, _, body),) = store.row_bodies("live")
    assert SECRET not in unpack(body).decode()
    assert "[hidden]" in unpack(body).decode()


def test_without_texts_a_sample_without_id_keeps_its_key(tmp_path: Path) -> None:
    sample = Sample(question="q", answer="a")
    for _ in range(2):
        sink = StoreSink(tmp_path, keep_text=False)
        sink.write(ScoredSample(sample=sample, scores={"m": Score(metric="m", value=1.0)}))
        sink.close()
    (scored,) = Result.load("live", tmp_path)
    assert (scored.sample.id, scored.sample.question) == (sample.key(), None)


def test_each_application_has_a_run_of_its_own(tmp_path: Path) -> None:
    sink = StoreSink(tmp_path, application="shop")
    for n, metadata in enumerate(({}, {"application": "search"}, {"application": 3}, {"application": "x" * 300})):
        sink.write(ScoredSample(sample=Sample(id=f"{n}", metadata=metadata), scores={}))
    sink.close()
    with Store(tmp_path) as store:
        found = {run.id: [row.scored.sample.id for row in store.rows(run.id)] for run in store.runs()}
        assert all(run.info["continuous"] for run in store.runs())
    assert found == {"live/shop": ["0", "2", "3"], "live/search": ["1"]}


def test_names_without_end_do_not_make_runs_without_end(tmp_path: Path) -> None:
    sink = StoreSink(tmp_path)
    for n in range(MOST_RUNS + 20):
        sink.write(ScoredSample(sample=Sample(id=f"{n}", metadata={"application": f"a{n}"}), scores={}))
    sink.close()
    with Store(tmp_path) as store:
        assert len(store.runs()) == MOST_RUNS + 1
        assert len(store.numbers("live")) == 20


def test_old_rows_of_live_runs_are_deleted_and_no_others(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of 40 and of 10 days ago are kept for 30 days."""
    present = time.time()
    with Store(address) as store:
        monkeypatch.setattr("assay.store.rows.time.time", lambda: present - 40 * 86_400)
        store.create_run("nightly", {})
        store.put_row("nightly", 1, exchange({}, id="old"))
        sink = StoreSink(address, application="shop")
        for n in range(250):  # more than one transaction deletes
            sink.write(ScoredSample(sample=Sample(id=f"old {n}"), scores={}))
        monkeypatch.setattr("assay.store.rows.time.time", lambda: present - 10 * 86_400)
        sink.write(ScoredSample(sample=Sample(id="new"), scores={}))
        sink._due = 0.0
        monkeypatch.undo()
        sink.write(ScoredSample(sample=Sample(id="newest"), scores={}))
        while sink._due < time.monotonic() + 60:  # a look takes a fraction of a second, and the next comes soon
            sink._due = 0.0
            sink.tidy()
        sink.close()
        assert [row.scored.sample.id for row in store.rows("live/shop")] == ["new", "newest"]
        assert store.row_counts("live/shop").missing == 0
        assert [row.scored.sample.id for row in store.rows("nightly")] == ["old"]
        assert not check_store(store).damaged


def test_a_live_run_keeps_to_its_size(address: str) -> None:
    """Rows of 10 kB that do not compress; 100 kB hold nine of them, with their JSON."""
    sink = StoreSink(address, retain_days=None, retain_gb=0.0001)
    for n in range(40):
        sample = Sample(id=f"{n}", answer=random.Random(n).randbytes(10_000).hex())
        sink.write(ScoredSample(sample=sample, scores={}))
    sink._due = 0.0
    sink.tidy()
    sink.close()
    with Store(address) as store:
        left = [row.scored.sample.id for row in store.rows("live")]
        size = sum(len(body) for *_, body in store.row_bodies("live"))
    assert left == [f"{n}" for n in range(40 - len(left), 40)]  # the newest
    assert 80_000 < size <= 100_000


def write_and_tidy(address: str, who: int) -> None:
    sink = StoreSink(address, application="shop", retain_days=None, retain_gb=0.00002)
    for n in range(40):
        sample = Sample(id=f"{who} {n}", answer=random.Random(100 * who + n).randbytes(1_000).hex())
        sink.write(ScoredSample(sample=sample, scores={"m": Score(metric="m", value=1.0)}))
        sink._due = 0.0  # as if ten minutes had gone
    sink.tidy()
    sink.close()


@pytest.mark.long
@pytest.mark.timeout(180)
def test_processes_that_write_and_delete_at_the_same_time_agree(address: str) -> None:
    """20 kB hold some 15 rows: the newest are there, and the run knows how many."""
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=write_and_tidy, args=(address, n)) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    with Store(address) as store:
        numbers, counts = store.numbers("live/shop"), store.row_counts("live/shop")
        assert not check_store(store).damaged
        assert (counts.stored, counts.missing) == (len(numbers), 0)
        assert numbers == list(range(numbers[0], 121))  # each of 3 × 40 was a row, and the newest are left
        assert sum(len(body) for *_, body in store.row_bodies("live/shop")) <= 20_000


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"application": ""}, "application: expected a name"),
        ({"application": "x" * 300}, "application: expected a name of 1 to 200 characters"),
        ({"retain_days": 0}, "retain_days: expected a number above 0 or None, got 0"),
        ({"retain_gb": float("nan")}, "retain_gb: expected a number above 0 or None, got nan"),
        ({"slices": "user"}, "slices: expected a sequence of keys"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        StoreSink(tmp_path, **options)


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


# ---- several at once


def test_several_at_once_are_the_rows_of_their_applications(tmp_path: Path) -> None:
    sink = StoreSink(tmp_path, "shop")
    group = [exchange({}, id="first"), ScoredSample(sample=Sample(id="b", metadata={"application": "bar"}), scores={})]
    receipts = sink.write_many([*group, exchange({}, id="second")])
    assert [one.confirmed for one in receipts if not isinstance(one, Exception)] == [3, 0, 3]
    assert [row.scored.sample.id for row in Store(tmp_path).rows("live/shop")] == ["first", "second"]
    assert [row.scored.sample.id for row in Store(tmp_path).rows("live/bar")] == ["b"]
    assert list(Result.load("live/shop", tmp_path).metrics) == ["faithfulness", "hallucination", "context_recall"]
    assert sink.write_many([]) == []


def test_of_several_at_once_one_that_cannot_be_masked_fails_alone(tmp_path: Path) -> None:
    def mask(text: str) -> str:
        return text if "secret" not in text else str(1 // 0)

    sink = StoreSink(tmp_path, mask=mask)
    bad = ScoredSample(sample=Sample(id="bad", answer="a secret"), scores={})
    first, failed, last = sink.write_many([exchange({}, id="first"), bad, exchange({}, id="last")])
    assert isinstance(failed, InputError)
    assert not isinstance(first, Exception)
    assert not isinstance(last, Exception)
    assert [row.scored.sample.id for row in Store(tmp_path).rows("live")] == ["first", "last"]


def test_of_several_at_once_each_names_the_scores_that_a_full_store_did_not_take(tmp_path: Path) -> None:
    sink = StoreSink(tmp_path)
    sink.write(exchange({}, id="first"))
    sink._store.get().query("PRAGMA max_page_count = 1")  # as many as there are
    large = random.Random(1).randbytes(100_000).hex()
    group = [ScoredSample(sample=Sample(id=f"{n}", answer=large), scores=exchange({}).scores) for n in range(2)]
    for failed in sink.write_many(group):
        assert isinstance(failed, Undelivered)
        assert "faithfulness" in failed.scores
    sink.close()
    assert sink.write_many([exchange({}, id="later")])[0] == sink.write(exchange({}, id="later"))
    assert [row.scored.sample.id for row in Store(tmp_path).rows("live")] == ["first", "later"]
