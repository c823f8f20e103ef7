"""Whatever assay writes is read back as the same run: scores, causes, evidence, lost rows and decisions."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay import Result, ScoredSample, Store
from assay.analysis.gates import Gate, GateRule, check
from assay.errors import Cause
from assay.evaluation.external_runs import open_run
from assay.live.queue.queue_file import QueueFile
from assay.records import Claim, Context, Evidence, Sample, Score, ScoreError, Span, Verdict
from assay.report.write import report_run
from assay.sinks import JsonlSink, StoreSink
from tests.evaluation.test_exported_rows import EACH, ROWS, WORLDS

Write = Callable[[Result, Path], str]
#: Ranges and directions of the metrics: of assay, of another system, and of the user's own.
METRICS = {
    "faithfulness": (0.0, 1.0, "higher"),
    "hallucination": (0.0, 1.0, "lower"),
    "ragas:exact_match": (0.0, 1.0, "higher"),
    "own": (-1.0, 3.0, "lower"),
}
SCALES = {"own": (3.0, -1.0)}  # worst and best


def sink(result: Result, folder: Path) -> str:
    with_file = JsonlSink(folder / "sink")
    for scored in result:
        with_file.write(scored)
    with_file.close()
    return str(with_file.path)


def store_sink(result: Result, folder: Path) -> str:
    into = StoreSink(folder / "other")
    for scored in result:
        into.write(scored)
    into.close()
    return f"{folder / 'other'}#live"


def queue(result: Result, folder: Path) -> str:
    file = QueueFile(folder / "queue")
    file.create()
    items = [(scored.sample.key(), json_of(scored.sample)) for scored in result]
    file.append(items, {}, "app", 1000, 2**30)
    leased = file.lease("w", len(items), file.now() + 60)
    for one, scored in zip(leased, result, strict=True):
        assert file.finish("w", one.number, scored)
    file.close()
    return str(folder / "queue")


def json_of(sample: Sample) -> str:
    import json

    return json.dumps(sample.to_dict())


def another_store(result: Result, folder: Path) -> str:
    return str(result.store.address.parent)  # type: ignore[union-attr]  # it is a file


FULL: dict[str, Write] = {
    "jsonl": lambda result, folder: str(result.to_jsonl(folder / "jsonl")),
    "json": lambda result, folder: str(report_run(result, folder / "r.json").rename(folder / "json")),
    "parquet": lambda result, folder: str(report_run(result, folder / "r.parquet").rename(folder / "parquet")),
    "store": another_store,
    "sink": sink,
    "store_sink": store_sink,
    "queue": queue,
}
CSV: dict[str, Write] = {
    "csv": lambda result, folder: str(result.to_csv(folder / "wide")),
    "report.csv": lambda result, folder: str(report_run(result, folder / "r.csv").rename(folder / "long")),
}
WHOLE = {name: write for name, write in (FULL | CSV).items() if name not in ("sink", "store_sink", "queue")}
#: Any text that a record may hold.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@st.composite
def scores_of(draw: st.DrawFn, metric: str) -> Score:
    low, high, direction = METRICS[metric]
    known: dict[str, Any] = {"metric": metric, "low": low, "high": high, "direction": direction, "judge": "scripted"}
    kind = draw(st.sampled_from(["value", "error", "convention"]))
    if kind == "error":
        error = ScoreError(cause=draw(st.sampled_from(Cause)), message=draw(texts), raw=draw(st.none() | texts))
        return Score(error=error, **known)
    known["value"] = draw(st.floats(low, high))
    if kind == "convention":
        return Score(convention=draw(texts), **known)
    quote = Evidence(passage=0, span=Span(0, 3), text=draw(texts))
    claim = Claim(text=draw(texts), span=Span(0, 2))
    verdict = Verdict(label="supported", claim=claim, evidence=(quote,), reason=draw(texts), probability=0.5)
    return Score(verdicts={"answer/contexts": (verdict,)}, parts={"supported": 1.0}, **known)


@st.composite
def rows_of_a_run(draw: st.DrawFn) -> list[ScoredSample]:
    count = draw(st.integers(1, 4))
    names = draw(st.lists(st.sampled_from(sorted(METRICS)), min_size=1, unique=True))
    return [
        ScoredSample(
            sample=Sample(
                id=f"r{number}",
                question=draw(texts),
                answer=draw(texts),
                contexts=draw(st.none() | st.lists(texts.map(lambda text: Context(text=text)), max_size=2).map(tuple)),
                metadata=draw(st.dictionaries(texts, st.integers() | texts, max_size=2)),
            ),
            scores={name: draw(scores_of(name)) for name in names},
        )
        for number in range(count)
    ]


def run_in(folder: Path, rows: list[ScoredSample]) -> Result:
    store = Store(folder / "store")
    store.create_run("one", {"judge": "scripted", "metrics": list(rows[0].scores)})
    store.put_rows("one", enumerate(rows, 1))
    return Result.load("one", store)


def values(result: Result) -> dict[int, dict[str, tuple[float | None, str | None]]]:
    """The measured value of each score, and why there is none."""
    return {
        row.number: {
            name: (score.value if score.measured else None, score.why_unmeasured)
            for name, score in row.scored.scores.items()
        }
        for row in result.numbered_rows()
    }


@pytest.mark.long
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rows=rows_of_a_run())
def test_every_format_gives_the_same_scores_and_those_with_evidence_the_same_records(rows: list[ScoredSample]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        written = run_in(Path(folder), rows)
        for name, write in FULL.items():
            found = open_run(write(written, Path(folder)))
            assert [row.scored for row in found.numbered_rows()] == rows, name
            assert found.judge == "scripted", name
        for name, write in CSV.items():
            found = open_run(write(written, Path(folder)), scales=SCALES)
            assert values(found) == values(written), name
            for label, summary in written.metrics.items():
                got = found.metrics[label]
                assert (got.low, got.high, got.direction) == (summary.low, summary.high, summary.direction), name
            assert any("holds no verdicts, quotes and metadata" in note for note in found.notes), name
        written.store.close()


def facts(result: Result) -> Mapping[str, Any]:
    return {name: summary.to_dict() for name, summary in result.metrics.items()}


@EACH
@pytest.mark.parametrize("form", WHOLE)
def test_lost_rows_and_rows_not_reached_come_back_as_what_they_were(
    world: Callable[[Path], None], form: str, tmp_path: Path
) -> None:
    """A gate at 0.9 over values of 1.0: it passes only where no row is missing."""
    world(tmp_path / "store")
    written = Result.load("last", tmp_path / "store")
    found = open_run(WHOLE[form](written, tmp_path))
    left, causes, _ = WORLDS[world]
    assert facts(found) == facts(written)
    assert found.metrics["faithfulness"].total == ROWS
    assert dict(found.metrics["faithfulness"].causes) == causes
    assert (found.rows, found.lost, found.unscored) == (left, written.lost, written.unscored)
    assert found.complete == written.complete
    gate = Gate((GateRule("faithfulness", "at_least", 0.9),))
    decisions = [check(gate, one) for one in (written, found)]
    assert len({one.verdict for one in decisions}) == 1
    if form != "csv":  # which has no sentences
        assert found.incomplete == written.incomplete
        assert decisions[0].incomplete == decisions[1].incomplete


def score(name: str, value: float) -> dict[str, Score]:
    return {name: Score(metric=name, value=value)}


def test_a_sample_that_a_sink_has_several_times_is_one_row_as_in_a_store(tmp_path: Path) -> None:
    """Row a is written three times: with a metric, with another one, and with the first one anew."""
    sample = Sample(id="a", question="Why?", answer="So.")
    written = [
        ScoredSample(sample=sample, scores=score("m", 0.0)),
        ScoredSample(sample=Sample(id="b", answer="No."), scores=score("m", 0.5)),
        ScoredSample(sample=sample, scores=score("n", 0.25)),
        ScoredSample(sample=sample, scores=score("m", 1.0)),
    ]
    file, kept = JsonlSink(tmp_path / "a.jsonl"), StoreSink(tmp_path / "store")
    for one in written:
        file.write(one)
        kept.write(one)
    file.close()
    kept.close()
    runs = [open_run(tmp_path / "a.jsonl"), open_run(tmp_path / "store")]
    for run in runs:
        assert [(row.number, row.scored.sample.id, row.scored.values) for row in run.numbered_rows()] == [
            (1, "a", {"m": 1.0, "n": 0.25}),
            (2, "b", {"m": 0.5}),
        ]
    assert facts(runs[0]) == facts(runs[1])


def test_what_a_sink_moved_away_is_named(tmp_path: Path) -> None:
    file = JsonlSink(tmp_path / "a.jsonl", max_bytes=400)
    for number in range(3):
        file.write(ScoredSample(sample=Sample(id=str(number), answer="x"), scores=score("m", 1.0)))
    file.close()
    found = open_run(tmp_path / "a.jsonl")
    assert found.rows < 3
    assert any("a.jsonl.1 has earlier rows of a.jsonl, which are not read" in note for note in found.notes)


def test_rows_whose_texts_were_hashed_or_masked_are_rows(tmp_path: Path) -> None:
    """Without an id the key is that of the hashed texts: twice the same sample is one row."""
    sample = Sample(question="Why?", answer="So.", contexts=(Context(text="It is.", image="pictures/a.png"),))
    file = JsonlSink(tmp_path / "a.jsonl", texts=False)
    for name in ("m", "n"):
        file.write(ScoredSample(sample=sample, scores=score(name, 0.5)))
    file.close()
    (read,) = open_run(tmp_path / "a.jsonl")
    assert read.values == {"m": 0.5, "n": 0.5}
    assert (read.sample.answer or "").startswith("sha256:")


def test_merging_reaches_rows_that_are_written_already(tmp_path: Path) -> None:
    """1,200 samples are more than two groups of 500; then each gets another metric."""
    file = JsonlSink(tmp_path / "a.jsonl")
    for name, value in (("m", 0.0), ("n", 1.0)):
        for number in range(1200):
            file.write(ScoredSample(sample=Sample(id=str(number), answer="x"), scores=score(name, value)))
    file.close()
    found = open_run(tmp_path / "a.jsonl")
    assert (found.rows, found.complete) == (1200, True)
    assert [(one.mean, one.scored) for one in found.metrics.values()] == [(0.0, 1200), (1.0, 1200)]


def test_files_of_two_runs_one_after_the_other_keep_all_rows(tmp_path: Path) -> None:
    for name in ("a", "b"):
        result = run_in(tmp_path / name, [
            ScoredSample(sample=Sample(id=f"{name}{n}", answer="x"), scores=score("m", 1.0)) for n in range(3)
        ])  # fmt: skip
        result.to_jsonl(tmp_path / f"{name}.jsonl")
    both = (tmp_path / "a.jsonl").read_text() + (tmp_path / "b.jsonl").read_text()
    (tmp_path / "both.jsonl").write_text(both)
    found = open_run(tmp_path / "both.jsonl")
    assert [row.scored.sample.id for row in found.numbered_rows()] == ["a0", "a1", "a2", "b0", "b1", "b2"]


def test_a_run_of_the_store_comes_before_a_file_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written = run_in(tmp_path, [ScoredSample(sample=Sample(id="a", answer="x"), scores=score("m", 1.0))])
    Path("one").write_text("nothing that can be read")
    assert open_run("one", "store").store.name == "store/assay.db"
    assert open_run("last", written.store).run == "one"
    assert open_run("store#one", "store").run == "one"
    assert open_run("store#last", "nowhere").run == "one"
    assert open_run("store/assay.db#one").run == "one"
