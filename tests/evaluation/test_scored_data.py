"""`score` again: the samples of whatever holds scored rows are data, each once, and lost rows are errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from assay import Context, Result, Sample
from assay.data import RowError, open_data
from assay.data.dataset import Data
from assay.evaluation.scored_data import scored_data
from assay.records import ScoredSample
from tests.evaluation.test_exported_rows import EACH, WORLDS
from tests.evaluation.test_outputs import CSV, FULL, run_in, score

FORMATS = FULL | CSV
SAMPLES = [
    Sample(id=f"r{n}", question="Why?", answer=f"So {n}.", contexts=(Context(text="It is."),), metadata={"page": n})
    for n in range(3)
]


def data_at(address: str) -> Data:
    return scored_data(address) or open_data(address)


@pytest.mark.parametrize("form", FORMATS)
def test_the_samples_are_those_of_the_run(form: str, tmp_path: Path) -> None:
    result = run_in(tmp_path, [ScoredSample(sample=one, scores=score("m", 0.5)) for one in SAMPLES])
    data = data_at(FORMATS[form](result, tmp_path))
    found = [sample for _, sample in data]
    assert [sample for _, sample in data] == found, "they can be read again"
    if form in FULL:
        assert found == SAMPLES
    else:
        assert [one.answer for one in found if isinstance(one, Sample)] == ["So 0.", "So 1.", "So 2."]


@EACH
@pytest.mark.parametrize("form", ["store", "jsonl", "json", "parquet", "csv", "report.csv"])
def test_lost_rows_are_errors_in_their_place(world: Callable[[Path], None], form: str, tmp_path: Path) -> None:
    world(tmp_path / "store")
    left, _, ids = WORLDS[world]
    address = FORMATS[form](Result.load("last", tmp_path / "store"), tmp_path)
    found = [item for _, item in data_at(address)]
    assert (len(found), sum(isinstance(item, Sample) for item in found)) == (left + len(ids), left)
    assert all(item.cause == "lost" for item in found if isinstance(item, RowError))


def test_a_data_set_with_columns_of_such_names_stays_one(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"question": "Why?", "answer": "x", "sample": {"a": 1}, "scores": {"b": 2}}\n')
    ((_, sample),) = open_data(tmp_path / "a.jsonl")
    assert isinstance(sample, Sample)
    assert sample.metadata == {"sample": {"a": 1}, "scores": {"b": 2}}
    (tmp_path / "b.jsonl").write_text('{"sample": {"a": 1}, "question": "Why?", "answer": "x"}\n')
    ((_, sample),) = open_data(tmp_path / "b.jsonl")
    assert isinstance(sample, Sample)
    (tmp_path / "a.csv").write_text("id,question,answer,latency,latency_error\na,Why?,x,3,1\n")
    ((_, sample),) = open_data(tmp_path / "a.csv")
    assert isinstance(sample, Sample)
    assert sample.metadata == {"latency": "3", "latency_error": "1"}
